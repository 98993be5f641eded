#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A device that comes to its work as late as it may, so that nothing is posted
# before the program waits for it, and streams whose queues are short, so that the
# host waits in launches: the same bits, and no call that hangs.
. "$(dirname "$0")/preload.sh"
need_emulator
guarded='gemm -> fp16 profit=off guard=on'
cast='gemm -> fp16 profit=off guard=off'

# modes COMMAND...: in each mode, with its name in `mode`.
modes()
{
	for late in '' 5 100000; do
		for queue in 1024 8 2; do
			mode="late=$late queue=$queue"
			AUTOCAST_EMU_LATE=$late AUTOCAST_EMU_QUEUE=$queue "$@"
		done
	done
}

# steady WHAT POLICY PROGRAM ARGS...: the output in this mode is `calm`, and as
# many calls are recast.
steady()
{
	rm -rf "$AUTOCAST_STATE"
	equal "$1, $mode" "$calm" "$(under "${@:2}" 2>&1) $(total totals.recast_calls)"
}

# always WHAT POLICY PROGRAM ARGS...: the same in every mode.
always()
{
	rm -rf "$AUTOCAST_STATE"
	calm="$(under "${@:2}" 2>&1) $(total totals.recast_calls)"
	check "$1: is recast" "$([ "${calm##* }" -gt 0 ] || echo "$calm")"
	modes steady "$@"
}
always 'data that turn bad' "$guarded reproducible=on" "$clients/turning" 2 400
always 'without a guard' "$cast" "$clients/turning" 2 60
always 'one lane' "$cast workspace=900Ki" "$clients/turning" 2 60
always 'threads with one handle' "$cast" "$clients/two_threads" shared
always 'sixteen streams in turn' "$cast" "$clients/many_streams" 48
always 'a capture' "$guarded" "$clients/captured" global 4

# Launches of a stream whose device does nothing: a call waits for room where it
# would without the library, a cast, which makes five launches, after a fifth.
for queue in 60 1000; do
	for policy in off tf32; do
		check "queue=$queue: as many products under $policy" \
		    "$(AUTOCAST_EMU_QUEUE=$queue under $policy \
		    "$clients/ahead" $queue 2>&1)"
	done
	check "queue=$queue: a fifth of them are casts" \
	    "$(AUTOCAST_EMU_QUEUE=$queue under "$cast" "$clients/ahead" \
	    $((queue / 5)) 2>&1)"
done
plan
