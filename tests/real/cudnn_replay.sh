#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plans that are stored, on NVIDIA's own cuDNN: with the library a program stores
# what it stores without, and what it loads is what was stored.
. "$(dirname "$0")/cudnn.sh"
client conv_graph
client conv_replay
client stored -I"$root" "$root/shim/graph/stored.c"
need_device

for row in sm90 'sm90 fusion=bias-relu' 'sm80 op=wgrad layout=nhwc' \
    'sm75 op=dgrad'; do
	device=${row%% *} words=${row#"${row%% *}"}
	program=("$work/conv_replay" "$local_cudnn" "$devices/$device.json")
	alone "${program[@]}" store "$work/own" $words >"$work/own.said"
	alone "${program[@]}" load "$work/own" $words >"$work/loaded"
	check "control: $row: there is an engine" \
	    "$(grep -q '^stored status=0 json=' "$work/own.said" ||
	        cat "$work/own.said")"
	for policy in off "$all_fp16" \
	    'conv.fprop,conv.dgrad,conv.wgrad -> fp16 guard=on profit=off'; do
		with "$policy" "${program[@]}" store "$work/ours" $words \
		    >"$work/with"
		same "$row: its own is stored, '$policy'" "$work/own.said" \
		    "$work/with"
		with "$policy" "${program[@]}" load "$work/own" $words >"$work/with"
		same "$row: its own stays so, '$policy'" "$work/loaded" \
		    "$work/with"
	done
done

# What we read of such a text, by which executions of a loaded plan go.
while read -r device operation steps words; do
	alone "$work/conv_replay" "$local_cudnn" "$devices/$device.json" store 	    "$work/own" $words >/dev/null
	equal "its JSON is read: $device $words" "operation=$operation \
steps=$steps more=0 n=32 c=256 k=256 pad=1 alignment=16" \
	    "$("$work/linked_stored" "$work/own.json")"
done <<'EOF'
sm90 0 0
sm80 0 2 fusion=bias-relu
sm75 1 0 op=dgrad
sm80 2 0 op=wgrad layout=nhwc
sm90 0 0 groups=2 stride=2
EOF
plan
