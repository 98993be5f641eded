#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recurrent networks of cuDNN: only what the policy names is converted to FP16,
# sizes and passes agree on it, and no program can tell by its descriptors.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$emulator/libcudnn.so.9" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
step=$clients/rnn_step
forced='rnn -> fp16 guard=off'

# counts: of each site its symbol, rung, calls recast, and kept by reason.
counts()
{
	query '*sorted("%s %s %s %d %s" % (s["symbol"], s["operation"], s["rung"],
	    s["recast_calls"], ",".join("%s:%d" % i for i in
	    sorted(s["kept_calls"].items()) if i[1])) for s in sites)'
}
set=cudnnSetRNNDescriptor_v8

# far FILE FILE: between the results of two runs, each kind's distance is told
# if it is 0, or more than FP16 can be off. Operands are off by 2^-11 of
# themselves, so that a product is by 2^-10; no row's terms add up to more than
# 1, nor is any function steeper than 1: so that a step adds that at most, to
# what 6 steps of 2 layers had before it, and back again as much.
far()
{
	paste -d' ' "$1" "$2" | awk '$1 ~ /^(y|dx|dw)$/ {
		apart[$1] += ($2 - $4) ^ 2; all[$1] += $2 ^ 2 }
	    END { if (!all["y"]) print "nothing was computed"
		for (k in all) if (all[k] && (apart[k] == 0 ||
		    apart[k] > all[k] * (2 * 6 * 2 / 1024) ^ 2))
			print k, "is off by", sqrt(apart[k] / all[k]) }'
}

# kept WHAT POLICY EXPECTED WORDS: byte for byte as without, and why.
kept()
{
	rm -rf "$AUTOCAST_STATE"
	# shellcheck disable=SC2086
	bare "$step" $4 >"$work/bare"
	# shellcheck disable=SC2086
	under "$2" "$step" $4 >"$work/kept"
	same "$1: the program's bits and sizes" "$work/bare" "$work/kept"
	equal "$1: in the report" "$3" "$(counts)"
}

# ---- Left alone

kept 'off' off "$set rnn keep 0 rule:1" ''
for profile in amp fp16 tf32; do
	kept "no line names it, $profile" $profile \
	    "$set rnn keep 0 no-profit:1" ''
done
kept 'every operation is not that one' '* -> fp16 guard=off profit=off' \
    "$set rnn keep 0 unsupported:1" ''
kept 'nothing in it can be sampled' 'rnn -> fp16' "$set rnn keep 0 guard:1" ''
kept 'nor strictly' 'rnn -> fp16 guard=strict' "$set rnn keep 0 guard:1" ''
kept 'FMA_MATH' "$forced" "$set rnn keep 0 opted-out:1" math=3
kept 'it converts already' "$forced" "$set rnn keep 0 no-profit:1" math=2
NVIDIA_TF32_OVERRIDE=0 kept 'NVIDIA_TF32_OVERRIDE=0' "$forced" \
    "$set rnn keep 0 opted-out:1" ''
kept 'data in FP16' "$forced" "$set rnn keep 0 type:1" half=1
kept 'no GPU is known where it is set' "$forced" "$set rnn keep 0 no-context:1" \
    early=1
kept 'TF32 is there already' 'rnn -> tf32 guard=off' \
    "$set rnn keep 0 no-profit:1" ''
kept 'TF32, which is refused' 'rnn -> tf32 guard=off' \
    "$set rnn keep 0 opted-out:1" math=3
NVIDIA_TF32_OVERRIDE=0 kept 'TF32, which the driver refuses' \
    'rnn -> tf32 guard=off respect-opt-out=off' "$set rnn keep 0 opted-out:1" \
    math=3
AUTOCAST_EMU_FAIL=cudnnSetRNNDescriptor_v8:2 kept 'cuDNN refuses to' \
    "$forced" "$set rnn fp16 0 refused:1" ''

# ---- Converted, where there is no TF32 so that the bits tell

