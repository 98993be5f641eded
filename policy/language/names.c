/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/names.c -- the words of the language, spelled out from
 * words.def. Tables and one search, for code that reads or prints policies. */
#include "policy/language/names.h"

#include "policy/policy.h"
#include "policy/profiles/profiles.h"

#include <string.h>

enum {
	GEMM_BIT = AC_GEMM_FAMILY,
	CONV_BIT = AC_CONV_FAMILY,
	VECTOR_BIT = AC_VECTOR_FAMILY,
	ANY_BIT = GEMM_BIT | CONV_BIT
};

const char *const ac_operation_names[AC_OP_COUNT] = {
#define OPERATION(id, name, family) name,
#include "policy/words.def"
};

const char *const ac_quantity_names[AC_Q_COUNT] = {
#define QUANTITY(id, name, is_size, ops) name,
#include "policy/words.def"
};

const char *const ac_fact_names[AC_FACT_COUNT] = {
#define FACT(id, name, ops) name,
#include "policy/words.def"
};

const char *const ac_epilogue_names[AC_EPILOGUE_COUNT] = {
#define EPILOGUE(id, name) name,
#include "policy/words.def"
};

const char *const ac_rung_names[AC_RUNG_COUNT] = {
#define RUNG(id, name, error, tol, base, terms, chunk) name,
#include "policy/words.def"
};

const char *const ac_reason_names[AC_REASON_COUNT] = {
#define REASON(id, name, meaning) name,
#include "policy/words.def"
};

const char ac_reason_meanings[AC_REASON_COUNT][96] = {
#define REASON(id, name, meaning) meaning,
#include "policy/words.def"
};

const char *const ac_tactic_names[AC_TACTIC_COUNT] = {
	[AC_TACTIC_NONE] = "none",
	[AC_TACTIC_LIBRARY] = "library",
	[AC_TACTIC_CAST] = "cast",
};

const char *const ac_setting_names[AC_SET_COUNT] = {
#define SETTING(id, name, values) name,
#include "policy/words.def"
};

const char *const ac_profile_names[AC_PROFILE_COUNT] = {
#define PROFILE(id, name) name,
#include "policy/words.def"
};

const struct ac_rung_row ac_rung_rows[AC_RUNG_COUNT] = {
#define RUNG(id, name, error, tol, base, terms, chunk) \
	{ error, tol, AC_RUNG_##base, terms, chunk },
#include "policy/words.def"
};

const struct ac_quantity_row ac_quantity_rows[AC_Q_COUNT] = {
#define QUANTITY(id, name, is_size, ops) { is_size, ops },
#include "policy/words.def"
};

const unsigned ac_fact_families[AC_FACT_COUNT] = {
#define FACT(id, name, ops) ops,
#include "policy/words.def"
};

const char *const ac_setting_values[AC_SET_COUNT] = {
#define SETTING(id, name, values) values,
#include "policy/words.def"
};

const char *
ac_fact_values(enum ac_fact fact)
{
	static const char *const values[AC_FACT_COUNT] = {
		[AC_FACT_TA] = "N T C",
		[AC_FACT_TB] = "N T C",
		[AC_FACT_TYPE] = "f32 c32",
		[AC_FACT_ASKED] = "fp32 tf32 fast16f fast16bf pedantic "
		    "emulated opted-out",
		/* Of a convolution, and those of cublasLt. */
		[AC_FACT_EPILOGUE] = "fused"
#define EPILOGUE(id, name) " " name
#include "policy/words.def"
		,
		[AC_FACT_SOLVER] = "yes no",
	};

	return values[fact];
}

#define BIT(id) (1u << AC_OP_##id)
#define GEMM_OPERATIONS (BIT(GEMM_SINGLE) | BIT(GEMM_BATCHED) | \
    BIT(GEMM_STRIDED) | BIT(GEMM_GROUPED) | BIT(GEMM_SYRK) | BIT(GEMM_LT))
#define CONV_OPERATIONS (BIT(CONV_FPROP) | BIT(CONV_DGRAD) | BIT(CONV_WGRAD))

const struct ac_pattern ac_patterns[AC_PATTERN_COUNT] = {
	{ "*", GEMM_OPERATIONS | CONV_OPERATIONS, ANY_BIT, false },
	{ "gemm", GEMM_OPERATIONS, GEMM_BIT, false },
	{ "conv", CONV_OPERATIONS, CONV_BIT, false },
#define OPERATION(id, name, family) { name, BIT(id), family##_BIT, true },
#include "policy/words.def"
};

const char *const ac_pattern_names[AC_PATTERN_COUNT] = {
	"*", "gemm", "conv",
#define OPERATION(id, name, family) name,
#include "policy/words.def"
};

int
ac_name_find(const char *word, size_t length, const char *const *names,
    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == length &&
		    memcmp(names[i], word, length) == 0)
			return (int)i;
	return -1;
}

const char *
ac_gone_instead(const char *word, size_t length)
{
	static const char *const gone[][2] = {
#define GONE(name, instead) { name, instead },
#include "policy/words.def"
	};

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		if (strlen(gone[i][0]) == length &&
		    memcmp(gone[i][0], word, length) == 0)
			return gone[i][1];
	return NULL;
}

const char *
ac_policy_profile_text(const char *name)
{
	static const char *const texts[AC_PROFILE_COUNT] = {
		[AC_PROFILE_OFF] = ac_profile_off,
		[AC_PROFILE_TF32] = ac_profile_tf32,
		[AC_PROFILE_FP16] = ac_profile_fp16,
		[AC_PROFILE_BF16] = ac_profile_bf16,
		[AC_PROFILE_ACCURATE] = ac_profile_accurate,
		[AC_PROFILE_AMP] = ac_profile_amp,
	};
	const int which = ac_name_find(name, strlen(name), ac_profile_names,
	    AC_PROFILE_COUNT);

	return which < 0 ? NULL : texts[which];
}

uint32_t
ac_rung_chunk(const struct ac_op *op, enum ac_rung rung)
{
	enum { LEAST = 512 };   /* kernels/verified/verified.h */
	const uint32_t chunk = ac_rung_rows[rung].chunk;

	return ac_op_has(op, AC_Q_SM) && op->quantity[AC_Q_SM] < 90 &&
	    chunk > LEAST ? chunk / 2 : chunk;
}
