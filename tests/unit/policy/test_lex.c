/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_lex.c -- tokens, their places, and what is no text. */
#include "policy/language/lex.h"
#include "tests/unit/cases.h"

/* Tokens as "kind:line:column" letters, e.g. "w1:1 >1:6". */
static const char *
lexed(const char *text)
{
	static const char letters[] = ".n;,()[]>cws!";
	static char out[1024];
	struct ac_lexer lexer;
	struct ac_token token;
	size_t used = 0;

	out[0] = '\0';
	ac_lex_start(&lexer, text, strlen(text));
	do {
		ac_lex_next(&lexer, &token);
		used += (size_t)snprintf(out + used, sizeof(out) - used,
		    "%s%c%u:%u", used > 0 ? " " : "", letters[token.kind],
		    token.line, ac_lex_column(token.line_start, token.at));
	} while (token.kind != AC_TOKEN_END && used < sizeof(out) - 32);
	return out;
}

CASE(test_tokens)
{
	assert_string_equal(lexed(""), ".1:1");
	assert_string_equal(lexed("gemm->fp16"), "w1:1 >1:5 w1:7 .1:11");
	assert_string_equal(lexed("m>=5,6;"), "w1:1 c1:2 w1:4 ,1:5 w1:6 ;1:7 "
	    ".1:8");
	assert_string_equal(lexed("[min(m)]"), "[1:1 w1:2 (1:5 w1:6 )1:7 ]1:8 "
	    ".1:9");
	assert_string_equal(lexed("a-b --> c-"), "w1:1 w1:5 >1:6 w1:9 .1:11");
	assert_string_equal(lexed("!=!"), "c1:1 !1:3 .1:4");
	assert_string_equal(lexed("* \"a b\" \"\\\"\\\\\""),
	    "w1:1 s1:3 s1:9 .1:15");
}

CASE(test_lines)
{
	assert_string_equal(lexed("a\nb\n"), "w1:1 n1:2 w2:1 n2:2 .3:1");
	assert_string_equal(lexed("a # b -> c\n d"), "w1:1 n1:11 w2:2 .2:3");
	assert_string_equal(lexed("a\\\n b"), "w1:1 w2:2 .2:3");
	assert_string_equal(lexed("a\r\nb\\\r\nc"),
	    "w1:1 n1:2 w2:1 w3:1 .3:2");
	/* A comment ends with its line, whatever it ends with. */
	assert_string_equal(lexed("#a\\\nb"), "n1:4 w2:1 .2:2");
	assert_string_equal(lexed("\xef\xbb\xbf" "a"), "w1:1 .1:2");
}

CASE(test_no_tokens)
{
	assert_string_equal(lexed("a|b"), "w1:1 !1:2 w1:3 .1:4");
	assert_string_equal(lexed("\"a\nb"), "!1:1 w1:2 n1:3 w2:1 .2:2");
	assert_string_equal(lexed("\"a\\n\""), "!1:1 w1:2 !1:3 w1:4 !1:5 "
	    ".1:6");
	assert_string_equal(lexed("\\"), "!1:1 .1:2");
	assert_string_equal(lexed("\r"), "!1:1 .1:2");
	/* Columns count characters, not bytes. */
	assert_string_equal(lexed("\xc3\xa9\xe2\x82\xac x"),
	    "!1:1 !1:2 w1:4 .1:5");
}

static long
noise_at(const char *text, size_t count)
{
	const char *noise = ac_lex_find_noise(text, count);

	return noise == NULL ? -1 : noise - text;
}

CASE(test_noise)
{
	assert_int_equal(noise_at("", 0), -1);
	assert_int_equal(noise_at("a\xc3\xa9\xf0\x9f\x98\x80", 7), -1);
	assert_int_equal(noise_at("ab\0c", 4), 2);
	assert_int_equal(noise_at("a\x80", 2), 1);
	assert_int_equal(noise_at("a\xc3", 2), 1);
	assert_int_equal(noise_at("\xc0\x80", 2), 0);          /* overlong */
	assert_int_equal(noise_at("\xe0\x80\x80", 3), 0);
	assert_int_equal(noise_at("\xf0\x80\x80\x80", 4), 0);
	assert_int_equal(noise_at("\xed\xa0\x80", 3), 0);      /* surrogate */
	assert_int_equal(noise_at("\xf4\x90\x80\x80", 4), 0);  /* too large */
	assert_int_equal(noise_at("\xff", 1), 0);
	assert_int_equal(noise_at("\xe2\x82" "a", 3), 0);
}

CASE(test_is_word)
{
	assert_true(ac_lex_is_word("libcublas.so*"));
	assert_true(ac_lex_is_word("1/64"));
	assert_false(ac_lex_is_word(""));
	assert_false(ac_lex_is_word("a b"));
	assert_false(ac_lex_is_word("a->b"));
	assert_false(ac_lex_is_word("a#b"));
}

CASES_RUN(NULL, NULL)
