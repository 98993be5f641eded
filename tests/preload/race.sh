#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The library's order of work between streams, seen by ThreadSanitizer: nothing
# to report about programs that are right, and a report as soon as one of the
# library's events is missing (AUTOCAST_EMU_DROP), whoever ran first.
. "$(dirname "$0")/preload.sh"
need_emulator

# Where a tree that is built with TSan is tried as well, it is left to that.
[ -z "${TSAN_TREE:-}" ] || [ -n "${SANITIZERS:-}" ] || skip_all "$TSAN_TREE runs it"

# Another one builds what is needed here once more.
# build_with_tsan FOLDER: configured as this tree was.
build_with_tsan()
{
	mkdir "$1" && cd "$1" || return
	eval "set -- $("$build/config.status" --config)"
	"$root/configure" -q "$@" --srcdir="$root" --enable-tsan \
	    CFLAGS='-g -O1' &&
	    env -u MAKEFLAGS -u MAKELEVEL make -j2 libautocast.so autocast \
		emulator/libcuda.so.1 emulator/libtwins.so \
		emulator/libcudart.so.13 emulator/libcublas.so.13 \
		tests/preload/programs/{many_streams,lane_order,held_stream} \
		tests/preload/programs/{two_threads,two_devices} \
		libautocast-api.so tests/preload/programs/regions \
		tests/preload/programs/{crowd,graphs,capture_meanwhile} \
		emulator/libcublasLt.so.13 \
		tests/preload/programs/{lt_stack,lt_xla}
}
case ${SANITIZERS:-} in
*thread*) ;;
?*) skip_all 'the suites under TSan, or under no sanitizer, run this' ;;
*)
	echo 'int main(void) { return 0; }' >"$work/try.c"
	${CC:-cc} -fsanitize=thread -o "$work/try" "$work/try.c" 2>/dev/null &&
	    "$work/try" || skip_all 'this compiler has no ThreadSanitizer'
	(build_with_tsan "$work/tsan") >"$work/log" 2>&1 ||
	    { sed 's/^/# /' "$work/log"; exit 99; }
	cd "$work/tsan" || exit
	top_builddir=$PWD SANITIZERS=thread bash "$root/tests/preload/race.sh"
	exit
	;;
esac
RACE=66
TSAN_OPTIONS=exitcode=$RACE:halt_on_error=1
AUTOCAST_EMU_COUNTERS=$work/counters
export TSAN_OPTIONS AUTOCAST_EMU_COUNTERS

# clean WHAT POLICY PROGRAM ARGS: no report, right results, and kernels ran.
clean()
{
	rm -f "$work/counters"
	out=$(under "$2" "$clients/$3" "${@:4}" 2>&1)
	status=$?
	complaint=
	[ $status = 0 ] || complaint="status $status: $(head -n 30 <<<"$out")"
	[ "$(counter cuLaunchKernel)" -gt 0 ] || complaint="$complaint nothing was recast"
	check "$1" "$complaint"
}

roomy='gemm -> fp16 profit=off guard=off workspace=4Mi'
tight='gemm -> fp16 profit=off guard=off workspace=1400Ki'
single='gemm -> fp16 profit=off guard=off workspace=900Ki'
clean 'sixteen streams, few lanes' "$tight" many_streams 32
clean 'a lane on two streams' "$single" lane_order share
clean 'a buffer that grows' "$roomy" lane_order grow
clean 'a held stream, grow' "$roomy" held_stream grow
clean 'a held stream, other' fp16 held_stream other
for kind in shared own; do
	clean "two threads, $kind handle" "$tight" two_threads $kind 20
done
clean 'two threads, each in a region of its own' "$tight" regions both=loss,enc
export AUTOCAST_EMU_MODEL=h200,t4
clean 'two devices, two threads' "$roomy" two_devices threads
clean 'handles that move from device to device' "$roomy" two_devices migrate
unset AUTOCAST_EMU_MODEL

# Threads that share trials, and graphs; a GPU with small workspaces, since the
# emulated cuBLAS writes all of one for each product.
export AUTOCAST_EMU_MODEL=a100
guarded='gemm -> fp16,tf32 profit=off guard=on'
clean 'four threads on two sites' "$guarded" crowd 0 3 10
AUTOCAST_EMU_CLOCK=model clean 'the same with a clock, all calls checked' \
    "$guarded" crowd 0 3 12
clean 'eight threads, one handle of cublasLt, descriptors that change' \
    "$guarded" lt_stack few threads=8 rounds=24 sizes=1 bits=11
clean 'threads that share descriptors' "$guarded" lt_xla threads bits=11
# What runs next to the program's own calls, on its streams and lanes of ours.
learning='gemm -> fp16,tf32,bf16x3 profit=off learn=on'
for clock in real model; do
	export AUTOCAST_EMU_CLOCK=$clock
	clean "two threads, measured, $clock clock" "$learning" two_threads shared 20
	clean "four threads on two sites, measured, $clock clock" "$learning" \
	    crowd 0 3 10
	clean "threads of cublasLt, measured, $clock clock" "$learning" \
	    lt_stack few threads=8 rounds=24 sizes=1 bits=11
	clean "a capture, measured, $clock clock" "$learning" capture_meanwhile settled
	unset AUTOCAST_EMU_CLOCK
done
export AUTOCAST_EMU_FAIL=cuMemPoolCreate:0:801,cuMemHostRegister:0:801
clean 'sixteen streams, a driver without pools' "$roomy" many_streams 32
clean 'a buffer that grows there' "$roomy" lane_order grow
clean 'four threads on two sites there, all calls checked' "$guarded" \
    crowd 0 3 10
unset AUTOCAST_EMU_FAIL
clean 'two graphs of one stream at once' "$guarded" graphs global graphs
AUTOCAST_EMU_CLOCK=model clean 'a capture next to a thread that multiplies' \
    "$guarded" capture_meanwhile settled
unset AUTOCAST_EMU_MODEL

# found WHAT CALL POLICY MODE: there is one of these calls without which there
# is a report. The others order what the emulated GPU does at once.
TSAN_OPTIONS=$TSAN_OPTIONS:symbolize=0
found()
{
	under "$3" "$clients/lane_order" "$4" >/dev/null 2>&1
	calls=$(counter "$2")
	for ((n = 1; n <= calls; n++)); do
		AUTOCAST_EMU_DROP=$2:$n under "$3" "$clients/lane_order" "$4" \
		    >/dev/null 2>&1
		[ $? != $RACE ] || break
	done
	check "reported: $1" "$([ $n -le "$calls" ] || echo "none of $calls $2")"
}
found 'no wait for the last use of a lane' cuStreamWaitEvent "$single" share
found 'no event after the use of a lane' cuEventRecord "$single" share
found 'no wait before a buffer that grew is freed' cuStreamWaitEvent "$roomy" grow
plan
