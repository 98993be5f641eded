/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/explain/explain_vector.c -- what a policy's seed and update lines say of
 * a call on vectors: `autocast explain cublasSaxpy_v2 n=320`. */
#include "cmd/explain/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPLANATION_BYTES = 1 << 16 };

/* Of every CUDA release. */
#define CUBLAS_VERSION 99999999
static const char *const functions[] = {
#define VECTOR(shape, symbol, index) #symbol,
#include "shim/bind/entries.def"
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

bool
ac_vector_is(const char *word)
{
	for (int i = 0; i < FUNCTIONS; i++)
		if (!strcmp(word, functions[i]))
			return true;
	return false;
}

const char *
ac_vector_near(const char *word)
{
	const size_t length = strlen(word);

	/* As programs write it. */
	for (int i = 0; i < FUNCTIONS; i++)
		if (!strncmp(word, functions[i], length) &&
		    !strcmp(functions[i] + length, "_v2"))
			return functions[i];
	/* cublasSgemm_v2 is no misspelt cublasSscal_v2. */
	return ac_explain_is_function(word) ? NULL
	    : ac_text_nearest(word, functions, FUNCTIONS);
}

/* ---- The call in words --------------------------------------------------- */

static bool
is_key(const char *name, const char *word, size_t length)
{
	return strlen(name) == length && !memcmp(name, word, length);
}

/* Take train+1a2b apart, which is a place; but libstdc++.so is none. */
static void
set_caller(struct ac_op *op, const char *value)
{
	static char module[256];
	const char *plus = strrchr(value, '+');

	op->fact[AC_FACT_CALLER] = value;
	if (!plus || !plus[1] ||
	    plus[1 + strspn(plus + 1, "0123456789abcdef")])
		return;
	snprintf(module, sizeof module, "%.*s", (int)(plus - value), value);
	op->fact[AC_FACT_CALLER] = module;
	op->place = value;
}

static int
set(struct ac_op *op, const char *word)
{
	static const enum ac_quantity quantities[] = { AC_Q_N, AC_Q_SM,
		AC_Q_DEVICE, AC_Q_RANK };
	static const enum ac_fact facts[] = { AC_FACT_CALLER, AC_FACT_PROGRAM,
		AC_FACT_REGION, AC_FACT_GPU, AC_FACT_LIB, AC_FACT_SOLVER };
	const size_t length = strcspn(word, "=");
	const char *value = word[length] ? word + length + 1 : "";
	double number;

	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		if (!*value || !is_key(ac_fact_names[facts[i]], word, length))
			continue;
		op->fact[facts[i]] = value;
		if (facts[i] == AC_FACT_CALLER)
			set_caller(op, value);
		return 0;
	}
	for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
		if (!*value || !is_key(ac_quantity_names[quantities[i]], word,
		    length))
			continue;
		if (ac_text_number(value, strlen(value), &number)
		    != strlen(value))
			break;
		ac_op_set(op, quantities[i], number);
		return 0;
	}
	return ac_say(AC_EXIT_USAGE, "explain: '%s' says nothing of a call on "
	    "vectors; say n=320, caller=, program=, region=, gpu=, sm= ...",
	    word);
}

/* ---- The answer -------------------------------------------------------- */

int
ac_vector_explain(const struct ac_chosen *chosen, char **words)
{
	struct ac_op op = { .operation = AC_OP_COUNT };
	struct ac_policy_origin origin;
	struct ac_policy *policy;
	struct ac_text text;
	int status = 0;

	op.fact[AC_FACT_FN] = *words;
	while (!status && *++words)
		status = set(&op, *words);
	if (status)
		return status;
	policy = ac_chosen_load(chosen, &origin);
	if (!policy)
		return AC_EXIT_USAGE;
	text = ac_say_buffer(EXPLANATION_BYTES);
	ac_policy_explain_scaling(policy, &op, &text);
	fputs(text.data, stdout);
	free(text.data);
	ac_policy_destroy(policy);
	return ac_say_done();
}
