#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T32: every argument of every wrapped function arrives as it was given, through
# the exported entry and through what dlsym() answers; so does the status.
. "$(dirname "$0")/binding.sh"

# rows PREFIX: ROW(shape, symbol) of what the libraries of that name export.
rows()
{
	${CC:-cc} -E -P -x c -DCUBLAS_VERSION=999999 \
	    '-DGEMM(shape,symbol,index)=ROW(shape, symbol) "libcublas.so"' \
	    '-DMATMUL(shape,symbol,provider)=ROW(shape, symbol) provider' \
	    '-DMARKER(kind,symbol,provider)=ROW(MARKER, symbol) provider' \
	    -DAC_HAVE_CUDNN "$root/shim/bind/entries.def" | sed -n "s/^ *\(ROW(.*)\) *\"$1\".*/\1/p"
}

names=
for library_name in libcublas.so.13 libcublasLt.so.13 libcusolver.so.12 libcudnn.so.9; do
	rows "${library_name%.*}" >"$work/$library_name.rows"
	# Of cuDNN, in a build with its headers, there may be none.
	[ -s "$work/$library_name.rows" ] || [ "$library_name" = libcudnn.so.9 ] ||
	    exit 99
	[ -s "$work/$library_name.rows" ] || continue
	stub all "$library_name" stub_words.c \
	    "-DROWS_FILE=\"$work/$library_name.rows\""
	names="$names $work/all/$library_name"
done
cat "$work"/*.rows >"$work/all.rows"
compile words "-DROWS_FILE=\"$work/all.rows\"" "$here/words.c" $names -ldl
paths=$work/all

# same_words NAME POLICY ARGS...
same_words()
{
	bound "$2" "$work/words" "${@:3}" >"$work/bound" 2>&1
	equal "$1, status" 0 $?
	check "$1" "$(diff "$work/alone" "$work/bound" | head -n 20)"
}
alone "$work/words" >"$work/alone" 2>&1
equal 'T32: the program itself' '0' $?
count=$(wc -l <"$work/all.rows")
for policy in off amp; do
	same_words "T32: $count functions linked, $policy" $policy
	same_words "T32: $count functions by dlsym, $policy" $policy $names
done
# Seven calls of each; those of no work, or of groups that are not there, are
# counted or not, but of the others none is lost.
check 'T32: the calls were caught' \
    "$([ "$(counted)" -ge $((5 * count)) ] || counted)"

# A site is known by its sizes, also by those that need more than 32 bits.
here=$root/tests/preload/stub
stub wide libcublas.so.13 stub_cublas.c
here=$root/tests/binding
compile wide_sizes "$here/wide.c" "$work/wide/libcublas.so.13"
paths=$work/wide
alike 'T32: sizes past 32 bits' 12 "$work/wide_sizes"
equal 'T32: each is a site of its own' \
    '-4,5,6:2 4,4294967301,6:2 4,5,4294967302:2 4,5,6:2 4,8589934597,6:2 4294967300,5,6:2' \
    "$(query '" ".join(sorted("%d,%d,%d:%d" % (s["m"], s["n"], s["k"],
	s["calls"]) for s in sites))')"
plan
