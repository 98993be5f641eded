#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T23, T24: what it costs to be started with the library, over being started
# with a library that is empty: instructions, and not one system call.
. "$(dirname "$0")/../preload/preload.sh"
gate=40000

[ -f "$library" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"

# Shaped like ours to the loader: code, constants, data, and more zeros than
# fit in a page.
cat >"$work/empty.c" <<'END'
extern int ac_data;
extern char ac_zeros[1 << 20];
int ac_data = 1;
char ac_zeros[1 << 20];
END
${CC:-cc} -shared -fPIC -Wl,-z,now,-z,relro -o "$work/empty.so" \
    "$work/empty.c" || exit 99

# instructions PRELOAD PROGRAM
instructions()
{
	LD_PRELOAD=$1 valgrind --tool=callgrind \
	    --callgrind-out-file=/dev/null "$2" 2>&1 |
	    sed -n 's/.*Collected : *\([0-9]*\).*/\1/p'
}
if command -v valgrind >/dev/null; then
	empty=$(instructions "$work/empty.so" /bin/true)
	ours=$(instructions "$library" /bin/true)
	none=$(instructions '' /bin/true)
	echo "# /bin/true: $none instructions, $empty with an empty library, $ours with ours"
	check "T23: at most $gate instructions at the start of /bin/true" \
	    "$([ $((ours - empty)) -le $gate ] || echo $((ours - empty)))"
	check 'T23: and the count sees a library at all' \
	    "$([ "$empty" -gt "$none" ] && [ "$ours" -gt "$empty" ] || echo no)"
else
	skip 'T23: instructions at the start of /bin/true' 'valgrind is not installed'
fi

# Nor does a process that has nothing of NVIDIA's pay when it closes a library:
# looking for what is gone would walk over all that is loaded.
cat >"$work/closes.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>

static int walks;

int
dl_iterate_phdr(int (*step)(void *, unsigned long, void *), void *data)
{
	(void)step, (void)data;
	walks++;
	return 0;
}

int
main(int argc, char **argv)
{
	for (int i = 0; i < 10 && argc > 1; i++)
		if (dlclose(dlopen(argv[1], RTLD_NOW)))
			return 1;
	return printf("%d walks\n", walks) < 0;
}
END
${CC:-cc} -rdynamic -o "$work/closes" "$work/closes.c" -ldl || exit 99
equal 'T24: dlclose() of a stranger walks over nothing' '0 walks' \
    "$(LD_PRELOAD=$library "$work/closes" "$work/empty.so")"

# calls PRELOAD PROGRAM: each system call, addresses, sizes and names of the
# two libraries aside; what is read is cut off by strace.
calls()
{
	env LD_PRELOAD="$1" strace -f -E LD_PRELOAD="$1" -o "$work/trace" "$2" \
	    >/dev/null 2>&1
	sed -e 's/^[0-9]* *//' -e '/^execve(/d' -e "s,$1,LIBRARY," \
	    -e '/^read(/s/, .*//' -e 's/0x[0-9a-f]*/ADDRESS/g' \
	    -e '/^mmap(\|^munmap(\|^mprotect(/s/, [0-9]*/, SIZE/g' \
	    -e 's/st_size=[0-9]*/st_size=SIZE/' -e 's/st_mode=[^,]*/st_mode=MODE/' \
	    -e '/^set_tid_address/s/= .*//' -e '/^getpid\|^gettid/s/= .*//' \
	    -e '/^getrandom(/s/".*"/BYTES/' "$work/trace"
}
if command -v strace >/dev/null && strace -o /dev/null /bin/true 2>/dev/null; then
	for program in /bin/true /bin/echo; do
		calls "$work/empty.so" $program >"$work/with-empty"
		calls "$library" $program >"$work/with-ours"
		check "T24: $program makes the system calls that it makes with an empty library" \
		    "$(diff "$work/with-empty" "$work/with-ours")"
		check 'T24: the library was there, and opened once' \
		    "$([ "$(grep -c 'openat(.*LIBRARY' "$work/with-ours")" = 1 ] ||
		        cat "$work/with-ours")"
	done
else
	skip 'T24: system calls' 'strace cannot trace here'
fi
plan
