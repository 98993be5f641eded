#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_report.sh -- the lines at the end of a run and the report it writes.
. "$(dirname "$0")/transcript.sh"
eval "$(declare -f normal | sed '1s/normal/usual/')"
# The lines and the page stand whole once; of the others it has what $cut leaves.
cut=
normal()
{
	usual | sed "$cut"
}
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
[ -x "$counting" ] || skip_all 'tests/cli/counting is not built'
cp "$counting" counting
pretend_driver

play 1
lines='/^autocast: FP32 /d; /^autocast: kept /d'
cut="$lines; /^  policy /,/^  graphs /d"
play 4
AUTOCAST_NOTICE=off show run ./counting
AUTOCAST_STATE=off show run ./counting
AUTOCAST_STATE=off show run --report out ./counting
cut=
play 2
cut=$lines

# ---- Report files
touch precious
ln -s precious link
play 4
AUTOCAST_STATE=/dev/null/x show run --report out sh -c 'echo started'
AUTOCAST_STATE=/dev/null/x show run ./counting
shown
cut=
equal 'a link is not written through' "$(cat precious)" ''

equal 'a closed standard output takes no report' \
    "$("$autocast" run --report - sh -c 'echo started >&2' 2>&1 >&-; echo "[$?]")" \
    'autocast: run: cannot write the report: standard output is closed; nothing was started
[125]'
"$autocast" run --report out.txt ./counting 3 2>/dev/null
equal 'the status with a report' $? 3
equal 'text' "$(normal <out.txt)" "$("$autocast" report | normal)"
"$autocast" run --report=out.json ./counting 2>/dev/null
equal 'JSON by its ending' "$(normal <out.json)" "$("$autocast" report --json | normal)"
yes longer | head -c 100000 >long
"$autocast" run --report long ./counting 2>/dev/null
equal 'a longer file is replaced' "$(normal <long)" "$("$autocast" report | normal)"
"$autocast" run --report none.json true
equal 'nothing intercepted is a report too' "$(grep -c '"sites": \[\]' none.json)" 1
if command -v python3 >/dev/null 2>&1; then
	cat out.json none.json >/dev/null
	python3 -m json.tool out.json >/dev/null && python3 -m json.tool none.json >/dev/null
	ok 'both parse' $?
else
	skip 'both parse' 'no python3'
fi
"$autocast" run sh -c 'cd /; exec "$0" 0' "$PWD/counting" 2>err
equal 'a program that goes elsewhere' "$?,$(grep -c . err)" '0,5'
(cd / && AUTOCAST_STATE=$place/state "$autocast" report) | normal >out
equal 'the run is the last one' "$(head -n 1 out)" 'autocast report: counting, DATE, process PID, finished'
"$autocast" run ./counting >out 2>/dev/null
equal 'nothing on standard output' "$(cat out)" ''
("$autocast" run sh -c './counting; kill -KILL $$'; exit $?) 2>err
equal 'the lines come after a violent end too' "$?,$(grep -c '^autocast: ' err)" '137,6'
(ulimit -f 1; "$autocast" run ./counting 2>err)
equal 'a file size limit harms nobody' "$?,$(normal <err)" \
    '0,autocast: nothing is counted: TMPDIR, /tmp and /dev/shm have no place for it, and PLACE/state cannot be used: files may not be that large; set AUTOCAST_STATE to a directory'
plan
