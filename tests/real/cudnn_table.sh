#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Twenty layers, three operations, two layouts, on NVIDIA's own cuDNN: how often
# the engine that the heuristics name first for the FP16 graph is one that
# down-converts on the FP32 graph; and that with the library preloaded this
# engine, with its knobs, is what the heuristics name first for the FP32 graph.
. "$(dirname "$0")/cudnn.sh"
client conv_graph
client conv_table
need_device

# ---- by itself: the table ----------------------------------------------------
echo '# device   down-convert at rank 1   accepted at rank 1   accepted   of'
for device in sm75 sm80 sm89 sm90 sm100; do
	alone "$work/conv_table" "$local_cudnn" "$devices/$device.json" twin \
	    >"$work/$device.twin" 2>&1
	# DOWN_CONVERT_INPUTS is bit 1; bits 2 and 4 are why one is not accepted.
	down=$(grep -c ' first=0x[237abef] ' "$work/$device.twin")
	first=$(grep -c ' rank=1$' "$work/$device.twin")
	some=$(grep -c ' engine=' "$work/$device.twin")
	echo "# $device $down $first $some $(wc -l <"$work/$device.twin")"
	equal "$device: the whole table" 120 "$(wc -l <"$work/$device.twin")"
	case $device in
	sm80 | sm90)
		check "$device: at least 118 of 120 map at rank 1" \
		    "$([ "$down" -ge 118 ] || cat "$work/$device.twin")"
		;;&
	sm75 | sm80 | sm89 | sm90)
		equal "$device: all of them map at some rank" 120 "$some"
		;;
	esac
done

# ---- with the library --------------------------------------------------------
# rank1 DEVICE POLICY: what is named first for each FP32 graph.
rank1()
{
	with "$2" "$work/conv_table" "$local_cudnn" "$devices/$1.json" first \
	    2>&1
}

for device in sm80 sm90; do
	alone "$work/conv_table" "$local_cudnn" "$devices/$device.json" first \
	    >"$work/$device.alone" 2>&1
	rank1 $device off >"$work/with"
	same "$device: off: the same engines" "$work/$device.alone" "$work/with"
	if ! recasts_graphs; then
		skip "$device: down-converting engines come first" \
		    'built without the headers of cuDNN'
		continue
	fi
	rank1 $device "$all_fp16" >"$work/with"
	check "$device: down-converting engines come first" \
	    "$(sed 's/ first=.*//' "$work/$device.twin" | diff - "$work/with")"
	check "control: $device: they are others than without" \
	    "$([ "$(diff "$work/$device.alone" "$work/with" | grep -c '^>')" \
	        -ge 118 ] || cat "$work/with")"
done
if recasts_graphs; then
	alone "$work/conv_table" "$local_cudnn" "$devices/sm100.json" first 7 \
	    >"$work/alone" 2>&1
	with "$all_fp16" "$work/conv_table" "$local_cudnn" \
	    "$devices/sm100.json" first 7 >"$work/with" 2>&1
	same 'sm100: the same engines' "$work/alone" "$work/with"
else
	skip 'sm100: the same engines' 'built without the headers of cuDNN'
fi
plan
