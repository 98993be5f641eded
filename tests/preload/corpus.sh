#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The guard's corpus as programs that know nothing of it. No output is wrong: a
# call gives what it gives without us, bit for bit, or is within the tolerance.
# A program that asks once for each size always gets the former. Where data turn
# bad later, the site is demoted within the calls that are promised.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/corpus_client
[ -z "${SANITIZERS:-}" ] || skip_all 'the corpus takes minutes under a sanitizer'

# corpus FILE COUNT CALLS RUN...: the cases of COUNT seeds, in two processes.
corpus()
{
	half=$(($2 / 2))
	"${@:4}" "$client" sites 0 $half "$3" >"$1.0" 2>"$1.err" &
	"${@:4}" "$client" sites $half $half "$3" >"$1.1" 2>>"$1.err"
	wait
	cat "$1.0" "$1.1" >"$1"
	check "$((2 * half)) cases, $3 times each: ${5:-bare}" "$(cat "$1.err"
	    wc -l <"$1" | awk -v n=$((2 * half * $3)) '$1 != n { print $1 " lines" }')"
}

# changed CALL FILE: its lines that differ from the run without the library.
changed()
{
	awk -v call="$1" 'FNR == NR { bits[$1] = $5; next }
	    $3 == call && $5 != bits[$1]' "$work/bare" "$2"
}

# wrong TOL: those lines that are beyond it.
wrong()
{
	awk -v tol="$1" '!($4 <= tol)'
}

# most WHAT CALLS FILE PART: of the cases were recast at the last call.
most()
{
	check "$1: most are recast then" "$(changed "$2" "$3" | wc -l |
	    awk -v n="$(wc -l <"$3")" -v calls="$2" -v part="$4" \
	        '$1 < part * n / calls')"
}

corpus "$work/bare" 600 1 bare

corpus "$work/out" 600 3 under 'gemm -> fp16,tf32 tol=1e-3 guard=on profit=off'
check 'guard=on: a first call is the original' "$(changed 1 "$work/out")"
check 'guard=on: no second call is wrong' "$(changed 2 "$work/out" | wrong 1e-3)"
check 'guard=on: no third call is wrong' \
    "$(changed 3 "$work/out" | wrong 1e-3)"
most 'guard=on' 3 "$work/out" 0.9

corpus "$work/out" 120 3 under \
    'gemm -> bf16 tactic=cast tol=8e-3 guard=on profit=off'
check 'bf16: a first call is the original' "$(changed 1 "$work/out")"
for call in 2 3; do
	check "bf16: no call $call is wrong" \
	    "$(changed $call "$work/out" | wrong 8e-3)"
done
most bf16 3 "$work/out" 0.9

corpus "$work/out" 120 1 under 'gemm -> fp16,tf32 tol=1e-3 guard=strict profit=off'
check 'guard=strict: not even a first call is wrong' \
    "$(changed 1 "$work/out" | wrong 1e-3)"
most 'guard=strict' 1 "$work/out" 0.7

# Without the guard, these are wrong: there is something to guard against.
corpus "$work/out" 120 1 under 'gemm -> fp16 guard=off profit=off'
check 'guard=off: some calls are wrong' "$([ "$(changed 1 "$work/out" |
    wrong 1e-3 | wc -l)" -ge 6 ] || echo 'none of them')"

# turn SEED RUNGS FROM: data of that seed from the call after FROM on. What
# begins then is sampled within 64 calls, and the rung is left 64 calls after
# that; another 64 for the next rung, if it is no better.
turn()
{
	original=$(bare "$client" turn 133 "$1" 1 1 | awk '{ bits = $5 } END { print bits }')
	under 'gemm -> fp16,tf32 tol=1e-3 guard=on profit=off' \
	    "$client" turn 133 "$1" "$3" 400 >"$work/out"
	check "seed $1 after call $3: wrong at first, then no more" \
	    "$(awk -v from="$3" -v rungs="$2" -v original="$original" '
	    NR > from && $4 > 1e-3 && $5 != original { wrong++; last = NR }
	    END {
		until = 64 * (int((from + 64) / 64) + rungs)
		if (!wrong || last >= until || NR != from + 400)
			print wrong + 0 " wrong, the last is call " last \
			    " of " NR ", not before " until
	    }' "$work/out")"
	equal "seed $1 after call $3: demotions" "$2" "$(total totals.demotions)"
}
for from in 70 127; do
	turn 0 1 $from      # graded along K: FP16 fails, TF32 does not
	turn 61 1 $from     # outliers: likewise
	turn 356 2 $from    # cancelling: only FP32 will do
done
plan
