#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a call on vectors costs that seed and update lines could mean: next to
# nothing where a policy has none. Instructions, counted by callgrind.
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
need_callgrind

cat >"$work/stub.c" <<'END'
int cublasSaxpy_v2(void *, int, const float *, const float *, int, float *, int);
__attribute__((visibility("default"))) int
cublasSaxpy_v2(void *handle, int n, const float *alpha, const float *x,
    int incx, float *y, int incy)
{
	return !handle + n + incx + incy + (*alpha > *x) + (*y > 0);
}
END
cat >"$work/vectors.c" <<'END'
#include <stdlib.h>
int cublasSaxpy_v2(void *, int, const float *, const float *, int, float *, int);
int
main(int argc, char **argv)
{
	float alpha = 1, x = 2, y = 3;
	int sum = 0;

	for (long i = atol(argv[argc - 1]); i > 0; i--)
		sum += cublasSaxpy_v2(&alpha, 1, &alpha, &x, 1, &y, 1);
	return sum == 0;
}
END
shared libcublas.so.13 -Wl,-soname,libcublas.so.13 \
    -Wl,--version-script="$stub/stub.map" "$work/stub.c"
compiled vectors "$work/vectors.c" "$work/libcublas.so.13"

direct=$(a_call vectors)
preload=$library
for policy in off amp; do
	at_most "instructions of Saxpy over a direct call, $policy" \
	    $(($(a_call vectors) - direct)) 110
done
check 'and the call was seen' \
    "$([ $(($(a_call vectors) - direct)) -ge 10 ] || echo "$direct direct")"
plan
