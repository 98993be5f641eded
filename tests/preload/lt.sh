#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that multiply by cublasLt, in the ways of PyTorch, XLA, TunableOp and
# others: they keep their promises on the emulated GPU, and under `off` nothing
# of what they compute, print or are told differs.
. "$(dirname "$0")/preload.sh"
need_emulator
AUTOCAST_EMU_CLOCK=model
export AUTOCAST_EMU_CLOCK

# alike NAME PROGRAM ARGS...: alone and under off, byte for byte, with status 0.
alike()
{
	name=$1
	shift
	rm -rf "$AUTOCAST_STATE"
	bare "$clients/$1" "${@:2}" >"$work/bare" 2>&1
	equal "$name: alone" 0 $?
	under off "$clients/$1" "${@:2}" >"$work/under" 2>&1
	equal "$name: under off" 0 $?
	same "$name: with the same output" "$work/bare" "$work/under"
	equal "$name: nothing is recast" 0 "$(total totals.recast_calls)"
}

alike 'every product' lt_matrix
check 'they are many, and most are supported' "$(awk '
    / status=0 / { done++ } END { if (NR < 6000 || done < 5000) print NR, done }
    ' "$work/bare")"
alike 'odd sizes' lt_matrix size=33x17x29 pad=3
alike 'without an algorithm' lt_matrix kind=fp32 order=tn algo=null
for data in inf nan tiny large; do
	alike "data: $data" lt_matrix kind=fp32 order=tn data=$data
done
alike 'as PyTorch' lt_torch calls=8
alike 'as PyTorch, 32 MiB of workspace' lt_torch workspace=33554432
alike 'as XLA' lt_xla
alike 'as XLA, by threads' lt_xla threads
alike 'on the stack, by threads' lt_stack
alike 'wrong calls' lt_bad
alike 'as TunableOp' lt_tune "$work/tuned"
mv "$work/tuned" "$work/tuned.off"
bare "$clients/lt_tune" "$work/tuned" >/dev/null
same 'which writes the same file' "$work/tuned" "$work/tuned.off"

# A call that fails is the program's to hear of.
for n in 1 2 5; do
	for status in 3 7 13 15; do
		export AUTOCAST_EMU_FAIL=cublasLtMatmul:$n:$status
		bare "$clients/lt_torch" >"$work/bare" 2>&1
		equal "product $n fails with $status: the program stops" 1 $?
		under off "$clients/lt_torch" >"$work/under" 2>&1
		same "product $n fails with $status: for the same reason" \
		    "$work/bare" "$work/under"
	done
done
plan
