#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# report_rows.sh -- one row per site: sorted, as values, in files whose endings
# say how, in colours; and its sums, counted again by others.
. "$(dirname "$0")/transcript.sh"
pictured=$build/tests/cli/pictured
[ -x "$pictured" ] || skip_all 'tests/cli/pictured is not built'
command -v python3 >/dev/null || skip_all 'there is no python3'
"$pictured" 200 device

# counted FILE.json [FILE.csv]: the parts of sites against the rows made of them.
counted()
{
	python3 - "$@" 2>&1 <<'END'
import csv, json, sys
report = json.load(open(sys.argv[1]))
places = {}
for s in report["sites"]:
    key = tuple(s[k] for k in ("operation", "symbol", "caller", "ta", "tb",
        "type", "asked", "shape", "m", "n", "k", "batch", "region"))
    places.setdefault(key, []).append(s)
want = {}
calls = recast = flops = before = after = 0
for parts in places.values():
    row = [sum(s["calls"] for s in parts), sum(s["recast_calls"] for s in parts)]
    fp32 = parts[0]["type"] in ("f32", "c32")
    row.append(sum(s["calls"] * s["flops_per_call"] for s in parts) if fp32 else 0)
    us = [0.0, 0.0]
    for s in parts:
        c = s["course"]
        name = "us" if c["keep_us"] and c["recast_us"] else "predicted_us"
        if c["keep_" + name] and c["recast_" + name]:
            us[0] += s["recast_calls"] * c["keep_" + name]
            us[1] += s["recast_calls"] * c["recast_" + name]
    want.setdefault(parts[0]["id"], []).append(row + us)
    calls += row[0]; recast += row[1]; flops += row[2]
    before += us[0]; after += us[1]
def near(a, b):         # of times of six digits each
    return abs(a - b) <= 1e-5 * max(abs(a), abs(b))
def check(rows, what):
    got = {}
    for r in rows:
        got.setdefault(r[0], []).append([int(r[1]), int(r[2]), int(float(r[3])), float(r[4] or 0), float(r[5] or 0)])
    if sorted(got) != sorted(want):
        print(what, "has other sites")
    for site in want:
        for a, b in zip(sorted(want[site]), sorted(got.get(site, []))):
            if a[:3] != b[:3] or not near(a[3], b[3]) or not near(a[4], b[4]):
                print(what, site, a, b)
check([(r["id"], r["calls"], r["recast_calls"], r["flops"], r["before_us"],
    r["after_us"]) for r in report["rows"]], "json")
t = report["totals"]
if (t["sites"], t["calls"], t["recast_calls"], t["flops"]) != \
    (len(places), calls, recast, flops):
    print("totals", t["sites"], t["calls"], t["flops"], "not",
        len(places), calls, flops)
if not near(t["measured"]["keep_us"] + t["predicted"]["keep_us"], before) or \
    not near(t["measured"]["recast_us"] + t["predicted"]["recast_us"], after):
    print("times", t["measured"], t["predicted"], "not", before, after)
if len(sys.argv) > 2:
    rows = list(csv.DictReader(open(sys.argv[2], newline="")))
    if sorted(rows[0]) != sorted(set(rows[0])) or None in rows[0]:
        print("the values have other columns")
    check([(r["site"], r["calls"], r["recast_calls"], r["flops"],
        r["before_us"], r["after_us"]) for r in rows], "csv")
END
}

"$autocast" report --json -o 200.json
"$autocast" report --csv -o 200.csv
equal 'rows are the parts of sites, added up' "$(counted 200.json 200.csv)" ''
sed '0,/"calls": [0-9]/s//&7/' 200.json >wrong.json
equal 'sums that differ are found' "$([ -n "$(counted wrong.json)" ] && echo found)" found

# sorted BY COLUMN: whether the values fall in that order.
sorted()
{
	"$autocast" report --csv --sort="$1" -o sorted.csv
	python3 -c 'import csv, sys
rows = [[float(x) if x else -1.0 for x in (r["gain_us"] or "0", r["flops"],
    r["calls"])] + [float(r["error"]) / float(r["tol"]) if r["error"] else -1]
    for r in csv.DictReader(open("sorted.csv", newline=""))]
values = [r[int(sys.argv[1])] for r in rows]
for a, b in zip(values, values[1:]):
    if a < b - 1e-9 * abs(b):
        print(a, "before", b)' "$2" | head -n 3
}
equal '--sort=gain' "$(sorted gain 0)" ''
equal '--sort=share' "$(sorted share 1)" ''
equal '--sort=calls' "$(sorted calls 2)" ''
equal '--sort=error' "$(sorted error 3)" ''
equal 'work is another order than gain' \
    "$("$autocast" report --csv | cmp -s - sorted.csv || echo other)" other
