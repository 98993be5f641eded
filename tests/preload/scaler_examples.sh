#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The examples of autocast_scaler.h, with libautocast-api.so alone and with the
# library preloaded: they train, and what they say of skips and scales is what
# their numbers demand.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -x "$build/examples/scaler_loop" ] || skip_all 'the examples were not built'
digits=$build/examples/digits.csv

# example NAME ARGS: on the emulated GPU; its output in $work/out.
example()
{
	bare "$build/examples/scaler_$1" "${@:2}" "$digits" >"$work/out" 2>&1 ||
	    sed 's/^/# /' "$work/out"
}

# The same with the library preloaded.
preloaded()
{
	under amp "$build/examples/scaler_$1" "${@:2}" "$digits" \
	    >"$work/out" 2>&1 || sed 's/^/# /' "$work/out"
}

accuracy()
{
	sed -n 's/^test accuracy //p' "$work/out"
}

# learns WHAT [ACCURACY]: nine of ten digits are read.
learns()
{
	check "$1: learns" "$(awk -v a="${2-$(accuracy)}" \
	    'BEGIN { if (!(a >= 0.9 && a <= 1)) print "accuracy " a }')"
}

scaler_line()
{
	grep '^scale' "$work/out"
}

# The plain loop. 5 epochs of 44 steps; interval 20; nothing can overflow: the
# gradients by the logits are 2^-25 at most, and the scale comes to 2^27.
example loop --epochs 5 --weights "$work/loop"
learns 'plain loop'
equal 'plain loop: the scale doubled every 20 steps' \
    'scale 134217728  tracker 0  steps 220  skips 0' "$(scaler_line)"
cp "$work/out" "$work/loop.out"
preloaded loop --epochs 5 --weights "$work/loop.preloaded"
same 'plain loop: the preloaded library gives the same bytes' \
    "$work/loop" "$work/loop.preloaded"
same 'plain loop: and prints the same' "$work/loop.out" "$work/out"

example loop --epochs 1 --no-scaler --weights "$work/one"
example loop --epochs 3 --no-scaler --weights "$work/three"
equal 'without the scaler FP16 makes 0 of every gradient' \
    '100.0 % of the gradients by the logits were flushed to 0' \
    "$(grep flushed "$work/out")"
same 'and no weight ever changes' "$work/one" "$work/three"
check 'but with it they do' \
    "$(! cmp -s "$work/one" "$work/loop" || echo 'same bytes')"

# 2^20: the loss's weight is then 1, and a gradient by the logits 2^-5 at most:
# 2^21 must overflow where one nears that, and 2^22 where one is half of it.
example loop --epochs 5 --loss-scale 1048576
learns 'plain loop, of weight 1'
check 'plain loop, of weight 1: the scale meets the end of FP16' \
    "$(scaler_line | awk '{ if ($6 + $8 != 220 || $8 < 1 || $2 > 4194304 ||
        $2 < 524288) print }')"

# Four batches for each step.
clips()
{
	check "$1: some steps were clipped, some not" "$(awk '/^epoch/ {
	    n += $4; c += $6 } END { if (!(c > 0 && c < n)) print c, n }' "$work/out")"
}
preloaded accumulate --epochs 8
learns accumulation
equal 'accumulation: a step for every four batches' \
    'scale 65536  tracker 88  steps 88  skips 0' "$(scaler_line)"
clips accumulation
example accumulate --epochs 8
learns 'accumulation without the library'
clips 'accumulation without the library'
equal 'accumulation without the library: nothing is scaled' 'scale 1' \
    "$(scaler_line | cut -d' ' -f 1,2)"

# Two models: the second one's gradients are 64 times the first one's.
example two_models --epochs 5
learns 'two models: the first' "$(awk '/^epoch/ { sub(",", ""); a = $5 } END { print a }' "$work/out")"
learns 'two models: the second' "$(awk '/^epoch/ { a = $6 } END { print a }' "$work/out")"
equal 'two models: the first took every step' 'model 1: steps 220  skips 0' \
    "$(grep '^model 1' "$work/out")"
check 'two models: the second skipped some' \
    "$(awk '/^model 2/ { if ($4 + $6 != 220 || $6 < 1) print }' "$work/out")"
check 'two models: the scaler counted both' \
    "$(awk '/^model/ { s += $4; k += $6 }
        /^scale/ { if ($6 != s || $8 != k || s + k != 440) print }' "$work/out")"

# Stop and go on. Between two changes of the scale, and with skips.
example checkpoint --epochs 6 --weights "$work/straight"
learns 'straight run' "$(awk '/^epoch/ { a = $5 } END { print a }' "$work/out")"
example checkpoint --epochs 3 --weights "$work/resumed"
check 'the stop is between two changes of the scale' \
    "$(scaler_line | awk '{ if ($4 == 0) print }')"
! cmp -s "$work/straight" "$work/resumed" || echo '# half is the same as all'
example checkpoint --epochs 3 --weights "$work/resumed"
check 'and skips come after it' \
    "$(scaler_line | awk '{ if ($8 < 1) print }')"
same 'stopped and resumed: the same bytes as without a stop' \
    "$work/straight" "$work/resumed"
sed 's/^scale .*/scale nan/' "$work/resumed" >"$work/bad"
cp "$work/bad" "$work/bad.before"
bare "$build/examples/scaler_checkpoint" --weights "$work/bad" "$digits" \
    >"$work/out" 2>&1
equal 'a checkpoint with a bad scale ends the program' 1 $?
check 'which names the field' \
    "$(grep -q "autocast_scaler_load failed:.* scale" "$work/out" || cat "$work/out")"
same 'and left as it is' "$work/bad" "$work/bad.before"
plan
