#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that times whatever the heuristics name, compares results, and
# stores what it chose: it finds what it finds without us, chooses the same, and
# what it chose is recast once it runs that and nothing else.
. "$(dirname "$0")/preload.sh"
need_emulator
autotune=$clients/autotune
[ -e "$autotune" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
forced='conv.fprop -> fp16 profit=off guard=off'
guarded='conv.fprop -> fp16 profit=off'
words='n=2 c=32 k=32 h=14 w=14'
AUTOCAST_EMU_CLOCK=model
export AUTOCAST_EMU_CLOCK

# tune NAME POLICY WORDS: without us, and recast, into NAME and NAME.ours.
tune()
{
	rm -rf "$AUTOCAST_STATE"
	bare "$autotune" tune "$work/$1" $words rounds=12 $3 >"$work/$1.said"
	equal "$1: it ends" 0 $?
	under "$2" "$autotune" tune "$work/$1.ours" $words rounds=12 $3 \
	    >"$work/$1.ours.said"
	equal "$1: it ends, recast" 0 $?
	equal "$1: notes are the same however they are asked for" '' \
	    "$(grep -h broken "$work/$1.said" "$work/$1.ours.said")"
	# The last line is of what was chosen.
	same "$1: all configurations, with the bits that they leave" \
	    <(sed '$d' "$work/$1.said") <(sed '$d' "$work/$1.ours.said")
	same "$1: the same is chosen and stored" "$work/$1" "$work/$1.ours"
}

# distance FILE: of what was chosen.
distance()
{
	sed -n 's/^chosen.*distance=\([^ ]*\) .*/\1/p' "$1"
}

while read -r name how; do
	tune "$name" "$forced" "$how"
	check "$name: what was chosen is FP16, and no worse" "$(
	    distance "$work/$name.ours.said" | awk '$1 < 1e-5 || $1 > 2e-3')"
	check "$name: it is another result" "$([ "$(tail -n 1 \
	    "$work/$name.said")" != "$(tail -n 1 "$work/$name.ours.said")" ] ||
	    echo 'the bits are the same')"
	# Three runs of each of two on Tensor Cores, then four of what was chosen.
	equal "$name: in the report: all but four of what was chosen" 8 \
	    "$(total totals.recast_calls)"
	equal "$name: and why not" '10 12' "$(query \
	    'sum(s["kept_calls"].get("probation", 0) for s in sites),
	    sum(s["kept_calls"].get("opted-out", 0) for s in sites)' |
	    tr -d '(),')"
	tune "guarded $name" "$guarded" "$how"
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
tune strict "$forced" 'tolerance=2e-4'
equal 'control: TF32 differs too much' 2 "$(grep -c ^mismatch "$work/strict.ours.said")"

# ---- Again -------------------------------------------------------------------

# Three times with a handle each. What the last runs of one are says nothing of
# the next, though that has its address: in a row those would be six.
bare "$autotune" threads 1 $words >"$work/again"
under "$forced" "$autotune" threads 1 $words >"$work/again.ours"
# ASan gives no address out again so soon.
[ -n "$sanitizer" ] || equal 'control: handles of one address' 2 \
    "$(grep -c '^the same address' "$work/again.ours")"
equal 'control: the first configuration is chosen, each time' "$(
    sed -n 's/^tuned //p' "$work/again" | head -n 1)" \
    "$(sed -n 's/^chosen //p' "$work/again" | sort -u)"
same 'tuned again: all configurations, with the bits that they leave' \
    <(grep ^tuned "$work/again") <(grep ^tuned "$work/again.ours")

# ---- Stored ------------------------------------------------------------------

# replayed ROUNDS HOW FILE: engine and bits.
replayed()
{
	"${@:2:$#-2}" "$autotune" replay "$work/${!#}" $words rounds="$1" |
	    sed -n 's/^replayed //p'
}
native=$(replayed 1 bare nchw)
equal 'what was stored stays so, off' "$native" "$(replayed 12 under off nchw)"
equal 'what was stored is recast, without heuristics' \
    "$(sed -n 's/^chosen.* //p' "$work/nchw.ours.said")" \
    "$(replayed 12 under "$forced" nchw | sed 's/.* //')"
equal 'and not at once' "$native" "$(replayed 4 under "$forced" nchw)"
plan
