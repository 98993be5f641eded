/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_policy_region.c -- what a program asks for in a
 * region, under every kind of line. */
#include "with_policy.h"

#define ON "profit=off guard=off"

static struct ac_op
in_region(enum ac_operation operation)
{
	struct ac_op op = product(operation, 2048, 2048, 2048, 90);

	op.fact[AC_FACT_REGION] = "loss";
	return op;
}

static void
allow(struct ac_op *op, enum ac_rung first, enum ac_rung second)
{
	op->region_rung[0] = first;
	op->region_rung[1] = second;
	op->region_rungs = second == AC_RUNG_KEEP ? 1 : 2;
}

CASE(test_disabled)
{
	struct ac_op op = in_region(AC_OP_GEMM_SINGLE);

	op.region_keeps = true;
	CHECK("gemm -> fp16 " ON, &op, "keep: region");
	CHECK("gemm -> keep", &op, "keep: region");
	CHECK("gemm m=1 -> fp16", &op, "keep: region");
	CHECK("otherwise off", &op, "keep: region");
	CHECK("[region=loss]\ngemm -> fp16 " ON, &op, "fp16 cast");
	CHECK("gemm region=l* -> fp16 " ON, &op, "fp16 cast");
	CHECK("gemm region=a,loss -> keep", &op, "keep: rule");
	CHECK("gemm region!=a -> fp16 " ON, &op, "keep: region");
	CHECK("gemm region=a -> tf32\ngemm -> fp16 " ON, &op, "keep: region");
	/* It does not keep what the line cannot recast. */
	op.fact[AC_FACT_ASKED] = "pedantic";
	CHECK("gemm region=loss -> fp16 " ON, &op, "keep: pedantic");
}

CASE(test_rungs)
{
	struct ac_op op = in_region(AC_OP_GEMM_SINGLE);

	allow(&op, AC_RUNG_BF16, AC_RUNG_KEEP);
	CHECK("gemm -> fp16 " ON, &op, "bf16 library");
	CHECK("gemm -> auto " ON, &op, "bf16 library");
	CHECK("gemm -> tf32 " ON, &op, "bf16 library");
	CHECK("otherwise fp16", &op, "bf16 library");
	CHECK("gemm -> keep", &op, "keep: rule");
	CHECK("otherwise off", &op, "keep: rule");
	CHECK("gemm m=1 -> fp16", &op, "keep: no-rule");
	CHECK("gemm region=loss -> fp16 " ON, &op, "fp16 cast");
	CHECK("gemm region!=a -> fp16 " ON, &op, "bf16 library");
	/* What holds for the line holds for them. */
	CHECK("gemm -> fp16 tol=1e-3 " ON, &op, "keep: unsupported");
	CHECK("gemm -> fp16 tactic=cast " ON, &op, "bf16 cast");
	allow(&op, AC_RUNG_BF16, AC_RUNG_TF32);
	CHECK("gemm -> fp16 " ON, &op, "bf16 library");
	CHECK("gemm -> fp16 tol=1e-3 " ON, &op, "tf32 library");
	allow(&op, AC_RUNG_FP16, AC_RUNG_KEEP);
	op.fact[AC_FACT_ASKED] = "opted-out";
	CHECK("gemm -> tf32 " ON, &op, "keep: opted-out");
}

/* Rungs that an operation has only under a line that names it. */
CASE(test_legal)
{
	struct ac_op op = in_region(AC_OP_CONV_DGRAD);

	op.quantities = 0;
	ac_op_set(&op, AC_Q_SM, 90);
	allow(&op, AC_RUNG_FP16, AC_RUNG_KEEP);
	CHECK("conv -> tf32 " ON, &op, "keep: unsupported");
	CHECK("conv.dgrad -> tf32 " ON, &op, "fp16 library");
	op = in_region(AC_OP_GEMM_BATCHED);
	allow(&op, AC_RUNG_TF32, AC_RUNG_KEEP);
	CHECK("gemm -> fp16 " ON, &op, "keep: unsupported");
	op = in_region(AC_OP_GEMM_SINGLE);
	allow(&op, AC_RUNG_BF16, AC_RUNG_KEEP);
	ac_op_set(&op, AC_Q_SM, 75);
	CHECK("gemm -> fp16 " ON, &op, "keep: unsupported");
}

/* The name alone changes nothing but which lines match. */
CASE(test_name)
{
	struct ac_op op = in_region(AC_OP_GEMM_SINGLE);

	CHECK("gemm -> fp16 " ON, &op, "fp16 cast");
	CHECK("gemm region=loss -> bf16 " ON "\ngemm -> fp16 " ON, &op,
	    "bf16 library");
	op.fact[AC_FACT_REGION] = NULL;
	CHECK("gemm region=loss -> bf16 " ON "\ngemm -> fp16 " ON, &op,
	    "fp16 cast");
	CHECK("gemm region!=loss -> bf16 " ON "\ngemm -> fp16 " ON, &op,
	    "fp16 cast");
}

CASES_RUN(NULL, NULL)
