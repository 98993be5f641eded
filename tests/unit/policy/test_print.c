/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_print.c -- canonical text. That it reads back as
 * the same policy is checked on very many texts by tests/policy/agree.py. */
#include "with_policy.h"

static const char *
printed(const char *rules, const char *text)
{
	static char buffer[4096];
	struct ac_policy *policy = parse_with(rules, text);
	struct ac_text out;

	if (policy == NULL)
		fail_msg("refused: %s", said_buffer);
	ac_text_init(&out, buffer, sizeof(buffer));
	ac_policy_print(policy, &out);
	ac_policy_destroy(policy);
	return buffer;
}

CASE(test_canonical)
{
	assert_string_equal(printed(NULL, ""), "version 1\n");
	assert_string_equal(printed(NULL, "# nothing\n;;[sm=75]\n"),
	    "version 1\n");
	assert_string_equal(printed(NULL, "gemm->fp16"),
	    "version 1\ngemm -> fp16\n");
}

CASE(test_everything)
{
	assert_string_equal(printed("* fn=x -> keep",
	    "site a=0A0b0C0d; set tol=1e-3   guard=off\n"
	    "conv,gemm  m = 5 , 7..8 max( n,m )<4  ->tf32 , fp16  profit=off\n"
	    "[ gpu = \"NVIDIA H200*\" , \"a\\\"b\\\\\" ]\n"
	    "gemm ->auto\n"
	    "[]\n"
	    "set tol=2e-3\n"
	    "conv filter=3x3 -> tf32 own=64\n"
	    "conv.dgrad->keep\n"
	    "set workspace=64Mi\n"
	    "otherwise amp"),
	    "version 1\n"
	    "site a = 0a0b0c0d\n"
	    "* fn=x -> keep\n"
	    "set tol=1e-3 guard=off\n"
	    "gemm,conv m=5,7..8 max(m,n)<4 -> tf32,fp16 profit=off\n"
	    "gemm gpu=\"NVIDIA H200*\",\"a\\\"b\\\\\" -> auto\n"
	    "set tol=2e-3\n"
	    "conv filter=3x3 -> tf32 own=64\n"
	    "conv.dgrad -> keep\n"
	    "set workspace=64Mi\n"
	    "otherwise amp\n");
}

CASES_RUN(NULL, NULL)
