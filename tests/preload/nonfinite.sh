#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Infinities and NaNs come out of a recast product exactly where they come out
# of FP32: for every rung, spelling, transposition and kind of trouble, with
# remembered exponents as with fresh ones. The kinds: two elements of A and one
# of B; an infinity that meets zeros (NaN), or what FP16 flushes to zero
# (infinity all the same); all of it at once.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/gemm_client
data='inf minus-inf nan inf-on-zero inf-on-tiny nonfinite'

# classes POLICY ARGS...: adds to $complaints.
classes()
{
	line=$(under "$1" "$client" "${@:2}" reference 2>&1)
	case $line in
	'status=0 '*' padding=ok inputs=ok '*' classes=0 '*) ;;
	*) complaints+="${*:2}: $line
" ;;
	esac
}

# table WHAT POLICY RECAST FORM BATCH: all transpositions and kinds; RECAST of
# the two calls of each are recast.
table()
{
	for ops in 'n n' 'n t' 't n' 't t'; do
		complaints=
		for d in $data; do
			for scalars in '1 0' '-0.75 1.5'; do
				classes "$2" $4 $ops 67 45 131 139 141 77 $5 \
				    $scalars $d 1 - repeat=2
			done
		done
		check "$1, $4, $ops" "$complaints"
	done
	equal "$1, $4: calls recast" "$3" "$(total totals.recast_calls)"
}

forced='profit=off guard=off'
for rung in tf32 bf16 fp16; do
	table $rung "gemm -> $rung $forced" 2 sgemm 1
	table $rung "gemm -> $rung $forced" 2 strided 3
done
# No compute type is safe for addresses that only the GPU knows.
table tf32 "gemm -> tf32 $forced" 0 batched 3
table bf16 "gemm -> bf16 $forced" 2 batched 3
table fp16 "gemm -> fp16 $forced" 2 batched 3
table 'bf16 by our cast' "gemm -> bf16 $forced tactic=cast" 2 sgemm 1
# Outputs that are no numbers cannot be sampled: they prove nothing, and calls stay
# as they are.
table 'fp16, guarded' 'gemm -> fp16 profit=off guard=on' 0 sgemm 1

# The corners of alpha and beta.
for d in $data; do
	complaints=
	classes fp16 sgemm n n 64 48 96 0 0 0 1 0 2 "$d" 1 -
	classes fp16 sgemm n n 64 48 96 0 0 0 1 0 0 "$d" 1 -
	classes fp16 sgemm n n 64 48 96 0 0 0 1 1 0 "$d" 1 - nan-c
	classes fp16 sgemm n n 64 48 96 0 0 0 1 0 0 "$d" 1 - nan-c device-scalars
	classes fp16 sgemm n n 64 48 96 0 0 0 1 0 1 "$d" 1 - device-scalars
	classes fp16 sgemm n n 64 48 96 0 0 0 1 -1 1 "$d" 1 - device-scalars
	check "fp16 on $d: alpha, beta, NaN in C" "$complaints"
	complaints=
	classes fp16 strided n n 64 48 96 0 0 0 3 1 1 "$d" 1 - stride-a=0
	classes fp16 strided t n 64 48 96 0 0 0 3 1 1 "$d" 1 - stride-b=0
	classes fp16 batched n t 64 48 96 0 0 0 3 1 0 "$d" 1 - stride-a=0
	classes fp16 sgemm n t 1 1 1 0 0 0 1 1 0 "$d" 1 -
	classes fp16 sgemm t t 1 300 7 0 0 0 1 1 0 "$d" 1 -
	classes fp16 sgemm t n 300 1 7 0 0 0 1 1 1 "$d" 1 -
	check "fp16 on $d: one matrix for all, thin ones" "$complaints"
done
plan
