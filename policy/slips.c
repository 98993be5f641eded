/* SPDX-License-Identifier: Apache-2.0 */
/* policy/slips.c -- what people write who know other languages, and
 * what to write instead: a row each. For those who ask about a policy, not for
 * the processes that follow it: the library does without. */
#include "policy/policy.h"

#include "base/text.h"

#include <string.h>

/* `words`: what was written, but for values in small letters; globs, or a class
 * of words with '@'. `say` "": nothing that is spelt alike is meant. `place`
 * AC_SLIP_NONE: wherever it stands. */
struct slip {
	enum ac_slip_place place;
	const char        *words, *say;
};
static const struct slip slips[] = {
	/* Where a statement begins, or one more operation. */
	{ AC_SLIP_OPERATION, "@setting",
	  "a setting for all lines below is written 'set tol=0.01'" },
	{ AC_SLIP_OPERATION, "@condition",
	  "a line begins with an operation: gemm m>=64 -> fp16" },
	{ AC_SLIP_OPERATION, "@rung auto",
	  "a line begins with an operation: gemm -> fp16" },
	{ AC_SLIP_OPERATION, "-> if when where for on",
	  "a line begins with an operation: gemm m>=64 -> fp16" },
	{ AC_SLIP_OPERATION, "default fallback else others rest base profile "
	  "use", "the profile for all other calls: 'otherwise tf32'" },
	{ AC_SLIP_OPERATION, "import source load",
	  "another file: 'include \"FILE\"'" },
	{ AC_SLIP_OPERATION, "matmul mm bmm matrix dot linear dense product",
	  "matrix products are 'gemm'" },
	{ AC_SLIP_OPERATION, "convolution*", "convolutions are 'conv'" },
	{ AC_SLIP_OPERATION, "lstm gru", "recurrent networks are counted and "
	  "kept; delete the word or its line" },
	{ AC_SLIP_OPERATION, "all any every everything",
	  "all operations are '*'" },
	{ AC_SLIP_OPERATION, "/* --* % %%", "a comment begins with '#'" },
	{ AC_SLIP_OPERATION, "{ } (", "there are no brackets around lines" },

	/* A condition, or '->'. */
	{ AC_SLIP_CONDITION, "= > : - --* \xe2\x86\x92 \xe2\x87\x92 then use "
	  "to",
	  "the arrow is '->'" },
	{ AC_SLIP_CONDITION, "and & also , +",
	  "conditions side by side all have to hold, with nothing between" },
	{ AC_SLIP_CONDITION, "or | xor", "there is no 'or': list values with "
	  "',' (ta=N,T), or write two lines" },
	{ AC_SLIP_CONDITION, "not ! ~", "there is no 'not': write KEY!=VALUE" },
	{ AC_SLIP_CONDITION, "if when where with for unless",
	  "conditions follow the operation, with nothing between" },
	{ AC_SLIP_CONDITION, "( { [", "conditions take no brackets" },
	{ AC_SLIP_CONDITION, "< <= >= !=", "both ends are m>=16 m<=64, or "
	  "m=16..64" },

	/* The name in a condition. */
	{ AC_SLIP_KEY, "@operation", "operations stand first, conditions "
	  "behind them or in [...]" },
	{ AC_SLIP_KEY, "layer name module tensor", "a layer is named by "
	  "caller=, region= or site=" },
	{ AC_SLIP_KEY, "dtype precision", "write type=" },
	{ AC_SLIP_KEY, "size shape dim dims", "sizes are m=, n= and k=" },
	{ AC_SLIP_KEY, "arch cc capability", "write sm=" },
	{ AC_SLIP_KEY, "function func kernel symbol", "write fn=" },
	{ AC_SLIP_KEY, "- --*", "the arrow is '->'" },
	{ AC_SLIP_KEY, "0* 1* 2* 3* 4* 5* 6* 7* 8* 9*",
	  "the name comes first: m>=64" },

	/* The comparison. */
	{ AC_SLIP_COMPARISON, "in is between equals eq",
	  "a range is m=1..4, a list m=1,2,4" },
	{ AC_SLIP_COMPARISON, ",", "both at once is min(m,n)>=64" },

	/* What stands behind '->'. */
	{ AC_SLIP_ACTION, "fp32 f32 float float32 single full off fp none no "
	  "skip original", "'keep' leaves a call in FP32" },
	{ AC_SLIP_ACTION, "half float16 f16", "write fp16" },
	{ AC_SLIP_ACTION, "bfloat bfloat16", "write bf16" },
	{ AC_SLIP_ACTION, "*/* *+* *:*",
	  "several are listed with ',': fp16,tf32" },
	{ AC_SLIP_ACTION, "*x? fp8* fp4* fp64 int8 int4 double", "" },

	/* Behind the action. */
	{ AC_SLIP_SETTING, "@rung auto < > >= = | / + or else then",
	  "several are listed with ',': fp16,tf32" },
	{ AC_SLIP_SETTING, "if when where with for on unless",
	  "conditions stand before '->'" },
	{ AC_SLIP_SETTING, "default profile",
	  "the profile for all other calls: 'otherwise tf32'" },
	{ AC_SLIP_SETTING, "tolerance rtol atol eps epsilon error accuracy",
	  "write tol=0.01" },
	{ AC_SLIP_SETTING, ", and &", "settings stand side by side, with "
	  "nothing between" },
	{ AC_SLIP_SETTING, "/* --*", "a comment begins with '#'" },

	/* A value. */
	{ AC_SLIP_VALUE, "->", "" },
	{ AC_SLIP_VALUE, "@condition", "conditions stand side by side without "
	  "',', and compare with numbers only" },
	{ AC_SLIP_VALUE, "' ` \xe2\x80\x98 \xe2\x80\x9c \xe2\x80\x9d",
	  "quotes are \"\"" },
	{ AC_SLIP_VALUE, "*%", "1% is 0.01" },
	{ AC_SLIP_VALUE, ".*", "write a digit before the point" },
	{ AC_SLIP_VALUE, "*_*", "digits stand without '_'" },
	{ AC_SLIP_VALUE, "-* +*", "numbers have no sign" },
	{ AC_SLIP_VALUE, "0x*", "numbers are decimal" },
	{ AC_SLIP_VALUE, "*:", "the action follows '->'" },
	{ AC_SLIP_VALUE, "*x?*", "one number: only filter, stride and dilation "
	  "take NxM" },
	{ AC_SLIP_VALUE, "*-* *:*", "a range is 16..64" },
	{ AC_SLIP_VALUE, "*b *B *K", "suffixes are Ki and Mi" },
	{ AC_SLIP_VALUE, "inf* Inf* max* any none off", "to accept any error "
	  "write guard=off, for any size no condition" },

	/* A profile. */
	{ AC_SLIP_PROFILE, "keep fp32 none", "'otherwise off' keeps all other "
	  "calls" },
	{ AC_SLIP_PROFILE, "auto", "'otherwise amp' chooses by itself" },
	{ AC_SLIP_PROFILE, "->", "'otherwise' takes a profile, '*' an action:"
	  " * -> tf32" },

	/* What word processors and web pages make of a text, anywhere: blanks
	 * that look like one, dashes, signs. */
	{ AC_SLIP_NONE, "\xc2\xa0 \xe2\x80\x8b \xe2\x80\xaf \xef\xbb\xbf",
	  "a blank as web pages have it: type a plain one over it" },
	{ AC_SLIP_NONE, "\xe2\x80\x93 \xe2\x80\x94 \xe2\x88\x92",
	  "a dash as texts have it: the arrow is '->', a range 16..64" },
	{ AC_SLIP_NONE, "\xe2\x89\xa4 \xe2\x89\xa5 \xe2\x89\xa0",
	  "write <=, >= or !=" },
};

