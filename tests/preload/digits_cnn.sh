#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A convolutional network that has never heard of the library trains on the
# digits as well as in FP32, with its convolutions recast.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$emulator/libcudnn.so.9" ] ||
    skip_all 'the emulated cuDNN was not built (oneDNN or cuDNN headers are missing)'
[ -x "$build/examples/digits_cnn" ] || skip_all 'the example was not built'

example=(digits_cnn --epochs 3)
# recast WHAT OPERATION: at least 99 % of its FLOPs.
recast()
{
	check "$1: at least 99 % of the FLOPs of $2 were recast" "$(query \
	    '(lambda of: "" if of("recast_calls") >= 0.99 * of("calls") > 0
	    else "%g of %g" % (of("recast_calls"), of("calls")))(lambda key:
	    sum(s[key] * s["flops_per_call"] for s in sites
	    if s["operation"] == sys.argv[1]))' "$2")"
}

# all_but_three WHAT: of each forward convolution; those are on trial.
all_but_three()
{
	check "$1: all but three calls of each conv.fprop were recast" "$(query \
	    '"" if all(s["recast_calls"] == s["calls"] - 3 > 100
	    and s["kept_calls"]["probation"] == 3
	    for s in sites if s["operation"] == "conv.fprop") else sites')"
}

plain=$(train none plain)
check 'plain accuracy is at least 0.92' \
    "$(awk -v a="$plain" 'BEGIN { if (!(a >= 0.92)) print a }')"

train off off >/dev/null
same 'what is printed under off is what is without the library' \
    "$work/plain.out" "$work/off.out"
same 'and so are the weights' "$work/plain" "$work/off"
equal 'nothing was recast under off' 0 "$(total totals.recast_calls)"
convolutions='sum(s["calls"] for s in sites if s["operation"][:5] == "conv.")'
seen=$(query "$convolutions")
equal 'off counts convolutions by who calls, without sizes' \
    'conv.dgrad conv.fprop conv.wgrad' \
    "$(query '*sorted({s["operation"] for s in sites
    if s["shape"] == "sizes not read"})')"

learns fp16 "$(train fp16 fp16)"
recast fp16 conv.fprop

rule='conv.fprop -> fp16 guard=off profit=off'
learns 'one rule' "$(train "$rule" rule)"
equal 'one rule: five convolutions were seen' 5 \
    "$(query 'sum(s["operation"].startswith("conv.") for s in sites)')"
equal 'one rule: as often as under off' "$seen" "$(query "$convolutions")"
recast 'one rule' conv.fprop
equal 'one rule: and nothing else was' '' "$(query \
    '" ".join(s["operation"] for s in sites if s["recast_calls"]
    and s["operation"] != "conv.fprop")')"
check 'one rule: which changes the bytes' \
    "$(! cmp -s "$work/plain" "$work/rule" || echo 'same bytes')"

learns 'under the guard' "$(train 'conv.fprop -> fp16 profit=off' guarded)"
all_but_three 'under the guard'
check 'under the guard: both sites were sampled, and neither demoted' "$(query \
    '"" if all(s["course"]["samples"] and not s["course"]["demotions"]
    for s in sites if s["operation"] == "conv.fprop") else sites')"

rule='conv.dgrad,conv.wgrad -> fp16 guard=off profit=off'
learns gradients "$(train "$rule" gradients)"
recast gradients conv.dgrad
recast gradients conv.wgrad

learns amp "$(train amp amp)"

# For amp its layers are too small; with the sizes out of account amp recasts
# the forward ones, under its guard, and no gradient.
printf 'set profit=off\notherwise amp\n' >"$work/amp.policy"
learns 'amp, whatever it gains' "$(train "$work/amp.policy" amp_off)"
all_but_three 'amp, whatever it gains'
equal 'amp, whatever it gains: by FP16, and no gradients' 'conv.fprop fp16' \
    "$(query '"\n".join(sorted({s["operation"] + " " + s["rung"] for s in sites
    if s["recast_calls"] and s["operation"][:5] == "conv."}))')"
check 'amp, whatever it gains: the guard looked, and found nothing' "$(query \
    '"" if all(s["course"]["samples"] and not s["course"]["demotions"]
    for s in sites if s["operation"] == "conv.fprop") else sites')"

# And amp as it is recasts a layer that is worth it.
words='n=4 c=128 k=128 h=28 calls=24'
AUTOCAST_EMU_MODEL=t4
export AUTOCAST_EMU_MODEL
rm -rf "$AUTOCAST_STATE"
bare "$clients/convolving" $words >"$work/plain.layer"
under amp "$clients/convolving" $words >"$work/amp.layer"
# Of 24 calls three are tries, and of the next 64 4 are timed without it, unless
# the first were.
equal 'amp: a layer of 128 channels is recast after its trial' \
    'fp16 amp 21 3' "$(query '"\n".join("%s %s %d %s" % (s["rung"],
    s["source"], s["recast_calls"], s["kept_calls"]["probation"])
    for s in sites)')"
check 'amp: its outputs are within the tolerance' \
    "$(paste "$work/plain.layer" "$work/amp.layer" |
        awk '{ d = ($4 - $9) / $5 } d > 1e-3 || d < -1e-3')"
equal 'amp: as many have other bits as are said to be recast' \
    "$(total totals.recast_calls)" "$(paste "$work/plain.layer" \
	"$work/amp.layer" | awk '$3 != $8' | wc -l)"
plan
