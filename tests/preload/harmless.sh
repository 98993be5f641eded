#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that calls nothing of NVIDIA's must not notice the library: same
# output, same status, no file, no system call but the loader's own.
. "$(dirname "$0")/preload.sh"

# try NAME COMMAND...: with and without the library, byte for byte.
try()
{
	name=$1
	shift
	(cd "$work" && "$@") >"$work/out" 2>"$work/err"
	status=$?
	(cd "$work" && LD_PRELOAD=$preload "$@") >"$work/out2" 2>"$work/err2"
	equal "$name: status" $status $?
	same "$name: output" "$work/out" "$work/out2"
	same "$name: messages" "$work/err" "$work/err2"
}

try true /bin/true
try false /bin/false
try sh /bin/sh -c 'echo one; echo two >&2; exit 7'
try 'sh with a pipeline' /bin/sh -c 'for i in 1 2 3; do echo $i; done | sort -r'
if command -v git >/dev/null; then
	try git git --version
else
	skip git 'git is not installed'
fi
if command -v python3 >/dev/null; then
	try python3 python3 -c 'import ctypes, threading, sys; print(ctypes.sizeof(ctypes.c_long)); sys.exit(3)'
else
	skip python3 'python3 is not installed'
fi
check 'no file was created' "$(ls "$work/state" 2>/dev/null)"

# The calls in order, addresses and sizes aside. The loader opens, maps and
# closes the library; nothing else may differ.
calls()
{
	strace -f -o "$work/trace" "$@" >/dev/null 2>&1
	sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' "$work/trace" | sort |
	    uniq -c | sort -k2
}
if [ -n "$sanitizer" ]; then
	skip 'system calls' 'the sanitizer makes its own'
elif command -v strace >/dev/null && strace -o /dev/null /bin/true 2>/dev/null; then
	printf 'int main(void) { return 0; }\n' >"$work/nothing.c"
	printf 'int ac_nothing;\n' >"$work/empty.c"
	${CC:-cc} -o "$work/nothing" "$work/nothing.c" || exit 99
	${CC:-cc} -shared -fPIC -o "$work/empty.so" "$work/empty.c" || exit 99
	calls env LD_PRELOAD="$work/empty.so" "$work/nothing" >"$work/with-empty"
	calls env LD_PRELOAD="$library" "$work/nothing" >"$work/with-ours"
	# mprotect and mmap: one per segment, ours has as many as the linker made.
	check 'no system call beyond those for an empty library' \
	    "$(diff <(awk '$2 != "mmap" && $2 != "mprotect" && $2 != "munmap"' "$work/with-empty") \
	            <(awk '$2 != "mmap" && $2 != "mprotect" && $2 != "munmap"' "$work/with-ours"))"
else
	skip 'system calls' 'strace cannot trace here'
fi
plan
