/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_match.c -- which calls a rule speaks about. */
#include "with_policy.h"

/* Whether `left -> keep` decides about `op`. */
static bool
matches(const char *left, const struct ac_op *op)
{
	char text[256];
	struct ac_policy *policy;
	struct ac_decision d;

	snprintf(text, sizeof(text), "%s -> keep", left);
	policy = parse_good(text);
	ac_policy_decide(policy, op, &d);
	ac_policy_destroy(policy);
	assert_true(d.reason == AC_REASON_RULE ||
	    d.reason == AC_REASON_NO_RULE);
	return d.reason == AC_REASON_RULE;
}

CASE(test_operations)
{
	static const struct {
		const char *left;
		unsigned    operations;   /* bits */
	} rows[] = {
		{ "*", 0x1ff }, { "gemm", 0x3f }, { "conv", 0x1c0 },
		{ "gemm.single", 1 }, { "gemm.batched", 2 },
		{ "gemm.strided", 4 }, { "gemm.grouped", 8 },
		{ "gemm.syrk", 0x10 }, { "gemm.lt", 0x20 },
		{ "conv.fprop", 0x40 }, { "conv.dgrad", 0x80 },
		{ "conv.wgrad", 0x100 }, { "conv.dgrad,gemm.lt", 0xa0 },
	};
	struct ac_op op = { 0 };
	size_t i;
	int o;

	for (i = 0; i < COUNT(rows); i++) {
		for (o = 0; o < AC_OP_COUNT; o++) {
			op.operation = (enum ac_operation)o;
			assert_int_equal(matches(rows[i].left, &op),
			    rows[i].operations >> o & 1);
		}
	}
}

CASE(test_quantities)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 64, 1000, 90);

	assert_true(matches("gemm m=512", &op));
	assert_false(matches("gemm m=511", &op));
	assert_false(matches("gemm m!=512", &op));
	assert_true(matches("gemm m!=511,513", &op));
	assert_true(matches("gemm m=1,500..600", &op));
	assert_false(matches("gemm m!=1,500..600", &op));
	assert_true(matches("gemm m=512..512 n=64..65 k=999..1000", &op));
	assert_false(matches("gemm m<512", &op));
	assert_true(matches("gemm m<=512 m>=512 m<513 m>511", &op));
	assert_false(matches("gemm m>512", &op));
	assert_true(matches("gemm min(m,n,k)=64 max(m,n,k)=1000", &op));
	assert_true(matches("gemm max(n)=64", &op));
	assert_true(matches("gemm m<1Ki k<1Mi", &op));
	assert_false(matches("gemm m>1Ki", &op));
	assert_true(matches("gemm flops=65536000 batch=1", &op));
	assert_true(matches("gemm flops>=65.5M flops<65.6M", &op));
	assert_true(matches("gemm bytes=2435072", &op));
	assert_true(matches("gemm intensity=26.9..27", &op));
	assert_true(matches("gemm sm=90 sm>=80", &op));
}

/* A condition on what a call lacks is false, whatever the comparison. */
CASE(test_unknown)
{
	struct ac_op op = { .operation = AC_OP_CONV_FPROP };

	assert_false(matches("conv m=5", &op));
	assert_false(matches("conv m!=5", &op));
	assert_false(matches("conv m>=0", &op));
	assert_false(matches("conv min(m,cin)>=0", &op));
	assert_false(matches("conv caller=*", &op));
	assert_false(matches("conv caller!=x", &op));
	ac_op_set(&op, AC_Q_CIN, 4);
	assert_false(matches("conv min(m,cin)>=0", &op));
	ac_op_set(&op, AC_Q_M, 3);
	assert_true(matches("conv min(m,cin)=3", &op));
}

CASE(test_facts)
{
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 1, 1, 1, 90);

	op.fact[AC_FACT_TA] = "T";
	op.fact[AC_FACT_GPU] = "NVIDIA H200 NVL";
	op.fact[AC_FACT_LIB] = "cublas-13.1";
	op.fact[AC_FACT_CALLER] = "libcusolver.so.12";
	assert_true(matches("gemm ta=T", &op));
	assert_true(matches("gemm ta=N,T", &op));
	assert_false(matches("gemm ta=t,N", &op));
	assert_false(matches("gemm ta!=N,T", &op));
	assert_true(matches("gemm ta!=N,C", &op));
	assert_true(matches("gemm gpu=\"NVIDIA H200*\"", &op));
	assert_true(matches("gemm gpu=*H?00*", &op));
	assert_false(matches("gemm gpu=H200", &op));
	assert_true(matches("gemm lib=cublas-13.*", &op));
	assert_true(matches("gemm caller=libmagma*,libcusolver.so*", &op));
}

