/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_complaints.c -- every error of the policy language,
 * word for word and at its place. */
#include "with_policy.h"

static const struct complaint complaints[] = {
	/* Operations */
	{ "gem -> fp16",
	  "p:1:1: unknown operation 'gem' (did you mean 'gemm'?)\n" },
	{ "gemm,wgrad -> fp16",
	  "p:1:6: unknown operation 'wgrad' (did you mean 'conv.wgrad'?)\n" },
	{ "-> fp16",
	  "p:1:1: an operation is wanted here, not '->'; a line begins with an "
	  "operation: gemm m>=64 -> fp16\n" },
	{ "gemm, -> fp16",
	  "p:1:7: an operation is wanted here, not '->'; a line begins with an "
	  "operation: gemm m>=64 -> fp16\n" },
	{ "gemm,\n",
	  "p:1:6: an operation is wanted here, not the end of the line\n" },
	{ "profile amp",
	  "p:1:1: unknown operation 'profile'; the profile for all other calls: "
	  "'otherwise tf32'\n" },
	{ "prelude amp",
	  "p:1:1: unknown operation 'prelude'" ALL_OPERATIONS "\n" },
	{ "gemm conv -> fp16",
	  "p:1:6: several operations are written with ',': gemm,conv\n" },
	/* The arrow */
	{ "gemm",
	  "p:1:5: '->' and an action are missing\n" },
	{ "gemm fp16",
	  "p:1:6: '->' is missing before 'fp16'\n" },
	{ "gemm auto",
	  "p:1:6: '->' is missing before 'auto'\n" },
	{ "gemm m>5 (",
	  "p:1:10: '->' is missing before '('; conditions take no brackets\n" },
	{ "gemm m>5 )",
	  "p:1:10: '->' is missing before ')'\n" },
	{ "gemm -> fp16 -> tf32",
	  "p:1:14: '->' twice on one line\n" },
	{ "gemm m<=16 | n<=16 -> keep",
	  "p:1:12: '->' is missing before '|'; there is no 'or': list values "
	  "with ',' (ta=N,T), or write two lines\n" },
	/* Actions */
	{ "gemm ->\n",
	  "p:1:8: an action is missing after '->'\n" },
	{ "gemm -> fp16,",
	  "p:1:14: an action is missing after ','\n" },
	{ "gemm -> fp61",
	  "p:1:9: unknown action 'fp61' (did you mean 'fp16'?)\n" },
	{ "gemm -> keep,fp16",
	  "p:1:13: 'keep' stands alone: it is always allowed anyway\n" },
	{ "gemm -> auto,fp16",
	  "p:1:13: 'auto' stands alone: it allows every rung\n" },
	{ "gemm -> fp16,keep",
	  "p:1:14: 'keep' stands alone\n" },
	{ "gemm -> fp16 )",
	  "p:1:14: unexpected ')'\n" },
	/* Conditions */
	{ "gemm caller=a b -> keep",
	  "p:1:15: 'b' is not a condition (KEY=VALUE); a value with a blank in "
	  "it stands in quotes\n" },
	{ "gemm \"m\" -> keep",
	  "p:1:6: \"m\" is not a condition (KEY=VALUE)\n" },
	{ "gemm mm>5 -> keep",
	  "p:1:6: unknown condition 'mm' (did you mean 'm'?)\n" },
	{ "gemm minimum=5 -> keep",
	  "p:1:6: unknown condition 'minimum'" ALL_CONDITIONS "\n" },
	{ "gemm tol=1e-4 -> fp16",
	  "p:1:6: 'tol' is a setting: put it after the action\n" },
	{ "[]x",
	  "p:1:3: unexpected 'x'\n" },
	{ "[sm]",
	  "p:1:4: a comparison is missing: one of = != < <= > >=\n" },
	{ "gemm max(m,zz)<5 -> keep",
	  "p:1:12: 'zz' is not a size\n" },
	{ "gemm max()<5 -> keep",
	  "p:1:10: ')' is not a size\n" },
	{ "gemm max(m n)<5 -> keep",
	  "p:1:12: ')' is missing\n" },
	{ "gemm max(sm)<5 -> keep",
	  "p:1:10: 'sm' is not a size\n" },
	{ "gemm ta==T -> fp16",
	  "p:1:8: '==' is no comparison: equality is '='\n" },
	{ "gemm ta<T -> fp16",
	  "p:1:8: 'ta' is a name: only = and !=\n" },
	{ "gemm m= -> fp16",
	  "p:1:9: a value is missing\n" },
	{ "gemm ta=,N -> fp16",
	  "p:1:9: a value is missing\n" },
	{ "gemm m<5,6 -> fp16",
	  "p:1:9: '<' takes one value; conditions side by side all have to "
	  "hold, with nothing between\n" },
	{ "gemm cin>=4 -> fp16",
	  "p:1:6: no operation of this line can have 'cin'\n" },
	{ "gemm min(m,cin)>=4 -> fp16",
	  "p:1:6: no operation of this line can have 'min'\n" },
	{ "[cin<=4]\ngemm -> keep",
	  "p:2:1: no operation of this line can have cin<=4, which its "
	  "section asks for\n" },
	{ "[rank=0\n",
	  "p:1:8: ']' is missing\n" },
	{ "[rank=0; gemm -> keep",
	  "p:1:8: ']' is missing\n" },
	/* Numbers */
	{ "gemm m>=abc -> fp16",
	  "p:1:9: 'abc' is not a number\n" },
	{ "gemm m=\"5\" -> fp16",
	  "p:1:8: '\"5\"' is not a number\n" },
	{ "gemm k>=4k -> fp16",
	  "p:1:9: '4k': a size takes Ki and Mi only: write 4000 or 4Ki\n" },
	{ "gemm k>=1.5M -> fp16",
	  "p:1:9: '1.5M': a size takes Ki and Mi only: write 1500000\n" },
	{ "gemm m=1.5 -> fp16",
	  "p:1:8: '1.5': a whole number is wanted\n" },
	{ "gemm m=99999999999999999999999 -> fp16",
	  "p:1:8: '99999999999999999999999' is too large\n" },
	{ "gemm m=512..16 -> fp16",
	  "p:1:8: '512..16' is an empty range: the smaller number comes "
	  "first\n" },
	{ "gemm m<1..5 -> fp16",
	  "p:1:8: a range wants = or !=\n" },
	{ "gemm m=1.. -> fp16",
	  "p:1:8: '1..': a range has two ends; with one, write >= or <=\n" },
	{ "gemm sm=8k -> fp16",
	  "p:1:9: '8k': no 'k' here\n" },
	{ "conv filter<3x3 -> tf32",
	  "p:1:13: NxM wants = or !=\n" },
	{ "conv filter=3x -> tf32",
	  "p:1:13: '' is not a number\n" },
	{ "conv filter=1x1x1x1 -> tf32",
	  "p:1:13: '1x1x1x1': at most three extents, like 3x3x3\n" },
	{ "conv filter=70000x1 -> tf32",
	  "p:1:13: '70000x1' is too large\n" },
	{ "conv spatial=56x56 -> tf32",
	  "p:1:14: '56x56' is not a number; one number: only filter, stride "
	  "and dilation take NxM\n" },
	/* Settings */
	{ "gemm -> fp16 k>=5",
	  "p:1:14: 'k' is a condition: put it before '->'\n" },
	{ "gemm -> fp16 tool=5",
	  "p:1:14: unknown setting 'tool' (did you mean 'tol'?)\n" },
	{ "set guard off",
	  "p:1:5: a setting is written guard=VALUE\n" },
	{ "set",
	  "p:1:4: set wants KEY=VALUE\n" },
	{ "set tol=",
	  "p:1:9: a value is missing\n" },
	{ "set tol=-1",
	  "p:1:9: '-1' is not a number; numbers have no sign\n" },
	{ "set tol=0",
	  "p:1:9: tol must be greater than 0\n" },
	{ "set tol=1k",
	  "p:1:9: '1k': no 'k' here\n" },
	{ "set workspace=0",
	  "p:1:15: workspace must be greater than 0\n" },
	{ "set own=1.5",
	  "p:1:9: '1.5': a whole number is wanted\n" },
	{ "set profit=of",
	  "p:1:12: profit is one of: on off (did you mean 'off'?)\n" },
	{ "set tactic=fast",
	  "p:1:12: tactic is one of: auto library cast (did you mean"
	  " 'cast'?)\n" },
	{ "gemm -> tf32 gard=off",
	  "p:1:14: unknown setting 'gard' (did you mean 'guard'?)\n" },
	{ "gemm own=0 -> tf32",
	  "p:1:6: 'own' is a setting: put it after the action\n" },
	/* Settings and operations that there were */
	{ "gemm -> tf32 sample=64",
	  "p:1:14: 'sample' is gone: every call is checked\n" },
	{ "set after=1000",
	  "p:1:5: 'after' is gone: use own=N: a place's first N calls are the "
	  "program's own\n" },
	{ "gemm -> fp16 tol=1e-3 exact=no",
	  "p:1:23: 'exact' is gone: whole numbers that a cast would change are "
	  "recomputed\n" },
	{ "set scale=none",
	  "p:1:5: 'scale' is gone: exponents follow the data\n" },
	{ "rnn -> fp16 guard=off",
	  "p:1:1: 'rnn' is gone: recurrent networks are counted and kept; "
	  "delete the word or its line\n" },
	{ "conv,rnn -> keep",
	  "p:1:6: 'rnn' is gone: recurrent networks are counted and kept; "
	  "delete the word or its line\n" },
	/* Contradictions */
	{ "gemm -> fp16,bf16 tol=1e-3",
	  "p:1:14: the known error of bf16, 0.0024, is more than tol=1e-3 "
	  "allows: drop bf16, or write tol=0.008\n" },
	{ "set tol=1e-5\ngemm -> tf32",
	  "p:2:9: the known error of tf32, 2.9e-4, is more than tol=1e-5 "
	  "(line 1) allows: drop tf32, or write tol=0.001\n" },
	{ "set tol=1e-5\notherwise tf32",
	  "p:1:9: the known error of tf32, 2.9e-4, is more than tol=1e-5 "
	  "allows; profile 'tf32' uses it in line 4\n" },
	{ "gemm -> bf16\notherwise amp",
	  "p:1:9: the known error of bf16, 0.0024, is more than tol=1e-3 "
	  "(amp:2) allows: drop bf16, or write tol=0.008\n" },
	{ "gemm -> auto tol=1e-8",
	  "p:1:9: no rung is known to reach tol=1e-8; the most accurate is "
	  "bf16x6 with 5e-7\n" },
	{ "gemm -> tf32 tactic=cast",
	  "p:1:21: tf32 has no cast: the library rounds by itself; drop "
	  "tactic=cast\n" },
	/* Other statements */
	{ "version 3",
	  "p:1:9: only versions 1 and 2 of the language are known, not "
	  "'3'\n" },
	{ "version",
	  "p:1:8: only versions 1 and 2 of the language are known, not the "
	  "end of the line\n" },
	{ "version 1 2",
	  "p:1:11: unexpected '2'\n" },
	{ "include users",
	  "p:1:9: include wants a file name in quotes\n" },
	{ "include \"users",
	  "p:1:9: this string does not end, or has a '\\' before something "
	  "else than '\"' or '\\'\n" },
	{ "site",
	  "p:1:5: site wants a name: site NAME = ID\n" },
	{ "site a b",
	  "p:1:8: '=' is missing: site NAME = ID\n" },
	{ "site a = 9c41",
	  "p:1:10: a site id has 8 hexadecimal digits, as the report prints "
	  "it\n" },
	{ "site a = 9c41d2eg",
	  "p:1:10: a site id has 8 hexadecimal digits, as the report prints "
	  "it\n" },
	{ "site a-name-longer-than-31-bytes-is-no-name = 00000000",
	  "p:1:6: longer than 31 bytes\n" },
	{ "otherwise ampp",
	  "p:1:11: 'ampp' is not a profile (did you mean 'amp'?)\n" },
	{ "otherwise",
	  "p:1:10: the end of the line is not a profile (one of: off tf32 fp16 "
	  "bf16 accurate amp)\n" },
	{ "otherwise amp\ngemm -> fp16\nconv -> tf32",
	  "p:2:1: 'otherwise' (line 1) must be the last statement\n" },
};

CASE(test_complaints)
{
	assert_complaints(complaints, COUNT(complaints));
}

CASES_RUN(NULL, NULL)
