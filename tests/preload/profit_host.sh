#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that are bound by their host: layers so small that queueing one takes
# longer than the GPU needs for it, by the modelled clock with a time per call of
# the driver (AUTOCAST_EMU_RATES=host=). The launches of a cast would cost them
# more than any arithmetic gains.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -z "${SANITIZERS:-}" ] || skip_all 'no memory of its own, and thousands of calls'
AUTOCAST_EMU_CLOCK=model
AUTOCAST_EMU_SUMS=once # the same data at each call
export AUTOCAST_EMU_CLOCK AUTOCAST_EMU_SUMS

# layer POLICY HOST SIZE: microseconds of one, once its site has settled: a cast that
# is predicted to be three times as slow is timed until call 1,300.
layer()
{
	AUTOCAST_EMU_RATES=host=$2 AUTOCAST_STATE=off under "$1" \
	    "$clients/bound" "$3" 20 "$(($3 > 256 ? 140 : 24))"
}

# at_most WHAT TIME LIMIT OF
at_most()
{
	check "$1" "$(awk -v time="$2" -v limit="$3" -v of="$4" 'BEGIN {
		if (!(time > 0 && of > 0 && time <= limit * of))
			print time " us, not " limit " of " of
	}')"
}

# 256: 3.2 us on the device, 6 or 9 on the host. 512: 7.7 and 9; with 6, where
# the device is waited for, there is something to gain.
for case in '2 256' '3 256' '3 512'; do
	read -r host size <<<"$case"
	off=$(layer off "$host" "$size")
	at_most "$size, host=$host: as long as its host takes" \
	    "$off" 1.05 "$((3 * host))"
	# A cast would be four launches at each.
	at_most "$size, host=$host: amp takes no longer" \
	    "$(layer amp "$host" "$size")" 1 "$off"
	at_most "$size, host=$host: tf32 unguarded takes no longer" \
	    "$(layer 'gemm -> tf32 guard=off' "$host" "$size")" 1 "$off"
	# Who insists on a cast waits for five launches.
	at_most "$size, host=$host: a cast takes five times as long" \
	    "$off" 0.2 "$(layer 'gemm -> fp16 profit=off guard=off' "$host" "$size")"
done
plan
