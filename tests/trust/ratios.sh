#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ratios.sh [GPUS [CALLS]] -- what `amp` takes and `off` takes, by the modelled clock,
# for programs that end after so many calls: one product again and again, by cuBLAS
# and by cublasLt with RELU_BIAS, attention, and sizes that vary. Rates are those that
# the library has of itself (policy/profit/rates.def). A line for each program; then
# the least ratio, which is 0.98 at least.
. "$(dirname "$0")/trust.sh"
need_emulator
cost=$build/tests/trust/cost
gpus=${1:-h200 a100 rtx4090 t4}
numbers=${2:-1 2 3 4 5 6 8 10 12 16 20 24 32 48 64 80 100}
shrink

# rates KEY FILE NAME SM FP32 TF32 FP16 BANDWIDTH: TFLOPS, and TB/s; as they are there.
rates()
{
	case " $gpus " in *" $1 "*) ;; *) return ;; esac
	# shellcheck disable=SC2046
	calibrate "$2" "$3" "$4" $(echo "$5 $6 $7 $8" | awk -v by="$smaller" \
	    -v moves="$smaller_moves" '{
		printf "fp32=%.4ge12 ", $1 * by
		if ($2)
			printf "tf32=%.4ge12 ", $2 * by
		printf "fp16=%.4ge12 ", $3 * by
		if ($2)
			printf "bf16=%.4ge12 ", $3 * by
		printf "bandwidth=%.4ge12", $4 * moves
	    }') launch=2.5e-6 host-launch=3e-6
}
rates h200 NVIDIA_H200__emulated_ 'NVIDIA H200 (emulated)' 90 52 403 790 4.3
rates a100 NVIDIA_A100-SXM4-80GB__emulated_ 'NVIDIA A100-SXM4-80GB (emulated)' \
    80 18.9 126 255 1.7
rates rtx4090 NVIDIA_GeForce_RTX_4090__emulated_ \
    'NVIDIA GeForce RTX 4090 (emulated)' 89 53.4 85.6 155 0.93
rates t4 Tesla_T4__emulated_ 'Tesla T4 (emulated)' 75 4.2 0 24 0.288

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

for AUTOCAST_EMU_MODEL in $gpus; do
	export AUTOCAST_EMU_MODEL
	for calls in $numbers; do
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
