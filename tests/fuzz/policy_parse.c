/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/policy_parse.c -- any bytes as a policy. What is accepted must
 * print to a text that is accepted and prints the same, and must decide.
 * Built with -fsanitize=fuzzer -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION it
 * searches; built plainly it replays the files and folders named on the command
 * line (default: its corpus), and prints TAP. */
#include "base/text.h"
#include "policy/policy.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

enum { BUFFER_BYTES = 1 << 20 };

static struct ac_policy *
parse(const char *text, size_t count, char *said)
{
	struct ac_text diagnostics;
	struct ac_policy_problems problems = { .text = &diagnostics };
	struct ac_policy *policy;

	ac_text_init(&diagnostics, said, BUFFER_BYTES);
	policy = ac_policy_parse(NULL, text, count, "nowhere/p", &problems);
	/* Refused and complained about, or neither. */
	if ((policy == NULL) != (problems.errors != 0) ||
	    (policy == NULL && diagnostics.used == 0))
		abort();
	return policy;
}

static void
ask(const struct ac_policy *policy, char *buffer)
{
	struct ac_op op = { .operation = AC_OP_GEMM_SINGLE };
	struct ac_decision d;
	struct ac_text text;

	op.fact[AC_FACT_TYPE] = "f32";
	op.fact[AC_FACT_CALLER] = "train";
	op.fact[AC_FACT_SITE] = "9c41d2e0";
	ac_op_set_product(&op, 512, 512, 512, 1);
	ac_op_set(&op, AC_Q_SM, 90);
	ac_policy_decide(policy, &op, &d);
	if ((d.rung == AC_RUNG_KEEP) != (d.reason != AC_REASON_NONE))
		abort();
	ac_text_init(&text, buffer, BUFFER_BYTES);
	ac_policy_explain(policy, &op, &text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
	static char once[BUFFER_BYTES], twice[BUFFER_BYTES];
	struct ac_policy *policy, *again;
	struct ac_text text;

	policy = parse((const char *)data, count, once);
	if (policy == NULL)
		return 0;
	ask(policy, once);
	ac_text_init(&text, once, sizeof(once));
	ac_policy_print(policy, &text);
	ac_policy_destroy(policy);
	if (text.truncated)
		return 0;
	again = parse(once, text.used, twice);
	if (again == NULL)
		abort();
	ac_text_init(&text, twice, sizeof(twice));
	ac_policy_print(again, &text);
	ac_policy_destroy(again);
	if (strcmp(once, twice) != 0)
		abort();
	return 0;
}

#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
static unsigned replayed;

static void
replay_file(const char *path)
{
	static uint8_t bytes[BUFFER_BYTES];
	FILE *file = fopen(path, "rb");
	size_t count;

	if (file == NULL) {
		printf("Bail out! cannot open %s\n", path);
		exit(1);
	}
	count = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	printf("# %s\n", path);
	LLVMFuzzerTestOneInput(bytes, count);
	replayed++;
}

static void
replay(const char *path)
{
	char inner[4096];
	struct dirent *entry;
	DIR *folder = opendir(path);

	if (folder == NULL) {
		replay_file(path);
		return;
	}
	while ((entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		replay_file(inner);
	}
	closedir(folder);
}

int
main(int argc, char **argv)
{
	const char *srcdir = getenv("srcdir");
	char corpus[4096];
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..1\n");
	snprintf(corpus, sizeof(corpus), "%s/tests/fuzz/corpus",
	    srcdir == NULL ? "." : srcdir);
	if (argc < 2)
		replay(corpus);
	for (i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%sok 1 - %u texts replayed\n", replayed == 0 ? "not " : "",
	    replayed);
	return replayed == 0;
}
#endif
