/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/explain/operation.c -- an operation in the words of a command line:
 * gemm.single m=256 n=64 k=1024 ta=t. */
#include "cmd/command.h"
#include "policy/language/names.h"
#include "policy/profit/profit.h"

#include <stdio.h>
#include <string.h>

/* What a call is taken to have when the command line does not say. */
static const struct {
	const char *name, *value;
} assumed[] = {
	{ "ta", "N" }, { "tb", "N" }, { "type", "f32" }, { "asked", "fp32" },
	{ "epilogue", "none" },
	{ "solver", "no" }, { "batch", "1" }, { "sm", "90" }
};

/* ---- key=value --------------------------------------------------------- */

/* A number with Ki or Mi, or 3x3 as the policy packs it: sixteen bits each. */
static bool
read_quantity(const char *s, double *value_out)
{
	double value = 0, part, factor = 1;

	for (;;) {
		const size_t used = ac_text_number(s, strlen(s), &part);

		if (!used)
			return false;
		value += part * factor;
		s += used;
		if (*s != 'x' || part > 65535)
			break;
		factor *= 65536;
		s++;
	}
	if (!strcmp(s, "Ki") || !strcmp(s, "Mi")) {
		value *= *s == 'K' ? 1024 : 1048576;
		s += 2;
	}
	*value_out = value;
	return !*s;
}

static int
unknown_key(const char *key, size_t length)
{
	const char *names[AC_Q_COUNT + AC_FACT_COUNT], *near;
	struct ac_text t = AC_TEXT_OF(32);

	ac_text_add_bytes(&t, key, length);
	memcpy(names, ac_quantity_names, sizeof ac_quantity_names);
	memcpy(names + AC_Q_COUNT, ac_fact_names, sizeof ac_fact_names);
	near = ac_text_nearest(t.data, names, AC_Q_COUNT + AC_FACT_COUNT);
	if (near)
		return ac_say(AC_EXIT_USAGE, "explain: unknown '%s'; did you "
		    "mean '%s='?", t.data, near);
	return ac_say(AC_EXIT_USAGE, "explain: unknown '%s'; say m=, n=, k=, "
	    "ta=, tb=, sm=, asked= ...", t.data);
}

/* Whether calls of this operation have transpositions. */
static bool
is_product(const struct ac_op *op)
{
	return !strncmp(ac_operation_names[op->operation], "gemm", 4);
}

/* cuBLAS says N, T, C; people type n, t, c too. */
static const char *
transposition(const char *value)
{
	static const char *const letters[] = { "N", "T", "C" };

	for (int i = 0; i < 3; i++)
		if (value[0] && !value[1] && (value[0] & ~0x20) ==
		    letters[i][0])
			return letters[i];
	return NULL;
}

/* "fp16,tf32", or auto: every rung. */
static bool
read_rungs(struct ac_op *op, const char *list)
{
	const bool is_auto = !strcmp(list, "auto");

	op->region_rungs = 0;
	for (int i = 1; is_auto && i < AC_RUNG_COUNT; i++)
		op->region_rung[op->region_rungs++] = (enum ac_rung)i;
	while (!is_auto) {
		const size_t length = strcspn(list, ",");
		const int rung = ac_name_find(list, length, ac_rung_names,
		    AC_RUNG_COUNT);

		if (rung <= AC_RUNG_KEEP || op->region_rungs == AC_RUNG_COUNT)
			return false;
		op->region_rung[op->region_rungs++] = (enum ac_rung)rung;
		if (!list[length])
			break;
		list += length + 1;
	}
	return true;
}

/* What a program may say of a region, its name apart. *status_out is set if
 * `word` is about that. */
static bool
set_region(struct ac_op *op, const char *word, size_t length,
    const char *value, int *status_out)
{
	static const char *const keys[] = { "region-enabled", "region-rung" };
	const int which = ac_name_find(word, length, keys, 2);

	*status_out = 0;
	if (which == 1 && !read_rungs(op, value))
		*status_out = ac_say(AC_EXIT_USAGE, "explain: %s names no "
		    "rungs; for example region-rung=fp16,tf32", word);
	if (which == 0 && strcmp(value, "on") && strcmp(value, "off"))
		*status_out = ac_say(AC_EXIT_USAGE, "explain: %s is on or off",
		    word);
	op->region_keeps |= which == 0 && !strcmp(value, "off");
	return which >= 0;
}

/* "4096x4096x1024", the sizes of a product as other tools say them: "m=4096
 * n=4096 k=1024" into *text. */
static bool
add_product(struct ac_text *text, const char *word)
{
	static const char keys[] = "mnk";

	for (int i = 0; i < 3; i++) {
		const size_t digits = strspn(word, "0123456789");

		if (!digits || word[digits] != (i < 2 ? 'x' : '\0'))
			return false;
		ac_text_addf(text, "%s%c=%.*s", i ? " " : "", keys[i],
		    (int)digits, word);
		word += digits + (i < 2);
	}
	return true;
}

