#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh -- every header compiles alone; the public ones as C++ too.
. "$(dirname "$0")/tap.sh"

cc=${CC:-cc}
flags="-std=gnu11 -D_GNU_SOURCE -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I$root"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

# alone NAME COMMAND...: the command compiles a file that includes $header.
alone()
{
	name=$1
	shift
	echo "#include \"$header\"" >"$dir/alone.c"
	if "$@" "$dir/alone.c" >"$dir/out" 2>&1; then
		check "$name" ''
	else
		check "$name" "$(cat "$dir/out")"
	fi
}

for header in $(for room in $rooms; do files "$room/*.h"; done); do
	case $header:${HAVE_CUDA:-yes} in shim/*:no | emulator/*:no)
		skip "$header alone" 'no CUDA headers'
		continue ;;
	esac
	alone "$header alone" $cc $flags ${CUDA_CPPFLAGS:-} -x c
	case $header in include/*) ;; *) continue ;; esac
	if command -v c++ >/dev/null 2>&1; then
		alone "$header as C++" c++ -fsyntax-only -Wall -I"$root" -x c++
	else
		skip "$header as C++" 'no C++ compiler'
	fi
done
plan
