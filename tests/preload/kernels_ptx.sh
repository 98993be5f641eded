#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every launch of the product with its kernel's own text in the place of the CPU
# twin: what the host forgets to pass, and only the kernel reads, is found here.
# The memory that kernels may touch is what is allocated on the emulated GPU.
. "$(dirname "$0")/preload.sh"
need_emulator
case ${SANITIZERS:-} in
*thread*) skip_all 'minutes under TSan: race.sh has what it is to see of this' ;;
esac
seen=$work/seen
: >"$seen"

# with KERNELS COMMAND...: its output, its status and what the kernels are found
# to do; the names of those that were interpreted go to $seen.
with()
{
	rm -rf "$AUTOCAST_STATE"
	AUTOCAST_EMU_KERNELS=$1 AUTOCAST_LOG=debug "${@:2}" 2>"$work/err"
	echo "status $?"
	grep 'emulated GPU: kernel ' "$work/err" |
	    grep -v 'instructions of warps$'
	sed -n 's/.*emulated GPU: kernel \(.*\): [0-9]* instructions of warps$/\1/p' \
	    "$work/err" >>"$seen"
}

# alike WHAT COMMAND...: it ends well, with nothing found, and with the bits that
# the twins give.
alike()
{
	expected=$(with twins "${@:2}")
	equal "$1" "$expected" "$(with ptx "${@:2}")"
	case $expected in *'status 0') ;; *) check "$1: runs" "$expected" ;; esac
}

client=$clients/gemm_client
forced='gemm -> fp16 profit=off guard=off'
bf16='gemm -> bf16 profit=off guard=off tactic=cast'
guarded='gemm -> fp16,tf32 profit=off guard=on'
library='gemm -> tf32 profit=off guard=on'
strict='gemm -> fp16 profit=off guard=strict'
conv='conv.fprop -> fp16 profit=off;conv.dgrad -> fp16 profit=off;conv.wgrad -> fp16 profit=off'

for ops in 'n n' 't n' 'n t' 't t'; do
	alike "forced, $ops" under "$forced" "$client" sgemm $ops \
	    67 45 131 139 141 77 1 1 0 normal 1 - repeat=2
done
alike 'BF16, beta' under "$bf16" "$client" sgemm n n 67 45 131 0 0 0 1 -0.75 1.5 \
    normal 1 - repeat=2
alike 'inf and NaN' under "$forced" "$client" sgemm n t 67 45 131 0 0 0 1 -0.75 1.5 \
    nonfinite 1 - repeat=2
alike 'scalars on the device' under "$forced" "$client" sgemm n n 67 45 31 0 0 0 1 \
    2 0.5 normal 1 - device-scalars repeat=2
alike 'a strided batch' under "$forced" "$client" strided n n 37 41 29 0 0 0 3 1 0 \
    normal 1 - repeat=2
alike 'one B for all of a batch' under "$forced" "$client" strided n n 37 41 29 0 0 0 \
    3 1 0 normal 1 - stride-b=0
for policy in "$forced" "$guarded"; do
	alike "arrays of addresses: $policy" under "$policy" "$client" batched n n \
	    37 41 29 0 0 0 3 1 0.5 normal 1 - repeat=5
done
# Candidates next to C, samples, posts that are read 56 calls later.
for policy in "$guarded" "$library"; do
	alike "guarded: $policy" under "$policy" "$client" sgemm n n 67 45 31 0 0 0 \
	    1 1 0.5 normal 1 - repeat=6
done
# The first three calls are kept, and so is what adds up in one C.
for form in sgemm batched; do
	alike "guard=strict, $form" under "$strict" "$client" $form n n 67 45 31 \
	    0 0 0 1 1 0 normal 1 - repeat=5
	equal "guard=strict, $form: control: it is recast" 2 \
	    "$(total totals.recast_calls)"
done
alike 'guard=strict, of what cancels' under "$strict" "$client" sgemm n n 67 45 31 \
    0 0 0 1 1 0 cancelling 1 - repeat=5
alike '16 streams' under "$forced" "$clients/many_streams" 4
alike 'a graph' under "$forced" "$clients/graphs" global replay
alike 'a graph, guarded' under "$guarded" "$clients/graphs" relaxed replay
export AUTOCAST_RANGES=on
alike 'ranges' under "$forced" "$client" sgemm n n 67 45 31 0 0 0 1 1 0 normal 1 -
alike 'ranges, arrays of addresses' under off "$client" batched n n 37 41 29 0 0 0 \
    3 1 0 normal 1 -
alike 'ranges, 16 streams' under "$forced" "$clients/many_streams" 4
unset AUTOCAST_RANGES
alike 'a symmetric matrix' under "$forced" "$clients/symm" int l u 70 40 1 0.5 normal

scaler()
{
	LD_LIBRARY_PATH=$build:$emulator LD_PRELOAD=$sanitizer \
	    AUTOCAST_EMU_MODEL=h200,t4 "$clients/scaler_ways" "$1"
}
alike 'a scaler on seven streams' scaler streams
alike 'a scaler on two devices' scaler devices
[ ! -x "$build/tests/unit/emulator/test_emu_scaler" ] ||
    alike 'all of a scaler' "$build/tests/unit/emulator/test_emu_scaler"

kernels=$(sed -n 's/^\.visible \.entry \(ac_[a-z_]*\).*/\1/p' "$root"/kernels/*.ptx |
    sort)
[ -x "$build/tests/unit/emulator/test_emu_scaler" ] ||
    kernels=$(grep -v ac_scaler_ <<<"$kernels")
if [ -e "$emulator/libcudnn.so.9" ]; then
	for words in op=0 op=1 op=2 'op=3 nhwc=1' 'op=0 groups=4 stride=2'; do
		alike "a convolution, $words" under \
		    "$conv" "$clients/convolving" $words calls=5
	done
else
	kernels=$(grep -v ac_conv_ <<<"$kernels")
fi
equal 'each kernel that ships was run' "$kernels" "$(sort -u "$seen")"
plan