static int
refuse_word(const char *word)
{
	struct ac_text t = AC_TEXT_OF(96);

	if (!add_product(&t, word))
		strcpy(t.data, "m=256");
	return ac_say(AC_EXIT_USAGE, "explain: '%s' is not KEY=VALUE; for "
	    "example %s", word, t.data);
}

static const bool has_size[AC_Q_COUNT] = {
#define QUANTITY(id, name, is_size, ops) is_size,
#include "policy/words.def"
};

static int
set(struct ac_op *op, struct ac_conv_words *conv, const char *word)
{
	const size_t length = strcspn(word, "=");
	const char *value = word + length + 1;
	const int q = ac_name_find(word, length, ac_quantity_names, AC_Q_COUNT);
	const int f = ac_name_find(word, length, ac_fact_names, AC_FACT_COUNT);
	double number;
	bool extent;
	int status;

	if (!word[length] || (f >= 0 && !*value))
		return refuse_word(word);
	extent = conv && ac_op_is_conv(op) &&
	    ac_conv_words_add(conv, word, length, value);
	if (extent && q < 0)
		return 0;
	if (q < 0 && f < 0 && set_region(op, word, length, value, &status))
		return status;
	if (q < 0 && f < 0)
		return unknown_key(word, length);
	if (f == AC_FACT_TA || f == AC_FACT_TB) {
		if (!is_product(op))
			return ac_say(AC_EXIT_USAGE, "explain: %s is only of "
			    "products; %s has no such matrix", word,
			    ac_operation_names[op->operation]);
		op->fact[f] = transposition(value);
		return op->fact[f] ? 0 : ac_say(AC_EXIT_USAGE,
		    "explain: '%s': a transposition is n, t or c", word);
	}
	if (f == AC_FACT_EPILOGUE)
		return ac_epilogue_read(op, value);
	if (f >= 0) {
		op->fact[f] = value;
		return 0;
	}
	if (!read_quantity(value, &number) || number > 9e18)
		return ac_say(AC_EXIT_USAGE, "explain: '%s' is not a number; "
		    "for example %s=256", word, ac_quantity_names[q]);
	if (q == AC_Q_SM && strchr(value, '.'))
		return ac_say(AC_EXIT_USAGE, "explain: '%s' is a version; "
		    "did you mean 'sm=%.0f'?", word, number * 10);
	if (extent && number > (double)(uint64_t)number)
		return ac_say(AC_EXIT_USAGE, "explain: '%s' is not a whole "
		    "number", word);
	if (!extent && has_size[q] && (number < 1 ||
	    number > (double)(uint64_t)number))
		return ac_say(AC_EXIT_USAGE, "explain: '%s' is no size; for "
		    "example %s=256", word, ac_quantity_names[q]);
	ac_op_set(op, (enum ac_quantity)q, number);
	return 0;
}

/* ---- An operation from the command line -------------------------------- */

static int
read_name(struct ac_op *op, const char *name)
{
	const char *near;
	char sizes[256];
	int i;
	struct ac_text t = AC_TEXT_IN(sizes);

	memset(op, 0, sizeof *op);
	if (!strcmp(name, "gemm"))
		name = "gemm.single";
	i = ac_name_find(name, strlen(name), ac_operation_names, AC_OP_COUNT);
	if (i >= 0) {
		op->operation = (enum ac_operation)i;
		return 0;
	}
	if ((near = ac_text_nearest(name, ac_operation_names, AC_OP_COUNT)) ||
	    (near = ac_vector_near(name)))
		return ac_say(AC_EXIT_USAGE, "explain: unknown operation '%s'; "
		    "did you mean '%s'?", name, near);
	if (add_product(&t, name) || strchr(name, '='))
		return ac_say(AC_EXIT_USAGE, "explain: the operation is "
		    "missing before '%s'; did you mean 'autocast explain gemm "
		    "%s'?", name, strchr(name, '=') ? name : sizes);
	ac_text_init(&t, sizes, sizeof sizes);
	for (i = 0; i < AC_OP_COUNT; i++)
		ac_text_addf(&t, "%s, ", ac_operation_names[i]);
	return ac_say(AC_EXIT_USAGE, "explain: unknown operation '%s'; it is "
	    "%sor the id of a site in the last report", name, sizes);
}

/* Whether they are alike but for case, blanks and asterisks. */
static bool
is_spelled_like(const char *glob, const char *typed)
{
	for (;; glob++, typed++) {
		while (*glob == ' ' || *glob == '*')
			glob++;
		while (*typed == ' ')
			typed++;
		if ((*glob | 0x20) != (*typed | 0x20))
			return false;
		if (!*glob)
			return true;
	}
}

