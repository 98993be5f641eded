#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lockstep.sh -- the text of the .cu files gives the bits of the twins: compiled
# for the CPU, a thread of the GPU at a time (tests/unit/kernels/lockstep.cc).
. "$(dirname "$0")/tap.sh"

: "${CXX:=c++}"
[ -z "${SANITIZERS:-}" ] || skip_all 'contexts of its own confuse sanitizers'
command -v "$CXX" >/dev/null 2>&1 || skip_all 'no C++ compiler'
[ "$(uname -m)" = x86_64 ] || skip_all 'tried on x86-64 only'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# As the twins are: no product fused into a sum, no libm for a root. -O1 is
# enough here and compiles in half the time.
flags="-O1 -I$root -ffp-contract=off -fno-math-errno"
cd "$root" || exit 99
{
	"$CXX" -std=gnu++17 $flags -c -o "$work/text.o" tests/unit/kernels/lockstep.cc &&
	    "$CXX" -std=gnu++17 $flags -c -o "$work/text_scaler.o" \
	    tests/unit/kernels/lockstep_scaler.cc &&
	    "$CXX" -std=gnu++17 $flags -c -o "$work/text_verified.o" \
	    tests/unit/kernels/lockstep_verified.cc &&
	    for source in kernels/twins/twins.c kernels/twins/twins_[!e]*.c \
	    kernels/conv/conv_job.c \
	    kernels/scaler/scaler_rule.c \
	    tests/unit/kernels/lockstep.c tests/unit/kernels/lockstep_scaler.c \
	    tests/unit/kernels/lockstep_verified.c \
	    tests/unit/kernels/verified_cases.c \
	    tests/unit/kernels/verified_families.c \
	    tests/unit/kernels/conv_cases.c tests/unit/scaler/scaler_cases.c \
	    tests/unit/kernels/cast_reference.c; do
		${CC:-cc} -std=gnu11 -D_GNU_SOURCE $flags -c \
		    -o "$work/$(basename "$source" .c).o" "$source" || exit 99
	done &&
	    "$CXX" -o "$work/lockstep" "$work"/*.o -lm
} >"$work/said" 2>&1 || {
	check 'it compiles' "$(cat "$work/said")"
	plan
	exit 0
}
"$work/lockstep" "$@"
