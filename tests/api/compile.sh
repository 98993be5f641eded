#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The public headers are clean in every language and mode they promise, alone
# and next to CUDA's; no CUDA header is needed.
. "$(dirname "$0")/../lint/tap.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/autocast-test.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
strict='-Wall -Wextra -Wpedantic -Wshadow -Wcast-qual -Werror'

# compile COMPILER STANDARD ARGS...: its complaints.
compile()
{
	local language=c
	case $2 in c++*) language=c++ ;; esac
	"$1" -x "$language" -std="$2" $strict -I"$root/include" "${@:3}" 2>&1 |
	    head -n 20
}

for both in gcc:c11 gcc:c17 g++:c++11 g++:c++17 \
    clang:c11 clang:c17 clang++:c++11 clang++:c++17; do
	compiler=${both%%:*} standard=${both#*:}
	if ! command -v "$compiler" >/dev/null; then
		skip "$compiler, $standard" "no $compiler"
		continue
	fi
	for mode in '' -DAUTOCAST_DYNAMIC; do
		said=$(for header in "$root"/include/*.h; do
			echo "#include \"${header##*/}\"" >"$work/alone.c"
			compile "$compiler" "$standard" -fsyntax-only $mode \
			    "$work/alone.c"
		done)
		check "each header alone: $compiler, $standard $mode" "$said"
		check "all that they declare: $compiler, $standard $mode" \
		    "$(compile "$compiler" "$standard" -O2 -c $mode \
			-o "$work/all.o" "$root/tests/api/everything.c")"
		case $standard:${CUDA_CPPFLAGS:-} in
		*:) skip "next to CUDA: $compiler, $standard $mode" 'no CUDA headers' ;;
		c11:* | c++17:*)
			for order in FIRST LAST; do
				check "CUDA's ${order,,}: $compiler, $standard $mode" \
				    "$(compile "$compiler" "$standard" -fsyntax-only \
					$mode -DCUDA_$order $CUDA_CPPFLAGS \
					"$root/tests/api/everything.c")"
			done ;;
		esac
	done
done

cc=${CC:-cc}
check 'no header of CUDA is read' "$(for mode in -UX -DAUTOCAST_DYNAMIC; do
	$cc $mode -I"$root/include" -M "$root/tests/api/everything.c" |
	    tr ' ' '\n' | grep -iE 'cu(da|blas|dnn)'
done)"
printf '#include "autocast.h"\n#include "autocast_dynamic.h"\n' >"$work/late.c"
check 'a mode that is chosen too late is refused by name' \
    "$($cc -fsyntax-only -I"$root/include" "$work/late.c" 2>&1 |
	grep -q 'define AUTOCAST_DYNAMIC before the first header' || echo compiles)"
plan
