#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watch.sh -- a running process, looked at: what is shown adds up to what was
# counted, it ends with the process, and every mistake has its line.
. "$(dirname "$0")/transcript.sh"
watched=$build/tests/cli/watched
[ -x "$watched" ] || skip_all 'tests/cli/watched is not built'

show report --live
AUTOCAST_STATE=off show report --live
play 11
shown

# begin FD ARGS...: start watched; tell FD numbers, FD + 1 answers. Nobody else
# holds these ends, or the program would never see the end of its input.
begin()
{
	rm -f "told$1" "said$1"
	mkfifo "told$1" "said$1"
	"$watched" "${@:2}" <"told$1" >"said$1" 3>&- 4<&- 5>&- 6<&- &
	program=$!
	eval "exec $1>told$1 $(($1 + 1))<said$1"
}

# count FD CALLS: as many recast and as many kept, when this returns.
count()
{
	echo "$2" >&"$1"
	read -r -t 60 _ <&$(($1 + 1))
}

# calls FILE LABEL: the calls of all lines of that label, added up.
calls()
{
	sed -n "s/^  $2 .*[^0-9]\([0-9]\{1,\}\) calls, .*/\1/p" "$1" |
	    awk '{ n += $1 } END { print n + 0 }'
}

begin 3
first=$program
count 3 0
"$autocast" report --live --once $first >out 2>err
equal 'a process that has not counted' "$?,$(cat out)" 125,
equal 'it is told so' "$(sed "s,$first,PID,; s,$place,PLACE," err)" \
    "autocast: report --live: process PID has no statistics in PLACE/state: it made no call that the library sees ('autocast run' preloads it)"
count 3 10
"$autocast" report --live --once $first >out 2>err
equal 'one that has' "$?,$(cat err)" 0,
equal 'its head' "$(sed "s/ $first,/ PID,/; s/for [0-9]* s/for N s/; s/[0-9.]*\/s/N\/s/; s/[0-9.]* [kMGT]*FLOP/N/" out | head -n 5)" \
    'autocast report --live: watched, process PID, counting for N s
  policy   amp (nobody chose a policy: this is the default)
  gpu      NVIDIA H200, sm_90, cublas-13.1
  start    20 calls, N/s, N/s; recast 50.0 % of the calls, 99.9 % of the FLOPs
  verdicts not checked: no verdict yet (10 calls)'
equal 'its sites, by their work' "$(awk 'NR > 7 { print $2, $3, $4, $5, $6, $7 }' out)" \
    'gemm.nt 4096x1024x4096 train+1a2b fp16 cast amp:4
gemm.strided.tn 64x64x512x12 libnet.so+77 keep too-small amp:4'
equal 'rates have their titles' "$(sed -n 7p out | xargs)" \
    'site operation sizes caller rung how line calls/s GFLOP/s share'
"$autocast" report --live -n 1 >out 2>err
equal 'no PID: the one that runs' "$?,$(grep -c "process $first," out)" 0,1

# ---- Which process
begin 5 'evil]0;title'
second=$program
count 5 1
"$autocast" report --live --once >out 2>err
equal 'no PID: the youngest' "$?,$(grep -c "process $second," out)" 0,1
kill -KILL $second
wait $second 2>/dev/null
"$autocast" report --live --once $second >out 2>err
equal 'one that ended' "$?,$(sed "s/$second/PID/g" err)" \
    "125,autocast: report --live: there is no process PID any more; 'autocast report' shows ended ones"
"$autocast" report --live --once >out 2>err
equal 'no PID: then the other' "$?,$(grep -c "process $first," out)" 0,1
exec 5>&- 6<&-
stranger=
other=
if [ "$(id -u)" != 0 ]; then
	other=$(find /proc -maxdepth 1 -name 1 ! -uid "$(id -u)" 2>/dev/null)
elif command -v setpriv >/dev/null; then
	setpriv --reuid 65534 --clear-groups sleep 60 3>&- 4<&- &
	stranger=$!
	other=/proc/$stranger
	until [ "$(stat -c %u "$other")" != 0 ] || ! kill -0 $stranger; do :; done
