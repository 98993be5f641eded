#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T42: what a call costs that is recast, against a GPU and a libcublas that do
# nothing at once. Instructions, counted by callgrind: exact, whatever else runs.
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
need_callgrind
build_caller
gpu=$library:$work/libcuda.so.1

figures direct -- product 2000 1

# recast NAME LIMIT POLICY: a call behind the first ones and those that are timed.
# It adds to C, so that its product goes apart.
recast()
{
	policy=$3
	preload=$gpu figures warm one -- product 400 1 product 1920 1
	at_most "T42: instructions over a direct call, $1" $((one - direct)) "$2"
	check "T42: and the call was recast, $1" \
	    "$([ "$(query 'sites[0]["recast_calls"]')" -ge 5000 ] || query 'sites[0]')"
}
recast 'by the library, guard=off' 500 'gemm -> tf32 profit=off guard=off'
recast 'by the library, guard=on' 926 'gemm -> tf32 profit=off guard=on'
# Every 32nd of those is verified. Of eight in a row mostly none is: what most cost.
steps=()
for ((i = 0; i < 40; i++)); do
	steps+=(product 8 1)
done
one=$(preload=$gpu policy='gemm -> tf32 profit=off guard=on' counted product 400 1 \
    "${steps[@]}" | tail -n +2 | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
at_most 'T42: instructions over a direct call, by the library, guard=on, not verified' \
    $((one - direct)) 900
recast 'by a cast, guard=off' 1704 'gemm -> fp16 profit=off guard=off'
recast 'by a cast, guard=on' 2264 'gemm -> fp16 profit=off guard=on'
plan
