#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# abi.sh -- what programs were compiled with is as it was: the layout of every
# public struct, the value of every public constant, every prototype. They are
# listed in abi.expected, which may grow and may not change otherwise.
# UPDATE_EXPECTED=1 writes it again.
. "$(dirname "$0")/tap.sh"

cd "$root" || exit 99
headers='include/autocast.h include/autocast_scaler.h' # rows of the table: public.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The headers without comments and preprocessor lines, a statement per line.
statements()
{
	cat $headers | grep -v '^#' |
	    sed -e ':more' -e 's:/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/::g' \
		-e '/\/\*/{N;bmore' -e '}' | tr '\n\t' '  ' |
	    sed -e 's/extern "C" {//g' -e 's/  */ /g' -e 's/ *; */;\n/g'
}

# A C program that prints them.
program()
{
	printf '#include <autocast_scaler.h>\n'
	printf '#include <stddef.h>\n#include <stdio.h>\n'
	printf '#define SIZE(t) printf("struct %%s: %%zu bytes\\n", #t, sizeof(struct t));\n'
	printf '#define AT(t, m) printf("  %%s at %%zu, %%zu bytes\\n", #m, offsetof(struct t, m), sizeof(((struct t *)0)->m));\n'
	printf '#define IS(c) printf("%%s = %%d\\n", #c, (int)(c));\nint main(void) {\n'
	statements | awk '
	    / struct [a-z_]+ \{/ || /^struct [a-z_]+ \{/ {
		match($0, /struct [a-z_]+ \{/)
		name = substr($0, RSTART + 7, RLENGTH - 9)
		print "SIZE(" name ")"
		$0 = substr($0, RSTART + RLENGTH)
	    }
	    /^ *\}/ { name = "" }
	    name != "" {
		sub(/;$/, "")
		if ($0 ~ /\(\*[a-z_]+\)/) {
			match($0, /\(\*[a-z_]+\)/)
			print "AT(" name ", " substr($0, RSTART + 2, RLENGTH - 3) ")"
			next
		}
		sub(/\[[^]]*\]/, "")
		n = split($0, members, ",")
		for (i = 1; i <= n; i++) {
			match(members[i], /[a-z_0-9]+ *$/)
			print "AT(" name ", " substr(members[i], RSTART) ")"
		}
	    }'
	sed -n 's/^STATUS(\([A-Z_]*\),.*/IS(AUTOCAST_\1)/p; s/^\tSTATUS(\([A-Z_]*\),.*/IS(AUTOCAST_\1)/p' $headers
	statements | sed -n 's/^ *enum { \(.*\) };\?.*/\1/p' | tr ',' '\n' |
	    sed -n 's/^ *\(AUTOCAST_[A-Z0-9_]*\).*/IS(\1)/p'
	printf 'return 0; }\n'
}

prototypes()
{
	statements | sed -n 's/.*AUTOCAST_API \(.*(.*)\);$/\1/p' |
	    sed 's/( /(/g' | sort
}

program >"$work/abi.c"
said=$(${CC:-cc} -std=gnu11 -Iinclude -o "$work/abi" "$work/abi.c"  2>&1 | head -n 20)
check 'the headers say what they hold' "$said"
[ -z "$said" ] || { plan; exit; }
{ "$work/abi"; prototypes; } >"$work/now"
[ -z "${UPDATE_EXPECTED:-}" ] || cp "$work/now" tests/lint/abi.expected
case $("${CC:-cc}" -dumpmachine) in
x86_64*|aarch64*)
	check 'what programs were compiled with is as it was' \
	    "$(diff tests/lint/abi.expected "$work/now")" ;;
*)
	skip 'what programs were compiled with is as it was' \
	    'the list is of machines with 64 bits' ;;
esac
plan
