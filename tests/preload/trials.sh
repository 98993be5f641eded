#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Probation from end to end (doc/rules.md V2, V4, V6): what a site's first three
# calls leave is the original's; operands that turn bad are given up within 128
# calls, and others go on; a stream that is held, threads, new streams, resets
# and forks stop none of that.
. "$(dirname "$0")/preload.sh"
need_emulator
case ${SANITIZERS:-} in
*thread*) skip_all 'minutes under TSan: race.sh has what it is to see of this' ;;
esac
course=$clients/course
guarded='gemm -> fp16,tf32 profit=off guard=on'

# bits POLICY WORD...: of one call on such data.
bits()
{
	under "$1" "$course" "${@:2}" | sed -n 's/^1-[0-9]* [a-z]* //p'
}
keep=$(bits off good:1)
bad=$(bits off cancelling:1)
fast=$(bits fp16 good:1) # or TF32: it rounds alike
fast_bad=$(bits fp16 cancelling:1)
check 'the bits differ' "$(printf '%s\n' "$keep" "$bad" "$fast" "$fast_bad" |
    sort | uniq -d)"

# expect WHAT SETTINGS WORDS EXPECTED [FROM LAST [THEN]]: the course of a run, lines joined.
# FP16 on graded data has bits that depend on the last call's exponents: x. Which
# calls are sampled is drawn: the end of what begins at call FROM is a star, if it
# is no later than call LAST, and so is the beginning of what follows; and the end
# of that, if it is THEN calls long, and the beginning of what follows that.
expect()
{
	rm -rf "$AUTOCAST_STATE"
	# shellcheck disable=SC2086
	found=$(under "$guarded${2:+ $2}" "$course" $3 2>&1 | sed \
	    -e "s/ $keep/ keep/; s/ $fast_bad/ fast/; s/ $fast/ fast/; s/ $bad/ keep/" \
	    -e 's/ [0-9a-f]\{16\}$/ x/' | tr '\n' ' ')
	found=$(awk -v from="${5:-0}" -v last="${6:-0}" -v then="${7:-0}" '{
		for (i = 1; i <= NF; i++) {
			if (split($i, at, "-") != 2)
				continue
			if (at[1] == from && at[2] <= last) {
				rest = at[2] + 1
				$i = from "-*"
			} else if (at[1] == rest && at[2] == rest + then - 1) {
				rest = at[2] + 1
				$i = "*-*"
			} else if (at[1] == rest)
				$i = "*-" at[2]
		}
		print }' <<<"${found% }")
	equal "$1" "$4" "$found"
}

# rungs: calls recast on each, and why they were left.
rungs()
{
	query '*sorted("%s:%d:%s" % (s["rung"], s["recast_calls"],
	    s["course"]["finding"]) for s in sites if s["rung"] != "keep")'
}

# ---- When what happens

for how in '' own thread device 'own device'; do
	expect "three calls are the original's, the fourth is not${how:+, $how}" \
	    '' "$how good:5" '1-3 good keep 4-5 good fast'
done
expect 'one call is no recast call' '' 'cancelling:1' '1-1 cancelling keep'
expect 'bad data from the first call on' '' 'cancelling:200' '1-200 cancelling keep'
equal 'both precisions were left for that' 'fp16:0:error tf32:0:error' "$(rungs)"
# Other data are at other addresses, another operand pair. 151 is bad; a sample is
# 71 calls away at most, and its verdict 56 later: 277 is the last one.
expect 'data that turn bad for FP16' '' 'good:150 graded:150 good:1200' \
    '1-3 good keep 4-150 good fast 151-* graded x *-300 graded keep 301-1500 good fast' \
    151 277
check 'all others by FP16' "$(rungs |
    grep -Eqx 'fp16:1(3[5-9][0-9]|4[0-7][0-9]):error tf32:0:none' || rungs)"
equal 'TF32 begins to prove itself' '1 1' \
    "$(total totals.demotions) $(total totals.retries)"
# It takes 128 clean tries in a row, the first at once; the call behind them waits.
expect 'TF32 has proved itself' '' 'good:150 graded:400' \
    '1-3 good keep 4-150 good fast 151-* graded x *-* graded keep *-550 graded fast' \
    151 277 128
expect 'data that turn bad for all' '' 'good:150 cancelling:150 good:1200' \
    '1-3 good keep 4-150 good fast 151-* cancelling fast *-300 cancelling keep 301-1500 good fast' \
    151 277
