#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Probation from end to end (recasting.md R4): what a site's first call leaves
# is the original's; bad data are given up within 128 calls and tried again 1000
# later, always at the same call; a stream that is held, threads, new streams,
# resets and forks stop none of that.
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

# expect WHAT SETTINGS WORDS EXPECTED: the course of a run, lines joined. FP16 on
# graded data has bits that depend on the last call's exponents: x.
expect()
{
	rm -rf "$AUTOCAST_STATE"
	# shellcheck disable=SC2086
	found=$(under "$guarded${2:+ $2}" "$course" $3 2>&1 | sed \
	    -e "s/ $keep/ keep/; s/ $fast_bad/ fast/; s/ $fast/ fast/; s/ $bad/ keep/" \
	    -e 's/ [0-9a-f]\{16\}$/ x/' | tr '\n' ' ')
	equal "$1" "$4" "${found% }"
}

# rungs: calls recast on each, and why they were left.
rungs()
{
	query '*sorted("%s:%d:%s" % (s["rung"], s["recast_calls"],
	    s["course"]["finding"]) for s in sites if s["rung"] != "keep")'
}

# ---- When what happens

for how in '' own thread device 'own device'; do
	expect "the first call is the original's, the second is not${how:+, $how}" \
	    '' "$how good:5" '1-1 good keep 2-5 good fast'
done
expect 'one call is no recast call' '' 'cancelling:1' '1-1 cancelling keep'
expect 'bad data from the first call on' '' 'cancelling:200' '1-200 cancelling keep'
equal 'both precisions were left for that' 'fp16:0:error tf32:0:error' "$(rungs)"
# 151 is bad, 192 sampled, its verdict applies at 256; 1280 is a try, and 1344
# its verdict.
expect 'data that turn bad for FP16' '' 'good:150 graded:150 good:1200' \
    '1-1 good keep 2-150 good fast 151-255 graded x 256-1279 graded fast 1280-1280 good keep 1281-1500 good fast'
equal 'TF32 meanwhile' 'fp16:411:error tf32:1087:none' "$(rungs)"
equal 'both counted' '1 1' "$(total totals.demotions) $(total totals.retries)"
expect 'data that turn bad for all' '' 'good:150 cancelling:150 good:1200' \
    '1-1 good keep 2-150 good fast 151-300 cancelling fast 301-319 good fast 320-1407 good keep 1408-1500 good fast'
equal 'reasons' guard "$(kept_reasons guard no-profit capture refused)"
check 'are in the report' "$("$build/autocast" report >"$work/report"
    grep -q 'sampled outputs were too far off' "$work/report" || cat "$work/report")"
expect 'after=10' 'after=10' 'good:20' '1-11 good keep 12-20 good fast'
expect 'after=10 without a trial' 'after=10 guard=off' 'good:20' \
    '1-10 good keep 11-20 good fast'
expect 'sample=16' 'sample=16' 'good:20 cancelling:200' \
    '1-1 good keep 2-20 good fast 21-159 cancelling fast 160-220 cancelling keep'
expect 'sample=0 samples nothing' 'sample=0' 'good:20 cancelling:300' \
    '1-1 good keep 2-20 good fast 21-320 cancelling fast'
expect 'reproducible=on: at the same calls' 'reproducible=on' \
    'good:150 cancelling:150 good:1200' \
    '1-1 good keep 2-150 good fast 151-300 cancelling fast 301-319 good fast 320-1407 good keep 1408-1500 good fast'

# ---- What may come between

expect 'a reset between the first call and the second' '' 'good:1 reset good:4' \
    '1-3 good keep 4-5 good fast'
expect 'resets later on' '' 'good:70 reset good:100 reset cancelling:300' \
    '1-1 good keep 2-170 good fast 171-319 cancelling fast 320-470 cancelling keep'
expect 'forks' '' 'good:1 fork good:70 fork cancelling:300' \
    '1-1 good keep 2-71 good fast 72-255 cancelling fast 256-371 cancelling keep'

# The wait at the second call ends, though the stream does not go on.
for settings in '' ' reproducible=on'; do
	rm -rf "$AUTOCAST_STATE"
	out=$(under "$guarded$settings" "$clients/held_trial" 40 2>&1)
	equal "a stream that is held$settings" 0 "$?"
	[ -z "$out" ] || echo "# $out"
	equal "held: all is kept; then it goes on$settings" "$((8 * (40 + 1))) $((8 * 39))" \
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
equal 'and all but the first call recast' 'other=1' "$(cut -d' ' -f1 "$work/out")"
equal 'as the report has it' 999 "$(total totals.recast_calls)"

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
