#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Products in CUDA graphs (doc/rules.md R7): recording one allocates nothing,
# waits for nothing, loads nothing and invalidates no capture, not even another
# thread's; what a replay leaves has the bits of eager calls; what cannot go
# into a graph is kept, and counted. To break it: let verify heed nothing.
. "$(dirname "$0")/preload.sh"
need_emulator
case ${SANITIZERS:-} in
*thread*) skip_all 'minutes under TSan: race.sh has what it is to see of this' ;;
esac
AUTOCAST_EMU_COUNTERS=$work/counters
export AUTOCAST_EMU_COUNTERS
guarded='gemm -> fp16,tf32 profit=off guard=on'
strict='gemm -> fp16 profit=off guard=strict'

# run POLICY PROGRAM ARGS: sets $out; complaints about the run itself.
run()
{
	rm -rf "$AUTOCAST_STATE" "$work/counters"
	out=$(under "$1" "$clients/$2" "${@:3}" 2>&1)
	status=$?
	[ $status = 0 ] || complaint="status $status: $out"
	for name in complaints allocations_in_capture loads_in_capture; do
		[ "$(counter $name)" = 0 ] ||
		    complaint="$complaint $name: $(counter $name)"
	done
}

# replays WHAT POLICY MODE TEST EXPECTED: as `recorded` has it, or a pattern.
replays()
{
	complaint=
	run "$2" graphs "$3" "$4"
	[ "$(counter syncs_in_capture)" = 0 ] ||
	    complaint="$complaint waits: $(counter syncs_in_capture)"
	# shellcheck disable=SC2254
	case $(recorded) in
	$5) ;;
	*) complaint="$complaint $(recorded), not $5" ;;
	esac
	check "$1, $3 capture" "$complaint"
}

for mode in global thread relaxed; do
	replays 'forced: a replay has eager bits' fp16 $mode replay '21 6 0'
	replays 'guarded: a replay has eager bits' "$guarded" $mode replay '12 6 0'
done
replays 'workspaces that move on' fp16 global moved '27 6 0'
replays 'workspaces that move on, guarded' "$guarded" global moved '15 6 0'
replays 'BF16 by our cast' 'gemm -> bf16 profit=off guard=off tactic=cast' \
    global moved '27 6 0'
# Who records a compute type alone does not look where it runs.
replays 'compute types alone' 'gemm -> tf32 profit=off guard=off' global moved '20 * 0'
replays 'forced: other data, 2^40 times as large' fp16 relaxed changed '33 6 0'
replays 'guarded: other data, 2^40 times as large' "$guarded" global changed '24 6 0'
replays 'two graphs of one stream at once' fp16 global graphs '39 12 0'
replays 'two graphs of one stream at once, guarded' "$guarded" thread graphs '30 12 0'
replays 'streams that join' "$guarded" global fork '72 36 0'
replays 'the handle is destroyed' "$guarded" global destroyed '18 6 0'
replays 'the handle is destroyed, forced' fp16 relaxed destroyed '27 6 0'
for seed in 1 2; do
	AUTOCAST_EMU_JITTER=$seed replays "two graphs at once, jitter $seed" fp16 \
	    global graphs '39 12 0'
done
replays 'graphs leave enough for the streams' fp16 global many '136 48 32'

# hash WHICH: of the last program's output.
hash()
{
	sed -n "s/.*$1=\([^ ]*\).*/\1/p" <<<"$out"
}
bits=$(bare "$clients/graphs" global first)
bits=${bits#*replay=}
replays 'first met in a capture, kept: fp16' fp16 global first '6 0 6'
equal 'whose bits are the original'"'"'s: fp16' "$bits" "$(hash replay)"
replays 'captured as one of the own calls' "$guarded" global first '3 0 0'
equal 'whose bits are the original'"'"'s' "$bits" "$(hash replay)"
replays 'what a library converts is recorded once it was verified' \
    'gemm -> tf32 profit=off guard=on' relaxed warm '10 4 0'
check 'control: whose bits are others' "$([ "$bits" != "$(hash replay)" ] ||
    echo "$bits")"
alone=$(bare "$clients/graphs" global alone)
replays 'after a clean call it is recorded' "$guarded" relaxed alone '2 1 0'
check 'control: whose bits are others' "$([ "${alone#*replay=}" != \
    "$(hash replay)" ] || echo "$alone")"
replays 'a lane in use is not recorded: kept' fp16 global busy '21 0 6'
equal "whose bits are the original's" "$bits" "$(hash replay)"
# Replays of one graph are no checks of what another one has recorded.
run "$guarded" captured global 4 idle
equal 'a graph that never runs is not checked' '11 7 4' \
    "$(total totals.recast_products) $(total totals.judged) $(total totals.unread)"
# Sums that begin to cancel once their parts are in graphs: the replay that first
# sees one is wrong, those behind it are recomputed. None that is good is.
for how in fp16 bf16x3 'fp16 reproducible=on'; do
	for which in whole part added places two apart halves never; do
		complaint=
		run "gemm -> $how profit=off" graph_sums $which
		expected=$([ $which = never ] && echo 0 || echo 1)
		[ "$out" -le "$expected" ] || complaint="$complaint wrong: $out"
		[ $which != never ] || [ "$(total totals.mended_calls)" = 0 ] ||
		    complaint="$complaint mended: $(total totals.mended_calls)"
		check "sums in graphs, $how: $which" "$complaint"
	done
done
equal 'control: unguarded they are wrong' 20 "$(under \
    'gemm -> fp16 profit=off guard=off' "$clients/graph_sums" whole)"
# Another thread meets its first recast while this one captures. The program says of
# its own waits that they are meant.
for policy in fp16 "$guarded"; do
	for clock in real model; do
		for how in first settled; do
			complaint=
			AUTOCAST_EMU_CLOCK=$clock run "$policy" capture_meanwhile $how
			[ "$(counter syncs_in_capture)" = 0 ] ||
			    complaint="$complaint waits: $(counter syncs_in_capture)"
			[ "$(total totals.captured)" = "$([ $how = first ] && echo 0 || echo 2)" ] ||
			    complaint="$complaint recorded: $(total totals.captured)"
			check "next to a global capture, $how, $clock clock: $policy" \
			    "$complaint"
		done
	done
done

rm -rf "$AUTOCAST_STATE"
under fp16 "$clients/graphs" global replay >"$work/out"
"$build/autocast" report -v >"$work/report"
check 'the report counts what went into graphs' \
    "$(grep -q 'graphs  *6 calls recorded' "$work/report" || cat "$work/report")"
plan