equal 'reasons' guard "$(kept_reasons guard no-profit capture refused)"
check 'are in the report' "$("$build/autocast" report -v >"$work/report"
    grep -q 'sampled outputs were too far off' "$work/report" || cat "$work/report")"
expect 'after=10' 'after=10' 'good:20' '1-13 good keep 14-20 good fast'
expect 'after=10 without a trial' 'after=10 guard=off' 'good:20' \
    '1-10 good keep 11-20 good fast'
expect 'sample=16' 'sample=16' 'good:20 cancelling:200' \
    '1-3 good keep 4-20 good fast 21-* cancelling fast *-220 cancelling keep' \
    21 $((20 + 18 + 56))
# Without samples casts are judged by what they lose, and what that makes the
# device suspect.
expect 'sample=0: what casts lose is told all the same' 'sample=0' \
    'good:20 cancelling:300' \
    '1-3 good keep 4-20 good fast 21-* cancelling fast *-320 cancelling keep' \
    21 147
expect 'reproducible=on: at the same calls' 'reproducible=on' \
    'good:150 cancelling:150 good:1200' \
    '1-3 good keep 4-150 good fast 151-* cancelling fast *-300 cancelling keep 301-1500 good fast' \
    151 277

# ---- What may come between

# What the first call was to show is gone: the next three are tried.
expect 'a reset between the first call and the second' '' 'good:1 reset good:4' \
    '1-4 good keep 5-5 good fast'
expect 'resets later on' '' 'good:70 reset good:100 reset cancelling:300' \
    '1-3 good keep 4-170 good fast 171-* cancelling fast *-470 cancelling keep' \
    171 297
expect 'forks' '' 'good:1 fork good:70 fork cancelling:300' \
    '1-3 good keep 4-71 good fast 72-* cancelling fast *-371 cancelling keep' \
    72 198

# The wait at the fourth call ends, though the stream does not go on.
# 32 is one class of sizes, 33 to 39 are another; three calls of each are tried,
# or of each size where nothing is shared.
for settings in '' ' reproducible=on'; do
	[ -z "$settings" ] && tried=$((2 * 3)) || tried=$((8 * 3))
	rm -rf "$AUTOCAST_STATE"
	out=$(under "$guarded$settings" "$clients/held_trial" 40 2>&1)
	equal "a stream that is held$settings" 0 "$?"
	[ -z "$out" ] || echo "# $out"
	equal "held: all is kept; then it goes on$settings" \
	    "$((8 * 40 + tried)) $((8 * 40 - tried))" \
	    "$(query 'sum(s["kept_calls"].get("probation", 0) for s in sites)') $(
	    total totals.recast_calls)"
done

# peak PROGRAM ARGS...: device bytes at most.
peak()
{
	AUTOCAST_EMU_COUNTERS=$work/counters under "$guarded" "$@" >"$work/out"
	sed -n 's/^device_bytes_peak //p' "$work/counters"
}
few=$(peak "$clients/churn" 100)
equal '1000 streams, one after the other: no more memory than 100' "$few" \
    "$(peak "$clients/churn" 1000)"
equal 'and all but the first three calls recast' 'other=3' "$(cut -d' ' -f1 "$work/out")"
equal 'as the report has it' 997 "$(total totals.recast_calls)"

# ---- Threads

alone=$(for i in 0 1 2 3 4 5 6 7; do
	under "$guarded reproducible=on" "$clients/crowd" $i $i 80
done)
equal 'eight threads, 32 streams, 16 handles: each has the bits it has alone' \
    "$alone" "$(under "$guarded reproducible=on" "$clients/crowd" 0 7 80)"
for seed in 1 2; do
	equal "the same, jitter $seed" "$alone" \
	    "$(AUTOCAST_EMU_JITTER=$seed under "$guarded reproducible=on" \
		"$clients/crowd" 0 7 80)"
done
rm -rf "$AUTOCAST_STATE"
AUTOCAST_EMU_COUNTERS=$work/counters under "$guarded" "$clients/crowd" 0 7 80 >/dev/null
equal 'many threads on one site: nothing wrong' '0 0' \
    "$(sed -n 's/^complaints //p' "$work/counters") $(total totals.demotions)"
equal 'all calls are counted' 5120 "$(total totals.calls)"
AUTOCAST_EMU_CLOCK=model AUTOCAST_EMU_COUNTERS=$work/counters under \
    "$guarded" "$clients/crowd" 0 7 80 >/dev/null
equal 'the same beside a clock' 0 "$(sed -n 's/^complaints //p' "$work/counters")"
plan
