#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T42: what the emulated GPU takes for an instruction of a kernel: instructions of
# the host for one of a warp, over the kernels of a training step. Counted by
# callgrind: exact, whatever else runs.
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
if [ -n "${SANITIZERS:-}" ]; then
	skip_all "built with sanitizers ($SANITIZERS)"
fi
command -v valgrind >/dev/null || skip_all 'valgrind is not installed'
step=$build/tests/perf/programs/step
kernels=$root/tests/perf/programs/step_kernels.ptx
! grep -q __gcov "$step" || skip_all 'built for coverage'
# The limits are those of the loops for AVX2, compiled by gcc.
for flag in avx2 fma; do
	grep -qw $flag /proc/cpuinfo || skip_all "this processor has no $flag"
done
percent=100
case ${CC:-cc} in *clang*) percent=150 ;; esac

# What is done once, such as reading the text, drops out.
ran=$("$step" "$kernels" 4 1 1 | sed -n 's/^ran //p')
one=$(collected "$step" "$kernels" 4 1 1)
two=$(collected "$step" "$kernels" 4 2 1)
check 'T42: a training step has run' \
    "$([ "${ran:-0}" -gt 0 ] && [ "${two:-0}" -gt "${one:-0}" ] ||
    echo "$ran instructions of warps, $one and $two of the host")"
at_most 'T42: instructions of the host for 100 of a warp' \
    $((100 * (two - one) / (ran ? ran : 1))) $((28000 * percent / 100))

# Every thread has its own blocks, and blocks that share a sum stay in order: the
# numbers are the same. For information: how long a step takes here.
alone=$("$step" "$kernels" 1000 1 1)
shared=$("$step" "$kernels" 1000 1 2)
echo "$alone" | sed -n 's/^# a step/# on one thread, a step/p'
echo "$shared" | sed -n 's/^# a step/# on two threads, a step/p'
check 'T42: two threads leave the same numbers' \
    "$([ "$(echo "$alone" | grep -v '^#')" = "$(echo "$shared" |
    grep -v '^#')" ] || printf '%s\n' "$alone" "$shared")"
plan
