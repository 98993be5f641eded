#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Same bits whatever the timing: threads, streams and events that pause at random,
# data that turn bad on the way, so that a precision is given up, and memory that lies
# elsewhere. To break it: NEAR = 1 in shim/trial/chain.c. The same eyes see a program
# that forgot its events.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/turning
seeds=$(seq 20)
[ -z "${SANITIZERS:-}" ] || seeds=$(seq 4)

# results POLICY ARGS...: the output for each seed, a line each; five at once.
results()
{
	rm -f "$work"/seed.*
	for seed in $seeds; do
		AUTOCAST_EMU_JITTER=$seed under "$1" "$client" "${@:2}" 2>&1 |
		    tr '\n' ' ' >"$work/seed.$seed" &
		[ $((seed % 5)) != 0 ] || wait
	done
	wait
	for seed in $seeds; do
		cat "$work/seed.$seed"
		echo
	done
}

# steady WHAT POLICY ARGS...: every seed gives what no pauses give.
steady()
{
	calm=$(under "$2" "$client" "${@:3}" 2>&1 | tr '\n' ' ')
	equal "$1: demotions" "$demotions" "$(total totals.demotions)"
	recast=$(total totals.recast_calls)
	check "$1: recasts" "$([ "$recast" -ge "$least" ] && [ "$recast" -le "$most" ] ||
	    echo "$recast, not $least to $most")"
	equal "$1: late samples" 0 "$(total totals.late)"
	equal "$1: the same bits" "$calm" "$(results "${@:2}" | sort -u)"
}

# Of two streams of two threads each numbers its calls. The first three are the
# program's own. What turns bad at call 70, on one stream of each, is mended; of sums
# the host hears at each second call, and once 34 of them were, it keeps 1000 calls:
# from call 106 on.
guarded='gemm -> fp16 profit=off guard=on reproducible=on'
demotions=2
least=$((2 * (397 + 106 - 4))) most=$((least + 2))
steady 'fp16, then nothing' "$guarded" 2 400
demotions=0
least=$((2 * 2 * 60 + 2)) most=$least
steady 'fp16' 'gemm -> fp16 profit=off guard=off' 2 60
steady 'fp16, one lane' 'gemm -> fp16 profit=off guard=off workspace=900Ki' 2 60

client=$clients/turning_lt
if [ -e "$client" ]; then
	seeds=$(seq 5)
	demotions=2
	least=$((2 * (397 + 106 - 4))) most=$((least + 2))
	steady 'cublasLt: fp16, then nothing' "$guarded" 2 400
else
	skip 'cublasLt' 'the program was not built'
fi
client=$clients/turning
seeds=$(seq 20)

# Wherever memory lies, which is elsewhere in each run: places and Cs are known by it.
found=$(for ((run = 0; run < 10; run++)); do
	under "$guarded" "$clients/many_sums" 128
done | sort -u)
equal 'sums of many places: the same bits in ten runs' 1 "$(wc -l <<<"$found")"
check 'which are not the original ones' "$([ "$found" != \
    "$(bare "$clients/many_sums" 128)" ] || echo "$found")"

if [ -n "${SANITIZERS:-}" ]; then
	skip 'a program without its events' 'a race on purpose'
else
	check 'a program without its events is seen' \
	    "$([ "$(results fp16 2 60 careless | sort -u | wc -l)" -gt 1 ] ||
	    echo 'every seed gives the same bits')"
fi
plan
