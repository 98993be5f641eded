#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T34: when a program ends the library calls nothing of CUDA's, though it holds
# lanes, scratch and streams of its own: the emulated GPU counts what is called
# after main(), and complains of what is called after its own end.
. "$(dirname "$0")/../preload/preload.sh"
need_emulator
[ -f "$library" ] || skip_all 'libautocast.so is not built'
[ -z "$sanitizer" ] || skip_all "built with sanitizers ($SANITIZERS)"

${CC:-cc} $CUDA_CPPFLAGS -D_GNU_SOURCE -O2 -pthread \
    -I"$root/tests/preload/programs" -Wl,-rpath-link,"$emulator" \
    -o "$work/teardown" "$root/tests/process/programs/teardown.c" \
    "$emulator/libcublas.so.13" "$emulator/libcudart.so.13" \
    "$emulator/libcuda.so.1" || exit 99
cat >"$work/late.c" <<'END'
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static __attribute__((destructor)) void
end(void)
{
	int (*sync)(void) =
	    (int (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "cuCtxSynchronize");

	fprintf(stderr, "late: %d\n", sync ? sync() : -1);
}
END
${CC:-cc} -shared -fPIC -o "$work/late.so" "$work/late.c" -ldl || exit 99

# late_calls PRELOAD POLICY WAY: status, messages, and each call made.
late_calls()
{
	rm -f "$work/counters"
	AUTOCAST_EMU_COUNTERS=$work/counters LD_LIBRARY_PATH=$emulator \
	    AUTOCAST_POLICY=$2 LD_PRELOAD=$1 timeout -k 1 100 "$work/teardown" \
	    "$3" \
	    >"$work/out" 2>&1
	echo "status $?" "$(cat "$work/out")"
	# Names of calls; the other counters are the device's own.
	sed -n 's/^\(cu[A-Z][A-Za-z0-9_]*\|cuda[A-Z].*\|cublas.*\) \([1-9].*\)/\1 \2/p; s/^calls_at_end \([1-9].*\)/&/p' \
	    "$work/counters" || echo 'no counters'
}
nothing='status 0 '

for policy in off tf32 fp16 'gemm -> bf16 tactic=cast tol=8e-3 profit=off guard=off'; do
	for way in return exit thread leave; do
		products=24
		[ $way = leave ] && products=36
		rm -rf "$AUTOCAST_STATE"
		equal "T34: nothing is called after main(), $way, '$policy'" \
		    "$nothing" "$(late_calls "$preload" "$policy" $way)"
		[ "$policy" = off ] || check 'T34: though products were recast' \
		    "$([ "$(total totals.recast_calls)" = $products ] || total totals.recast_calls)"
	done
done

equal 'T34, control: nothing is called without the library' "$nothing" \
    "$(late_calls '' off return)"
check 'T34, control: a call of an exit handler is seen' \
    "$(late_calls '' off late | grep -q '^cudaMemGetInfo 1' || echo unseen)"
# A destructor before the device's end is counted, one after it complained of.
late_calls "$work/late.so" off return >"$work/late"
check 'T34, control: a call of a destructor is seen' \
    "$(grep -q 'after the end of the device\|^cuCtxSynchronize 1' "$work/late" ||
        cat "$work/late")"
plan
