#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# guard=strict: only what is verified serves, and nothing that has a part in a sum of
# several products. tests/trust/rhythm.sh holds that no result is wrong.
. "$(dirname "$0")/preload.sh"
need_emulator
# The emulated cuBLAS writes all of its workspace: a model where that is small.
[ -z "${SANITIZERS:-}" ] || export AUTOCAST_EMU_MODEL=a100
course=$clients/course
client=$clients/gemm_client

# recast POLICY WORD...: calls of the course that were.
recast()
{
	rm -rf "$AUTOCAST_STATE"
	under "$1" "$course" "${@:2}" >/dev/null 2>&1
	total totals.recast_calls
}
strict='gemm -> fp16,tf32 profit=off guard=strict'
equal 'good data are recast behind the own calls' 7 "$(recast "$strict" good:10)"
equal 'by threads, too' 7 "$(recast "$strict" thread good:10)"
equal 'what a library converts does not serve' 0 \
    "$(recast 'gemm -> tf32 profit=off guard=strict' good:10)"
equal 'nor does it after FP16' fp16 "$(recast "$strict" good:3 cancelling:40 >/dev/null
    query '*sorted({s["rung"] for s in sites if s["rung"] != "keep"})')"

# Each spelling, with a padded C: nothing outside it is written, and what cannot be
# cast has the original's bits. The last of five calls is looked at.
# line POLICY FORM DATA BETA
line()
{
	under "$1" "$client" "$2" n t 67 45 131 139 141 77 \
	    "$([ "$2" = sgemm ] && echo 1 || echo 3)" 1.5 "$4" "$3" 1 - repeat=5 |
	    sed 's/ repeats=.*//'
}
one='gemm -> fp16 profit=off guard=strict'
for form in sgemm strided batched; do
	equal "$form: good data" "$(line 'gemm -> fp16 profit=off own=0' $form normal 0)" \
	    "$(line "$one" $form normal 0)"
	equal "$form: both calls recast" 2 "$(total totals.recast_calls)"
	equal "$form: what adds up in one C is kept" \
	    "$(line off $form normal 0.5)" "$(line "$one" $form normal 0.5)"
	equal "$form: no call recast" 0 "$(total totals.recast_calls)"
done

# Nobody waits where nothing is bad.
AUTOCAST_EMU_COUNTERS=$work/counters under "$one" "$course" good:20 >/dev/null
equal 'no wait by the driver' '' "$(sed -n 's/^cuEventSynchronize //p' "$work/counters")"
plan
