#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ratios.sh GPUS CALLS -- what `amp` takes and `off` takes, by the modelled clock,
# for programs that end after so many calls: one product again and again, by cuBLAS
# and by cublasLt with RELU_BIAS, attention, and sizes that vary. Rates are those that
# the library has of itself (policy/profit/rates.def). A line for each program; then
# the least ratio, which is 0.98 at least.
. "$(dirname "$0")/trust.sh"
need_emulator
cost=$build/tests/trust/cost
[ $# = 2 ] || { echo 'usage: make ratios GPUS=... CALLS=...' >&2; exit 2; }
shrink
for name in 'NVIDIA H200' 'NVIDIA A100-SXM4-80GB' 'NVIDIA GeForce RTX 4090' 'Tesla T4'; do
	calibrate_as_listed "$name"
done

# program NAME COST-ARGUMENT...: GPU, name, both times, their ratio, calls recast.
program()
{
	local name=$1 before now
	shift
	before=$(under off "$cost" "$@" | sed 's/ .*//')
	now=$(under amp "$cost" "$@" | sed 's/ .*//')
	echo "$AUTOCAST_EMU_MODEL $name $before $now $(query \
	    'sum(s["recast_calls"] for s in report["sites"])')" |
	    awk '{ printf "%-8s %-22s %10.1f us %10.1f us %7.3f  recast %d\n",
		$1, $2, $3, $4, ($4 > 0 ? $3 / $4 : 0), $5 }'
}

for AUTOCAST_EMU_MODEL in $1; do
	export AUTOCAST_EMU_MODEL
	for calls in $2; do
		for size in 512 1024 2048 4096; do
			n=$(sized $size)
			program "loop-$size-$calls" loop "$n" "$n" "$n" "$calls"
			program "linear-$size-$calls" linear "$n" "$calls"
		done
		for tokens in 1024 2048; do
			program "attention-$tokens-$calls" attention 16 \
			    "$(sized "$tokens")" "$(sized 64)" "$calls"
		done
		n=$(sized 1024)
		program "sizes-1024-$calls" sizes "$n" "$n" "$n" 20 "$calls" 1
	done
done | tee "$work/all"
awk '{ ratio[NR] = $7; line[NR] = $0 }
	END {
		least = 1
		for (i = 2; i <= NR; i++)
			if (ratio[i] < ratio[least])
				least = i
		print NR " programs; the least gain: " line[least]
		exit !(NR && ratio[least] >= 0.98)
	}' "$work/all"
