#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_signals.sh -- a signal sent to autocast, or typed at its terminal,
# reaches the program once.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'

export AUTOCAST_NOTICE=off
# Counts signals until half a second after the last, then tells.
cat >count.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <time.h>
static volatile sig_atomic_t seen;
static void on(int s) { (void)s; seen++; }
int main(void)
{
	struct timespec moment = { 0, 10000000 };
	int after = 0, last = 0;

	signal(SIGINT, on); signal(SIGTERM, on); signal(SIGHUP, on); signal(SIGQUIT, on);
	puts("ready"); fflush(stdout);
	for (int i = 0; i < 6000 && after < 50; i++) {
		nanosleep(&moment, NULL);
		after = seen && seen == last ? after + 1 : 0;
		last = seen;
	}
	printf("seen %d\n", (int)seen);
	return 9;
}
END
compile count <count.c || skip_all 'cannot compile'

wait_ready()
{
	for _ in $(seq 6000); do
		grep -q ready out && return
		sleep 0.01
	done
}

for signal in INT TERM HUP QUIT; do
	: >out
	# Background jobs of a script ignore SIGINT and SIGQUIT, and under nohup
	# all ignore SIGHUP: undo that.
	env --default-signal=INT --default-signal=QUIT --default-signal=HUP \
	    "$autocast" run ./count >out 2>&1 &
	pid=$!
	wait_ready
	kill -$signal $pid
	wait $pid
	equal "SIG$signal to autocast" "$?,$(tail -n 1 out)" '9,seen 1'
done

# What we are started to ignore, the program ignores too.
: >out
(trap '' HUP; exec "$autocast" run sh -c 'echo ready; kill -HUP $$; kill -HUP $PPID; echo alive') >out 2>&1
equal 'nohup holds' "$?,$(tail -n 1 out)" '0,alive'

if command -v python3 >/dev/null 2>&1; then
	got=$(python3 - "$autocast" <<'END'
import os, pty, sys, time
try:
    pid, terminal = pty.fork()
except OSError:
    sys.exit(print("no terminal"))
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "run", "./count"])
text, sent = b"", False
while True:
    try:
        got = os.read(terminal, 4096)
    except OSError:
        break
    if not got:
        break
    text += got
    if b"ready" in text and not sent:
        # Two at once may be merged into one on a loaded machine, so fewer
        # than ten may be seen. More than ten were sent twice.
        for _ in range(10):
            os.write(terminal, b"\x03")
            time.sleep(0.02)
        sent = True
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(status, text.decode().replace("^C", "").split("\r\n")[-2])
END
)
	case $got in
	'no terminal') skip 'ten times Ctrl-C at the terminal' 'no pseudo-terminal' ;;
	'9 seen '[1-9] | '9 seen 10') seen='9 seen 1 to 10' ;;
	*) seen=$got ;;
	esac
	[ "$got" = 'no terminal' ] ||
	    equal 'ten times Ctrl-C at the terminal' "$seen" '9 seen 1 to 10'
else
	skip 'ten times Ctrl-C at the terminal' 'no python3'
fi

# A program killed by the signal takes autocast with it, the same way.
: >out
"$autocast" run sh -c 'echo ready; exec sleep 30' >out 2>&1 &
pid=$!
wait_ready
kill -TERM $pid
wait $pid 2>/dev/null
equal 'death by a forwarded signal' $? 143

# Once the program has ended, a signal is meant for autocast: here it writes its
# closing lines into a pipe that is full.
unset AUTOCAST_NOTICE
if [ -x "$counting" ]; then
	mkfifo full
	exec 7<>full
	env --default-signal=TERM "$autocast" run sh -c 'echo $$ >program
	    "$0"
	    dd if=/dev/zero of=full bs=4096 oflag=nonblock conv=notrunc 2>dd.log' \
	    "$counting" 2>full &
	pid=$!
	for _ in $(seq 600); do
		[ -s program ] && [ ! -e "/proc/$(cat program)" ] && break
		sleep 0.1
	done
	for _ in $(seq 100); do
		kill -TERM $pid 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	equal 'SIGTERM while the closing lines are written' $? 143
	exec 7<&-
else
	skip 'SIGTERM while the closing lines are written' 'tests/cli/counting is not built'
fi
plan
