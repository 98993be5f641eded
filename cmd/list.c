/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/list.c -- autocast list: the catalogue, every symbol the library wraps
 * and what it does with it. The rows are the shim's own. */
#include "cmd/command.h"

#include <stdio.h>
#include <string.h>

/* Show the rows of every CUDA release. */
#define CUBLAS_VERSION 99999999

/* What becomes of a row, by its kind: the shapes of cublas_gemm.def, the
 * kinds of marker.def. */
static const struct {
	const char *kind, *meaning;
} kinds[] = {
	{ "SINGLE",      "recast by the policy" },
	{ "GEMM_EX",     "recast by the policy when the operands are FP32" },
	{ "STRIDED",     "recast by the policy" },
	{ "STRIDED_EX",  "recast by the policy when the operands are FP32" },
	{ "SGEMM_EX",    "kept and reported (not-built)" },
	{ "POINTERS",    "kept and reported (not-built)" },
	{ "POINTERS_EX", "kept and reported (not-built)" },
	{ "GROUPED",     "kept and reported (grouped)" },
	{ "GROUPED_EX",  "kept and reported (grouped)" },
	{ "PRODUCT",     "counted and passed through" },
	{ "CONVOLUTION", "counted and passed through" },
	{ "SOLVER",      "counted and passed through; its caller is a solver" },
	{ "HANDLE",      "followed, never changed" },
};

static const struct { const char *symbol, *kind; } rows[] = {
#define GEMM(shape, symbol, index) { #symbol, #shape },
#include "shim/cublas_gemm.def"
#undef GEMM
#define MARKER(kind, symbol, provider) { #symbol, #kind },
#include "shim/marker.def"
#undef MARKER
#define HANDLE(symbol) { #symbol, "HANDLE" },
#include "shim/cublas_handle.def"
#undef HANDLE
};

static const char *
meaning(const char *kind)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].kind, kind))
			return kinds[i].meaning;
	return "passed through";
}

static int
run(const struct ac_command *self, char **arguments)
{
	struct ac_arguments a = { .command = self, .next = arguments };

	switch (ac_arguments_next(&a)) {
	case AC_ARGUMENT_END:
		break;
	case AC_ARGUMENT_STOP:
		return a.status;
	default:
		return ac_say(AC_EXIT_USAGE, "list: unexpected '%s'; "
		    "'autocast list' takes no operands", a.value);
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		printf("%-38s %s\n", rows[i].symbol, meaning(rows[i].kind));
	return ac_say_done();
}

const struct ac_command ac_command_list = {
	.name = "list",
	.operands = "",
	.summary = "List every function the library wraps, and what it does "
	    "with it.",
	.details = "",
	.run = run
};
