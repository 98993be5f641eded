#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# output.sh -- a file that autocast writes has all of it or stays as it was: on a
# disk that is full, and where files may not grow. Pipes and devices are written
# as they are.
. "$(dirname "$0")/transcript.sh"
[ -x "$counting" ] || skip_all 'tests/cli/counting is not built'
"$counting" 0
"$counting" 0
"$autocast" report --json -o ../saved.json

# cut_short WHAT FILE WORD...: files may not grow; what is left of FILE, and the
# one line.
cut_short()
{
	local what=$1 file=$2 said

	shift 2
	said=$( (ulimit -f 0; "$autocast" "$@" 2>&1 >/dev/null; echo "[$?]") )
	equal "$what" "$(echo "$said" | tail -n 2)" \
	    "autocast: $1: cannot write $file: File too large
[125]"
	equal "... nothing is left" "$(ls)" ''
	echo old >"$file"
	(ulimit -f 0; "$autocast" "$@" >/dev/null 2>&1)
	equal "... or what was there" "$(ls): $(cat "$file")" "$file: old"
	rm -f ./*
}
for ending in html json csv txt; do
	cut_short "report -o .$ending" page.$ending report -o page.$ending
done
cut_short 'a saved report' page.html report ../saved.json -o page.html
cut_short --list list.json report --list -o list.json
cut_short 'two runs' two.txt report @1 @2 -o two.txt
cut_short 'a prediction' off.txt report --policy off -o off.txt

# The disk fills while the program runs: its own exit status is not 0, ours is.
if [ -n "${SANITIZERS:-}" ]; then
	skip 'run --report' 'prlimit does not start with a sanitizer'
elif ! command -v prlimit >/dev/null || [ ! -f "$build/libautocast.so" ]; then
	skip 'run --report' 'there is no prlimit, or no libautocast.so'
else
	full='"$0" 0; prlimit --pid $PPID --fsize=0'
	for before in '' old; do
		[ -z "$before" ] || echo old >run.html
		equal "run --report: ${before:-nothing}" "$("$autocast" run --report run.html \
		    sh -c "$full" "$counting" 2>&1 | grep 'run\.html'; echo "[$(cat ./*.html 2>/dev/null)]")" \
		    "autocast: run: cannot write run.html: File too large
[$before]"
	done
	"$autocast" run --report run.html sh -c "$full" "$counting" 2>/dev/null
	equal '... the exit status' $? 125
	rm -f ./*
fi

# A disk that is full, where one can be had.
mkdir ../disk
if ! mount -t tmpfs -o size=32k tmpfs ../disk 2>/dev/null; then
	skip 'a full disk' 'tmpfs cannot be mounted here'
else
	echo old >../disk/page.html
	cat /dev/zero >../disk/zero 2>/dev/null
	equal 'a full disk' "$("$autocast" report -o ../disk/page.html 2>&1; echo "[$?]")" \
	    'autocast: report: cannot write ../disk/page.html: No space left on device
[125]'
	equal '... leaves what was there' "$(ls ../disk): $(cat ../disk/page.html)" \
	    'page.html
zero: old'
	umount ../disk
fi

# ---- What is no file
said=$("$autocast" report --json)
equal '/dev/stdout' "$("$autocast" report --json -o /dev/stdout)" "$said"
"$autocast" report --json -o /dev/stdout >to
equal '... that is a file' "$(cat to)" "$said"
rm to
equal '/dev/full' "$("$autocast" report -o /dev/full 2>&1; echo "[$?]")" \
    'autocast: report: cannot write /dev/full: No space left on device
[125]'
ok '... is still there' "$([ -c /dev/full ]; echo $?)"
mkfifo pipe
cat pipe >to &
"$autocast" report --json -o pipe
equal 'a pipe' "$?" 0
wait $!
equal '... has all of it, and stays one' "$(cat to) $([ -p pipe ] && echo pipe)" "$said pipe"
"$autocast" report --json -o /dev/fd/7 7>&1 >/dev/null | cat >to
equal 'a descriptor' "$(cat to)" "$said"
rm pipe to

# ---- What becomes of a file that is there
echo old >page.json
chmod 640 page.json
ln page.json other
"$autocast" report -o page.json
equal 'its mode stays' "$(stat -c %a page.json): $(cat page.json)" "640: $said"
rm page.json
equal 'its other names keep what was there' "$(cat other)" old
rm other
(umask 077; "$autocast" report -o new.json)
equal 'a new one is as umask says' "$(stat -c %a new.json)" 600
if [ "$(id -u)" = 0 ]; then
	skip 'a file that may not be written' 'root may'
	skip 'a folder that takes no files' 'it does of root'
else
	chmod 400 new.json
	"$autocast" report -o new.json 2>err
	equal 'a file that may not be written' "$? $(cat err)" \
	    '125 autocast: report: cannot write new.json: Permission denied'
	mkdir closed
	: >closed/page.json
	chmod 500 closed
	"$autocast" report -o closed/page.json
	equal 'a folder that takes no files' "$? $(cat closed/page.json)" "0 $said"
	chmod 700 closed
fi
equal 'no other file is left' "$(find . -name '*.json.*')" ''
plan
