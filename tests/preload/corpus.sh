#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many kinds of data in programs that know nothing of us. No output is wrong: a call
# gives what it gives without us, bit for bit, or is within the tolerance, or not
# twice as far off as FP32 is. The first three calls of a site give the former.
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

# wrong TOL: those lines that are beyond it, and beyond what FP32 makes of them.
wrong()
{
	awk -v tol="$1" 'FNR == NR { plain[$1] = $4; next }
	    !($4 <= tol || $4 <= 2 * plain[$1])' "$work/bare" -
}

# most WHAT CALLS FILE PART: of the cases were recast at the last call.
most()
{
	check "$1: most are recast then" "$(changed "$2" "$3" | wc -l |
	    awk -v n="$(wc -l <"$3")" -v calls="$2" -v part="$4" \
	        '$1 < part * n / calls')"
}

corpus "$work/bare" 600 1 bare

# judged WHAT TOL FILE PART: three calls that are the original's, and a fourth
# that is recast, unless that would be wrong.
judged()
{
	for call in 1 2 3; do
		check "$1: call $call is the original" "$(changed $call "$3")"
	done
	check "$1: no fourth call is wrong" "$(changed 4 "$3" | wrong "$2")"
	most "$1" 4 "$3" "$4"
}

corpus "$work/out" 600 4 under 'gemm -> fp16 tol=1e-3 guard=on profit=off'
judged 'guard=on' 1e-3 "$work/out" 0.9
corpus "$work/out" 120 4 under \
    'gemm -> bf16 tactic=cast tol=8e-3 guard=on profit=off'
judged bf16 8e-3 "$work/out" 0.9
corpus "$work/out" 120 4 under \
    'gemm -> fp16 tol=1e-3 guard=strict profit=off'
judged 'guard=strict' 1e-3 "$work/out" 0.7

# Without the guard, these are wrong: there is something to guard against.
corpus "$work/out" 120 1 under 'gemm -> fp16 guard=off profit=off'
check 'guard=off: some calls are wrong' "$([ "$(changed 1 "$work/out" |
    wrong 1e-3 | wc -l)" -ge 6 ] || echo 'none of them')"
plan
