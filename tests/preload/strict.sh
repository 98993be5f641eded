#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# guard=strict: every call is judged before its C is written. Good data have the
# bits of the lower precision, bad data the original's, in the very same call;
# C is untouched until then.
. "$(dirname "$0")/preload.sh"
need_emulator
# The emulated cuBLAS writes all of its workspace: a model where that is small.
[ -z "${SANITIZERS:-}" ] || export AUTOCAST_EMU_MODEL=a100
course=$clients/course
client=$clients/gemm_client
strict='gemm -> fp16,tf32 profit=off guard=strict'

# bits POLICY WORD...: of one call on such data. fourth: of the first one that may
# be recast.
bits()
{
	under "$1" "$course" "${@:2}" | sed -n 's/^1-[0-9]* [a-z]* //p'
}
fourth()
{
	under "$1" "$course" "${@:2}" good:4 | sed -n 's/^4-4 [a-z]* //p'
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

# Three calls are the original's: a place has to be known first.
for how in '' own thread; do
	# shellcheck disable=SC2086
	{
		keep=$(bits off $how good:1)
		fp16=$(fourth "$strict" $how)
		bad=$(bits off $how cancelling:1)
	}
	check "the bits differ${how:+, $how}" \
	    "$([ "$keep" != "$fp16" ] && [ -n "$fp16$bad" ] || echo "$keep $fp16 $bad")"
	expect "bad data are refused in the same call${how:+, $how}" \
	    "$how good:9 cancelling:6" \
	    '1-3 good keep 4-9 good fp16 10-15 cancelling bad '
done
# Sums of several products are kept: what the first one lost nobody could bring
# back. A beta that only the device sees may be one.
for how in device beta 'own device beta'; do
	# shellcheck disable=SC2086
	{
		keep=$(bits off $how good:1)
		fp16=none
		bad=$(bits off $how cancelling:1)
	}
	expect "a sum is kept, $how" "$how good:9 cancelling:6" \
	    '1-9 good keep 10-15 cancelling bad '
done
keep=$(bits off good:1)
fp16=$(bits fp16 good:1)
bad=$(bits off cancelling:1)
expect 'the first call is no exception' 'cancelling:1' '1-1 cancelling bad '
# Graded along K: not for FP16, which one call shows, but for TF32.
expect 'fp16 is left for tf32' 'good:5 graded:5' \
    '1-3 good keep 4-5 good fp16 6-6 graded keep 7-10 graded fp16 '
equal 'and by which rungs' "[('fp16', 2), ('tf32', 4)]" \
    "$(query 'sorted((s["rung"], s["recast_calls"]) for s in sites)')"
equal 'and why' error "$(query '*(s["course"]["finding"] for s in sites
    if s["rung"] == "fp16")')"
# Calls 4 and 5 leave one each; the pair has two strikes by then, and waits four
# thousand calls. Others go on.
expect 'both are left, by one pair of operands' 'cancelling:9 good:20' \
    '1-9 cancelling bad 10-29 good fp16 '
equal 'which is counted' '2 0' "$(total totals.demotions) $(total totals.retries)"
expect 'later they get another chance' 'cancelling:4010' '1-4010 cancelling bad '
equal 'which is counted, too' '4 1' \
    "$(total totals.demotions) $(total totals.retries)"

# Each spelling, with a padded C: nothing outside it is written, and what is refused
# has the original's bits. Five calls; the line is of the last one, and the first
# three are the original's, so that repeats may differ.
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
	equal "$form: calls 4 and 5 recast" 2 "$(total totals.recast_calls)"
	check "$form: good data are added to" "$(under "$one" "$client" $form n t \
	    67 45 131 139 141 77 2 1.5 0.5 normal 1 - repeat=2 reference |
	    awk -F'[= ]' '{ for (i = 1; i < NF; i++) if ($i == "err") err = $(i + 1) }
	    !(err < 4.5e-4 && /padding=ok/ && /repeats=same/)')"
	for data in cancelling inf nan nonfinite; do
		equal "$form: $data" "$(line off $form $data 0)" \
		    "$(line "$one" $form $data 0)"
		equal "$form, $data: no call recast" 0 \
		    "$(total totals.recast_calls)"
	done
done
equal 'an infinity is no reason to give a precision up' '0 2' \
    "$(line "$one" sgemm inf 0 >/dev/null
    total totals.demotions) $(query 'sum(s["kept_calls"].get("guard", 0) for s in sites)')"

# Once per call, and nothing else is waited for.
AUTOCAST_EMU_COUNTERS=$work/counters under "$one" "$course" good:20 >/dev/null
equal 'one wait for each call that is recast' 17 "$(sed -n 's/^cuEventSynchronize //p' "$work/counters")"
plan
