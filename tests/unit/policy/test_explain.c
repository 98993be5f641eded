/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_explain.c -- the explanation a person reads, to the
 * byte. */
#include "with_policy.h"

#include "policy/profit/profit.h"

static const struct ac_rates made_up = { .name = "a test's GPU",
	.source = "made up", .fp32 = 10e12, .tf32 = 20e12, .fp16 = 100e12,
	.bf16 = 100e12, .bandwidth = 1e12, .launch = 1e-6,
	.host_launch = 1e-6, .measured = true };
#define TIMES "  The times are estimated for a test's GPU, by rates made up.\n"

static const char *
explained(const char *text, const struct ac_op *op)
{
	static char buffer[4096];
	struct ac_policy *policy = parse_good(text);
	struct ac_text out;

	ac_text_init(&out, buffer, sizeof(buffer));
	ac_policy_explain(policy, op, &out);
	ac_policy_destroy(policy);
	return buffer;
}

CASE(test_recast)
{
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 3072, 4096, 768, 90);

	op.fact[AC_FACT_TA] = "T";
	op.rates = &made_up;
	assert_string_equal(explained(
	    "gemm.strided -> tf32\n"
	    "gemm max(m,n,k)=50257..50304 -> keep\n"
	    "gemm tb=N -> keep\n"
	    "gemm ta=N -> keep\n"
	    "conv filter=3x3 -> tf32\n"
	    "gemm m>=1Ki -> fp16,tf32\n", &op),
	    "gemm.single m=3072 n=4096 k=768 batch=1 flops=1.93e10 "
	    "bytes=7.24e7 intensity=267 sm=90 ta=T type=f32\n"
	    "\n"
	    "  p:1  gemm.strided -> tf32                  "
	    "no: another operation\n"
	    "  p:2  gemm max(m,n,k)=50257..50304 -> keep  "
	    "no: max(m,n,k) is 4096\n"
	    "  p:3  gemm tb=N -> keep                     "
	    "no: tb is not known\n"
	    "  p:4  gemm ta=N -> keep                     "
	    "no: ta is T\n"
	    "  p:5  conv filter=3x3 -> tf32               "
	    "no: another operation\n"
	    "  p:6  gemm m>=1Ki -> fp16,tf32              "
	    "decides\n"
	    "\n"
	    "fp16 by a cast of the operands, tolerance 0.001 -- p:6\n"
	    "  keep    estimated 1.98 ms\n"
	    "  tf32    fits, estimated 1.02 ms, 1.9x\n"
	    "  fp16    fits, estimated 318 us, 6.2x: chosen\n"
	    "  A cast takes 161 us more where a call adds to C (beta).\n" TIMES);
}

/* Everything behind the deciding line of the text. */
static const char *
decision(const char *text, const struct ac_op *op)
{
	return strstr(explained(text, op), "decides\n\n") + 9;
}

CASE(test_recast_by_name)
{
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 32, 32, 32, 75);

	op.rates = &made_up;
	assert_string_equal(decision("gemm -> tf32,fp16 profit=off", &op),
	    "fp16 by a cast of the operands, tolerance 0.001 -- p:1\n"
	    "  keep    estimated 1.01 us\n"
	    "  tf32    this GPU does not have it\n"
	    "  fp16    fits, estimated 11.4 us, 0.089x, and is named first of "
	    "those\n" TIMES);
	assert_string_equal(decision("gemm -> tf32,fp16,bf16 profit=off "
	    "tol=8e-3 tactic=library", &op),
	    "fp16 by the library's own conversion, tolerance 0.008 -- p:1\n"
	    "  keep    estimated 1.01 us\n"
	    "  tf32    this GPU does not have it\n"
	    "  fp16    fits, estimated 1.01 us, 1x, and is named first of "
	    "those\n"
	    "  bf16    this GPU does not have it\n" TIMES);
}

