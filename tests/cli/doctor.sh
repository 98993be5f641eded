#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# doctor.sh -- programs without any GPU: what can be said about the file, about
# a process, about a mistake on the command line. The causes that need an
# NVIDIA library are in tests/preload/doctor.sh.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'

# ---- Mistakes; nothing is started
play 8

# ---- The machine alone
machine()
{
	said=$("$autocast" doctor "$@" 2>&1)
	status=$?
	said=$(normal <<<"$said")
}

machine
if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
	skip 'a machine without a driver' 'it has one'
elif [ ! -f "$build/emulator/libcublas.so.13" ]; then
	skip 'a machine without a driver' 'the emulated GPU is not built'
else
	equal 'a machine without a driver' "$status: $(grep -c '^problem  there is no NVIDIA driver' <<<"$said"),$(tail -n 2 <<<"$said" | paste -sd ' ')" \
	    '2: 1,what to do: BUILD/autocast doctor --emulate'
fi
equal 'what is ours' "$(sed -n 2,3p <<<"$said")" 'ok       policy amp (nobody chose a policy: this is the default)
ok       statistics of runs go to PLACE/state'
equal 'the same behind --' "$("$autocast" doctor -- 2>&1 | normal)" "$said"
AUTOCAST_STATE=off machine
equal 'no statistics are a note' "$(grep -c '^note     no run is kept for "autocast report": AUTOCAST_STATE is off' <<<"$said")" 1
machine --policy 'gemm ->'
equal 'a bad policy is a problem' "$status,$(grep -c '^problem  policy .* it has errors' <<<"$said"),$(tail -n 1 <<<"$said")" \
    '2,1,BUILD/autocast policy where'
if [ -f "$build/emulator/libcublas.so.13" ]; then
	machine --emulate=t4
	equal 'an emulated machine' "$status: $said" "0: ok       BUILD/libautocast.so is what is preloaded
ok       policy amp (nobody chose a policy: this is the default)
ok       statistics of runs go to PLACE/state
ok       Tesla T4 (emulated), sm_75, driver for CUDA 13.0
$(grep -E '^ok       cublas-13[.][0-9]+, found by the loader$' <<<"$said")
$(grep cudnn <<<"$said")
more about it:
BUILD/autocast run --emulate ./your-program"
	equal 'as JSON' "$("$autocast" doctor --emulate --json | grep -c '"cause": "gpu"')" 1
else
	skip 'an emulated machine' 'the emulated GPU is not built'
	skip 'as JSON' 'the emulated GPU is not built'
fi

# ---- A library is missing
echo 'int f(void) { return 0; }' | compile libgone.so -shared -fPIC -Wl,-soname,libgone.so
echo 'int f(void); int main(void) { return f(); }' | compile gone -L. -lgone
rm -f libgone.so
if [ -x gone ]; then
	show doctor ./gone
else
	skip 'autocast doctor ./gone' 'no compiler'
fi

# ---- Programs that cannot be run
printf 'echo text\n' >text
cp text plain
printf '#!/no/such/interpreter\n' >orphan
chmod +x text orphan
play 7

# ---- Programs that nothing can be preloaded into
cp "$(readlink -f /bin/true)" foreign
printf '\010' | dd of=foreign bs=1 seek=18 conv=notrunc 2>/dev/null # e_machine: MIPS
show doctor -- ./foreign

# ---- Programs that load nothing
cat >cpu.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char c;
	for (int i = 1; i < argc; i++)
		printf("%s ", argv[i]);
	puts("out");
	fflush(stdout);
	if (argc == 1)
		return read(0, &c, 1) < 0;
	return argc > 2;
}
END
compile cpu <cpu.c || skip_all 'cannot compile'
printf '#!%s/cpu\n' "$PWD" >script
chmod +x script
play 3
show doctor --json --policy 'gemm -> tf32' -e 'gemm m=1 -> keep' -- ./cpu "it's"
show doctor --policy 'gemm -> fp61' -- ./cpu 1
shown

"$autocast" doctor --json -- ./cpu 1 | sed -n '2,$p' |
    python3 -c 'import json, sys; json.load(sys.stdin)' 2>err
equal 'the JSON is JSON' "$?,$(cat err)" '0,'
"$autocast" doctor -- sh -c 'ls -d /tmp/autocast-doctor-$PPID-*/' >out &
pid=$!
wait $pid
equal 'a folder of records while it runs, and none afterwards' \
    "$(sed 1q out | grep -c "^/tmp/autocast-doctor-$pid-"),$(find /tmp -maxdepth 1 -name "autocast-doctor-$pid-*")" '1,'
