/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_cover.c -- rules that can never decide are named, and
 * no other rule is. */
#include "with_policy.h"

static const struct {
	const char *earlier, *later;
	bool        covers;
} rows[] = {
	{ "gemm", "gemm", true },
	{ "*", "conv.dgrad cin<4", true },
	{ "gemm", "gemm,conv", false },
	{ "gemm.single", "gemm", false },
	{ "gemm m<=16", "gemm m<=16 n=4", true },
	{ "gemm m<=16 n=4", "gemm m<=16", false },
	{ "gemm m<=16", "gemm m<16", true },
	{ "gemm m<16", "gemm m<=16", false },
	{ "gemm m<16", "gemm m<=15", true },
	{ "gemm m<=16", "gemm m=1,7..16", true },
	{ "gemm m<=16", "gemm m=1,7..17", false },
	{ "gemm flops<=16", "gemm flops<16.5", false },
	{ "gemm m>16", "gemm m>=17", true },
	{ "gemm m>=16", "gemm m>16", true },
	{ "gemm m>16", "gemm m>=16", false },
	{ "gemm m>=16", "gemm n>=16", false },
	{ "gemm m=1..100", "gemm m=5..10", true },
	{ "gemm m!=5", "gemm m=6,7", true },
	{ "gemm m!=5", "gemm m=4..6", false },
	{ "gemm m!=5", "gemm m!=5", true },
	{ "gemm m!=5", "gemm m!=6", false },
	{ "gemm min(m,n)<=16", "gemm min(n,m)<=8", true },
	{ "gemm min(m,n)<=16", "gemm min(m,n,k)<=8", false },
	{ "gemm min(m,n)<=16", "gemm max(m,n)<=8", false },
	{ "conv filter=3x3", "conv filter=3x3", true },
	{ "conv filter=3x3", "conv filter=3", false },
	{ "gemm ta=N,T", "gemm ta=T", true },
	{ "gemm ta=T", "gemm ta=N,T", false },
	{ "gemm caller=lib*", "gemm caller=libfoo", true },
	{ "gemm caller=lib*", "gemm caller=lib*", true },
	{ "gemm caller=lib*", "gemm caller=l*", false },
	{ "gemm caller=*", "gemm caller=l*", true },
	{ "gemm ta!=N", "gemm ta=T", true },
	/* A place in a caller is one of its names. */
	{ "gemm caller!=train+1a2b", "gemm caller=train", false },
	{ "gemm caller!=lib*", "gemm caller=libbar", false },
	{ "gemm caller!=lib*", "gemm caller=l*", false },
	/* A call without a caller reaches the second rule. */
	{ "gemm caller=*", "gemm", false },
	/* The same site may go by its name. */
	{ "gemm site!=qk?", "gemm site=9c41d2e0", false },
	{ "gemm fn!=cublasSgemm", "gemm fn=cublasSgemm_v2", false },
};

CASE(test_rows)
{
	char text[256];
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), "%s -> keep\n%s -> tf32",
		    rows[i].earlier, rows[i].later);
		ac_policy_destroy(parse_good(text));
		if ((problems.warnings == 1) != rows[i].covers)
			fail_msg("%s: %u warnings", text, problems.warnings);
	}
}

/* A section is part of its rules. */
CASE(test_sections)
{
	ac_policy_destroy(parse_good("[sm=75]\ngemm -> keep\n[]\n"
	    "gemm -> tf32"));
	assert_int_equal(problems.warnings, 0);
	ac_policy_destroy(parse_good("gemm -> keep\n[sm=75]\ngemm -> tf32"));
	assert_int_equal(problems.warnings, 1);
}

/* A profile covering itself, or being covered, is nobody's mistake. */
CASE(test_profiles)
{
	ac_policy_destroy(parse_good("* -> keep\notherwise amp"));
	assert_int_equal(problems.warnings, 0);
}

/* Nor does a rule for a site or a GPU that cannot be. */
CASE(test_words)
{
	ac_policy_destroy(parse_good("site qkv = 9c41d2ee\n"
	    "gemm site=qkv,9c41d2ef,9c* -> keep"));
	assert_int_equal(problems.warnings, 0);
	ac_policy_destroy(parse_good("gemm site=qkv -> keep"));
	assert_int_equal(problems.warnings, 1);
	ac_policy_destroy(parse_good("gemm site=9C41D2EE -> keep"));
	assert_int_equal(problems.warnings, 1);
	assert_string_equal(places(said_buffer), "p:1:1: warning: no site is "
	    "called '9C41D2EE': an id has 8 digits of 0123456789abcdef, a name "
	    "comes from 'site NAME = ID'\n");
	ac_policy_destroy(parse_good("gemm gpu=\"NVIDIA H200\",*h200* -> keep"));
	assert_string_equal(said_buffer, "");
	ac_policy_destroy(parse_good("gemm gpu=h200 -> keep"));
	assert_string_equal(places(said_buffer), "p:1:1: warning: no GPU is "
	    "called 'h200': a name is as 'nvidia-smi -L' prints it, "
	    "gpu=\"NVIDIA H200*\"\n");
}

