/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_slips.c -- what users of other languages write is
 * answered with what to write instead (policy/slips.c); a process that
 * only follows a policy does without. */
#include "with_policy.h"

#define A_BLANK "; a blank as web pages have it: type a plain one over it\n"

static const struct complaint slips[] = {
	{ "gemm => fp16",
	  "p:1:6: '->' is missing before '='; the arrow is '->'\n" },
	{ "gemm \xe2\x86\x92 fp16",
	  "p:1:6: '->' is missing before '\xe2\x86\x92'; the arrow is '->'\n" },
	{ "gemm \xe2\x80\x93> fp16",
	  "p:1:6: '->' is missing before '\xe2\x80\x93'; a dash as texts have "
	  "it: the arrow is '->', a range 16..64\n" },
	{ "gemm m\xe2\x89\xa5" "64 -> fp16",
	  "p:1:6: 'm' is not a condition (KEY=VALUE); write <=, >= or !=\n" },
	{ "gemm program=\xe2\x80\x9cvasp std\xe2\x80\x9d -> keep",
	  "p:1:14: a value is missing; quotes are \"\"\n" },
	{ "gemm\xc2\xa0-> fp16",
	  "p:1:5: '->' is missing before '\xc2\xa0'" A_BLANK },
	{ "gemm ->\xc2\xa0" "fp16",
	  "p:1:8: unknown action '\xc2\xa0'" A_BLANK },
	{ "gemm -> fp16\xe2\x80\x8b",
	  "p:1:13: unexpected '\xe2\x80\x8b'" A_BLANK },
	{ "\xc2\xa0gemm -> fp16",
	  "p:1:1: an operation is wanted here, not '\xc2\xa0'" A_BLANK },
	{ "gemm - > fp16",
	  "p:1:6: unknown condition '-'; the arrow is '->'\n" },
	{ "gemm m>=1 and n>=1 -> fp16",
	  "p:1:11: 'and' is not a condition (KEY=VALUE); conditions side by "
	  "side all have to hold, with nothing between\n" },
	{ "gemm m>=1, n>=1 -> fp16",
	  "p:1:10: '>=' takes one value; conditions side by side all have to "
	  "hold, with nothing between\n" },
	{ "gemm fn=a, lib=b -> fp16",
	  "p:1:15: '->' is missing before '='; conditions side by side all "
	  "have to hold, with nothing between\n" },
	{ "gemm m>=1 or n>=1 -> fp16",
	  "p:1:11: 'or' is not a condition (KEY=VALUE); there is no 'or': "
	  "list values with ',' (ta=N,T), or write two lines\n" },
	{ "gemm not m>=1 -> fp16",
	  "p:1:6: 'not' is not a condition (KEY=VALUE); there is no 'not': "
	  "write KEY!=VALUE\n" },
	{ "gemm if m>5 -> fp16",
	  "p:1:6: 'if' is not a condition (KEY=VALUE); conditions follow the "
	  "operation, with nothing between\n" },
	{ "gemm(m>5) -> fp16",
	  "p:1:5: '->' is missing before '('; conditions take no brackets\n" },
	{ "gemm m>=16<=64 -> fp16",
	  "p:1:11: '->' is missing before '<='; both ends are m>=16 m<=64, "
	  "or m=16..64\n" },
	{ "gemm gpu=NVIDIA H100 -> fp16",
	  "p:1:17: 'H100' is not a condition (KEY=VALUE); a value with a "
	  "blank in it stands in quotes\n" },
	{ "gemm layer=3 -> fp16",
	  "p:1:6: unknown condition 'layer'; a layer is named by caller=, "
	  "region= or site=\n" },
	{ "gemm foo=3 -> fp16",
	  "p:1:6: unknown condition 'foo'" ALL_CONDITIONS "\n" },
	{ "gemm dtype=f32 -> fp16",
	  "p:1:6: unknown condition 'dtype'; write type=\n" },
	{ "gemm size>5 -> fp16",
	  "p:1:6: unknown condition 'size'; sizes are m=, n= and k=\n" },
	{ "gemm arch=90 -> fp16",
	  "p:1:6: unknown condition 'arch'; write sm=\n" },
	{ "gemm kernel=a -> fp16",
	  "p:1:6: unknown condition 'kernel'; write fn=\n" },
	{ "gemm 64<m -> fp16",
	  "p:1:6: unknown condition '64'; the name comes first: m>=64\n" },
	{ "[gemm]",
	  "p:1:2: unknown condition 'gemm'; operations stand first, "
	  "conditions behind them or in [...]\n" },
	{ "gemm m in 1..4 -> fp16",
	  "p:1:6: 'm' is not a condition (KEY=VALUE); a range is m=1..4, a "
	  "list m=1,2,4\n" },
	{ "[m in 1..4]",
	  "p:1:4: a comparison is missing: one of = != < <= > >=; a range is "
	  "m=1..4, a list m=1,2,4\n" },
	{ "gemm m,n>5 -> fp16",
	  "p:1:6: 'm' is not a condition (KEY=VALUE); both at once is "
	  "min(m,n)>=64\n" },
	{ "gemm -> fp16 tf32",
	  "p:1:14: unknown setting 'tf32'; several are listed with ',': "
	  "fp16,tf32\n" },
	{ "gemm -> fp16 > tf32",
	  "p:1:14: unexpected '>'; several are listed with ',': fp16,tf32\n" },
	{ "gemm -> fp16 else tf32",
	  "p:1:14: unknown setting 'else'; several are listed with ',': "
	  "fp16,tf32\n" },
	{ "gemm -> fp16/tf32",
	  "p:1:9: unknown action 'fp16/tf32'; several are listed with ',': "
	  "fp16,tf32\n" },
	{ "gemm -> fp32",
	  "p:1:9: unknown action 'fp32'; 'keep' leaves a call in FP32\n" },
	{ "gemm -> Half",
	  "p:1:9: unknown action 'Half'; write fp16\n" },
	{ "gemm -> bfloat16",
	  "p:1:9: unknown action 'bfloat16'; write bf16\n" },
	{ "gemm -> bf16x2",
	  "p:1:9: unknown action 'bf16x2'" ALL_ACTIONS "\n" },
	{ "gemm -> fp16 if m>5",
	  "p:1:14: unknown setting 'if'; conditions stand before '->'\n" },
	{ "gemm -> fp16 guard=off, tol=1",
	  "p:1:23: unexpected ','; settings stand side by side, with nothing "
	  "between\n" },
	{ "gemm -> fp16 rtol=0.01",
	  "p:1:14: unknown setting 'rtol'; write tol=0.01\n" },
	{ "gemm -> fp16 foo=3",
	  "p:1:14: unknown setting 'foo'" ALL_SETTINGS "\n" },
	{ "gemm -> fp16 // why",
	  "p:1:14: unknown setting '//'; a comment begins with '#'\n" },
	{ "set default tf32",
	  "p:1:5: unknown setting 'default'; the profile for all other "
	  "calls: 'otherwise tf32'\n" },
	{ "gemm -> fp16 tol=1%",
	  "p:1:18: '1%' is not a number; 1% is 0.01\n" },
	{ "gemm -> fp16 tol=.01",
	  "p:1:18: '.01' is not a number; write a digit before the point\n" },
	{ "gemm -> fp16 tol=inf",
	  "p:1:18: 'inf' is not a number; to accept any error write "
	  "guard=off, for any size no condition\n" },
	{ "gemm m=64.. -> fp16",
	  "p:1:8: '64..': a range has two ends; with one, write >= or <=\n" },
	{ "gemm m=1-64 -> fp16",
	  "p:1:8: '1-64' is not a number; a range is 16..64\n" },
	{ "gemm m=1_000 -> fp16",
	  "p:1:8: '1_000' is not a number; digits stand without '_'\n" },
	{ "gemm m=0x40 -> fp16",
	  "p:1:8: '0x40' is not a number; numbers are decimal\n" },
	{ "gemm m>64: fp16",
	  "p:1:8: '64:' is not a number; the action follows '->'\n" },
	{ "gemm m>=4K -> fp16",
	  "p:1:9: '4K' is not a number; suffixes are Ki and Mi\n" },
	{ "gemm m=k -> fp16",
	  "p:1:8: 'k' is not a number; conditions stand side by side without "
	  "',', and compare with numbers only\n" },
	{ "gemm m=64x64 -> fp16",
	  "p:1:8: '64x64' is not a number; one number: only filter, stride "
	  "and dilation take NxM\n" },
	{ "gemm m= -> fp16",
	  "p:1:9: a value is missing\n" },
	{ "gemm caller='a' -> keep",
	  "p:1:13: a value is missing; quotes are \"\"\n" },
	{ "gemm m=-1 -> fp16",
	  "p:1:8: '-1' is not a number; numbers have no sign\n" },
	{ "tol=0.01",
	  "p:1:1: unknown operation 'tol'; a setting for all lines below is "
	  "written 'set tol=0.01'\n" },
	{ "m>64 -> fp16",
	  "p:1:1: unknown operation 'm'; a line begins with an operation: "
	  "gemm m>=64 -> fp16\n" },
	{ "fp16",
	  "p:1:1: unknown operation 'fp16'; a line begins with an operation: "
	  "gemm -> fp16\n" },
	{ "if m>64 -> fp16",
	  "p:1:1: unknown operation 'if'; a line begins with an operation: "
	  "gemm m>=64 -> fp16\n" },
	{ "default tf32",
	  "p:1:1: unknown operation 'default'; the profile for all other "
	  "calls: 'otherwise tf32'\n" },
	{ "import \"a\"",
	  "p:1:1: unknown operation 'import'; another file: 'include \"FILE\"'\n" },
	{ "matmul -> fp16",
	  "p:1:1: unknown operation 'matmul'; matrix products are 'gemm'\n" },
	{ "convolution2d -> fp16",
	  "p:1:1: unknown operation 'convolution2d'; convolutions are 'conv'\n" },
	{ "lstm -> fp16",
	  "p:1:1: unknown operation 'lstm'; recurrent networks are counted and "
	  "kept; delete the word or its line\n" },
	{ "all -> fp16",
	  "p:1:1: unknown operation 'all'; all operations are '*'\n" },
	{ "// why",
	  "p:1:1: unknown operation '//'; a comment begins with '#'\n" },
	{ "{ gemm -> fp16 }",
	  "p:1:1: an operation is wanted here, not '{'; there are no "
	  "brackets around lines\n" },
	{ "otherwise keep",
	  "p:1:11: 'keep' is not a profile; 'otherwise off' keeps all other "
	  "calls\n" },
	{ "otherwise auto",
	  "p:1:11: 'auto' is not a profile; 'otherwise amp' chooses by itself\n" },
	{ "otherwise -> tf32",
	  "p:1:11: '->' is not a profile; 'otherwise' takes a profile, '*' "
	  "an action: * -> tf32\n" },
	{ "site=9c41d2ee -> keep",
	  "p:1:5: site wants a name: site NAME = ID; a rule begins with an "
	  "operation: gemm site=ID -> keep\n" },
};

CASE(test_slips)
{
	assert_complaints(slips, COUNT(slips));
}

/* What the library itself says: the same errors at the same places. */
CASE(test_nobody_asks)
{
	static const char text[] = "gemm => fp16\ngemm -> fp32";
	struct ac_policy_problems unasked = { .text = &said };

	ac_text_init(&said, said_buffer, sizeof(said_buffer));
	assert_null(ac_policy_parse(NULL, text, strlen(text), "p", &unasked));
	assert_string_equal(places(said_buffer),
	    "p:1:6: '->' is missing before '='\n"
	    "p:2:9: unknown action 'fp32'" ALL_ACTIONS "\n");
}

CASES_RUN(NULL, NULL)
