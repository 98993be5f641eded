#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The region object of C++, by both compilers and in the oldest and newest
# language, linked, preloaded and looked up.
. "$(dirname "$0")/../preload/preload.sh"
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"

# passes NAME ENVIRONMENT PROGRAM
passes()
{
	env "$2" "$3" >"$work/out" 2>&1
	equal "$1: status" 0 $?
	check "$1: every case" "$(grep -v '^ok' "$work/out" | sed '/^1\.\.[0-9]*$/d')"
	equal "$1: number of cases" "1..$(grep -c '^ok' "$work/out")" \
	    "$(tail -n 1 "$work/out")"
}

# Open no longer than its own statement: C++17 can tell.
printf '#include "autocast.h"\nvoid f() { autocast::region("loss", false); }\n' \
    >"$work/brief.cc"

for both in g++:c++11 g++:c++17 clang++:c++11 clang++:c++17; do
	compiler=${both%%:*} standard=${both#*:}
	name="$compiler, $standard"
	if ! command -v "$compiler" >/dev/null; then
		skip "$name" "no $compiler"
		continue
	fi
	compile="$compiler -std=$standard -Wall -Wextra -Wpedantic -Werror
	    -I$root/include $root/tests/api/regions.cc -pthread"
	{
	$compile -o "$work/linked" -L"$build" -lautocast-api \
	    -Wl,-rpath,"$build" || exit 99
	$compile -o "$work/dynamic" -DAUTOCAST_DYNAMIC -ldl || exit 99
	}
	warned=$($compiler -std="$standard" -Wall -I"$root/include" \
	    -fsyntax-only "$work/brief.cc" 2>&1 | grep -c 'warning:')
	case $standard in c++17) warns=1 ;; *) warns=0 ;; esac
	equal "$name: warnings of a region without a name" $warns "$warned"
	passes "$name, linked" UNUSED= "$work/linked"
	passes "$name, looked up" LD_PRELOAD="$build/libautocast-api.so.1" \
	    "$work/dynamic"
	if [ -f "$library" ]; then
		passes "$name, preloaded" LD_PRELOAD="$library" "$work/linked"
		passes "$name, looked up in the preload" LD_PRELOAD="$library" \
		    "$work/dynamic"
	fi
done
plan
