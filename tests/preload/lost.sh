#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program whose own kernel ends its context: it gets the errors that it would
# get without the library, from each of its calls, and after a reset its products
# are recast again.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/lost

# statuses: of the last run, without the bits of what it then computes.
statuses()
{
	sed 's/ bits=.*//' "$work/out"
}

# gives ARGS...: the client's statuses are those it has alone, under each policy.
gives()
{
	bare "$client" "$@" >"$work/out" 2>"$work/err" || cat "$work/err"
	alone=$(statuses)
	for policy in off tf32 fp16 amp 'gemm -> fp16 profit=off guard=off' \
	    'gemm -> fp16,tf32 profit=off guard=on' ${strict:+"$strict"}; do
		rm -rf "$AUTOCAST_STATE"
		under "$policy" "$client" "$@" >"$work/out" 2>"$work/err" ||
		    cat "$work/err"
		equal "$*, $policy" "$alone" "$(statuses)"
	done
}

strict='gemm -> fp16 profit=off guard=strict'
equal 'what it gets alone' ' fault=719 after=13 sync=719 product=13 malloc=719 '\
'device=719 last=719 last again=719 destroy=13 stream=719 free=719 reset=0' \
    "$(bare "$client" trap 1 1 2>/dev/null | sed 's/ bits=.*//')"
for fault in address trap; do
	for before in 0 1 3 40; do
		gives $fault $before 70
	done
done

# The fault stands in front of 100 products. The call that waits for what an earlier
# one has found never hears of it. That was the other context's: after the reset 300
# products are recast but for three at most.
strict= # waits for each product: for ever here
gives trap 5 100 held
rm -rf "$AUTOCAST_STATE"
under 'gemm -> fp16 profit=off guard=on' "$client" trap 5 100 held \
    >"$work/out" 2>"$work/err" || cat "$work/err"
before=$(total totals.recast_calls)
check 'recast again after a reset' "$([ "$before" -ge 297 ] ||
    echo "$before calls were recast")"
plan
