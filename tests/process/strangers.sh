#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T23: programs that call nothing of NVIDIA's must not notice the library: the
# same output, messages and status, no file; static and set-uid ones included.
. "$(dirname "$0")/../preload/preload.sh"
[ -f "$library" ] || skip_all 'libautocast.so is not built'
# A sanitizer's runtime speaks for itself in such programs.
[ -z "$sanitizer" ] || skip_all "built with sanitizers ($SANITIZERS)"
chmod 755 "$work"
unset AUTOCAST_NOTICE
# Both places where a file would be put.
XDG_STATE_HOME=$work/xdg HOME=$work/home
export XDG_STATE_HOME HOME
mkdir "$work/here"

# try NAME COMMAND...: with and without the library, byte for byte.
try()
{
	name="T23: $1"
	shift
	(cd "$work/here" && "$@") <"$work/input" >"$work/out" 2>"$work/err"
	status=$?
	(cd "$work/here" && LD_PRELOAD=$preload "$@") <"$work/input" \
	    >"$work/out2" 2>"$work/err2"
	equal "$name: status" $status $?
	same "$name: output" "$work/out" "$work/out2"
	same "$name: messages" "$work/err" "$work/err2"
}

# try_if PROGRAM ARGS...: if it is installed.
try_if()
{
	if command -v "$1" >/dev/null; then
		try "$1" "$@"
	else
		skip "T23: $1" "$1 is not installed"
	fi
}

printf 'three\none\ntwo\n' >"$work/input"
try true /bin/true
try false /bin/false
try sh /bin/sh -c 'echo one; echo two >&2; exit 7'
try 'sh with a pipeline' /bin/sh -c 'for i in 1 2 3; do echo $i; done | sort -r; sort'
try 'sh that a signal ends' /bin/sh -c 'kill -KILL $$' 2>/dev/null
try env /bin/sh -c 'env | grep -v ^LD_PRELOAD= | sort'
try_if git --version
try_if perl -e 'print sort <STDIN>; print STDERR "said\n"; exit 5'
try_if python3 -c 'import ctypes, sys, threading
thread = threading.Thread(target=lambda: print(ctypes.CDLL(None).getpid() > 0))
thread.start()
thread.join()
print(sys.stdin.read())
sys.exit(3)'

cat >"$work/say.c" <<'END'
#include <stdio.h>
#include <unistd.h>

int
main(void)
{
	printf("%d %d\n", (int)getuid(), (int)geteuid());
	fprintf(stderr, "said\n");
	return 9;
}
END
if ${CC:-cc} -static -o "$work/static" "$work/say.c" 2>"$work/log"; then
	try 'a static program' "$work/static"
else
	skip 'T23: a static program' 'no static libc is installed'
fi

# The loader drops a path in LD_PRELOAD when the program is privileged.
${CC:-cc} -o "$work/setuid" "$work/say.c" || exit 99
as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
if [ "$(id -u)" != 0 ]; then
	skip 'T23: a set-uid program of another user' 'needs root to make one'
elif ! chmod 4755 "$work/setuid" ||
    [ "$($as_nobody "$work/setuid" 2>/dev/null)" != '65534 0' ]; then
	skip 'T23: a set-uid program of another user' 'set-uid does not work here'
else
	try 'a set-uid program of another user' $as_nobody "$work/setuid"
fi

check 'T23: no file was created' "$(find "$work/state" "$work/xdg" "$work/home" \
    "$work/here" -mindepth 1 2>/dev/null; ls -d "$work/state" "$work/xdg" \
    "$work/home" 2>/dev/null)"
plan
