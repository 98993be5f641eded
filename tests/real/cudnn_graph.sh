#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Graphs of convolutions on NVIDIA's own cuDNN, described for devices that are
# not there: what the program asks is answered as without the library, and its
# plans are its own.
. "$(dirname "$0")/cudnn.sh"
for name in conv_graph conv_frontend; do
	client $name
done
need_device

ask()
{
	"$work/conv_graph" "$local_cudnn" "$devices/$1.json" "${@:2}" 2>&1
}
export -f ask
export work local_cudnn devices

# ---- the same with as without ------------------------------------------------
# A question a line; the whole list is one process.
kept='mode=FALLBACK ask=256 plans=3
type=half plans=2
type=half op=wgrad plans=2
type=double compute=double plans=2
type=half compute=half plans=1
type=bfloat16 plans=1
op=matmul plans=2
op=matmul type=half plans=2
beta=1 plans=2
beta=0.5 op=wgrad plans=2
dynamic=1 plans=1
fusion=relu plans=1
c=0
n=-1
filter=99
groups=7
alignment=3
ask=0
ask=-1'
questions=$(tr '\n' '/' <<<"$kept" | sed 's,/$,,; s,/, / ,g')
for device in sm90 sm75; do
	alone bash -c 'ask "$@"' ask $device $questions >"$work/alone"
	equal "$device: kept kinds: it ends" 0 $?
	check "control: $device: there are answers" \
	    "$([ "$(grep -c 'plan=0 ' "$work/alone")" -ge 10 ] ||
	        cat "$work/alone")"
	for policy in off "$all_fp16"; do
		with "$policy" bash -c 'ask "$@"' ask $device $questions \
		    >"$work/with"
		check "$device: kept kinds, '$policy'" \
		    "$(diff "$work/alone" "$work/with" | head -n 20)"
	done
done

eligible='plans=2 / layout=nhwc plans=2 / op=dgrad plans=2 /
op=wgrad plans=2 / mode=B plans=2 / mode=INSTANT plans=2 /
fusion=bias plans=2 / fusion=bias-relu plans=2 /
fusion=add-bias-relu plans=2 / groups=32 plans=2 / dilation=2 pad=2 plans=2 /
stride=2 plans=2 / c=3 filter=7 pad=3 stride=2 plans=2 / c=65 k=63 plans=2 /
spatial=3 n=2 c=64 k=64 plans=2 / spatial=1 plans=2 / alpha=2 plans=2 /
ask=1 / ask=2 / ask=3 plans=1 / alignment=4 plans=2 / repeat=5 plans=1 /
pad=0 post=2 plans=2 / op=dgrad pad=2 post=1 layout=nhwc plans=2'
alone bash -c 'ask "$@"' ask sm90 $eligible >"$work/eligible"
equal 'eligible kinds: it ends' 0 $?
questions=$(grep -o / <<<"$eligible" | wc -l)
equal 'control: every graph is answered' $((questions + 1)) \
    "$(grep -c '^graph=1 heuristic=1 configs=[1-9]' "$work/eligible")"
equal 'control: none of them down-converts' '' \
    "$(grep -E ' notes=0x[237abef] ' "$work/eligible")"
for policy in off 'conv.fprop -> tf32' "$all_fp16" \
    'conv.fprop,conv.dgrad,conv.wgrad -> fp16 guard=on profit=off'; do
	with "$policy" bash -c 'ask "$@"' ask sm90 $eligible >"$work/with"
	check "eligible kinds are left alone, '$policy'" \
	    "$(diff "$work/eligible" "$work/with" | head -n 20)"
done
for device in sm75 sm80 sm90 sm100; do
	alone "$work/conv_frontend" "$local_cudnn" "$devices/$device.json" \
	    >"$work/$device.frontend" 2>&1
	equal "$device: a frontend finds a plan" 1 \
	    "$(grep -c '^engine=' "$work/$device.frontend")"
done

# ---- a frontend that drops what down-converts --------------------------------
for device in sm75 sm80 sm90 sm100; do
	with "$all_fp16" "$work/conv_frontend" "$local_cudnn" \
	    "$devices/$device.json" >"$work/with" 2>&1
	same "$device: a frontend gets its own" "$work/$device.frontend" \
	    "$work/with"
done
alone "$work/conv_frontend" "$local_cudnn" "$devices/sm90.json" strict=1 |
    sed 's/dropped=.*//' >"$work/alone" 2>&1
with "$all_fp16" "$work/conv_frontend" "$local_cudnn" "$devices/sm90.json" \
    strict=1 2>&1 | sed 's/dropped=.*//' >"$work/with"
same 'a frontend without Tensor Cores gets its own' "$work/alone" "$work/with"
plan
