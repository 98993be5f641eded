/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/explain/explain.c -- autocast explain: why an operation runs as it does.
 * The operation is described on the command line, or taken from a run
 * (cmd/explain/explain_site.c). */
#include "cmd/explain/explain.h"
#include "policy/profit/calibration.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	EXPLANATION_BYTES = 1 << 18,
	OPT_FUNCTIONS = AC_OPTION_OWN, OPT_RATES
};

int
ac_explain_operation(const struct ac_chosen *chosen, const struct ac_op *op,
    const char *before)
{
	struct ac_policy_origin origin;
	struct ac_policy *policy = ac_chosen_load(chosen, &origin);
	struct ac_op asked = *op;
	struct ac_rates measured;
	struct ac_text text, why = AC_TEXT_OF(2048);

	if (!policy)
		return AC_EXIT_USAGE;
	if (ac_calibration_find(op->fact[AC_FACT_GPU], op->fact[AC_FACT_LIB],
	    &measured, &why))
		asked.rates = &measured;
	if (why.used)
		ac_say(0, "explain: %s", why.data);
	fputs(before, stdout);
	text = ac_say_buffer(EXPLANATION_BYTES);
	ac_policy_explain(policy, &asked, &text);
	fputs(text.data, stdout);
	free(text.data);
	ac_policy_destroy(policy);
	return ac_say_done();
}

static int
act(const struct ac_chosen *chosen, char **words)
{
	struct ac_op op;
	int status;
	struct ac_text note = AC_TEXT_OF(256);

	if (!*words)
		return ac_say(AC_EXIT_USAGE, "explain: the operation is "
		    "missing; try 'autocast explain gemm.single m=256 n=64 "
		    "k=1024'");
	if (ac_explain_is_site(*words))
		return ac_explain_site(chosen, words);
	if (ac_vector_is(*words))
		return ac_vector_explain(chosen, words);
	status = ac_operation_read(&op, words, &note);
	return status ? status : ac_explain_operation(chosen, &op, note.data);
}

static int
run(const struct ac_command *self, char **arguments)
{
	struct ac_arguments a = { .command = self, .next = arguments };
	static struct ac_chosen chosen; /* as long-lived as what it points to */
	size_t count = 0;
	int (*list)(void) = NULL;

	/* Operands close ranks where the options were. */
	for (;;) {
		switch (ac_arguments_next(&a)) {
		case 'e':
			ac_chosen_add_rule(&chosen, a.value);
			break;
		case AC_OPTION_POLICY:
			chosen.policy = a.value;
			break;
		case OPT_FUNCTIONS:
			list = ac_explain_functions;
			break;
		case OPT_RATES:
			list = ac_explain_rates;
			break;
		case AC_ARGUMENT_OPERAND:
			arguments[count++] = a.next[-1];
			break;
		case AC_ARGUMENT_END:
			arguments[count] = NULL;
			if (list && count)
				return ac_say(AC_EXIT_USAGE, "explain: "
				    "unexpected '%s': --functions and --rates "
				    "list all", *arguments);
			return list ? list() : act(&chosen, arguments);
		default:
			return a.status;
		}
	}
}

const struct ac_command ac_command_explain = {
	.name = "explain",
	.operands = "OPERATION [KEY=VALUE]... | [@N] SITE | --functions | "
	    "--rates",
	.summary = "Say which rule decides about an operation, and why.",
	.details =
	    "  autocast explain gemm.single m=256 n=64 k=1024 ta=n gpu=t4\n"
	    "  autocast explain gemm.lt m=3072 n=4096 k=768 "
	    "epilogue=gelu_bias\n"
	    "  autocast explain conv.fprop images=32 cin=256 image=28x28 "
	    "cout=256 filter=3x3 pad=1\n"
	    "  autocast explain cublasSaxpy_v2 n=320     seed and update "
	    "lines\n"
	    "  autocast explain 5f3a91c2     a site of the last report\n"
	    "  autocast explain @2 5f3a91c2  of the run before it\n",
	.options = {
		AC_POLICY_OPTIONS,
		{ OPT_FUNCTIONS, "functions", NULL, "list every function the "
		    "library wraps, and what it does with it" },
		{ OPT_RATES, "rates", NULL, "list what each GPU is taken to "
		    "do in a second, by which profit=on judges" },
	},
	.run = run
};
