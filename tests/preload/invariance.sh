#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Training that needs no loss scaling: whatever power of two the loss is
# multiplied by, the network gets the same weights, bit for bit, because every
# operand is scaled by its own largest element. FP16 as it is has a window.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -x "$build/examples/digits_mlp" ] || skip_all 'the example was not built'

scaled='gemm -> fp16 profit=off guard=off'
guarded='gemm -> fp16 profit=off guard=on'
unscaled='gemm -> fp16 tactic=library profit=off guard=off'

# train POLICY SCALE NAME: the accuracy; weights in $work/NAME.
train()
{
	under "$1" "$build/examples/digits_mlp" --epochs 5 --loss-scale "$2" \
	    --weights "$work/$3" "$build/examples/digits.csv" \
	    >"$work/out" 2>&1 || sed 's/^/# /' "$work/out"
	sed -n 's/^test accuracy //p' "$work/out"
}

plain=$(bare "$build/examples/digits_mlp" --epochs 5 "$build/examples/digits.csv" |
    sed -n 's/^test accuracy //p')
check 'FP32 learns' "$(awk -v a="$plain" 'BEGIN { if (!(a >= 0.95)) print a }')"

# 2^-12, 2^-24, 2^-40, 2^24
small='0.000244140625 5.9604644775390625e-08 9.094947017729282e-13 16777216'

learns 'scaled FP16' "$(train "$scaled" 1 one)"
check 'and recasts' "$(awk -v s="$(total totals.recast_share)" \
    'BEGIN { if (!(s >= 0.99)) print s }')"
for s in $small; do
	learns "loss x$s" "$(train "$scaled" "$s" other)"
	same "loss x$s has the weights of x1" "$work/one" "$work/other"
done

learns 'guarded FP16' "$(train "$guarded" 1 one)"
learns 'guarded FP16, loss x2^-24' \
    "$(train "$guarded" 5.9604644775390625e-08 other)"

learns 'unscaled FP16' "$(train "$unscaled" 1 one)"
accuracy=$(train "$unscaled" 5.9604644775390625e-08 other)
check 'unscaled FP16, loss x2^-24, learns nothing' \
    "$(awk -v a="$accuracy" 'BEGIN { if (!(a > 0 && a < 0.2)) print a }')"
check 'and its weights differ' \
    "$(! cmp -s "$work/one" "$work/other" || echo 'same bytes')"
plan
