#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An iteration with a scaler as a graph: its replays give the bits of eager
# calls, no step waits for the device, and 320 gradients are one launch.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -x "$build/examples/scaler_graph" ] || skip_all 'the examples were not built'
AUTOCAST_EMU_COUNTERS=$work/counters
export AUTOCAST_EMU_COUNTERS

# fit WITH NAME ITERATIONS ARGS: weights in $work/NAME, output in NAME.out.
fit()
{
	$1 "$build/examples/scaler_graph" --epochs "$3" --weights "$work/$2" \
	    "${@:4}" "$build/examples/digits.csv" >"$work/$2.out" 2>&1 ||
	    sed 's/^/# /' "$work/$2.out"
}

preloaded()
{
	under off "$@"
}

counter()
{
	awk -v n="$1" '$1 == n { print $2 }' "$work/counters"
}

# more NAME COUNTER ARGS: how much COUNTER grows by 30 iterations more.
more()
{
	fit bare few 20 "${@:3}"
	few=$(counter "$2")
	fit bare "$1" 50 "${@:3}"
	echo $(($(counter "$2") - few))
}

equal 'the answer to the host: one wait for each step' 30 \
    "$(more host syncs --host)"
equal 'the flag on the device: no wait' 0 "$(more async syncs --async)"
equal 'replays: no wait' 0 "$(more graph syncs)"
equal 'replays: 30 launches of the graph' 30 "$(more graph graph_launches)"
equal 'nothing is allocated by an iteration' 0 "$(more async allocations --async)"
equal 'nor by a replay' 0 "$(more graph allocations)"
for count in allocations_in_capture syncs_in_capture loads_in_capture complaints; do
	equal "$count: none" 0 "$(counter $count)"
done

case ${SANITIZERS:-} in
*thread*) skip 'some steps were taken, some skipped' \
    'products are summed in FP64 there: nothing overflows' ;;
*) check 'some steps were taken, some skipped' \
    "$(awk '/^scale/ { if ($4 != 50 || !($11 > 1 && $11 < 40)) print }' \
        "$work/graph.out")" ;;
esac
check 'it learns' "$(sed -n 's/^test accuracy //p' "$work/graph.out" |
    awk '{ a = $1 } END { if (!(a >= 0.8)) print a }')"
same 'replays give the bits of eager calls' "$work/async" "$work/graph"
same 'and so does the answer to the host' "$work/host" "$work/graph"
same 'replays: the same scale and counts as eager calls' \
    "$work/async.out" "$work/graph.out"
same 'and so with the answer to the host' "$work/host.out" "$work/graph.out"
fit preloaded preloaded 50
same 'the preloaded library replays the same bits' \
    "$work/preloaded" "$work/graph"

# Work that nothing orders is ordered by chance: by another one here.
AUTOCAST_EMU_JITTER=7 fit bare jitter 50
same 'replays on a device that pauses at random: the same bits' \
    "$work/jitter" "$work/graph"
AUTOCAST_EMU_JITTER=7 fit bare jitter 50 --async
same 'and eager calls on it' "$work/jitter" "$work/graph"

# Scale, unscale, add, update: no more for 320 tensors than for one.
equal '320 gradients: four launches an iteration' 120 \
    "$(more async cuLaunchKernel --async)"
equal 'one gradient: as many' 120 \
    "$(more one cuLaunchKernel --async --one-tensor)"
same 'with the same bits' "$work/async" "$work/one"
plan
