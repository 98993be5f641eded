#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Twenty layers, three operations, two layouts, on NVIDIA's own cuDNN: how often
# the engine that the heuristics name first for the FP16 graph is one that
# down-converts on the FP32 graph; that our search finds this engine, with its
# knobs; and that what the program is told stays as it is.
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

# ---- our own search ----------------------------------------------------------
# The product's engines for the same graphs, by its own code.
engine_room="$root/shim/conv/conv.c $root/shim/conv/engine.c
$root/shim/conv/engine_graph.c $root/shim/conv/builder.c
$root/base/table.c $root/base/mapped.c $root/base/lock.c"
mv "$work/conv_table" "$work/plain_table"
client conv_table -std=gnu11 -DENGINE_ROOM -DAC_HAVE_CUDNN -I"$root" $engine_room
mv "$work/linked_conv_table" "$work/conv_table"
for device in sm75 sm80 sm89 sm90; do
	alone "$work/conv_table" "$local_cudnn" "$devices/$device.json" ours \
	    >"$work/ours" 2>&1
	check "$device: our engines are those of the FP16 graph" \
	    "$(sed 's/ first=.*//' "$work/$device.twin" | diff - "$work/ours")"
done

# ---- with the library --------------------------------------------------------
for device in sm80 sm90 sm100; do
	alone "$work/plain_table" "$local_cudnn" "$devices/$device.json" first \
	    >"$work/alone" 2>&1
	check "control: $device: TF32 is named first" "$(sed 's/ first=.*//' \
	    "$work/$device.twin" | comm -12 - "$work/alone" | grep engine=)"
	for policy in off "$all_fp16"; do
		with "$policy" "$work/plain_table" "$local_cudnn" \
		    "$devices/$device.json" first >"$work/with" 2>&1
		same "$device: the same engines, '$policy'" "$work/alone" \
		    "$work/with"
	done
done
plan