export AUTOCAST_EMU_MODEL=t4
for words in 'cell=0' 'cell=1' 'cell=2' 'cell=3' 'cell=2 bi=1 train=0' \
    'cell=3 bi=1' 'cell=0 train=0' 'math=1' 'sets=3'; do
	rm -rf "$AUTOCAST_STATE"
	# shellcheck disable=SC2086
	bare "$step" $words >"$work/bare"
	# shellcheck disable=SC2086
	bare "$step" $words math=2 >"$work/converting"
	# shellcheck disable=SC2086
	under "$forced" "$step" $words >"$work/forced"
	calls=1
	[ "$words" != sets=3 ] || calls=3
	equal "converted: $words" "$set rnn fp16 $calls " "$(counts)"
	equal "its own math type: $words" "$(head -n 1 "$work/bare")" \
	    "$(head -n 1 "$work/forced")"
	check "sizes that agree: $words" \
	    "$(diff <(sed 1d "$work/converting") <(sed 1d "$work/forced"))"
	check "and are others: $words" "$(grep '^sizes' "$work/bare" |
	    grep -Fxf - "$work/forced")"
	check "not far from FP32: $words" "$(far "$work/bare" "$work/forced")"
done
rm -rf "$AUTOCAST_STATE"
equal 'FMA_MATH, not respected: its own math type' 'math 3' "$(
    under "$forced respect-opt-out=off" "$step" math=3 | head -n 1)"
equal 'FMA_MATH, not respected: converted' "$set rnn fp16 1 " "$(counts)"
unset AUTOCAST_EMU_MODEL
rm -rf "$AUTOCAST_STATE"
under 'rnn -> tf32 guard=off respect-opt-out=off' "$step" math=3 >"$work/tf32"
equal 'TF32 for FMA_MATH, not respected' "$set rnn tf32 1 " "$(counts)"
equal 'and all that follows' "$(bare "$step" math=0 | sed 1d)" \
    "$(sed 1d "$work/tf32")"
equal 'but for its own math type' 'math 3' "$(head -n 1 "$work/tf32")"

# ---- What the report says of it: nothing of work, which is not known yet

rm -rf "$AUTOCAST_STATE"
under "$forced" "$step" cell=3 bi=1 >/dev/null
equal 'who set it, and what' 'rnn_step gru i8 h16 l2 bi f32 tf32 0 0' \
    "$(query '*(" ".join(str(w) for w in (s["caller"].split("+")[0],
	s["shape"], s["type"], s["asked"], s["m"] + s["n"] + s["k"],
	report["totals"]["flops"])) for s in sites)')"
# shellcheck disable=SC2086
release=$(echo CUDNN_MAJOR.CUDNN_MINOR |
    ${CC:-cc} -E -P $CUDA_CPPFLAGS -include cudnn.h - | tail -n 1 | tr -d ' ')
equal 'of which library' "cudnn-$release" \
    "$(query 'report["processes"][0]["library"]')"
check 'and in its text, without sizes of a product' \
    "$("$build/autocast" report | grep -q '^ *[0-9a-f]\{8\} rnn  *- [a-z_]* *fp16 library' ||
        "$build/autocast" report)"

passes='*sorted("%s %d" % (m["symbol"], m["calls"]) for m in
    report["markers"])'
for words in '' train=0 sets=3; do
	rm -rf "$AUTOCAST_STATE"
	under "$forced" "$step" $words >/dev/null
	backward='cudnnRNNBackwardData_v8 1 cudnnRNNBackwardWeights_v8 1 '
	[ "$words" != train=0 ] || backward=
	equal "how often it ran: $words" "${backward}cudnnRNNForward 1" \
	    "$(query "$passes")"
done
rm -rf "$AUTOCAST_STATE"
under off "$step" threads=3 >/dev/null
equal 'how often three threads ran it' \
    "${backward//1/3}cudnnRNNForward 3" "$(query "$passes")"

# ---- Descriptors come and go

bare "$step" churn=64 >"$work/bare"
under "$forced" "$step" churn=64 >"$work/forced"
equal 'its getter knows, bare' 0 $?
same 'descriptors say what was set' "$work/bare" "$work/forced"
equal 'nor are they confused where there are many' '0 wrong of 5000' \
    "$(under "$forced" "$step" alive=5000)"
equal 'eight threads' "$(under "$forced" "$step" threads=2 |
    head -n 1)" "$(under "$forced" "$step" threads=8 churn=100 | sort -u)"

rm -rf "$AUTOCAST_STATE"
equal 'no gain: what doctor says to do has one recast' 1 \
    "$(export AUTOCAST_POLICY='rnn -> tf32'; advised "$step")"
plan
