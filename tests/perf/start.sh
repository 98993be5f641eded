#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T42: what a program pays to start with the library in it: one that calls
# nothing of NVIDIA's, in instructions, and one with a product, in system calls.
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
need_callgrind
build_caller
build_empty

# ---- A program that calls nothing ---------------------------------------------
# Nearly all of it is the loader's: addresses to fill in, names to look up. It goes
# over the paths of both a character at a time.
mkdir "$work/0" "$work/1"
cp "$work/empty.so" "$work/0/libautocast.so"
cp "$library" "$work/1"
empty=$(preload=$work/0/libautocast.so collected /bin/true) || exit 99
ours=$(preload=$work/1/libautocast.so collected /bin/true) || exit 99
at_most 'T42: instructions of /bin/true over an empty library' \
    $((ours - empty)) 15000

# ---- A program with a product -------------------------------------------------
cat >"$work/one.c" <<'END'
#include <cublas_v2.h>
#include <stdlib.h>
#define AT(i) ((float *)((size_t)(i) << 40))
int
main(void)
{
	const float one = 1, zero = 0;
	void *volatile memory = malloc(1); /* what the heap takes is not ours */
	cublasHandle_t handle;
	int failed = !memory || cublasCreate(&handle);

	return failed || cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64,
	    64, &one, AT(1), 64, AT(2), 64, &zero, AT(3), 64);
}
END
# Some compilers link what the program calls, and no more; without the driver the
# product would be kept, and what is known of the GPU not looked for.
compiled one "$work/one.c" -Wl,--no-as-needed "$work/libcublas.so.13" \
    "$work/libcuda.so.1"

# calls PRELOAD: names of that program's system calls.
calls()
{
	preload='' as_said strace -f -E LD_PRELOAD="$1" -o "$work/trace" \
	    "$work/one" || exit 99
	# But for the look for machine code, which is not there, and the time,
	# which only some machines ask the kernel.
	grep -v 'fatbin.*ENOENT\|^[0-9]* *clock_gettime(' "$work/trace" |
		sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' | sort
}
if command -v strace >/dev/null && strace -o /dev/null /bin/true 2>/dev/null; then
	# As it is in a home where many programs ran.
	for ((i = 0; i < 40; i++)); do
		preload=$library policy=amp as_said "$work/one" || exit 99
	done
	policy=amp calls "$work/0/libautocast.so" >"$work/few" || exit 99
	policy=amp calls "$work/1/libautocast.so" >"$work/many" || exit 99
	at_most_yet 'T42: system calls of a program with a product' \
	    $(($(wc -l <"$work/many") - $(wc -l <"$work/few"))) 15 18
	equal 'T42: and the GPU was asked' 1 "$(total totals.kept.too-small.calls)"
	comm -13 "$work/few" "$work/many" | paste -sd' ' | sed 's/^/# /'
else
	skip 'T42: system calls' 'strace cannot trace here'
fi
plan
