#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a kept call costs: instructions per call over a direct call of a library
# that returns at once, counted by callgrind (exact, whatever else runs).
. "$(dirname "$0")/preload.sh"
gate=200

[ -z "${SANITIZERS:-}" ] || skip_all 'instruction counts mean nothing under a sanitizer'
command -v valgrind >/dev/null || skip_all 'valgrind is not installed'
[ -n "${CUDA_CPPFLAGS:-}" ] || [ "${HAVE_CUDA:-}" = yes ] || skip_all 'no CUDA headers'

here=$root/tests/preload/stub
# shellcheck disable=SC2086
${CC:-cc} $CUDA_CPPFLAGS -O2 -shared -fPIC -fvisibility=hidden \
    -Wl,-soname,libcublas.so.13 -Wl,--version-script="$here/stub.map" \
    -o "$work/libcublas.so.13" "$here/stub_cublas.c" || exit 99
# shellcheck disable=SC2086
${CC:-cc} $CUDA_CPPFLAGS -O2 -o "$work/calls" "$here/calls.c" \
    "$work/libcublas.so.13" || exit 99

# instructions PRELOAD POLICY CALLS SHAPES
instructions()
{
	LD_LIBRARY_PATH=$work LD_PRELOAD=$1 AUTOCAST_POLICY=$2 \
	    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
	    "$work/calls" "$3" "$4" 2>&1 |
	    sed -n 's/.*Collected : *\([0-9]*\).*/\1/p'
}

# per_call PRELOAD POLICY SHAPES: the difference of two run lengths, so that
# start-up and first calls drop out.
per_call()
{
	short=$(instructions "$1" "$2" 20000 "$3")
	long=$(instructions "$1" "$2" 40000 "$3")
	echo $(((long - short) / 20000))
}

direct=$(per_call '' off 1)
[ "$direct" -gt 0 ] || exit 99
for policy in off amp 'gemm m>=1000 -> fp16'; do
	for shapes in 1 1024; do
		[ "$shapes" = 1 ] || direct=$(per_call '' off 1024)
		cost=$(($(per_call "$library" "$policy" "$shapes") - direct))
		echo "# policy '$policy', $shapes shapes: $cost instructions over direct"
		complaint=
		[ "$cost" -le $gate ] || complaint="$cost > $gate"
		[ "$cost" -ge 20 ] || complaint="$cost: was the call intercepted at all?"
		check "a kept call costs at most $gate instructions ($policy, $shapes shapes)" \
		    "$complaint"
	done
	direct=$(per_call '' off 1)
done
plan
