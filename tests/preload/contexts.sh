#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Contexts that a program makes next to the primary one, on one GPU and on two:
# products are recast in the context they were asked for in, or not at all.
. "$(dirname "$0")/preload.sh"
need_emulator

# holds WHAT POLICY COUNTS MODE: as without the library, and counted so.
holds()
{
	rm -rf "$AUTOCAST_STATE"
	bare "$clients/contexts" "$4" >"$work/bare" 2>"$work/bare.err"
	under "$2" "$clients/contexts" "$4" >"$work/under" 2>"$work/err"
	equal "$1" "0 $(cat "$work/bare") $3" "$? $(cat "$work/under") $(query '
	    report["totals"]["calls"], report["totals"]["recast_calls"], *(
	    "%s=%d" % (r, k["calls"]) for r, k in report["totals"]["kept"].items())')"
}

for model in h200 h200,t4; do
	export AUTOCAST_EMU_MODEL=$model
	for policy in fp16 'gemm -> bf16 tactic=cast tol=8e-3 profit=off guard=off'; do
		holds "next to the primary, $model, $policy" "$policy" '10 10' pair
		case $model,$policy in
		*t4,*bf16*) counts='20 10 unsupported=10' ;; # a T4 has none
		*) counts='20 20' ;;
		esac
		holds "by turns, $model, $policy" "$policy" "$counts" turns
		holds "one after another at one address, $model, $policy" \
		    "$policy" '80 80' again
	done
	for seed in 1 2; do
		AUTOCAST_EMU_JITTER=$seed holds "by turns, $model, jitter $seed" \
		    fp16 '20 20' turns
	done
	holds "a stream of another context, $model" fp16 '1 0 no-context=1' stream
	equal "the complaint is about the program, $model" \
	    "$(sed 's/0x[0-9a-f]*/P/g' "$work/bare.err")" "$(sed 's/0x[0-9a-f]*/P/g' "$work/err")"
	holds "a handle of another context, $model" fp16 '1 1' handle
done
AUTOCAST_EMU_COUNTERS=$work/counters under fp16 "$clients/contexts" turns >/dev/null
check 'what lanes held is given back, context by context' \
    "$(awk '{ n[$1] = $2 } END { if (n["cuMemAllocFromPoolAsync"] != n["cuMemFreeAsync"])
	print n["cuMemAllocFromPoolAsync"], n["cuMemFreeAsync"] }' "$work/counters")"
plan
