#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T21, T42: what is paid once per call site, and once per size at it: binding,
# describing, deciding, remembering. Instructions, counted by callgrind.
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
need_callgrind
build_caller
build_crowd
build_symbols

# A first call may take 100 microseconds. That is a time, so it is asserted as
# what a slow processor does in it: three instructions in a nanosecond, where
# bench/results/ show twelve for this very work.
first_call=300000

gpu=$library:$work/libcuda.so.1
policy=$work/rules16

# Once a process: reading a policy of many rules. Only a command looks at each
# next to all before it.
rules 1000 >"$work/rules1000"
read=$(preload=$gpu policy=$work/rules1000 inside=ac_policy_load \
    collected "$work/caller" new 1 1) || exit 99
at_most 'T42: instructions to read 1000 rules' "$read" 8000000
check 'T42: and they were read' "$([ "$read" -ge 1000000 ] || echo "$read")"

# 100 sizes, then 200: a decision each, and one for what warms up.
all=$(preload=$gpu inside=ac_policy_decide collected "$work/caller" \
    new 100 1) || exit 99
at_most 'T42: instructions of a decision by 16 rules' $((all / 301)) 1500
check 'T42: and it was counted' "$([ "$all" -ge 30100 ] || echo "$all")"

preload=$gpu figures size site -- new 300 1 site 64 1
echo "# a new size at a known place: $size"
at_most 'T42: instructions of the first call from a place' "$site" $first_call
preload=$gpu folder=$work/symbols figures size site -- new 300 1 site 64 1
echo "# a new size at a known place among 20,000 symbols: $size"
at_most 'T21: the first call from a place among 20,000 symbols' "$site" \
    $first_call
preload=$gpu$crowd figures size site -- new 30 1 site 16 1
echo "# a new size at a known place, $crowd_size more libraries: $size"
at_most "T42: the first call from a place, $crowd_size more libraries" "$site" \
    $first_call
plan
