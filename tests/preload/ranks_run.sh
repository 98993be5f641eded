#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ranks of a real mpirun make one run under `autocast run`, too, whether it
# starts mpirun or mpirun starts it.
. "$(dirname "$0")/preload.sh"
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
. "$(dirname "$0")/mpi.sh"
unset XDG_STATE_HOME

AUTOCAST_POLICY=$policy "$build/autocast" run --emulate -- mpirun --oversubscribe -np 2 \
    sh -c "$script" "$work/out" $product >"$work/said" 2>&1
equal 'autocast run -- mpirun: one run' '2 2 1' "$(query "$shape")"

# `autocast run` for each rank: the first one speaks for all, and writes.
unset AUTOCAST_NOTICE
mpi 3 "$build/autocast" run --emulate -e "$policy" \
    --report "$work/report.json" -- sh -c "$script" "$work/out" $product
equal 'mpirun autocast run: one run' '3 3 1' "$(query "$shape")"
equal 'the lines at the end come once' '1 1' \
    "$(grep -c 'FP32 GEMM work' "$work/said") $(grep -c 'shows every site' \
    "$work/said")"
# Open MPI 5's mpirun becomes prterun.
equal 'what to type next is for all ranks, too' \
    "autocast compare -e '$policy' --emulate -- mpirun --oversubscribe -np 3 sh -c" \
    "$(sed -nE "s/ prterun / mpirun /; s/.*type: (.* sh -c) .*/\1/p" "$work/said")"
equal 'which are of all ranks' 1 \
    "$(grep -c 'sums over 3 of 3 ranks$' "$work/said")"
equal 'so is the report' 3 "$(grep -c '"pid"' "$work/report.json")"
mpi 2 sh -c 'test $OMPI_COMM_WORLD_RANK = 1 && sleep 0.3
    exec "$@" "$0.$OMPI_COMM_WORLD_RANK"' "$work/out" "$build/autocast" \
    run --emulate -e "$policy" -- $product
equal 'the first rank waits a little' '2 2 1' "$(query "$shape")"
mkdir "$work/tmp"
TMPDIR=$work/tmp "$build/autocast" compare -n 2 --emulate -e "$policy" -- \
    mpirun --oversubscribe -np 2 sh -c "$script" "$work/out" $product \
    >"$work/said" 2>&1
equal 'compare leaves nothing of ranks' '' \
    "$(find "$work/tmp" -name '*autocast*'; grep -i 'no such' "$work/said")"
plan
