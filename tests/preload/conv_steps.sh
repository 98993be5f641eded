#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Layers like a ResNet's by cuDNN's graph interface, as PyTorch makes them:
# plans in a cache, a new variant pack for each execution, all of its switches.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/graph_steps
[ -e "$client" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
all='conv.fprop,conv.dgrad,conv.wgrad'
forced="$all -> fp16 profit=off guard=off"
guarded="$all -> fp16 profit=off"
AUTOCAST_EMU_COUNTERS=$work/counters
export AUTOCAST_EMU_COUNTERS

# run POLICY WORDS...: what the client prints, with a new report.
run()
{
	rm -rf "$AUTOCAST_STATE"
	under "$1" "$client" "${@:2}"
}

# kept REASON: executions of all sites that were kept for it.
kept()
{
	query 'sum(s["kept_calls"].get(sys.argv[1], 0) for s in sites)' "$1"
}

# near FILE FILE: FP16's roundings of sums whose terms nearly cancel; the same
# engines.
near()
{
	paste "$1" "$2" | awk '{ d = ($4 - $9) / $5 }
	    !$5 || d > 2e-3 || d < -2e-3 || $3 == $8 || $2 != $7'
}

# ---- Each kind of layer, each layout

layers=5 steps=40
for words in '' layout=nhwc fusion=bias-relu fusion=add-bias-relu \
    'fusion=add-bias-relu layout=nhwc' fusion=add fusion=bias alpha=2 \
    op=dgrad op=wgrad 'op=wgrad layout=nhwc'; do
	bare "$client" $words steps=$steps >"$work/bare"
	run off $words steps=$steps >"$work/off"
	same "off: $words" "$work/bare" "$work/off"
	run "$forced" $words steps=$steps >"$work/forced"
	check "recast, and near: $words" "$(near "$work/bare" "$work/forced")"
	equal "four native executions of each: $words" \
	    "$((layers * 4)) $((layers * (steps - 4)))" \
	    "$(kept probation) $(total totals.recast_calls)"
	run "$guarded" $words steps=$steps >"$work/guarded"
	check "under the guard: either's bits: $words" "$(sort -u "$work/guarded" |
	    comm -23 - <(sort -u "$work/bare" "$work/forced"))"
	same "the guard is content: $words" "$work/forced" "$work/guarded"
	equal "four native executions of each, two more tries: $words" \
	    "$((layers * 6)) $((layers * (steps - 6)))" \
	    "$(kept probation) $(total totals.recast_calls)"
done

# ---- A workspace that is too small

# In NHWC TF32's engine has one of 1 MiB; ours wants less for the first layer, and
# more for the second.
small='layout=nhwc width=12 layers=2 steps=7'
bare "$client" $small >"$work/bare"
run "$forced" $small >"$work/forced"
check 'a small workspace: recast, and near' "$(near "$work/bare" \
    "$work/forced")"
equal 'a small workspace: both layers' '8 6' \
    "$(kept probation) $(total totals.recast_calls)"
equal 'a small workspace: one of ours' True \
    "$(query 'report["totals"]["peak_scratch_bytes"] > 1 << 20')"

# Its address is none of cudaMalloc()'s: large enough, but not used.
words='layers=2 steps=7'
run "$forced" $words >"$work/forced"
equal 'control: a workspace that is used' 0 "$(total totals.peak_scratch_bytes)"
for shift in 16 128 1; do
	run "$forced" $words shift=$shift >"$work/shifted"
	same "a workspace at $shift bytes: the same bits" "$work/forced" \
	    "$work/shifted"
	equal "a workspace at $shift bytes: recast, with one of ours" '6 True' \
	    "$(query 'report["totals"]["recast_calls"],
	    report["totals"]["peak_scratch_bytes"] > 0' | tr -d '(),')"
done

# ---- Sizes that a pack overrides

bare "$client" $words override=1 >"$work/bare"
run "$forced" $words override=1 >"$work/overridden"
same 'overridden sizes: as it is' "$work/bare" "$work/overridden"
equal 'overridden sizes: why' '14 0' \
    "$(kept unsupported) $(total totals.recast_calls)"

# ---- The default policy, where FP16 pays

# Without TF32, where the times are modelled. The others would have to run longer
# for a try to pay.
AUTOCAST_EMU_MODEL=t4 AUTOCAST_EMU_CLOCK=model run '' width=4 steps=300 \
    sync=1 >/dev/null
equal 'by default: three layers in five pay' 'True True True' "$(query \
    '*[s["recast_calls"] > 200 for s in sites if s["flops_per_call"] > 5e7]')"
equal 'by default: all of theirs after probation' True "$(query 'all(
    s["recast_calls"] == s["calls"] - s["kept_calls"].get("probation", 0)
    for s in sites if s["flops_per_call"] > 5e7)')"
# What a candidate takes next to the original is not the original's time.
equal 'by default: both were timed, each by itself' '[]' "$(query '[s for s in
    sites if s["flops_per_call"] > 5e7 and not s["course"]["keep_us"]
    > 1.5 * s["course"]["recast_us"] > 0]')"

