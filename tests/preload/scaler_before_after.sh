#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# examples/scaler_after.c is examples/scaler_before.c with a scaler: the same
# program where there is no library, and one that learns where FP16 alone does
# not where there is.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -x "$build/examples/scaler_after" ] || skip_all 'the examples were not built'

# train WITH NAME ARGS: the accuracy; weights in $work/NAME.
train()
{
	$1 "$build/examples/scaler_$2" --epochs 5 --weights "$work/$2" "${@:3}" \
	    "$build/examples/digits.csv" >"$work/out" 2>&1 ||
	    sed 's/^/# /' "$work/out"
	sed -n 's/^test accuracy //p' "$work/out"
}

preloaded()
{
	under amp "$@"
}

# within WHAT ACCURACY LEAST MOST
within()
{
	check "$1" "$(awk -v a="$2" -v l="$3" -v m="$4" \
	    'BEGIN { if (a == "" || a < l || a > m) print "accuracy " a }')"
}

within 'before: learns' "$(train bare before)" 0.9 1
cp "$work/before" "$work/plain"
within 'after, without the library: learns' "$(train bare after)" 0.9 1
same 'after, without the library: the same bytes as before' \
    "$work/plain" "$work/after"
within 'after, with the library: learns' "$(train preloaded after)" 0.9 1

# 2^-20 / 32: no gradient by the logits is above 2^-25, which FP16 makes 0.
small=9.5367431640625e-07
within 'small gradients, before: nothing is learnt' \
    "$(train bare before --loss-scale $small)" 0 0.3
within 'small gradients, before, with the library: neither' \
    "$(train preloaded before --loss-scale $small)" 0 0.3
within 'small gradients, after, with the library: learns' \
    "$(train preloaded after --loss-scale $small)" 0.9 1
plan
