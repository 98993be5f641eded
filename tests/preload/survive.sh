#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The numbers are exact however a process ends and whatever it forks or turns
# into, against a libcublas that does nothing.
. "$(dirname "$0")/preload.sh"
[ "${HAVE_CUDA:-}" = yes ] || [ -n "${CUDA_CPPFLAGS:-}" ] || skip_all 'no CUDA headers'
command -v python3 >/dev/null 2>&1 || skip_all 'no python3'
here=$root/tests/preload

compile libcublas.so.13 -shared -fPIC -fvisibility=hidden \
    -Wl,-soname,libcublas.so.13 -Wl,--version-script="$here/stub/stub.map" \
    "$here/stub/stub_cublas.c"
compile survive "$here/programs/survive.c" "$work/libcublas.so.13" -pthread

# ends HOW STATUS CALLS STATES: after 7 calls and HOW, the exit status, the
# calls that the report tells, and the states of its processes by their start.
ends()
{
	local got

	rm -rf "$AUTOCAST_STATE"
	# The shell would tell of a violent end.
	{
		LD_LIBRARY_PATH=$work AUTOCAST_POLICY=off AUTOCAST_RUN=one \
		    LD_PRELOAD=$preload${also:+:$also} "$work/survive" 7 "$1" >"$work/out" 2>&1
		got=$?
	} 2>/dev/null
	equal "$row: $1" "$2, $3 calls, $4" \
	    "$got, $(query 'report["totals"]["calls"], "calls,", *[p["state"] for p in report["processes"]]')"
}

row=T27
ends return 0 7 finished
ends exit 0 7 finished
ends _exit 0 7 ended
ends quick_exit 0 7 ended
ends atexit 0 12 finished
ends abort 134 7 ended
# A sanitizer's own handler turns these into exit statuses.
[ -n "$sanitizer" ] || ends SIGSEGV 139 7 ended
ends SIGTERM 143 7 ended
ends SIGKILL 137 7 ended

"$build/autocast" report -v >"$work/text"
equal 'T27: the text says so' 1 "$(grep -c 'ended without exit()$' "$work/text")"

# A program that clears its environment first runs as it was told to before.
compile clearing.so -shared -fPIC -x c - <<'END'
#include <stdlib.h>
__attribute__((constructor)) static void clear(void)
{
	clearenv();
	setenv("PATH", "/bin", 1);
}
END
row='T27, environment cleared' also=$work/clearing.so
ends return 0 7 finished
equal "$row: the policy" off "$(query 'report["policy"]["name"]')"
unset also

row=T28
ends fork 0 12 'finished finished'
ends fork_both 0 22 'finished ended'
ends fork_silent 0 7 finished
ends fork_twice 0 17 'finished ended finished'
ends threads_of_child 0 20012 'finished ended'
ends vfork_exec 0 17 'finished finished'
ends exec 0 12 'ended finished'
case ${SANITIZERS:-} in
*thread*) skip 'T28: fork_threads' 'TSan does not follow a fork of many threads' ;;
*) ends fork_threads 0 60057 "$(yes finished | head -n 11 | xargs)" ;;
esac

rm -rf "$AUTOCAST_STATE"
LD_LIBRARY_PATH=$work LD_PRELOAD=$preload AUTOCAST_POLICY=amp "$work/survive" 0 fork_silent
equal 'nothing intercepted, nothing created' 0 "$(find "$work/state" -name '*.stats' 2>/dev/null | wc -l)"
plan
