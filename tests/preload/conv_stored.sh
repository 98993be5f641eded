#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plans of cuDNN's graph interface that were loaded from JSON: sites like any
# other where the text is what cuDNN writes; where it is not, cuDNN's own.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$build/examples/graph_conv" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
client=$build/examples/graph_conv
forced='conv.fprop -> fp16 profit=off guard=off'

# counts: executions by operation and rung, recast, and kept by reason.
counts()
{
	query '*sorted("%s %s %d %s" % (s["operation"], s["rung"],
	    s["recast_calls"], ",".join("%s:%d" % i
	    for i in sorted(s["kept_calls"].items()) if i[1])) for s in sites)'
}

# run POLICY WORDS: what the client prints, with a new report.
run()
{
	rm -rf "$AUTOCAST_STATE"
	under "$1" "$client" $2
}

markers()
{
	query '[m for m in report["markers"] if m["calls"]]'
}

for words in '' bias relu; do
	bare "$client" $words runs=9 >"$work/made"
	bare "$client" $words runs=9 json >"$work/bare"
	same "control: a stored plan is the one that was made: $words" \
	    "$work/made" "$work/bare"
	run off "$words runs=9 json" >"$work/off"
	same "off: $words" "$work/bare" "$work/off"
	equal "off, counted: $words" 'conv.fprop keep 0 rule:9' "$(counts)"
	equal "nothing else was seen: $words" '[]' "$(markers)"
	run amp "$words runs=9 json" >"$work/amp"
	same "amp: $words" "$work/bare" "$work/amp"
	equal "amp, counted: $words" 'conv.fprop keep 0 too-small:9' "$(counts)"
	run "$forced" "$words runs=9" >"$work/made"
	flops=$(query 'int(report["totals"]["flops"])')
	run "$forced" "$words runs=9 json" >"$work/forced"
	same "forced, the same bits as of a plan that was made: $words" \
	    "$work/made" "$work/forced"
	check "which are others than without us: $words" \
	    "$(cmp -s "$work/bare" "$work/forced" && cat "$work/forced")"
	equal "forced, counted: $words" 'conv.fprop fp16 5 probation:4' \
	    "$(counts)"
	equal "forced, its work: $words" "$flops" \
	    "$(query 'int(report["totals"]["flops"])')"
	run 'conv.fprop -> fp16 profit=off' "$words runs=9 json" \
	    >"$work/guarded"
	same "under the guard: $words" "$work/forced" "$work/guarded"
	equal "under the guard, counted: $words" \
	    'conv.fprop fp16 3 probation:6' "$(counts)"
done
run "$forced" 'runs=9 skip=2 json' >"$work/kept"
equal 'a refusal of TF32 is one of a stored plan, too' \
    'conv.fprop keep 0 opted-out:9' "$(counts)"

# ---- What cuDNN refuses

bare "$client" runs=0 "save=$work/own.json" >/dev/null
check 'control: a text was written' \
    "$(grep -q '"schemaVersion":4' "$work/own.json" || echo none)"
bare "$client" runs=9 "json=$work/own.json" >"$work/made"
equal 'control: it is a plan' 1 "$(grep -c hash= "$work/made")"

# hostile WHAT STATUSES: of $work/hostile.json.
hostile()
{
	bare "$client" runs=9 "json=$work/hostile.json" >"$work/bare"
	equal "control: $1" "$2" "$(sed 's/.* set=/set=/' "$work/bare")"
	run "$forced" "runs=9 json=$work/hostile.json" >"$work/with"
	same "cuDNN's own statuses: $1" "$work/bare" "$work/with"
}
head -c 700 "$work/own.json" >"$work/hostile.json"
hostile truncated 'set=0 finalize=2000'
sed 's/"schemaVersion":4/"schemaVersion":5/' "$work/own.json" \
    >"$work/hostile.json"
hostile 'another schema' 'set=0 finalize=1003'
sed 's/"cudnnVersion":/"cudnnVersion":1/' "$work/own.json" \
    >"$work/hostile.json"
hostile 'another version' 'set=0 finalize=1002'
head -c 10485760 /dev/zero | tr '\0' '[' >"$work/hostile.json"
hostile '10 MiB, nested' 'set=0 finalize=2000'
{ cat "$work/own.json"; head -c 10485760 /dev/zero | tr '\0' ' '; } \
    >"$work/hostile.json"
hostile '10 MiB, blank' 'set=0 finalize=2000'
sed 's/"alpha":1.0,//' "$work/own.json" >"$work/hostile.json"
hostile 'a field that is missing' 'set=0 finalize=2000'
plan
