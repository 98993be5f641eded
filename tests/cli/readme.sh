#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh -- README is short, and what it shows is what its commands print, up
# to figures. A shown line "..." stands for any lines, "..." at a line's end for
# its rest.
. "$(dirname "$0")/transcript.sh"
readme=$(cd "$here/../.." && pwd)/README.md

lines=$(wc -l <"$readme")
equal 'README has 130 lines at most' "$([ "$lines" -le 130 ] || echo "$lines")" ''
# Rows of the table of measured times whose figures are not those of the results.
not_measured()
{
	local gpu
	gpu=$(sed -n 's/.* On an* \([A-Z0-9]*\), by$/\1/p' "$readme")
	python3 - "$readme" \
	    "${readme%/*}/bench/results"/gpu-day-*-"${gpu:-no-gpu-is-named}"*.json \
	    <<'EOS' 2>&1
import json, re, sys
def of(case, way, unit):
	for x in rows:
		if x["row"] == "time" and (x["case"], x["way"]) == (case, way):
			return float(x["median"]) * {"ms": 1e3, "us": 1e6}[unit]
	return 0
rows = [x for file in sys.argv[2:] for x in json.load(open(file))["rows"]]
found = re.findall(r"^\| ([^|]*?) \| ([0-9.]+) (ms|us) \| ([0-9.]+) (ms|us) \| ([0-9.]+)x \|$",
    open(sys.argv[1]).read(), re.M)
for case, plain, unit, ours, our_unit, times in found:
	p, o = of(case, "alone", unit), of(case, "ours-amp", our_unit)
	if f"{p:.3g}" != plain or f"{o:.3g}" != ours or \
	    f"{of(case, 'alone', 'us') / of(case, 'ours-amp', 'us'):.1f}" != times:
		print(case, p, o)
if len(found) < 3:
	print("only", len(found), "rows")
EOS
}
equal 'README says what the profile accurate gains' \
    "$("$autocast" explain --policy accurate gemm m=8Ki n=8Ki k=8Ki gpu=h200 |
	sed -n 's/.*, \([0-9]*\)[.0-9]*x: chosen/\1/p') times" \
    "$(grep -o '[0-9]* times as fast as FP32' "$readme" | cut -d' ' -f-2)"
equal 'README shows the times of bench/results' "$(not_measured)" ''
[ -x "$build/examples/digits_mlp" ] || {
	skip 'what README shows' 'the examples were not built'
	plan
	exit
}
[ -z "${SANITIZERS:-}" ] || {
	skip 'what README shows' 'no preload of a sanitizer'"'"'s runtime'
	plan
	exit
}
ln -s "$build/examples" examples
PATH=$build:$PATH

# Figures, ids and units of time do not count, nor how wide a column is.
figures()
{
	sed -E -e 's/[0-9a-f]{8}/#/g' -e 's/[0-9]+([.][0-9]+)?(e-?[0-9]+)?/#/g' \
	    -e 's/# (ns|us|ms|s)([^a-z]|$)/# TIME\2/g' -e 's/~#/#/g' -e 's/ +/ /g'
}

# is_shown SHOWN SAID: every line of SHOWN is in SAID, in this order, and next to
# each other where there is no "...". Prints the first that is not.
is_shown()
{
	awk 'NR == FNR { said[++n] = $0; next }
	    $0 == "..." { free = 1; next }
	    {
		wanted = $0
		prefix = sub(/ *\.\.\.$/, "", wanted)
		found = 0
		do {
			at++
			found = at <= n && (prefix ? \
			    index(said[at], wanted) == 1 : said[at] == wanted)
		} while (!found && free && at < n)
		if (!found) { print "not said: " $0; exit }
		free = 0
	    }' "$2" "$1"
}

# The blocks that begin with a command, one file each.
awk '/^```/ { on = !on; if (on) { getline; cut = !/^\$ autocast /
	if (!cut) { n++; print substr($0, 3) >("command." n) } ; next } }
    on && !cut { print >("shown." n) }' "$readme"
for command in command.*; do
	number=${command#command.}
	sh "$command" </dev/null >said 2>&1
	figures <said >said.figures
	figures <"shown.$number" >shown.figures
	missing=$(is_shown shown.figures said.figures)
	ok "$(cat "$command")" "$([ -z "$missing" ]; echo $?)" "$missing
$(tail -n 20 said)"
done
plan
