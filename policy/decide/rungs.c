/* SPDX-License-Identifier: Apache-2.0 */
/* policy/decide/rungs.c -- which rungs an operation may use under a rule: what
 * is legal and accurate enough. Pure; called by decide.c and explain.c. */
#include "policy/language/rule.h"

double
ac_rule_tol(const struct ac_rule *rule, enum ac_rung rung)
{
	return rule->ask.tol > 0 ? rule->ask.tol : ac_rung_rows[rung].tol;
}

double
ac_rung_tol(const struct ac_rule *rule, enum ac_rung rung)
{
	const double tol = ac_rule_tol(rule, rung);
	const struct ac_rung_row *row = &ac_rung_rows[rung];

	return row->terms > 1 && tol > row->tol ? row->tol : tol;
}

/* ---- Legality ------------------------------------------------------------ */

#define BIT(id) (1u << AC_RUNG_##id)
enum {
	PARTS = BIT(FP16X2) | BIT(FP16X3) | BIT(BF16X3) | BIT(BF16X6),
	ALL = BIT(TF32) | BIT(FP16) | BIT(BF16) | PARTS
};

/* The rungs each operation has at all ("Legal rungs" of the manual). */
static const unsigned legal_rungs[AC_OP_COUNT] = {
	[AC_OP_GEMM_SINGLE] = ALL,
	[AC_OP_GEMM_STRIDED] = ALL,
	[AC_OP_GEMM_SYRK] = ALL,
	[AC_OP_GEMM_LT] = ALL,
	/* Pointer arrays: the host cannot see how the matrices are aligned, so
	 * the compute type of the program's own call stays as it is. */
	[AC_OP_GEMM_BATCHED] = BIT(FP16) | BIT(BF16) | PARTS,
	[AC_OP_GEMM_GROUPED] = BIT(FP16) | BIT(BF16) | PARTS,
	[AC_OP_CONV_FPROP] = BIT(TF32) | BIT(FP16),
	[AC_OP_CONV_DGRAD] = BIT(TF32),
	[AC_OP_CONV_WGRAD] = BIT(TF32),
};

/* What more they have under a rule that names just them: gradients need range,
 * which cuDNN's own conversion to FP16 does not give them. */
static const unsigned named_rungs[AC_OP_COUNT] = {
	[AC_OP_CONV_DGRAD] = BIT(FP16),
	[AC_OP_CONV_WGRAD] = BIT(FP16),
};

/* Compute capability that first has the arithmetic of a rung. */
static const double least_sm[AC_RUNG_COUNT] = {
	[AC_RUNG_TF32] = 80,
	[AC_RUNG_FP16] = 70,
	[AC_RUNG_BF16] = 80,
	[AC_RUNG_FP16X2] = 70,
	[AC_RUNG_FP16X3] = 70,
	[AC_RUNG_BF16X3] = 80,
	[AC_RUNG_BF16X6] = 80,
};

/* From here on cuDNN offers no engine that converts an FP32 convolution to
 * FP16, or none that was tried. */
#define FIRST_SM_WITHOUT_CONV_FP16 100

static bool
is_complex(const struct ac_op *op)
{
	return ac_op_is(op, AC_FACT_TYPE, "c32");
}

static bool
has_epilogue_without(const struct ac_op *op)
{
	const char *epilogue = op->fact[AC_FACT_EPILOGUE];

	return op->operation == AC_OP_GEMM_LT && epilogue != NULL &&
	    ac_epilogue_objection(epilogue) != NULL;
}

/* Whether a pattern of the rule names just this operation. */
static bool
names_exactly(const struct ac_rule *rule, enum ac_operation operation)
{
	for (unsigned i = 0; i < AC_PATTERN_COUNT; i++)
		if (rule->patterns >> i & 1 && ac_patterns[i].exact &&
		    ac_patterns[i].operations == 1u << operation)
			return true;
	return false;
}

static bool
is_legal(const struct ac_rule *rule, const struct ac_op *op, enum ac_rung rung)
{
	unsigned legal = legal_rungs[op->operation];

	if (names_exactly(rule, op->operation))
		legal |= named_rungs[op->operation];
	/* Complex numbers by compute type only; see the pointer arrays above.
	 * Those of cublasLt nobody reads. */
	if (is_complex(op))
		legal &= ac_operation_is_in_arrays(op->operation) ||
		    op->operation == AC_OP_GEMM_LT ? 0 :
		    BIT(TF32) | BIT(BF16);
	if (has_epilogue_without(op))
		legal = 0;
	return legal >> rung & 1;
}

/* Whether the GPU of `op` can do it. An unknown one can do nothing. */
static bool
gpu_has(const struct ac_op *op, enum ac_rung rung)
{
	const double sm = ac_op_has(op, AC_Q_SM) ? op->quantity[AC_Q_SM] : 0;

	return sm >= least_sm[rung] && !(rung == AC_RUNG_FP16 &&
	    ac_op_is_conv(op) && sm >= FIRST_SM_WITHOUT_CONV_FP16);
}

enum ac_tactic
ac_rung_tactic(const struct ac_rule *rule, const struct ac_op *op,
    enum ac_rung rung)
{
	if (rung == AC_RUNG_TF32 || is_complex(op) || ac_op_is_conv(op))
		return AC_TACTIC_LIBRARY;
	if (ac_operation_is_in_arrays(op->operation) || PARTS >> rung & 1)
		return AC_TACTIC_CAST;
	/* The library's own has no exponents: whoever names it gets it. */
	if (rung == AC_RUNG_FP16)
		return rule->ask.tactic == AC_TACTIC_LIBRARY &&
		    rule->action != AC_ACTION_AUTO ? AC_TACTIC_LIBRARY :
		    AC_TACTIC_CAST;
	return rule->ask.tactic == AC_TACTIC_CAST ? AC_TACTIC_CAST :
	    AC_TACTIC_LIBRARY;
}

enum ac_verdict
ac_rung_judge(const struct ac_rule *rule, const struct ac_op *op,
    enum ac_rung rung)
{
	if (!is_legal(rule, op, rung))
		return named_rungs[op->operation] >> rung & 1 ?
		    AC_VERDICT_UNNAMED : AC_VERDICT_ILLEGAL;
	if (!gpu_has(op, rung))
		return AC_VERDICT_GPU;
	if (ac_rung_rows[rung].error > ac_rule_tol(rule, rung))
		return AC_VERDICT_INACCURATE;
	if (rule->ask.tactic == AC_TACTIC_LIBRARY &&
	    ac_rung_tactic(rule, op, rung) == AC_TACTIC_CAST)
		return AC_VERDICT_TACTIC;
	return AC_VERDICT_FITS;
}
