#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# report.sh -- the last run and those before it, as text and as JSON.
. "$(dirname "$0")/transcript.sh"

show report
AUTOCAST_STATE=off show report
show report 2
show report @0
show report @-1
show report @1x
show report @99999999999
show report @1 @2
show report --jsn
show report --json=x
show report -o
"$counting" 0 first+1
"$counting" 0
show report
show report @2
show report @3
show report --json
show report -o out
equal '-o writes what stdout gets' "$(normal <out)" "$("$autocast" report | normal)"
show report --json -o out.json
equal '--json -o too' "$(normal <out.json)" "$("$autocast" report --json | normal)"
ln -s out link
show report -o link
show report -o missing/out
show report -o -
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

if command -v python3 >/dev/null 2>&1; then
	"$autocast" report --json 2>/dev/null | python3 -m json.tool >out 2>err
	ok 'the JSON parses' $? "$(cat err)"
	"$build/tests/unit/test_as_json" hostile >hostile.json 2>/dev/null
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
