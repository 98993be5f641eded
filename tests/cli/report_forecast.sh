#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# report_forecast.sh -- what another policy would do with the sites of a run.
. "$(dirname "$0")/transcript.sh"
eval "$(declare -f normal | sed '1s/normal/usual/')"
normal()
{
	usual | sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}/DATE/'
}

show report --policy fp16
"$counting" 0
"$counting" 0 net+1 all
play 3
echo 'gemm m>=4096 -> bf16' >mine.policy
play 20
shown
equal 'what is refused writes nothing' "$(ls)" mine.policy

# The factor is the one that explain tells of that rung at the one site, which is
# printed there with two digits, here with two or three: apart by 6 % at most.
"$autocast" report --policy amp -o amp.txt
ok '-o writes it' $?
factors=$(awk '/^  [0-9a-f]*  / && $(NF - 2) ~ /x$/ && length($1) == 8 && $6 != "keep" {
	print $1, $6, $(NF - 2)
    }' amp.txt)
equal 'two sites have one' "$(echo "$factors" | wc -l)" 2
while read -r site rung factor; do
	said=$("$autocast" explain "$site" --policy amp |
	    sed -n "s/^  $rung  *.*estimated [^,]*, \([0-9.]*\)x.*/\1/p")
	equal "as explain says: $site" \
	    "$(awk "BEGIN { off = ${factor%x} / $said - 1; print (off * off <= 0.06 ^ 2) }")" 1
done <<<"$factors"

# As values: the same in both, and the sums are those of the rows.
values_agree()
{
	python3 - <<'END'
import csv, json
rows = list(csv.DictReader(open("values.csv", newline="")))
whole = json.load(open("values.json"))
of = whole.get("sites", whole["policies"])
assert len(rows) == len(of) > 0
assert ("sites" in whole) == (len(whole["policies"]) == 1)
for row, one in zip(rows, of):
    assert None not in row and None not in row.values()
    for name, value in one.items():
        cell = row["site" if name == "id" else name]
        if isinstance(value, (int, float)):
            cell = float(cell)
        assert cell == ("" if value is None else value), name
for p in whole["policies"]:
    assert abs(p["then_us"] / p["policy_us"] / p["ratio"] - 1) < 1e-6
if "sites" in whole:
    known = [s for s in of if s["keep_us"] is not None]
    for name in "keep_us", "then_us", "policy_us":
        assert abs(sum(s["calls"] * s[name] for s in known) / p[name] - 1) < 1e-6, name
    recast = sum(s["share"] for s in of if s["rung"] not in ("keep", ""))
    assert abs(recast - p["recast_share"]) < 1e-6
print("agree")
END
}
for more in '' --policy=off; do
	for ending in csv json; do
		"$autocast" report --policy fp16 $more -o values.$ending
		ok "values are written: $ending $more" $?
	done
	if command -v python3 >/dev/null 2>&1; then
		equal "they agree: $more" "$(values_agree 2>&1)" agree
	else
		skip "they agree: $more" 'no python3'
	fi
done
"$autocast" report @2 --json -o saved.json
for option in --csv --json; do
	equal "of a saved report, too: $option" "$("$autocast" report saved.json --policy fp16 $option)" \
	    "$("$autocast" report @2 --policy fp16 $option)"
	"$autocast" report --policy fp16 --policy off $option >/dev/full 2>err
	equal "a full disk is a failure: $option" "$?,$(wc -l <err)" 125,1
done
equal 'what was estimated is no report' "$("$autocast" report values.json 2>&1; echo "[$?]")" \
    'autocast: report: cannot use values.json: it is no report of autocast
[125]'

# All is printed with three digits: a sum of few rows is apart from theirs by less
# than a hundredth of the largest.
equal 'the sum is that of the rows' "$(awk '
    function us(value, unit) {
	sub(/,/, "", unit)
	return value * (unit == "s" ? 1e6 : unit == "ms" ? 1e3 : 1)
    }
    /^  [0-9a-f]*  / && length($1) == 8 && $NF != "-" { gain += us($(NF - 1), $NF) }
    /^  plain / { plain = us($2, $3) }
    /^  policy   [0-9]/ { policy = us($2, $3) }
    END {
	off = (plain - policy - gain) / plain
	print (off * off <= 0.01 ^ 2), (gain > plain / 2)
    }' amp.txt)" '1 1'

AUTOCAST_STATE=off "$autocast" report --policy fp16 >out 2>err
equal 'without runs it is one line' "$?,$(wc -c <out),$(wc -l <err)" 125,0,1
"$autocast" report --policy fp16 >/dev/full 2>err
equal 'a full disk is a failure' "$?,$(wc -l <err)" 125,1

# No line of the table is wider than 100 columns, whatever a policy is called.
long=$place/$(printf '%0100d' 1)$(printf '\033[31m')
echo '* -> fp16 profit=off' >"$long"
"$autocast" report --policy "$long" >wide
equal 'within 100 columns' "$(sed '1,/^$/d' wide | awk 'length > 100')" ''
equal 'nothing steers the terminal' "$(tr -d '\n -~' <wide)" ''
plan