/* The words of the language, with the class by which a row may name them. */
static const struct { const char *class, *word; } words[] = {
#define RUNG(id, name, error, tol, base, terms, chunk) { "@rung", name },
#define SETTING(id, name, values) { "@setting", name },
#define QUANTITY(id, name, is_size, ops) { "@condition", name },
#define FACT(id, name, ops) { "@condition", name },
#define OPERATION(id, name, family) { "@operation", name },
#include "policy/words.def"
	{ "@operation", "gemm" }, { "@operation", "conv" },
};

static bool
is_of(const char *word, const char *wanted)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(wanted, words[i].class) == 0 &&
		    strcmp(word, words[i].word) == 0)
			return true;
	return *wanted != '@' && ac_text_glob(wanted, word);
}

static bool
is_one_of(const char *word, const char *list)
{
	char wanted[32];
	size_t length;

	for (; *list != '\0'; list += length + (list[length] == ' ')) {
		length = strcspn(list, " ");
		memcpy(wanted, list, length);
		wanted[length] = '\0';
		if (is_of(word, wanted))
			return true;
	}
	return false;
}

const char *
ac_slip_find(enum ac_slip_place place, const char *text, size_t length)
{
	char word[64];

	if (length >= sizeof(word))
		return NULL;
	for (size_t i = 0; i < length; i++)
		word[i] = place != AC_SLIP_VALUE && text[i] >= 'A' &&
		    text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
	word[length] = '\0';
	for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++)
		if ((slips[i].place == place || slips[i].place == AC_SLIP_NONE)
		    && is_one_of(word, slips[i].words))
			return slips[i].say;
	return NULL;
}
