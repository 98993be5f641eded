#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# names.sh -- no two rooms define the same name: the linker would take either
# from the archives and say nothing.
. "$(dirname "$0")/tap.sh"

command -v nm >/dev/null 2>&1 || skip_all 'no nm'
[ -f "$build/base/libbase.a" ] || skip_all 'not built'

# Name and archive, once each; weak and common symbols may meet.
check 'every external name has one home' "$(for archive in "$build"/*/lib*.a \
    "$build"/emulator/ptx/lib*.a; do
	nm -g --defined-only "$archive" 2>/dev/null |
	    sed -n "s,^[0-9a-f]* [TDBR] \(ac_.*\|ptx_.*\),\1 ${archive##*/},p" | sort -u
done | sort | awk '$1 == last { print $1 ": " where " and " $2 }
    { last = $1; where = $2 }')"
# But the examples', which nothing of ours is linked with.
check 'every external name says whose it is' "$(for archive in "$build"/*/lib*.a \
    "$build"/emulator/ptx/lib*.a; do
	case $archive in */examples/*) continue ;; esac
	nm -g --defined-only "$archive" 2>/dev/null |
	    awk -v archive="${archive##*/}" 'NF == 3 && $2 ~ /[TDBR]/ { print archive ": " $3 }'
done | grep -vE ': (ac_|ptx_|autocast_|dlv?sym$|dlopen$|cublas|cusolver|cudnn|__odr_asan|__asan|__tsan|__ubsan)')"
plan
