#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A network whose layers are products of cublasLt with their biases, GELU and
# gradients in them, and which has never heard of the library, trains as in FP32.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -x "$build/examples/lt_linear" ] || skip_all 'the example was not built'

# train POLICY NAME: with the library, or without it (POLICY none).
train()
{
	run=under
	[ "$1" != none ] || run=without
	$run "$1" "$build/examples/lt_linear" --weights "$work/$2" \
	    "$build/examples/digits.csv" >"$work/$2.out" 2>&1 ||
	    sed 's/^/# /' "$work/$2.out"
	sed -n 's/^test accuracy //p' "$work/$2.out"
}

without()
{
	shift
	bare "$@"
}

plain=$(train none plain)
check 'plain accuracy is at least 0.96' \
    "$(awk -v a="$plain" 'BEGIN { if (!(a >= 0.96)) print a }')"
train none again >/dev/null
same 'the same run gives the same bytes' "$work/plain" "$work/again"
AUTOCAST_EMU_JITTER=7 train none jitter >/dev/null
same 'and so it does when the workers pause at random' "$work/plain" "$work/jitter"

train off off >/dev/null
same 'weights under off are those without the library' "$work/plain" "$work/off"
same 'and so is what is printed' "$work/plain.out" "$work/off.out"
equal 'nothing was recast under off' 0 "$(total totals.recast_calls)"
plan
