#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs with kernels of their own on the emulated GPU: a CPU twin stands in
# for one, and one with neither a twin nor PTX is an error that names it.
. "$(dirname "$0")/preload.sh"
need_emulator
twin=$work/saxpy_twin.so
sanitize=${SANITIZERS:+-fsanitize=$SANITIZERS}
${CC:-cc} -O2 -shared -fPIC $sanitize -o "$twin" "$root/examples/twins/saxpy_twin.c" ||
    skip_all 'cannot compile a shared library'
AUTOCAST_EMU_TWINS=$twin
export AUTOCAST_EMU_TWINS

# gives WHAT EXPECTED PROGRAM ARGS: bare, and under fp16 with its product recast.
gives()
{
	equal "$1" "$2" "$(bare "${@:3}" 2>"$work/bare.err")"
	rm -rf "$AUTOCAST_STATE"
	equal "$1, with the library" "$2 1" \
	    "$(under fp16 "${@:3}" 2>"$work/err") $(total totals.recast_calls)"
}
right=$(awk 'BEGIN { n = 64
	for (k = 0; k < n; k++) {
		first += ((k * n) % 3) * (k % 3)
		last += ((k * n + n - 1) % 3) * (((n - 1) * n + k) % 3)
	}
	print "saxpy", first, last + 10 * ((n * n - 1) % 3) }')

gives 'registered by hand' "$right" "$clients/own_kernel"
gives 'registered twice' "$right" "$clients/own_kernel" twice
gives 'a kernel without a twin or PTX' 'status=209' "$clients/own_kernel" unknown
check 'is named' "$(grep -q 'kernel _Z7unknownPf: there is no .*AUTOCAST_EMU_TWINS' \
    "$work/err" || cat "$work/err")"
gives 'a kernel whose module is gone' 'unregistered status=98' \
    "$clients/own_kernel" unregistered

unset AUTOCAST_EMU_TWINS
equal 'no twin library' 'status=209' "$(bare "$clients/own_kernel" 2>/dev/null)"
equal 'a twin library that is preloaded' "$right" \
    "$(LD_PRELOAD=${sanitizer:+$sanitizer:}$twin bare "$clients/own_kernel" 2>&1)"
equal 'one that is missing' 'status=209' \
    "$(AUTOCAST_EMU_TWINS=$work/absent.so bare "$clients/own_kernel" 2>"$work/err")"
check 'is said' "$(grep -q 'AUTOCAST_EMU_TWINS: .*absent.so' "$work/err" || cat "$work/err")"
export AUTOCAST_EMU_TWINS=$work/absent.so:$twin
equal 'but the others count' "$right" "$(bare "$clients/own_kernel" 2>/dev/null)"
AUTOCAST_EMU_TWINS=$twin

what='compiled by nvcc'
if [ -n "$sanitizer" ]; then
	skip "$what" 'nvcc builds no sanitized program'
elif ! command -v nvcc >/dev/null 2>&1; then
	skip "$what" 'no nvcc'
elif ! nvcc -cudart shared -o "$work/saxpy" "$root/examples/twins/saxpy.cu" \
    -lcublas 2>"$work/err"; then
	skip "$what" 'nvcc cannot link'
else
	gives "$what" "$right" "$work/saxpy"
	unset AUTOCAST_EMU_TWINS
	gives "$what, without a twin" "$right" "$work/saxpy"
fi
plan
