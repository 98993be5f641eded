/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_problems.c -- how a diagnostic looks, to the byte, and
 * that no text can make it ugly or long. */
#include "with_policy.h"

static void
check(const char *text, const char *expected)
{
	ac_policy_destroy(parse_with(NULL, text));
	assert_string_equal(said_buffer, expected);
}

CASE(test_caret)
{
	check("gemm -> fp61\n",
	    "p:1:9: unknown action 'fp61' (did you mean 'fp16'?)\n"
	    "  gemm -> fp61\n"
	    "          ^\n");
	/* Tabs stay tabs, so that the caret stays below its token. */
	check("\tgemm\t-> fp61 # x\n",
	    "p:1:10: unknown action 'fp61' (did you mean 'fp16'?)\n"
	    "  \tgemm\t-> fp61 # x\n"
	    "  \t    \t   ^\n");
	check("gemm fn=\"\xc3\xa9\xe2\x82\xac\" -> x\r\n",
	    "p:1:17: unknown action 'x'" ALL_ACTIONS "\n"
	    "  gemm fn=\"\xc3\xa9\xe2\x82\xac\" -> x\n"
	    "                  ^\n");
	check("gemm ->",
	    "p:1:8: an action is missing after '->'\n"
	    "  gemm ->\n"
	    "         ^\n");
	check("gemm \\\n  -> x",
	    "p:2:6: unknown action 'x'" ALL_ACTIONS "\n"
	    "    -> x\n"
	    "       ^\n");
	check("gemm -> tf32\ngemm -> tf32",
	    "p:2:1: warning: this rule never decides: line 1 already matches "
	    "all its calls\n"
	    "  gemm -> tf32\n"
	    "  ^\n");
}

/* Long lines are cut to a window around the place. */
CASE(test_window)
{
	char text[1024];
	size_t i;

	memset(text, ' ', 500);
	memcpy(text + 500, "oops ", 5);
	for (i = 505; i < 1000; i++)
		text[i] = 'y';
	text[1000] = '\0';
	assert_null(parse_with(NULL, text));
	assert_true(strlen(said_buffer) < 300 + strlen(ALL_OPERATIONS));
	assert_non_null(strstr(said_buffer, "p:1:501: unknown operation"));
	assert_non_null(strstr(said_buffer, "                  oops yyyy"));
	assert_non_null(strstr(said_buffer, "                  ^\n"));
}

/* What a file holds must not steer the reader's terminal. */
CASE(test_controls)
{
	check("gemm fn=\"\x1b[31m\" -> \x07",
	    "p:1:20: unknown action '?'" ALL_ACTIONS "\n"
	    "  gemm fn=\"?[31m\" -> ?\n"
	    "                     ^\n");
	check("gemm \x01\x7f",
	    "p:1:6: '->' is missing before '?'\n"
	    "  gemm ??\n"
	    "       ^\n");
}

CASE(test_noise)
{
	check("gemm -> fp16\n\xff\xfe\x80",
	    "p:2:1: not UTF-8: this is not a text file\n"
	    "  ???\n"
	    "  ^\n");
	ac_text_init(&said, said_buffer, sizeof(said_buffer));
	problems = (struct ac_policy_problems){ .text = &said };
	assert_null(ac_policy_parse(NULL, "ge\0mm", 5, "p", &problems));
	assert_string_equal(said_buffer,
	    "p:1:3: a NUL byte: this is not a text file\n"
	    "  ge?mm\n"
	    "    ^\n");
}

/* A buffer too small cuts the text and nothing else. */
CASE(test_small_buffer)
{
	char buffer[16];
	struct ac_text text;
	struct ac_policy_problems cut = { .text = &text };

	ac_text_init(&text, buffer, sizeof(buffer));
	assert_null(ac_policy_parse(NULL, "oops", 4, "p", &cut));
	assert_int_equal(cut.errors, 1);
	assert_string_equal(buffer, "p:1:1: unknown ");
}

CASES_RUN(NULL, NULL)
