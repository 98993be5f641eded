#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many threads: exact numbers, bounded memory, no race, against a libcublas
# that does nothing.
. "$(dirname "$0")/preload.sh"
[ "${HAVE_CUDA:-}" = yes ] || [ -n "${CUDA_CPPFLAGS:-}" ] || skip_all 'no CUDA headers'
command -v python3 >/dev/null 2>&1 || skip_all 'no python3'
here=$root/tests/preload

compile libcublas.so.13 -shared -fPIC -fvisibility=hidden \
    -Wl,-soname,libcublas.so.13 -Wl,--version-script="$here/stub/stub.map" \
    "$here/stub/stub_cublas.c"
compile short_threads "$here/programs/short_threads.c" \
    "$work/libcublas.so.13" -pthread

# counts WHAT CALLS ARGS...: short_threads ARGS succeeds, says nothing on
# stderr (where a sanitizer would report), and CALLS calls are in the report.
counts()
{
	rm -rf "$AUTOCAST_STATE"
	LD_LIBRARY_PATH=$work AUTOCAST_POLICY=off LD_PRELOAD=$preload \
	    "$work/short_threads" "${@:3}" >"$work/out" 2>"$work/err"
	equal "$1" "0 $2 " "$? $(total totals.calls) $(cat "$work/err")"
}

# Each thread calls twice more, from its destructors, and the program once.
counts 'T29: 10,000 short threads' 50001 10000 3 4
if [ -z "${SANITIZERS:-}" ]; then
	check 'T29: memory is bounded' "$(awk '$2 > 4 || $4 > 256' "$work/out")"
else
	skip 'T29: memory is bounded' "a sanitizer keeps what it saw ($SANITIZERS)"
fi
check 'T29: so is the file' "$(find "$AUTOCAST_STATE" -name '*.stats' -size +448k)"
counts 'T30: 8 threads, a million calls each' 8000017 8 1000000
counts 'T30: more threads than shards' 640129 64 10000

if [ -z "${SANITIZERS:-}" ]; then
	compile closed_early "$here/programs/closed_early.c" \
	    "$work/libcublas.so.13" -pthread -ldl
	rm -rf "$AUTOCAST_STATE"
	{ LD_LIBRARY_PATH=$work "$work/closed_early" "$library"; } >"$work/out" 2>&1
	equal 'T26: opened later, closed before its thread ends' '0 1 ' \
	    "$? $(total totals.calls) $(cat "$work/out")"
else
	skip 'T26: opened later, closed before its thread ends' \
	    "a sanitized library cannot be opened later ($SANITIZERS)"
fi
plan
