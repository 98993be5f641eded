#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the environment asks of cuBLAS is an opt-out where it has an effect; an
# algorithm that cuBLAS measures is no reproducible one, and that is said.
. "$(dirname "$0")/preload.sh"
need_emulator
command -v python3 >/dev/null 2>&1 || skip_all 'no python3'
client=$clients/gemm_client
every='gemm -> fp16 profit=off guard=off'

# found NAME WANTED POLICY FORM OPTION...: what the report says of one product:
# asked for, recast of all calls, and the reasons of the others.
found()
{
	local name=$1 wanted=$2 policy=$3 form=$4

	shift 4
	rm -rf "$AUTOCAST_STATE"
	under "$policy" "$client" "$form" n n 64 64 64 0 0 0 1 1 0 normal 1 - \
	    "$@" >/dev/null 2>"$work/err"
	equal "$name" "$wanted" "$(query '" ".join([sites[0]["asked"], str(sites[0]["recast_calls"])] + list(sites[0]["kept_calls"]))')"
}

export AUTOCAST_EMU_MODEL=b200
found 'nothing is asked' 'fp32 1' "$every" sgemm
export CUBLAS_EMULATE_SINGLE_PRECISION=1
for form in sgemm sgemmex gemmex64 strided batchedex; do
	found "emulation, $form" 'emulated 0 opted-out' "$every" $form
done
found 'emulation: overruled' 'emulated 1' "$every respect-opt-out=off" sgemm
found 'emulation: a line of its own' 'emulated 0 rule' "gemm asked=emulated -> keep
$every" sgemm
found 'emulation: of what asks for TF32, none' 'tf32 1' "$every" sgemm math=tf32
CUBLAS_EMULATE_SINGLE_PRECISION=0 found 'emulation: 0' 'fp32 1' "$every" sgemm
AUTOCAST_EMU_MODEL=h200 found 'emulation: where there is none' 'fp32 1' "$every" sgemm
unset CUBLAS_EMULATE_SINGLE_PRECISION
CUBLAS_EMULATION_STRATEGY=eager found 'a strategy alone' 'fp32 1' "$every" sgemm
export AUTOCAST_EMU_MODEL=h200

CUBLAS_BATCH_INVARIANCE_FLAGS=1 found 'batch invariance' 'opted-out 0 opted-out' "$every" sgemm
CUBLAS_BATCH_INVARIANCE_FLAGS=0 found 'batch invariance: 0' 'fp32 1' "$every" sgemm
CUBLAS_BATCH_INVARIANCE_FLAGS=1 found 'batch invariance: overruled' 'opted-out 1' \
    "$every respect-opt-out=off" sgemm

# ---- CUBLAS_GEMM_AUTOTUNE
same_bits='set reproducible=on
'
found 'autotuning, kept' 'fp32 0 rule' "${same_bits}gemm -> keep" gemmex algo=999 repeat=3
equal 'is said once' 1 "$(grep -c '^autocast: reproducible=on: .* cublasGemmEx with CUBLAS_GEMM_AUTOTUNE' "$work/err")"
equal 'and counted' 'CUBLAS_GEMM_AUTOTUNE despite reproducible=on 3' \
    "$(query '" ".join(m["symbol"] + " " + str(m["calls"]) for m in report["markers"] if "AUTOTUNE" in m["symbol"])')"
found 'autotuning, kept at first' 'fp32 1 own' \
    "${same_bits}gemm -> fp16 profit=off" gemmex algo=999 repeat=4
equal 'is said once as well' 1 "$(grep -c AUTOTUNE "$work/err")"
found 'autotuning, recast' 'fp32 3' "$same_bits$every" gemmex algo=999 repeat=3
equal 'is silent' '' "$(cat "$work/err")"
found 'autotuning, without reproducible=on' 'fp32 0 rule' 'gemm -> keep' gemmex algo=999
equal 'is silent, too' '' "$(cat "$work/err")"
found 'no autotuning' 'fp32 0 rule' "${same_bits}gemm -> keep" gemmex repeat=3
equal 'has nothing to say' '' "$(cat "$work/err")"
plan
