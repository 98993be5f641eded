#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that times whatever the heuristics name, compares results, and
# stores what it chose: it lives with engines that round to FP16, may reject
# them, and what it stored does the same wherever it is loaded.
. "$(dirname "$0")/preload.sh"
need_emulator
autotune=$clients/autotune
[ -e "$autotune" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
forced='conv.fprop -> fp16 profit=off guard=off'
words='n=2 c=32 k=32 h=14 w=14'
AUTOCAST_EMU_CLOCK=model
export AUTOCAST_EMU_CLOCK

# tune NAME WORDS: without us, and recast, into NAME and NAME.ours.
tune()
{
	rm -rf "$AUTOCAST_STATE"
	# shellcheck disable=SC2086
	bare "$autotune" tune "$work/$1" $words $2 >"$work/$1.said"
	equal "$1: it ends" 0 $?
	# shellcheck disable=SC2086
	under "$forced" "$autotune" tune "$work/$1.ours" $words $2 \
	    >"$work/$1.ours.said"
	equal "$1: it ends, recast" 0 $?
	equal "$1: notes are the same however they are asked for" '' \
	    "$(grep -h broken "$work/$1.said" "$work/$1.ours.said")"
}

# lines FILE ENGINES: those of all configurations but the last, chosen one.
lines()
{
	grep -E "^(tuned|mismatch) engine=($2) " "$1"
}

while read -r name how; do
	tune "$name" "$how"
	check "$name: ours come first, and look like any" "$(head -n 2 \
	    "$work/$name.ours.said" | grep -v '^tuned engine=\(62\|45\) notes=0x1 ')"
	equal "$name: the others are what they were" \
	    "$(lines "$work/$name.said" '.*')" \
	    "$(lines "$work/$name.ours.said" '67|1|4|5')"
	check "$name: ours are FP16, and no worse" "$(
	    lines "$work/$name.ours.said" '62|45' | awk -F'distance=' '
		    $2 + 0 < 1e-5 || $2 + 0 > 2e-3 { print } END { if (NR != 2) print NR }')"
	equal "$name: the fastest is chosen, and runs" \
	    "$(lines "$work/$name.ours.said" 62 | cut -d' ' -f2,5)" \
	    "$(sed -n 's/^chosen //p' "$work/$name.ours.said" | cut -d' ' -f1,4)"
	equal "$name: in the report: each run of ours, and of what was chosen" 9 \
	    "$(total totals.recast_calls)"
done <<'END'
nchw
nhwc layout=nhwc
groups groups=4
dilation dilation=2 pad=2
stride stride=2
line spatial=1 w=50
volume spatial=3 n=1 d=6 h=7 w=8
odd c=3 k=5
uneven pad=2 post=0
further pad=0 post=3 stride=2
alpha alpha=2
bare_edge pad=0
END

# XLA logs what differs too much and goes on with what is left.
tune strict 'tolerance=3e-4'
equal 'ours differ too much: another is chosen' \
    "$(grep ^chosen "$work/strict.said")" "$(grep ^chosen "$work/strict.ours.said")"
equal 'control: they did' 2 "$(grep -c ^mismatch "$work/strict.ours.said")"

# ---- Stored ------------------------------------------------------------------

# replayed HOW FILE: engine and bits.
replayed()
{
	# shellcheck disable=SC2086
	"${@:1:$#-1}" "$autotune" replay "$work/${!#}" $words |
	    sed -n 's/^replayed //p'
}
chosen=$(sed -n 's/^chosen //p' "$work/nchw.ours.said" | cut -d' ' -f4)
for how in bare 'under off' "under $forced"; do
	set -- "${how%% *}" "${how#* }"
	[ "$1" = under ] || shift
	equal "$how: what was chosen recast is known for what it is" \
	    "engine=62 notes=0x3 distance=0 $chosen" "$(replayed "$@" nchw.ours)"
	equal "$how: what was chosen without us stays so" \
	    "$(replayed bare nchw)" "$(replayed "$@" nchw)"
done
plan
