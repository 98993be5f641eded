#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# guard=strict: three calls are the original's; then every call is judged before
# its C is written. Good data have the bits of the lower precision, bad data the
# original's, in the very same call; C is untouched until then. Where C is added
# to what a call before left there, or may be, calls are the original's.
. "$(dirname "$0")/preload.sh"
need_emulator
# The emulated cuBLAS writes all of its workspace: a model where that is small.
[ -z "${SANITIZERS:-}" ] || export AUTOCAST_EMU_MODEL=a100
course=$clients/course
client=$clients/gemm_client
strict='gemm -> fp16,tf32 profit=off guard=strict'

# bits POLICY WORD...: of the last call on such data.
bits()
{
	under "$1" "$course" "${@:2}" | sed -n '$s/.* //p'
}

# expect WHAT WORDS EXPECTED: the course of a run under $strict; in EXPECTED
# keep and fp16 stand for the bits of good data, bad for the original's of bad.
expect()
{
	rm -rf "$AUTOCAST_STATE"
	# shellcheck disable=SC2086
	found=$(under "$strict" "$course" $2 2>&1 | sed -e "s/$keep/keep/" \
	    -e "s/$fp16/fp16/" -e "s/$bad/bad/" | tr '\n' ' ')
	equal "$1" "$3" "$found"
}

for how in '' own thread device beta 'own device beta'; do
	# shellcheck disable=SC2086
	{
		keep=$(bits off $how good:1)
		fp16=$(bits fp16 $how good:1)
		bad=$(bits off $how cancelling:1)
	}
	check "the bits differ${how:+, $how}" \
	    "$([ "$keep" != "$fp16" ] && [ -n "$bad" ] || echo "$keep $fp16 $bad")"
	# Beta in device memory is not known to be 0.
	case $how in
	*beta | *device) expect "what adds up in one C is kept, $how" \
	    "$how good:9 cancelling:6" '1-9 good keep 10-15 cancelling bad ' ;;
	*) expect "bad data are refused in the same call${how:+, $how}" \
	    "$how good:9 cancelling:6" \
	    '1-3 good keep 4-9 good fp16 10-15 cancelling bad ' ;;
	esac
done
keep=$(bits off good:1)
fp16=$(bits fp16 good:1)
bad=$(bits off cancelling:1)
expect 'the first call behind the three is no exception' 'good:3 cancelling:1' \
    '1-3 good keep 4-4 cancelling bad '
# Graded along K: not for FP16, which one call shows, but for TF32.
expect 'fp16 is left for tf32' 'good:5 graded:5' \
    '1-3 good keep 4-5 good fp16 6-6 graded keep 7-10 graded fp16 '
equal 'and by which rungs' "[('fp16', 2), ('tf32', 4)]" \
    "$(query 'sorted((s["rung"], s["recast_calls"]) for s in sites
    if s["rung"] != "keep")')"
equal 'and why' error "$(query '*(s["course"]["finding"] for s in sites
    if s["rung"] == "fp16")')"
# Both are left, at calls 4 and 5, of those data alone.
expect 'what is left is left for those data' 'good:3 cancelling:4 good:9' \
    '1-3 good keep 4-7 cancelling bad 8-16 good fp16 '
expect '1000 calls later they get another chance' \
    'good:3 cancelling:1010' '1-3 good keep 4-1013 cancelling bad '
equal 'which is counted' '4 1' "$(total totals.demotions) $(total totals.retries)"

# Each spelling, with a padded C: nothing outside it is written, and what is
# refused has the original's bits. The last of five calls, the fourth is the first
# that is judged.
# line POLICY FORM DATA BETA
line()
{
	under "$1" "$client" "$2" n t 67 45 131 139 141 77 \
	    "$([ "$2" = sgemm ] && echo 1 || echo 3)" 1.5 "$4" "$3" 1 - repeat=5 |
	    sed 's/ repeats=.*//'
}
one='gemm -> fp16 profit=off guard=strict'
for form in sgemm strided batched; do
	equal "$form: good data" "$(line fp16 $form normal 0)" \
	    "$(line "$one" $form normal 0)"
	equal "$form: both calls recast" 2 "$(total totals.recast_calls)"
	equal "$form: what adds up in one C is kept" \
	    "$(line off $form normal 0.5)" "$(line "$one" $form normal 0.5)"
	equal "$form: neither call recast" 0 "$(total totals.recast_calls)"
	for data in cancelling inf nan nonfinite; do
		equal "$form: $data" "$(line off $form $data 0)" \
		    "$(line "$one" $form $data 0)"
		equal "$form, $data: neither call recast" 0 \
		    "$(total totals.recast_calls)"
	done
done
equal 'an infinity is no reason to give a precision up' '0 2' \
    "$(line "$one" sgemm inf 0 >/dev/null
    total totals.demotions) $(query 'sum(s["kept_calls"].get("guard", 0) for s in sites)')"

# Once per call that is judged, and nothing else is waited for.
AUTOCAST_EMU_COUNTERS=$work/counters under "$one" "$course" good:20 >/dev/null
equal 'one wait for each call behind the three' 17 \
    "$(sed -n 's/^cuEventSynchronize //p' "$work/counters")"
plan