/* As the program's text has it, or the library. */
CASE(test_functions)
{
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);

	op.fact[AC_FACT_FN] = "cublasSgemm_v2_64";
	assert_true(matches("gemm fn=cublasSgemm_v2_64", &op));
	assert_true(matches("gemm fn=cublasSgemm_64", &op));
	assert_false(matches("gemm fn!=cublasSgemm_64", &op));
	assert_false(matches("gemm fn=cublasSgemm", &op));
	op.fact[AC_FACT_FN] = "cublasSgemm_v2";
	assert_true(matches("gemm fn=cublasSgemm", &op));
	op.fact[AC_FACT_FN] = "cublasGemmEx";
	assert_true(matches("gemm fn=cublasGemmEx", &op));
	assert_false(matches("gemm fn=cublasGemm", &op));
}

CASE(test_extents)
{
	struct ac_op op = { .operation = AC_OP_CONV_FPROP };

	ac_op_set_extents(&op, AC_Q_FILTER, 3, 3, 0);
	ac_op_set_extents(&op, AC_Q_STRIDE, 2, 1, 0);
	ac_op_set_extents(&op, AC_Q_DILATION, 1, 2, 3);
	assert_true(matches("conv filter=3x3", &op));
	assert_true(matches("conv filter=3", &op));
	assert_true(matches("conv filter=1x1,3x3", &op));
	assert_false(matches("conv filter!=1x1,3x3", &op));
	assert_false(matches("conv filter=3x3x3", &op));
	assert_false(matches("conv filter=3x1", &op));
	assert_false(matches("conv stride=1", &op));
	assert_true(matches("conv stride!=1", &op));
	assert_true(matches("conv stride=2x1", &op));
	assert_false(matches("conv stride=1x2", &op));
	assert_true(matches("conv stride<=2 stride=1..2", &op));
	assert_false(matches("conv stride<2", &op));
	assert_true(matches("conv max(stride,filter)=3", &op));
	assert_true(matches("conv dilation=1x2x3", &op));
	assert_false(matches("conv dilation=1x2", &op));

	/* A caller that knows one number means it for every dimension. */
	ac_op_set(&op, AC_Q_FILTER, 3);
	assert_true(matches("conv filter=3x3", &op));
	assert_true(matches("conv filter=3x3x3", &op));
	assert_false(matches("conv filter=3x1", &op));
}

CASE(test_sections)
{
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 8, 8, 8, 75);
	struct ac_policy *policy = parse_good(
	    "[sm=75 m<16]\n"
	    "gemm -> keep\n"
	    "[sm=80]\n"
	    "gemm -> keep\n"
	    "[]\n"
	    "gemm n=8 -> keep\n");

	assert_int_equal(deciding_line(policy, &op), 2);
	ac_op_set(&op, AC_Q_SM, 80);
	assert_int_equal(deciding_line(policy, &op), 4);
	ac_op_set(&op, AC_Q_SM, 90);
	assert_int_equal(deciding_line(policy, &op), 6);
	ac_op_set(&op, AC_Q_SM, 75);
	ac_op_set(&op, AC_Q_M, 16);
	assert_int_equal(deciding_line(policy, &op), 6);
	ac_policy_destroy(policy);
}

CASE(test_sites)
{
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 8, 8, 8, 75);
	struct ac_policy *policy = parse_good(
	    "site qkv = 9C41D2E0\n"
	    "site late = 9c41d2e0\n"
	    "gemm site=qk? -> keep\n"
	    "gemm site=77aa01b3 -> keep\n"
	    "gemm site!=qkv -> keep\n");

	assert_int_equal(deciding_line(policy, &op), 0);
	op.fact[AC_FACT_SITE] = "9c41d2e0";
	assert_int_equal(deciding_line(policy, &op), 3);
	op.fact[AC_FACT_SITE] = "77aa01b3";
	assert_int_equal(deciding_line(policy, &op), 4);
	op.fact[AC_FACT_SITE] = "00000000";
	assert_int_equal(deciding_line(policy, &op), 5);
	op.fact[AC_FACT_SITE] = "9c41d2e";
	assert_int_equal(deciding_line(policy, &op), 5);
	assert_string_equal(ac_policy_site_name(policy, 0x9c41d2e0), "qkv");
	assert_null(ac_policy_site_name(policy, 0x77aa01b3));
	ac_policy_destroy(policy);
}

/* Complex products do four times the work and move twice the bytes. */
CASE(test_products)
{
	struct ac_op op = { .operation = AC_OP_GEMM_STRIDED };

	ac_op_set_product(&op, 10, 20, 30, 4);
	assert_true(op.quantity[AC_Q_FLOPS] == 48000);
	assert_true(op.quantity[AC_Q_BYTES] == 4 * 4 * (300 + 600 + 200));
	assert_true(op.quantity[AC_Q_INTENSITY] == 48000.0 / 17600.0);
	op.fact[AC_FACT_TYPE] = "c32";
	ac_op_set_product(&op, 10, 20, 30, 4);
	assert_true(op.quantity[AC_Q_FLOPS] == 4 * 48000);
	assert_true(op.quantity[AC_Q_BYTES] == 2 * 17600);
	ac_op_set_product(&op, 0, 20, 0, 1);
	assert_true(op.quantity[AC_Q_INTENSITY] == 0);
}

CASES_RUN(NULL, NULL)