# ---- PyTorch's switches

for words in '' fusion=add-bias-relu layout=nhwc; do
	AUTOCAST_EMU_CLOCK=model bare "$client" $words benchmark=1 steps=1 \
	    >"$work/bare"
	for policy in off "$forced" "$guarded" ''; do
		AUTOCAST_EMU_CLOCK=model run "$policy" $words benchmark=1 \
		    steps=1 >"$work/tuned"
		same "benchmark=True picks the same plans, '$policy': $words" \
		    "$work/bare" "$work/tuned"
	done
	AUTOCAST_EMU_CLOCK=model run "$forced" $words benchmark=1 steps=40 \
	    >"$work/tuned"
	check "and then they are recast: $words" \
	    "$(near "$work/bare" "$work/tuned")"
	bare "$client" $words tf32=0 steps=20 >"$work/bare"
	for policy in "$forced" "$guarded" ''; do
		run "$policy" $words tf32=0 steps=20 >"$work/refused"
		same "allow_tf32=False, '$policy': $words" "$work/bare" \
		    "$work/refused"
		equal "allow_tf32=False, why, '$policy': $words" 100 \
		    "$(kept opted-out)"
	done
	run "$forced respect-opt-out=off" $words tf32=0 steps=20 >"$work/forced"
	check "unless the user says so: $words" \
	    "$(near "$work/bare" "$work/forced")"
done
bare "$client" fusion=add-bias-relu alias=1 steps=20 >"$work/bare"
run "$guarded" fusion=add-bias-relu alias=1 steps=20 >"$work/alias"
same 'z is y: as it is' "$work/bare" "$work/alias"
equal 'z is y: why' 100 "$(kept overlap)"
# A program that keeps no plans.
run "$forced" steps=20 >"$work/forced"
run "$forced" cached=0 steps=20 >"$work/new"
same 'a new plan for each execution' "$work/forced" "$work/new"
equal 'a new plan for each execution: counted' '20 80' \
    "$(kept probation) $(total totals.recast_calls)"

# ---- Threads, captures, traps

bare "$client" steps=1 >"$work/plain"
for policy in "$forced" "$guarded"; do
	run "$policy" steps=40 >"$work/one"
	run "$policy" threads=8 steps=40 >"$work/eight"
	# A thread may have its last turn while a sample of another's is due.
	check "eight threads: as one, '$policy'" "$(sort -u "$work/eight" |
	    comm -23 - <(sort -u "$work/plain" "$work/one"))"
	run "$policy" threads=8 uids=1 steps=40 >"$work/numbered"
	check "eight threads that number tensors otherwise, '$policy'" \
	    "$(sort -u "$work/numbered" |
	    comm -23 - <(sort -u "$work/plain" "$work/one"))"
	equal "eight threads that number otherwise: one site each, '$policy'" 5 \
	    "$(query 'len({s["shape"] for s in sites if s["recast_calls"] > 100})')"
	equal "eight threads: all of them, '$policy'" 40 \
	    "$(wc -l <"$work/eight")"
	equal "eight threads: all is counted, '$policy'" 1600 \
	    "$(total totals.calls)"
	run "$policy" capture=1 vary=1 steps=40 >"$work/captured"
	same "captured: the bits of eager calls, '$policy'" "$work/one" \
	    "$work/captured"
	run "$policy" capture=1 vary=1 replays=1000 layers=3 steps=40 \
	    >"$work/captured"
	same "captured: a thousand replays, '$policy'" \
	    <(head -n 3 "$work/one") "$work/captured"
	equal "control: a thousand, '$policy'" 1000 "$(counter graph_launches)"
	equal "captured: nothing that is forbidden, '$policy'" '0 0 0 0' \
	    "$(for name in complaints allocations_in_capture loads_in_capture \
	        syncs_in_capture; do counter $name; done | paste -sd' ')"
done
# By whatever schedule: four native executions of each handle, three tries, and
# while each of these is made, and all are read, one of each other thread, which
# took its number before. Who finds a device two seconds behind goes on without
# it: late.
for pin in '' 'taskset -c 0'; do
	for turn in 1 2 3 4 5; do
		rm -rf "$AUTOCAST_STATE"
		under "$guarded" $pin "$client" threads=8 layers=1 steps=200 \
		    >/dev/null
		late=$(query 'sum(s["course"]["late"] for s in sites)')
		[ "$late" != 0 ] || break
	done
	check "eight threads at one site: all but 63 of 1,600, $pin" "$(
	    [ "$(kept probation)" -le 63 ] || query 'sites')"
done
# FP16 ends at 65504; the guard leaves what comes near.
bare "$client" scale=600 steps=40 >"$work/bare"
run "$guarded" scale=600 steps=40 >"$work/large"
check 'large outputs: cuDNN'\''s bits, or near' "$(paste "$work/bare" \
    "$work/large" | awk '{ d = ($4 - $9) / $5 } !(d < 2e-3 && d > -2e-3)')"
equal 'large outputs: found' large "$(query \
    '*sorted({s["course"]["finding"] for s in sites} - {"none"})')"
plan
