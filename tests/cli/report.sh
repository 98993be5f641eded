#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# report.sh -- the last run and those before it, as text and as JSON.
. "$(dirname "$0")/transcript.sh"
eval "$(declare -f normal | sed '1s/normal/usual/')"
# A page stands in the transcript once. Of the others it has what $cut leaves.
cut=
normal()
{
	usual | sed "$cut"
}

play 3
AUTOCAST_STATE=off show report
AUTOCAST_STATE='' XDG_STATE_HOME='' HOME='' show report
AUTOCAST_STATE=/dev/null/none show report
play 11
"$counting" 0 first+1
"$counting" 0
show report
cut='/^  policy /,/^  note /d; /^FP32 GEMM work/,/^A graph/{/^FP32\|^  wall/!d}'
play 10
# tests/unit/report/test_as_json.c has all of a site that is recast.
cut='/^  "totals": {/,/^  },/d; /"id": "723accb5"/,/^    },/d; /"course": {/,/^      },/d'
show report --json
cut=
play 2
equal 'one site of one' "$(normal <ranges)" "$("$autocast" report --ranges | normal)"
play 2
equal 'then nothing is written' "$(normal <ranges)" "$("$autocast" report --ranges | normal)"
play 3
equal '-o writes what stdout gets' "$(normal <out)" "$("$autocast" report | normal)"
show report --json -o out.json
equal '--json -o too' "$(normal <out.json)" "$("$autocast" report --json | normal)"
ln -s out link
play 2
equal '-o - is stdout' "$("$autocast" report -o -)" "$("$autocast" report)"
shown

"$autocast" report >/dev/full 2>/dev/null
equal 'a full disk is a failure' $? 125

# Files of strangers in the state directory cost a line each, no more.
printf 'JUNK' >"$AUTOCAST_STATE/0000000001.000000000-1-0-00000000.stats"
head -c 100000 /dev/urandom >"$AUTOCAST_STATE/0000000002.000000000-1-0-00000000.stats"
mkfifo "$AUTOCAST_STATE/0000000003.000000000-1-0-00000000.stats"
"$autocast" report >out 2>err
equal 'damaged files are skipped' "$?,$(wc -l <err)" '0,3'
equal 'one line each, naming the file' "$(grep -c '^autocast: skipping .*stats: ' err)" 3

# What is in the way of a directory, and what others may write.
for name in 4 5 6; do
	stats[$name]=$AUTOCAST_STATE/000000000$name.000000000-1-0-00000000.stats
done
ln -s "${stats[4]}" "${stats[4]}"
mkdir "${stats[5]}"
cp "$(ls "$AUTOCAST_STATE"/1*.stats | head -n 1)" "${stats[6]}"
chmod 666 "${stats[6]}"
"$autocast" report >out2 2>err
equal 'links, folders and open files are skipped too' "$?,$(wc -l <err)" 0,6
equal 'the report is the same' "$(cmp out out2)" ''
rm -r "${stats[@]}"

# After an upgrade every kept file is of another version: one line for all.
for name in 1 2 3; do
	stats[$name]=$AUTOCAST_STATE/000000001$name.000000000-1-0-00000000.stats
	cp "$(ls "$AUTOCAST_STATE"/1*.stats | head -n 1)" "${stats[$name]}"
	printf '\377' | dd of="${stats[$name]}" bs=1 seek=8 conv=notrunc 2>/dev/null
done
"$autocast" report >out2 2>err
equal 'files of another version are skipped in one line' \
    "$?,$(grep -c 'skipping 3 statistics files in .* of another version' err),$(wc -l <err)" 0,1,4
"$autocast" explain 12345678 2>err
equal 'who looks through all runs says it once' "$(grep -c 'skipping 3' err),$(wc -l <err)" 1,5
rm "${stats[1]}" "${stats[2]}"
"$autocast" report 2>&1 >out2 | grep -c 'skipping 1 statistics file in ' >err
equal 'one of them is one file' "$(cat err)" 1
rm "${stats[3]}"
for way in missing out /dev/null; do
	AUTOCAST_STATE=$way "$autocast" report >out2 2>err
	equal "AUTOCAST_STATE=$way is one line" "$?,$(wc -l <err),$(wc -c <out2)" 125,1,0
done
mkdir open
chmod 777 open
AUTOCAST_STATE=open "$counting" 0 2>err
equal 'a directory that others may write does no harm' "$?,$(cat err)" 0,
equal 'its files are ours alone' "$(stat -c %a open/*.stats)" 600
ln -s "$AUTOCAST_STATE" linked
AUTOCAST_STATE=linked "$autocast" report 2>/dev/null | cmp - out >err
equal 'a directory by a link' "$(cat err)" ''
AUTOCAST_STATE=out "$counting" 3 2>err
equal 'a file in the way costs the program a line' "$?,$(cat err)" \
    '3,autocast: AUTOCAST_STATE=out: no statistics are kept there: that is no directory'

# A program that is killed tells no end, but everything else.
(
	exec 2>/dev/null
	AUTOCAST_STATE=killed sh -c '"$0" kill; :' "$counting"
)
AUTOCAST_STATE=killed "$autocast" report >out2 2>&1
equal 'a killed run is told as one' "$(head -n 1 out2 | normal)" \
    'autocast report: counting, DATE, process PID, ended without exit()'
equal 'with all its numbers' "$(grep -c '^FP32 GEMM work: 378 GFLOP in 14 calls at 2 sites$' out2)" 1
AUTOCAST_STATE=killed "$autocast" report --json | grep '"state"' >out2
equal 'in JSON too' "$(xargs <out2)" 'state: ended,'

if command -v python3 >/dev/null 2>&1; then
	"$autocast" report --json 2>/dev/null | python3 -m json.tool >out 2>err
	ok 'the JSON parses' $? "$(cat err)"
	"$build/tests/unit/report/test_as_json" hostile >hostile.json 2>/dev/null
	if [ -s hostile.json ]; then
		python3 -m json.tool hostile.json >out 2>err
		ok 'hostile names make JSON that parses' $? "$(cat err)"
	else
		skip 'hostile names make JSON that parses' 'test_as_json is not built'
	fi
else
	skip 'the JSON parses' 'no python3'
	skip 'hostile names make JSON that parses' 'no python3'
fi
plan