"$autocast" doctor -- ./cpu 1 >/dev/full 2>err
equal 'a full disk' "$?,$(cat err)" '3,autocast: cannot write the output: No space left on device'
(ulimit -f 1; "$autocast" doctor -- ./cpu 1 >out 2>err)
equal 'a file size limit harms nobody' "$(head -n 1 out),$(cat err)" '1 out,'
(ulimit -f 1; AUTOCAST_FACTS=$PWD "$autocast" run -- ./cpu 1 >out 2>err)
equal 'nor under a limit of its own' "$?,$(ls [0-9]*-* 2>/dev/null)" '0,'

# ---- The record: only when asked for, and never over a file that is there
preload=$("$autocast" policy where --library)
mkdir records
LD_PRELOAD=$preload ./cpu 1 >/dev/null
AUTOCAST_FACTS=$PWD/records LD_PRELOAD=$preload ./cpu 1 2 >/dev/null
equal 'one record' "$(find . -name '[0-9]*-[0-9]' | wc -l) $(sed -n 's/^argument //p' records/*-0 | xargs)" '1 ./cpu 1 2'
equal 'it is whole' "$(tail -n 1 records/*-0)" end
rm -f records/*
AUTOCAST_FACTS=$PWD/records sh -c 'ln -s /etc/passwd records/$$-0
    echo precious >records/$$-1
    LD_PRELOAD=$0 exec ./cpu 1 >/dev/null' "$preload"
equal 'never through a link nor over a file' \
    "$(cat records/*-1) $(tail -n 1 records/*-2)" 'precious end'

# ---- Processes
mkfifo hold
# held COMMAND...: in the background, until it has its libraries.
held()
{
	: >ready
	"$@" <hold >ready &
	pid=$!
	exec 3>hold
	until grep -q . ready || ! kill -0 $pid 2>/dev/null; do :; done
}
# asked NAME STATUS TEXT COMMAND: the first line and the last.
asked()
{
	local said status

	said=$("$autocast" doctor --pid $pid 2>&1)
	status=$?
	exec 3>&-
	wait $pid
	equal "$1" "$status
$(sed "s,$pid,PID,g; 1q" <<<"$said")
$(tail -n 1 <<<"$said" | sed "s,$pid,PID,g" | normal)" "$2
$3
$4"
}
held ./cpu
asked 'a process without the library' 2 \
    'problem  cpu (process PID) runs without libautocast.so: its environment has no LD_PRELOAD with it; something before it (env -i, sudo, a container, a wrapper) took that away, or nobody set it' \
    'BUILD/autocast run -- ./cpu'
held env LD_PRELOAD="$preload" ./cpu
asked 'a process that loads nothing' 2 \
    'problem  neither cuBLAS nor cuDNN was loaded by the program: there is nothing to recast' \
    'grep -i -e cublas -e cudnn /proc/PID/maps'
held env LD_PRELOAD=/no/such/libautocast.so ./cpu 2>/dev/null
asked 'a process that could not load it' 2 \
    'problem  cpu (process PID) runs without libautocast.so: the loader could not take it; its own message stands on the program'\''s standard error' \
    'BUILD/autocast run -- ./cpu'
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$place" "$place/here"
	cp cpu other
	chown 65534:65534 other
	chmod u+s other
	equal 'a set-uid program' "$("$autocast" doctor -- ./other 'a b' 2>&1 | normal)" \
	    'problem  ./other is set-uid: the loader preloads nothing into it; run a copy without that
what to do:
cp ./other ./copy && BUILD/autocast run -- ./copy '\''a b'\'''
	held env LD_PRELOAD="$preload" ./other
	asked 'a set-uid process' 2 \
	    'problem  other (process PID) runs without libautocast.so: it is set-uid, set-gid or has file capabilities, so the loader ignores LD_PRELOAD' \
	    'cp PLACE/here/other ./copy && BUILD/autocast run -- ./copy'
else
	skip 'a set-uid program' 'not root'
	skip 'a set-uid process' 'not root'
	"$autocast" doctor --pid 1 >out 2>&1
	equal 'a process of somebody else' "$?,$(tail -n 1 out | normal)" \
	    '3,sudo BUILD/autocast doctor --pid 1'
fi
sh -c 'exit 0' &
pid=$!
wait $pid
asked 'a process that is no more' 3 'problem  there is no process PID, or it is ending' \
    'ps -e -o pid,user,args'

# Killed while it tells: the record is not whole, and what was seen counts.
"$autocast" doctor -- sh -c './cpu <&- ; kill -KILL $$' >out 2>&1
equal 'one process tells, one is killed' "$?,$(grep -c 'neither cuBLAS nor cuDNN was loaded by' out)" '2,1'
plan
