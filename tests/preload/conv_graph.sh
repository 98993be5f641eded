#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Convolutions of cuDNN's graph interface, by a client that drops engines noted
# to convert their inputs down: what is recast, what never is.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$build/examples/graph_conv" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
client=$build/examples/graph_conv
forced='conv.fprop -> fp16 profit=off guard=off'
guarded='conv.fprop -> fp16 profit=off'

# counts: executions with engines of ours, and kept by reason.
counts()
{
	query '*sorted("%s %d %s" % (s["rung"], s["recast_calls"],
	    ",".join("%s:%d" % i for i in sorted(s["kept_calls"].items()) if i[1]))
	    for s in sites)'
}

# chosen FILE: the engines that ran and their notes, as seen by the client.
chosen()
{
	cut -d' ' -f1,2 "$1" | sort -u
}

# forced_one WORDS: off is off, forced is recast.
forced_one()
{
	rm -rf "$AUTOCAST_STATE"
	# shellcheck disable=SC2086
	bare "$client" $1 >"$work/bare"
	# shellcheck disable=SC2086
	under off "$client" $1 >"$work/off"
	same "off: $1" "$work/bare" "$work/off"
	rm -rf "$AUTOCAST_STATE"
	# shellcheck disable=SC2086
	under "$forced" "$client" $1 >"$work/forced"
	# TENSOR_CORE is left of its notes, DOWN_CONVERT_INPUTS is not seen.
	equal "recast: $1" 'engine=62 notes=0x1' "$(chosen "$work/forced")"
	check "and the bits tell: $1" "$(paste "$work/bare" "$work/forced" |
	    awk '$4 == $10 { print "they are the same" }')"
	# Rounded to FP16, of a sum whose terms nearly cancel.
	check "but not much: $1" "$(paste "$work/bare" "$work/forced" |
	    awk '{ d = ($5 - $11) / $6 } !$6 || d > 2e-3 || d < -2e-3')"
}
for words in '' bias relu; do
	forced_one "$words"
	equal "it is in the report: $words" 'fp16 1 ' "$(counts)"
	equal "without us it is TF32: $words" 'engine=67 notes=0x1' \
	    "$(chosen "$work/bare")"
done
forced_one 3
equal 'handle after handle: the same bits' 1 "$(cut -d' ' -f4 "$work/forced" |
    sort -u | wc -l)"
equal 'handle after handle: in the report' 'fp16 3 ' "$(counts)"
# Where there is no TF32.
AUTOCAST_EMU_MODEL=t4 forced_one relu
equal 'without us it is FP32' engine=1 "$(cut -d' ' -f1 "$work/bare")"


# ---- What is counted

# counted WHAT WORDS COUNTS FLOPS
counted()
{
	rm -rf "$AUTOCAST_STATE"
	# shellcheck disable=SC2086
	under "$forced" "$client" $2 >/dev/null
	equal "counted: $1" "$3" "$(counts)"
	equal "work: $1" "$4" "$(query 'int(report["totals"]["flops"])')"
	equal "nothing else was seen: $1" '[]' "$(query \
	    '[m for m in report["markers"] if m["calls"]]')"
}
one=$((2 * 2 * 196 * 32 * 32 * 9))
counted 'each execution' 'runs=7' 'fp16 7 ' $((7 * one))
counted 'a plan that never runs' 'runs=0' '' 0
counted 'plan after plan' 'runs=2 3' 'fp16 6 ' $((6 * one))
counted 'an engine of cuDNN'\''s' 'runs=5 skip=4' 'fp16 0 declined:5' \
    $((5 * one))

# ---- As many as were asked for

# The client checks that no descriptor beyond those is touched.
for ask in 1 2 3 8; do
	equal "asked for $ask of 16" \
	    "$(under "$forced" "$client" relu ask=16)" \
	    "$(under "$forced" "$client" relu ask=$ask)"
	equal "asked for $ask of 16, without us" "$(bare "$client" relu)" \
	    "$(bare "$client" relu ask=$ask)"
done

# ---- Never

# kept WHAT POLICY COUNTS
kept()
{
	rm -rf "$AUTOCAST_STATE"
	bare "$client" relu >"$work/bare"
	under "$2" "$client" relu >"$work/kept"
	same "$1: the program's bits" "$work/bare" "$work/kept"
	equal "$1: why" "$3" "$(counts)"
}
kept 'guard on' "$guarded" 'keep 0 guard:1'
NVIDIA_TF32_OVERRIDE=0 kept 'NVIDIA_TF32_OVERRIDE=0' "$forced" \
    'keep 0 opted-out:1'
kept 'TF32 wanted' 'conv.fprop -> tf32 profit=off guard=off' \
    'keep 0 no-profit:1'
kept 'another kind of convolution' 'conv.wgrad -> fp16 profit=off guard=off' \
    'keep 0 no-rule:1'
plan