/* "h200" is the NVIDIA H200, and every GPU we know has a compute capability:
 * of another it must be said, or it is taken for the usual one. */
static int
resolve_gpu(struct ac_op *op)
{
	const struct ac_rates *row;

	if (!op->fact[AC_FACT_GPU])
		return 0;
	for (unsigned i = 0; (row = ac_rates_row(i)); i++)
		if (is_spelled_like(row->gpu, op->fact[AC_FACT_GPU]))
			op->fact[AC_FACT_GPU] = row->name;
	if (ac_op_has(op, AC_Q_SM))
		return 0;
	row = ac_rates_find(op->fact[AC_FACT_GPU], 0);
	if (!row)
		return ac_say(AC_EXIT_USAGE, "explain: unknown GPU '%s'; "
		    "'autocast explain --rates' names the known ones; of "
		    "another say sm= too", op->fact[AC_FACT_GPU]);
	ac_op_set(op, AC_Q_SM, row->sm);
	return 0;
}

/* cuDNN computes in TF32 unless the math type forbids it. */
static const char *
usual_arithmetic(const struct ac_op *op)
{
	return ac_op_is_conv(op) && (!ac_op_has(op, AC_Q_SM) ||
	    op->quantity[AC_Q_SM] >= 80) ? "tf32" : "fp32";
}

static void
assume(struct ac_op *op, struct ac_text *note)
{
	const char *between = note->used ? "," : "assuming";

	for (size_t i = 0; i < sizeof assumed / sizeof *assumed; i++) {
		const char *name = assumed[i].name;
		const int q = ac_name_find(name, strlen(name),
		    ac_quantity_names, AC_Q_COUNT);
		const int f = ac_name_find(name, strlen(name),
		    ac_fact_names, AC_FACT_COUNT);
		const char *value = f == AC_FACT_ASKED ? usual_arithmetic(op)
		    : assumed[i].value;
		char word[32];

		if (q >= 0 ? ac_op_has(op, (enum ac_quantity)q)
		    : op->fact[f] != NULL)
			continue;
		if ((f == AC_FACT_TA || f == AC_FACT_TB) && !is_product(op))
			continue;
		if (f == AC_FACT_EPILOGUE && op->operation != AC_OP_GEMM_LT)
			continue;
		snprintf(word, sizeof word, "%s=%s", name, value);
		if (f >= 0)
			op->fact[f] = value;
		else
			(void)set(op, NULL, word);
		ac_text_addf(note, "%s %s", between, word);
		between = ",";
	}
	if (note->used)
		ac_text_add(note, "\n\n");
}

/* If `word` has the key of an earlier one, from `first` on. */
static int
refuse_repeated(char **first, char **word)
{
	const size_t length = strcspn(*word, "=") + 1;

	for (; first < word; first++)
		if (!strncmp(*first, *word, length))
			return ac_say(AC_EXIT_USAGE, "explain: '%s' and '%s': "
			    "say one of them", *first, *word);
	return 0;
}

/* Sizes that a matrix product cannot be without. */
static int
require_sizes(const struct ac_op *op)
{
	static const enum ac_quantity needed[] = { AC_Q_M, AC_Q_N, AC_Q_K };

	if (!is_product(op))
		return 0;
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!ac_op_has(op, needed[i]))
			return ac_say(AC_EXIT_USAGE, "explain: %s is missing; "
			    "for example m=256 n=64 k=1024",
			    ac_quantity_names[needed[i]]);
	return 0;
}

/* flops, bytes and intensity follow from the sizes unless they were given. */
static void
complete(struct ac_op *op)
{
	const struct ac_op given = *op;

	if (!ac_op_has(op, AC_Q_M) || !ac_op_has(op, AC_Q_N) ||
	    !ac_op_has(op, AC_Q_K))
		return;
	ac_op_set_product(op, (int64_t)op->quantity[AC_Q_M],
	    (int64_t)op->quantity[AC_Q_N], (int64_t)op->quantity[AC_Q_K],
	    (int64_t)op->quantity[AC_Q_BATCH]);
	for (int i = 0; i < AC_Q_COUNT; i++)
		if (ac_op_has(&given, (enum ac_quantity)i))
			op->quantity[i] = given.quantity[i];
}

int
ac_operation_read(struct ac_op *op, char **words, struct ac_text *note)
{
	struct ac_conv_words conv = { 0 };
	int status = read_name(op, *words);

	for (char **word = words + 1; !status && *word; word++) {
		status = refuse_repeated(words, word);
		if (!status)
			status = set(op, &conv, *word);
	}
	if (!status)
		status = require_sizes(op);
	if (!status)
		status = ac_conv_words_complete(&conv, op, note);
	if (!status)
		status = resolve_gpu(op);
	if (status)
		return status;
	assume(op, note);
	if (!conv.image)
		complete(op);
	return 0;
}