CASE(test_kept)
{
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 32, 32, 32, 90);

	op.rates = &made_up;
	assert_string_equal(decision("gemm -> keep", &op),
	    "keep (rule): kept by p:1\n");
	assert_string_equal(decision("gemm -> tf32", &op),
	    "keep (too-small): fewer than 2^24 operations, too few to gain -- "
	    "p:1\n"
	    "  keep    estimated 1.01 us\n"
	    "  tf32    fits, estimated 1.01 us, 1x\n" TIMES
	    "  profit=off recasts it all the same.\n");
	assert_string_equal(decision("gemm -> auto tol=1e-3 tactic=library",
	    &op),
	    "keep (too-small): fewer than 2^24 operations, too few to gain -- "
	    "p:1\n"
	    "  keep    estimated 1.01 us\n"
	    "  tf32    fits, estimated 1.01 us, 1x\n"
	    "  fp16    needs a cast, and tactic=library\n"
	    "  bf16    its known error is 0.0024\n"
	    "  fp16x2  needs a cast, and tactic=library\n"
	    "  fp16x3  needs a cast, and tactic=library\n"
	    "  bf16x3  needs a cast, and tactic=library\n"
	    "  bf16x6  needs a cast, and tactic=library\n" TIMES
	    "  profit=off recasts it all the same.\n");
	op.fact[AC_FACT_ASKED] = "pedantic";
	assert_string_equal(decision("gemm -> tf32", &op),
	    "keep (pedantic): the program asked for pedantic arithmetic -- "
	    "p:1\n"
	    "  respect-opt-out=off overrules the program.\n");
	op = product(AC_OP_GEMM_BATCHED, 32, 32, 32, 0);
	assert_string_equal(decision("gemm -> tf32,fp16", &op),
	    "keep (unsupported): no allowed rung is legal for this operation "
	    "or GPU, and accurate enough -- p:1\n"
	    "  tf32    this operation does not have it\n"
	    "  fp16    which GPU is not known: say sm=90 or the like\n");
	op = product(AC_OP_GEMM_LT, 32, 32, 32, 90);
	op.fact[AC_FACT_EPILOGUE] = "bgrada/bgradb";
	assert_string_equal(decision("gemm -> tf32", &op),
	    "keep (unsupported): no allowed rung is legal for this operation "
	    "or GPU, and accurate enough -- p:1\n"
	    "  tf32    this operation does not have it\n"
	    "  By design: it adds up an input, which a cast scales.\n");
	op = product(AC_OP_CONV_WGRAD, 32, 32, 32, 70);
	assert_string_equal(decision("conv -> fp16,tf32", &op),
	    "keep (unsupported): no allowed rung is legal for this operation "
	    "or GPU, and accurate enough -- p:1\n"
	    "  tf32    this GPU does not have it\n"
	    "  fp16    only for a line that names conv.wgrad\n");
	op = product(AC_OP_CONV_FPROP, 32, 32, 32, 100);
	assert_string_equal(decision("conv -> fp16", &op),
	    "keep (unsupported): no allowed rung is legal for this operation "
	    "or GPU, and accurate enough -- p:1\n"
	    "  fp16    cuDNN has no such conversion on this GPU\n");
}

CASE(test_profit)
{
	struct ac_rates rates = made_up;
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);

	op.rates = &rates;
	rates.tf32 = 5e12;
	assert_string_equal(decision("gemm -> tf32", &op),
	    "keep at first, then perhaps tf32 by the library's own "
	    "conversion, tolerance 0.001 -- p:1\n"
	    "  keep    estimated 28.9 us\n"
	    "  tf32    fits, estimated 55.7 us, 0.52x: timed from the "
	    "site's 64th call on\n" TIMES);
	rates.tf32 = 1e12;
	assert_string_equal(decision("gemm -> tf32", &op),
	    "keep (no-profit): no allowed rung is estimated to be faster -- "
	    "p:1\n"
	    "  keep    estimated 28.9 us\n"
	    "  tf32    fits, estimated 270 us, 0.11x\n" TIMES
	    "  profit=off recasts it all the same.\n");
	rates.tf32 = 0;
	assert_string_equal(decision("gemm -> tf32", &op),
	    "keep (no-profit): no allowed rung is estimated to be faster -- "
	    "p:1\n"
	    "  keep    estimated 28.9 us\n"
	    "  tf32    fits, which these rates do not have\n" TIMES
	    "  profit=off recasts it all the same.\n");
	rates.fp32 = 1e6;
	rates.tf32 = 2e7;
	assert_non_null(strstr(decision("gemm -> tf32", &op),
	    "  keep    estimated 268 s\n"
	    "  tf32    fits, estimated 13.4 s, 20x: chosen\n"));
}

CASE(test_no_rule)
{
	struct ac_op op = { .operation = AC_OP_CONV_FPROP };

	ac_op_set_extents(&op, AC_Q_FILTER, 3, 5, 0);
	assert_string_equal(explained("", &op),
	    "conv.fprop filter=3x5\n"
	    "\n"
	    "  (the policy has no rules)\n"
	    "\n"
	    "keep (no-rule): no rule of the policy matched\n"
	    "  `otherwise PROFILE` at the end would decide.\n");
	assert_string_equal(explained("conv filter=3x3 -> tf32", &op),
	    "conv.fprop filter=3x5\n"
	    "\n"
	    "  p:1  conv filter=3x3 -> tf32  no: filter is 3x5\n"
	    "\n"
	    "keep (no-rule): no rule of the policy matched\n"
	    "  `otherwise PROFILE` at the end would decide.\n");
}

CASES_RUN(NULL, NULL)
