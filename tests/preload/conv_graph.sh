#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Convolutions of cuDNN's graph interface: the program's heuristics, plans and
# packs are as without us; once it executes one plan again and again, a plan of
# ours runs in its place. What is recast, what never is.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$build/examples/graph_conv" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
client=$build/examples/graph_conv
forced='conv.fprop -> fp16 profit=off guard=off'
guarded='conv.fprop -> fp16 profit=off'
steady=5 # executions in a row that make a plan the program's choice

# run POLICY WORDS: what the client prints, with a new report.
run()
{
	rm -rf "$AUTOCAST_STATE"
	under "$1" "$client" $2
}

# chosen FILE: engines, notes and workspaces, as seen by the client.
chosen()
{
	cut -d' ' -f1-3 "$1"
}

# near FILE FILE: FP16's roundings of a sum whose terms nearly cancel.
near()
{
	paste "$1" "$2" | awk '{ d = ($5 - $11) / $6 }
	    !$6 || d > 2e-3 || d < -2e-3 || $4 == $10'
}

# forced_one WORDS: off is off, forced is recast.
forced_one()
{
	bare "$client" $1 runs=$steady >"$work/bare"
	run off "$1 runs=$steady" >"$work/off"
	same "off: $1" "$work/bare" "$work/off"
	run "$forced" "$1 runs=$((steady - 1))" >"$work/few"
	same "the first executions: $1" "$work/bare" "$work/few"
	run "$forced" "$1 runs=$steady" >"$work/forced"
	same "heuristics, notes, workspaces: $1" <(chosen "$work/bare") \
	    <(chosen "$work/forced")
	check "other bits, but near: $1" "$(near "$work/bare" "$work/forced")"
}
for words in '' bias relu; do
	forced_one "$words"
	equal "it is in the report: $words" 'fp16 1 probation:4' "$(counts)"
	equal "its engine is TF32's: $words" 'engine=67 notes=0x1' \
	    "$(cut -d' ' -f1,2 "$work/forced")"
	# Its own workspace is larger: the program's pack is used as it is.
	equal "and needs no memory of ours: $words" 0 \
	    "$(total totals.peak_scratch_bytes)"
done
# A plan for each handle, which may have the address of the last one.
run "$forced" "3 runs=20" >"$work/forced"
equal 'handle after handle: the same bits' 1 "$(cut -d' ' -f4 "$work/forced" |
    sort -u | wc -l)"
equal 'handle after handle: in the report' 60 "$(total totals.calls)"
check 'handle after handle: recast' \
    "$([ "$(total totals.recast_calls)" -ge 48 ] || counts)"
# Where there is no TF32.
AUTOCAST_EMU_MODEL=t4 forced_one relu
equal 'without us it is FP32' engine=1 "$(cut -d' ' -f1 "$work/bare")"
equal 'and without a workspace: ours' True \
    "$(query 'report["totals"]["peak_scratch_bytes"] > 0')"

# ---- Under the guard

# With TSan the emulated GPU is so slow that the host is far ahead, and waits in
# vain: there, the calls of a probation are not counted.
runs=1000
case ${SANITIZERS:-} in *thread*) runs=300 ;; esac
for words in '' bias relu; do
	run "$forced" "$words runs=$steady" >"$work/forced"
	run "$guarded" "$words runs=$runs" >"$work/guarded"
	if [ $runs = 1000 ] && in_time "the guard takes its samples: $words" \
	    "and is content: $words"; then
		same "the guard takes its samples: $words" "$work/forced" \
		    "$work/guarded"
		# Four until the plan is chosen, of which the first is a try;
		# two more.
		equal "and is content: $words" 'fp16 994 probation:6' "$(counts)"
	fi
	check "samples: $words" "$(query "sites[0]['course']['samples'] >= \
	    $runs // 100 and not sites[0]['course']['demotions']" | grep -vx True)"
	bare "$client" $words runs=20 >"$work/bare"
	run 'conv.fprop -> fp16 profit=off guard=strict' "$words runs=20" \
	    >"$work/strict"
	same "strict: the program's bits: $words" "$work/bare" "$work/strict"
	equal "strict, counted: $words" 'keep 0 guard:20' "$(counts)"
done

# ---- What is counted

# counted WHAT WORDS COUNTS FLOPS
counted()
{
	run "$forced" "$2" >/dev/null
	equal "counted: $1" "$3" "$(counts)"
	equal "work: $1" "$4" "$(query 'int(report["totals"]["flops"])')"
	equal "nothing else was seen: $1" '[]' "$(query \
	    '[m for m in report["markers"] if m["calls"]]')"
}
one=$((2 * 2 * 196 * 32 * 32 * 9))
counted 'each execution' 'runs=7' 'fp16 3 probation:4' $((7 * one))
counted 'a plan that never runs' 'runs=0' '' 0
counted 'an engine without Tensor Cores: a refusal of TF32' 'runs=9 skip=2' \
    'keep 0 opted-out:9' $((9 * one))
counted 'another engine with them' 'runs=9 skip=1' 'fp16 5 probation:4' \
    $((9 * one))

# ---- As many as were asked for

# The client checks that no descriptor beyond those is touched.
for ask in 1 2 3 8; do
	equal "asked for $ask" "$(bare "$client" relu ask=$ask)" \
	    "$(under "$forced" "$client" relu ask=$ask)"
done

# ---- Never

# kept WHAT POLICY COUNTS [WORDS]
kept()
{
	bare "$client" relu runs=9 $4 >"$work/bare"
	run "$2" "relu runs=9 $4" >"$work/kept"
	same "$1: the program's bits" "$work/bare" "$work/kept"
	equal "$1: why" "$3" "$(counts)"
}
NVIDIA_TF32_OVERRIDE=0 kept 'NVIDIA_TF32_OVERRIDE=0' "$forced" \
    'keep 0 opted-out:9'
kept 'TF32 wanted' 'conv.fprop -> tf32 profit=off guard=off' \
    'keep 0 no-profit:9'
kept 'another kind of convolution' 'conv.wgrad -> fp16 profit=off guard=off' \
    'keep 0 no-rule:9'
kept 'PyTorch, allow_tf32=False' "$guarded" 'keep 0 opted-out:9' skip=2
# But for who says so.
bare "$client" relu runs=9 >"$work/bare"
run "$forced respect-opt-out=off" 'relu runs=9 skip=2' >"$work/forced"
equal 'respect-opt-out=off' 'fp16 5 probation:4' "$(counts)"
check 'respect-opt-out=off: FP16' "$(near "$work/bare" "$work/forced")"
run 'conv.fprop -> tf32 profit=off guard=off respect-opt-out=off' \
    'relu runs=9 skip=2' >"$work/forced"
same 'respect-opt-out=off: TF32, as the engine of cuDNN'\''s' \
    <(cut -d' ' -f4- "$work/bare") <(cut -d' ' -f4- "$work/forced")
plan