"$autocast" report --sort=gain >gain.txt
equal 'the table is sorted, too' "$(awk 'f == 1 { print $1 } /^  site/ { f++ }' gain.txt |
    grep -m 1 '^[0-9a-f]*$')" "$("$autocast" report --csv --sort=gain | sed -n '2s/,.*//p')"

# refused WHAT WANTED ARGUMENTS...
refused()
{
	local what=$1 wanted=$2

	shift 2
	rm -f refused.*
	"$autocast" "$@" >out 2>err
	equal "$what is refused" "$?,$(wc -c <out),$(cat err),$(ls refused.* 2>/dev/null)" "2,0,autocast: $wanted,"
}
refused 'an order that is none' \
    'report: --sort=size: by work, gain, share, error or calls' report --sort=size
refused 'a colour that is none' 'report: --color=red: auto, always or never' report --color=red
refused 'an ending that is none' \
    'report: -o refused.pdf: unknown ending: .txt, .json, .csv or .html' report -o refused.pdf
refused 'another ending' 'report: -o refused.csv: its ending is not .json' report --json -o refused.csv
refused 'two formats' 'report: --json and --csv: one format at a time' report --json --csv
refused 'ranges as values' 'report: --ranges is text; refused.csv is no name for it' \
    report --ranges -o refused.csv
refused 'an ending for a run' \
    'run: --report refused.xlsx: unknown ending: .txt, .json, .csv or .html' \
    run --report refused.xlsx touch refused.ran

for ending in txt json csv html; do
	"$autocast" report -o "it.$ending"
	case $ending in
	txt) form= ;;
	*) form=--$ending ;;
	esac
	equal "-o FILE.$ending" "$(cmp it.$ending <("$autocast" report $form) 2>&1)" ''
	"$autocast" run --report "ran.$ending" "$counting" 0 2>/dev/null
	equal "run --report FILE.$ending" "$(head -c 9 "ran.$ending")" "$(head -c 9 "it.$ending")"
done
"$pictured" 200 device

# Colours only where they are wanted.
escape=$(printf '\033')
equal 'none in a pipe' "$("$autocast" report | grep -c "$escape")" 0
equal 'always means always' "$("$autocast" report --color=always | grep -c "$escape" | sed 's/[1-9][0-9]*/some/')" some
equal 'and says the same' \
    "$("$autocast" report --color=always | sed "s/$escape\[[0-9]*m//g" | cmp - <("$autocast" report))" ''
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	# on_terminal SETTINGS...: whether the report has colours there.
	on_terminal()
	{
		script -qec "env $* '$autocast' report" /dev/null </dev/null | grep -q "$escape" && echo yes || echo no
	}
	equal 'on a terminal' "$(on_terminal -u NO_COLOR TERM=xterm)" yes
	equal 'not with NO_COLOR' "$(on_terminal TERM=xterm NO_COLOR=1)" no
	equal 'an empty NO_COLOR is none' "$(on_terminal TERM=xterm NO_COLOR=)" yes
	equal 'not on a dumb one' "$(on_terminal TERM=dumb)" no
else
	skip 'colours on a terminal' 'script(1) gives no terminal here'
fi

# 10^5 sites, and they add up. JSON has 2 KB of each and took 4.3 times as long as
# the text on an idle machine: six times at most, in one run.
AUTOCAST_STATE=$place/many "$pictured" 100000
TIMEFORMAT=%U+%S
for form in -o=text --csv --json; do
	[ "$form" = -o=text ] && form=
	took=$({ time AUTOCAST_STATE=$place/many "$autocast" report $form >"many${form#-}"; } 2>&1)
	echo "# ${form:-text}: $took s"
	if [ -n "${SANITIZERS:-}" ]; then
		skip "10^5 sites ${form:-as text}, in six times the text's time" 'sanitizers'
	else
		[ -n "$form" ] || text=$took
		equal "10^5 sites ${form:-as text}, in six times the text's time" \
		    "$(awk "BEGIN { print $took <= 6 * ($text) }")" 1
	fi
done
equal 'they add up' "$(counted many-json many-csv)" ''
plan
