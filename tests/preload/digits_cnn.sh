#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A convolutional network that has never heard of the library trains on the
# digits as well as in FP32, with its convolutions recast.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$emulator/libcudnn.so.9" ] ||
    skip_all 'the emulated cuDNN was not built (oneDNN or cuDNN headers are missing)'
[ -x "$build/examples/digits_cnn" ] || skip_all 'the example was not built'

# train POLICY NAME: with the library, or without it (POLICY none).
train()
{
	run=under
	[ "$1" != none ] || run=without
	$run "$1" "$build/examples/digits_cnn" --epochs 3 \
	    --weights "$work/$2" "$build/examples/digits.csv" \
	    >"$work/$2.out" 2>&1 || sed 's/^/# /' "$work/$2.out"
	sed -n 's/^test accuracy //p' "$work/$2.out"
}

without()
{
	shift
	bare "$@"
}

# near WHAT ACCURACY
near()
{
	check "$1: accuracy is within 0.01 of $plain" \
	    "$(awk -v a="$2" -v p="$plain" \
	        'BEGIN { d = a - p; if (!(a > 0) || d > 0.01 || d < -0.01) print a }')"
}

# recast WHAT OPERATION: at least 99 % of its FLOPs.
recast()
{
	check "$1: at least 99 % of the FLOPs of $2 were recast" "$(query \
	    '(lambda of: "" if of("recast_calls") >= 0.99 * of("calls") > 0
	    else "%g of %g" % (of("recast_calls"), of("calls")))(lambda key:
	    sum(s[key] * s["flops_per_call"] for s in sites
	    if s["operation"] == sys.argv[1]))' "$2")"
}

plain=$(train none plain)
check 'plain accuracy is at least 0.92' \
    "$(awk -v a="$plain" 'BEGIN { if (!(a >= 0.92)) print a }')"

train off off >/dev/null
same 'what is printed under off is what is without the library' \
    "$work/plain.out" "$work/off.out"
same 'and so are the weights' "$work/plain" "$work/off"
equal 'nothing was recast under off' 0 "$(total totals.recast_calls)"
equal 'five convolutions were seen' 5 \
    "$(query 'sum(s["operation"].startswith("conv.") for s in sites)')"

near fp16 "$(train fp16 fp16)"
recast fp16 conv.fprop

rule='conv.fprop -> fp16 guard=off profit=off'
near 'one rule' "$(train "$rule" rule)"
recast 'one rule' conv.fprop
equal 'one rule: and nothing else was' '' "$(query \
    '" ".join(s["operation"] for s in sites if s["recast_calls"]
    and s["operation"] != "conv.fprop")')"
check 'one rule: which changes the bytes' \
    "$(! cmp -s "$work/plain" "$work/rule" || echo 'same bytes')"

near 'under the guard' "$(train 'conv.fprop -> fp16 profit=off' guarded)"
recast 'under the guard' conv.fprop
check 'under the guard: both sites were sampled, and neither demoted' "$(query \
    '"" if all(s["course"]["samples"] and not s["course"]["demotions"]
    for s in sites if s["operation"] == "conv.fprop") else sites')"

rule='conv.dgrad,conv.wgrad -> fp16 guard=off profit=off'
near gradients "$(train "$rule" gradients)"
recast gradients conv.dgrad
recast gradients conv.wgrad

near amp "$(train amp amp)"
plan