fi
if [ -n "$other" ]; then
	"$autocast" report --live --once "${other#/proc/}" 2>err
	equal 'a process of another user' "$?,$(sed "s/${other#/proc/}/PID/" err)" \
	    '125,autocast: report --live: process PID belongs to another user, who alone can watch it'
else
	skip 'a process of another user' 'all processes here are ours'
fi
[ -z "$stranger" ] || kill $stranger

# ---- From block to block
mkfifo blocks
"$autocast" report --live -i 0.1 $first >blocks 2>err 3>&- 4<&- &
watcher=$!
exec 7<blocks
while read -r -t 60 line <&7; do
	echo "$line"
	case $line in 'start '*) break ;; esac
done >before
count 3 7
count 3 5
exec 3>&-
timeout 240 cat <&7 >out
wait $watcher
equal 'it ends with the process' "$?,$(cat err)" 0,
wait $first
equal 'every call is in one block' "$(calls out last)" 24
equal 'the last block is complete' "$(grep '^  start' out | tail -n 1 | cut -d , -f 1)" '  start    44 calls'
equal 'and that is said' "$(tail -n 1 out | sed "s/$first/PID/")" \
    "process PID has ended; 'autocast report' shows what its run did"
exec 7<&-

# Not at the next look: that would be in an hour.
begin 3
count 3 1
"$autocast" report --live -i 3600 $program >blocks 3>&- 4<&- &
watcher=$!
exec 7<blocks
read -r -t 60 _ <&7
kill -KILL $program
timeout 240 cat <&7 >out
wait $program 2>/dev/null
wait $watcher
equal 'an end is noticed when it comes' "$?,$(tail -n 1 out | grep -c ended)" 0,1
exec 3>&- 4<&- 7<&-

# ---- Ways out
begin 3
count 3 1
"$autocast" report --live --once >/dev/full 2>err
equal 'a full disk is a failure' "$?,$(wc -l <err)" 125,1
if command -v python3 >/dev/null 2>&1; then
	got=$(timeout 120 python3 - "$autocast" $program <<'END'
import os, pty, re, sys, termios
try:
    pid, terminal = pty.fork()
except OSError:
    sys.exit(print("no terminal"))
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "report", "--live", "-i", "0.1", sys.argv[2]])
settings = termios.tcgetattr(terminal)
text, sent = b"", False
while True:
    try:
        got = os.read(terminal, 4096)
    except OSError:
        break
    if not got:
        break
    text += got
    if text.count(b"\x1b[?7h") == 3 and not sent:
        sent = True
        same = termios.tcgetattr(terminal) == settings
        os.write(terminal, b"\x03")
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
up = re.findall(rb"\x1b\[(\d+)A", text)
blocks = text.split(b"\x1b[J\x1b[?7l")[1:]
print(status, "same" if same else "changed",
      text.count(b"\x1b[?7l") == text.count(b"\x1b[?7h"),
      all(int(n) == b.count(b"\r\n") for n, b in zip(up, blocks)),
      len(up) >= 2)
END
)
	if [ "$got" = 'no terminal' ]; then
		skip 'blocks in one place, Ctrl-C, the terminal as before' 'no pseudo-terminal'
	else
		equal 'blocks in one place, Ctrl-C, the terminal as before' "$got" '-2 same True True True'
	fi
else
	skip 'blocks in one place, Ctrl-C, the terminal as before' 'no python3'
fi

# The file goes while it is looked at.
"$autocast" report --live -i 0.1 $program >blocks 2>err 3>&- 4<&- &
watcher=$!
exec 7<blocks
read -r -t 60 _ <&7
rm -rf "$AUTOCAST_STATE"
timeout 240 cat <&7 >out
wait $watcher
equal 'statistics that are gone' "$?,$(sed 's,read .* any,read FILE any,' err)" \
    '125,autocast: report --live: cannot read FILE any more: No such file or directory'
exec 3>&- 4<&- 7<&-
plan
