#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plans that are stored, on NVIDIA's own cuDNN: what a program chose with the
# library keeps its down-converting engine where the library is not, as the
# manual says; what it chose without keeps its own where it is.
. "$(dirname "$0")/cudnn.sh"
client conv_graph
client conv_replay
need_device
recasts_graphs || skip_all 'built without the headers of cuDNN'

# number WHAT FILE: the engine of that line.
number()
{
	sed -n "s/^$1 status=0 json=\([0-9]*\) .*/\1/p" "$2"
}

for row in sm90 'sm90 fusion=bias-relu' 'sm80 op=wgrad layout=nhwc' \
    'sm75 op=dgrad'; do
	device=${row%% *} words=${row#"${row%% *}"}
	program=("$work/conv_replay" "$local_cudnn" "$devices/$device.json")
	# shellcheck disable=SC2086
	alone "${program[@]}" store "$work/own" $words >"$work/own.said"
	# shellcheck disable=SC2086
	with "$all_fp16" "${program[@]}" store "$work/ours" $words >"$work/ours.said"
	engine=$(number stored "$work/ours.said")
	check "control: $row: another engine is stored" \
	    "$([ -n "$engine" ] && [ "$engine" != "$(number stored "$work/own.said")" ] ||
	        cat "$work"/*.said)"
	check "$row: it does not look like one that down-converts" \
	    "$(grep -q ' notes=0x1$' "$work/ours.said" || cat "$work/ours.said")"
	# shellcheck disable=SC2086
	alone "${program[@]}" load "$work/ours" $words >"$work/loaded"
	equal "$row: without the library it does, and is the same" \
	    "configured status=0 json=$engine notes=0x3
deserialized status=0 json=$engine notes=0" "$(cat "$work/loaded")"
	# shellcheck disable=SC2086
	alone "${program[@]}" load "$work/own" $words >"$work/loaded"
	for policy in off "$all_fp16"; do
		# shellcheck disable=SC2086
		with "$policy" "${program[@]}" load "$work/own" $words >"$work/with"
		same "$row: the program's own stays so, '$policy'" \
		    "$work/loaded" "$work/with"
	done
	# shellcheck disable=SC2086
	with 'conv.fprop,conv.dgrad,conv.wgrad -> fp16 guard=on profit=off' "${program[@]}" \
	    store "$work/guarded" $words >"$work/with"
	same "$row: under a guard its own is stored" "$work/own.said" "$work/with"
done
check 'the manual says so' "$(tr '\n' ' ' <"$root/man/libautocast.7" |
    grep -q 'A plan that a program stores keeps converting' || echo 'it does not')"
plan
