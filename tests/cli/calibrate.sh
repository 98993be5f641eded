#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# calibrate.sh -- rates of a GPU that is known beforehand, and every reason to
# keep nothing.
. "$(dirname "$0")/transcript.sh"

# Nobody finds what is no library.
mkdir none
touch none/libcuda.so.1
export LD_LIBRARY_PATH=$PWD/none
play 7

# ---- No GPU
show calibrate
shown

# ---- A GPU that is known
mkdir cuda 12 lone
touch lone/libcublas.so.12 lone/libcublas.so.13 cuda/libcublas.so.12
library()
{
	${CC:-cc} -w -shared -fPIC -o "$1" "$here/calibrate_stub.c" "${@:2}" 2>cc.log
}
said()
{
	STUB=$1 LD_LIBRARY_PATH=${2:-$PWD/cuda} "$autocast" calibrate "${@:3}" 2>&1
	echo "[$?]"
}
stubs='a GPU that is known'
if [ -n "${SANITIZERS:-}" ]; then
	skip "$stubs" 'a sanitized program takes sanitized libraries only'
elif library cuda/libcuda.so.1 -Wl,-soname,libcuda.so.1 &&
    library cuda/libcublas.so.13 -DCUBLAS=130100 -Lcuda -l:libcuda.so.1 &&
    cp cuda/libcuda.so.1 12/ && cp cuda/libcuda.so.1 lone/ &&
    library 12/libcublas.so.12 -DCUBLAS=120803 -L12 -l:libcuda.so.1; then
	said '' '' >out
	rates=$place/state/rates/NVIDIA_H200-13000-cublas-13.1
	equal 'measured' "$(sed -e 's/host-launch .*/host-launch/' -e "s,$place,PLACE,"  out)" \
	    "NVIDIA H200, sm 90, driver 13.0, cublas-13.1
launch       2 us            +- 0 % of 15      built in: 2.5
host-launch
bandwidth    4 TB/s          +- 0 % of 15      built in: 4.3
fp32         51.03 TFLOP/s   +- 0 % of 15      built in: 52
tf32         411.4 TFLOP/s   +- 0 % of 15      built in: 403
fp16         843.8 TFLOP/s   +- 0 % of 15      built in: 790
bf16         733.6 TFLOP/s   +- 0 % of 15      built in: 790
measured here; what is built in is NVIDIA H200, from public figures: fp16 and bandwidth measured on an H200, bf16 taken as fp16; tf32 and fp32 published for GH200; launches assumed
kept in PLACE/state/rates/NVIDIA_H200-13000-cublas-13.1
[0]"
	equal 'kept' "$(grep -E '^(gpu|sm|driver|library|fp16) ' "$rates" | sed 's/ of .*//' | tr '\n' ';')" \
	    'gpu = NVIDIA H200;sm = 90;driver = 13000;library = cublas-13.1;fp16 = 8.43793e14;'
	# 4096 is what ran best, at 50 and 400 TFLOP/s: so it is estimated, with
	# a launch of 2 us.
	equal 'what was measured is what is estimated' \
	    "$("$autocast" explain gemm m=4Ki n=4Ki k=4Ki gpu=h200 -e "gemm -> tf32" |
	    sed -n -E 's/^  (keep|tf32) .*(estimated [0-9.]+ [mu]s).*/\1 \2/p' | tr '\n' ';')" \
	    'keep estimated 2.75 ms;tf32 estimated 346 us;'
	equal 'as of today' "$(sed -n 's/^date = //p' "$rates" | tr 0-9 d)" dddd-dd-dd
	rm -r "$place/state"
	equal 'rates that move are not kept' "$(said unsteady | tail -n 2)" \
	    'autocast: calibrate: fp32 moves too much from sample to sample; nothing is kept. Is the GPU busy?
[1]'
	equal 'CUDA 12; rates beyond belief are not kept' "$(said '12 slow' "$PWD/12" | sed -n '1p;/kept/,$p')" \
	    'NVIDIA H200, sm 90, driver 12.8, cublas-12.8
autocast: calibrate: nothing is kept: its fp32 is beyond belief for such a GPU
[1]'
	refused()
	{
		equal "$1" "$2" "autocast: calibrate: $3
[1]"
	}
	refused 'no cuBLAS' "$(said '' "$PWD/lone")" \
	    'there is no cuBLAS (neither libcublas.so.13 nor libcublas.so.12 can be loaded); set LD_LIBRARY_PATH'
	refused 'only a newer cuBLAS' "$(said 12)" \
	    'there is no cuBLAS (libcublas.so.12 cannot be loaded); set LD_LIBRARY_PATH'
	refused 'a driver that does not start' "$(said no-init)" 'cuInit: CUDA_ERROR_UNKNOWN'
	refused 'no such GPU' "$(said '' '' --device 1)" 'there is no GPU 1; there is 1'
	refused 'a cuBLAS that does not start' "$(said no-handle)" 'cublasCreate: error 3'
	refused 'a full GPU' "$(said full | grep -v ^NVIDIA)" 'too little device memory is free'
	refused 'no memory' "$(said no-memory | grep -v ^NVIDIA)" 'cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY'
	refused 'nowhere to keep it' "$(AUTOCAST_STATE=off said '')" \
	    'there is no directory to keep the rates in; set AUTOCAST_STATE, or try --dry-run'
	equal 'nothing was kept' "$(ls "$place/state" 2>/dev/null)" ''
else
	skip "$stubs" 'cannot compile'
fi

# ---- The emulated GPU
if [ -f "$build/emulator/libcublas.so.13" ]; then
	equal 'an emulated GPU cannot be measured' "$("$autocast" calibrate --emulate 2>&1; echo "[$?]")" \
	    'autocast: calibrate: an emulated GPU cannot be measured; --dry-run prints the numbers without keeping them
[1]'
	# On its modelled clock: what is planted is what is measured.
	AUTOCAST_EMU_CLOCK=model AUTOCAST_EMU_RATES=fp16=0.5,launch=2 \
	    "$autocast" calibrate --emulate --dry-run >out
	equal 'the model is measured' "$?,$(sed -n -E 's/^(launch|fp32|tf32|fp16|bf16) +([0-9.]+) .*built in: (.*)/\1 \2 \3/p' out | tr '\n' ';')" \
	    '0,launch 5 2.5;fp32 52 52;tf32 403 403;fp16 395 790;bf16 790 790;'
	equal 'it is said to be emulated' "$(grep -c '(emulated)' out),$(grep -c '^emulated: .*nothing is kept' out)" 1,1
	AUTOCAST_EMU_CLOCK=model "$autocast" calibrate --emulate=t4 --dry-run >out
	equal 'what a GPU lacks is not measured' "$(sed -n -E 's/^([a-z]+[0-9]+) .*/\1/p' out | tr '\n' ' ')" 'fp32 fp16 '
	equal 'nothing is kept' "$(ls "$place/state" 2>/dev/null)" ''
else
	for what in 'an emulated GPU cannot be measured' 'the model is measured' 'it is said to be emulated' 'what a GPU lacks is not measured' 'nothing is kept'; do
		skip "$what" 'the emulated GPU was not built (OpenBLAS is missing)'
	done
fi
plan