/* Nor does one whose conditions exclude each other. */
CASE(test_contradictions)
{
	static const struct {
		const char *rule, *both;
	} none[] = {
		{ "gemm m>5 m<3", "m>5 and m<3" },
		{ "gemm m>5 n=4 m<=5", "m>5 and m<=5" },
		{ "gemm m=3 m>=4", "m=3 and m>=4" },
		{ "gemm m=1..3,9 m=4..8", "m=1..3,9 and m=4..8" },
		{ "gemm m=3 m!=1..5", "m=3 and m!=1..5" },
		{ "conv filter=3x3 filter!=3x3", "filter=3x3 and filter!=3x3" },
		{ "conv filter>5 filter<3", "filter>5 and filter<3" },
		{ "gemm ta=N ta=T", "ta=N and ta=T" },
		{ "gemm min(m,n)>5 min(n,m)<3", "min(m,n)>5 and min(m,n)<3" },
		/* Each of these may be met, or nobody looks so closely. */
		{ "gemm m>3 m<5", NULL }, { "gemm m>=5 m<=5", NULL },
		{ "gemm m>5 n<3", NULL }, { "gemm m=1..5 m=5..9", NULL },
		{ "gemm m>5 min(m,n)<3", NULL }, { "gemm m!=3 m>2", NULL },
		{ "gemm min(m,n)<3 max(m,n)>5", NULL },
		{ "gemm caller=lib* caller=*foo", NULL },
		{ "gemm caller=train caller=train+1a2b", NULL },
		{ "site qkv = 9c41d2ee\ngemm site=qkv site=9c41d2ee", NULL },
		{ "conv filter=3x3 filter=3", NULL },
		{ "gemm fn=cublasSgemm fn=cublasSgemm_v2", NULL },
	};
	char text[256];

	for (size_t i = 0; i < COUNT(none); i++) {
		snprintf(text, sizeof text, "%s -> keep", none[i].rule);
		ac_policy_destroy(parse_good(text));
		snprintf(text, sizeof text, none[i].both ? "p:1:1: warning: "
		    "this rule never decides: no call meets both %s\n" : "%s",
		    none[i].both ? none[i].both : "");
		assert_string_equal(places(said_buffer), text);
	}
	ac_policy_destroy(parse_good("[sm=75]\ngemm sm>=80 -> keep"));
	assert_int_equal(problems.warnings, 1);
}

/* Nor a rung that no operation of a rule has, on whichever GPU. */
CASE(test_rungs)
{
	static const struct {
		const char *text, *said;
	} rungs[] = {
		{ "conv -> bf16", "p:1:9: warning: none of these operations "
		  "has bf16: calls that have no other rung are kept\n" },
		{ "conv -> tf32,fp16x3", "p:1:14: warning: none of these "
		  "operations has fp16x3: calls that have no other rung are "
		  "kept\n" },
		{ "gemm.batched,gemm.grouped -> tf32", "p:1:30: warning: none "
		  "of these operations has tf32: calls that have no other rung "
		  "are kept\n" },
		{ "conv -> fp16", "" }, { "conv.dgrad -> fp16", "" },
		{ "gemm,conv -> bf16", "" }, { "* -> bf16", "" },
		{ "gemm -> tf32,fp16,bf16,fp16x2,fp16x3,bf16x3,bf16x6", "" },
		{ "otherwise bf16", "" }, { "otherwise amp", "" },
	};

	for (size_t i = 0; i < COUNT(rungs); i++) {
		ac_policy_destroy(parse_good(rungs[i].text));
		assert_string_equal(places(said_buffer), rungs[i].said);
	}
}

/* A tolerance that checks hardly ever find kept; of a profile once. */
CASE(test_room)
{
	static const struct {
		const char *text, *said;
	} tight[] = {
		{ "gemm -> fp16 tol=2.9e-4", "p:1:9: warning: tol=2.9e-4 has "
		  "most products of fp16 recomputed in FP32: drop fp16, or "
		  "write tol=4.35e-4 or more\n" },
		{ "gemm -> fp16 tol=4.4e-4", "" },
		{ "gemm -> fp16 tol=2.9e-4 guard=off", "" },
		{ "gemm -> bf16x6,bf16x3 tol=5e-6", "p:1:16: warning: tol=5e-6 "
		  "has most products of bf16x3 recomputed in FP32: drop bf16x3, "
		  "or write tol=6.6e-6 or more\n" },
		{ "set tol=3e-4\notherwise amp", "p:1:9: warning: tol=3e-4 has "
		  "most products of fp16 recomputed in FP32: drop fp16, or "
		  "write tol=4.35e-4 or more\n" },
	};
	size_t i;

	for (i = 0; i < COUNT(tight); i++) {
		ac_policy_destroy(parse_good(tight[i].text));
		assert_string_equal(places(said_buffer), tight[i].said);
		assert_int_equal(problems.warnings, *tight[i].said != '\0');
	}
}

/* Whoever follows a policy does not pay for it: nobody would read it there. */
CASE(test_unasked)
{
	static const char text[] = "gemm -> keep\ngemm -> tf32";

	problems = (struct ac_policy_problems){ .text = NULL };
	ac_policy_destroy(ac_policy_parse(NULL, text, strlen(text), "p",
	    &problems));
	assert_int_equal(problems.warnings, 0);
}

/* Very many rules must not make loading slow. */
CASE(test_bounded)
{
	const size_t size = 1 << 20;
	char *text = malloc(size);
	struct ac_text t;
	unsigned i, j;

	ac_text_init(&t, text, size);
	for (i = 0; i < 4096; i++) {
		ac_text_add(&t, "gemm");
		for (j = 0; j < 40; j++)
			ac_text_add(&t, " m<9");
		ac_text_addf(&t, " n=%u->keep\n", i);
	}
	assert_false(t.truncated);
	ac_policy_destroy(parse_good(text));
	free(text);
}

CASES_RUN(NULL, NULL)
