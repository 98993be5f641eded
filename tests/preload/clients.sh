#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Small programs that do what real ones do around their products: threads,
# streams, device scalars, workspaces, plugins, resets. Each checks its own
# promises; with the library they must hold as they do without.
. "$(dirname "$0")/preload.sh"
need_emulator

# holds NAME POLICY PROGRAM ARGS...: exits 0, nothing was asked that no driver
# answers for, and something was recast unless the policy is off.
holds()
{
	name=$1
	policy=$2
	shift 2
	rm -rf "$AUTOCAST_STATE"
	out=$(under "$policy" "$clients/$1" "${@:2}" 2>&1)
	status=$?
	complaint=$(grep 'emulated GPU: ' <<<"$out")
	[ $status = 0 ] || complaint="status $status: $out"
	recast=$(total totals.recast_calls 2>/dev/null)
	case $policy in
	off) [ "${recast:-0}" = 0 ] || complaint="$complaint $recast calls recast" ;;
	*) [ "${recast:-0}" -gt 0 ] || complaint="$complaint nothing was recast" ;;
	esac
	check "$name under $policy" "$complaint"
}

cast='gemm -> bf16 tactic=cast tol=8e-3 profit=off guard=off'
for policy in off tf32 fp16 "$cast"; do
	for kind in shared own; do
		holds "two threads, $kind handle" "$policy" two_threads $kind
	done
	holds 'alpha written just before, on the stream' "$policy" device_alpha
	holds 'sixteen streams in turn' "$policy" many_streams 48
	holds 'a thread without a context' "$policy" no_context
	holds 'a workspace of its own' "$policy" user_workspace
	for end in return exit quick destroy late again; do
		holds "cudaDeviceReset, then $end" "$policy" reset_exit $end
	done
	for how in now lazy twice; do
		word=$how
		[ $how != now ] || word=
		holds "a plugin opened RTLD_LOCAL, $how" "$policy" plugin_host \
		    "$clients/plugin.so" $word
	done
done

# Other orders of events must not change a bit.
for seed in 1 2 3; do
	AUTOCAST_EMU_JITTER=$seed holds "two threads, jitter $seed" fp16 two_threads shared 40
	AUTOCAST_EMU_JITTER=$seed holds "sixteen streams, jitter $seed" fp16 many_streams 40
done

# The lanes of sixteen streams in a room too small for sixteen.
holds 'sixteen streams in 1 MiB of scratch' \
    'gemm -> fp16 profit=off guard=off workspace=1Mi' many_streams 48

# A stream that a host function holds: others go on, nothing is freed early, and
# the one lane there is room for is not shared before its last use.
for mode in grow other; do
	holds "held stream: $mode" fp16 held_stream $mode
done
holds 'held stream: one lane' 'gemm -> fp16 profit=off guard=off workspace=900Ki' \
    held_stream order

# Sums of two places that cancel while the host runs ahead: three are wrong at most,
# since no more than two parts are on their way unheard; the host waits once.
check 'sums behind a held stream: at most three are wrong' "$(under \
    'gemm -> fp16 profit=off' "$clients/held_sums" 30 |
    awk '{ any = 1 } !($1 <= 3) END { if (!any) print "no answer" }')"
seconds=$SECONDS
under 'gemm -> fp16 profit=off' "$clients/held_sums" 30 apart >/dev/null
check 'two places behind a held stream: not each of 30 waits for two seconds' \
    "$([ $((SECONDS - seconds)) -lt 20 ] || echo "$((SECONDS - seconds)) s")"

for policy in off fp16 'gemm -> fp16 profit=off guard=on'; do
	holds 'C freed behind its product' "$policy" freed_behind
done

for alive in 1 100; do
	holds "300 requests, $alive streams alive" \
	    'gemm -> fp16 profit=off guard=on' stream_each 300 $alive
	equal '... all are recast but its own' 297 \
	    "$(total totals.recast_calls)"
done

# totals: calls, recast calls, and the reasons of the others.
totals()
{
	query 'report["totals"]["calls"], report["totals"]["recast_calls"], *(
	    "%s=%d" % (r, k["calls"]) for r, k in report["totals"]["kept"].items())'
}

# counted PROGRAM ARGS...: the same of one run.
counted()
{
	rm -rf "$AUTOCAST_STATE"
	under fp16 "$clients/$1" "${@:2}" >/dev/null 2>&1 || echo "status $?"
	totals
}
equal 'calls from deeper frames are counted and recast' '4 4' "$(counted corners depth)"
equal 'the capture mode of the thread is its own again' '1 1' "$(counted corners mode)"
equal 'C is a later matrix of A: kept' '1 0 overlap=1' "$(counted corners batch-overlap)"
equal 'C lies in B: kept' '1 0 overlap=1' "$(counted corners b-overlap)"
equal 'C runs into A past a column: kept' '1 0 overlap=1' "$(counted corners wrapped)"
equal 'parts of one matrix that do not meet: recast' '1 1' "$(counted corners submatrix)"
for corner in misaligned overflow; do
	equal "$corner operands: kept" '1 0 unsupported=1' "$(counted corners $corner)"
	equal "$corner operands: the provider's own answer" \
	    "$(bare "$clients/corners" $corner 2>/dev/null; echo $?)" \
	    "$(under fp16 "$clients/corners" $corner 2>/dev/null; echo $?)"
done
equal 'alpha 0: kept' '1 0 too-small=1' "$(counted corners alpha0)"
rm -rf "$AUTOCAST_STATE"
equal 'operands that cannot be laid out: the original call' \
    "$(bare "$clients/corners" impossible)" \
    "$(under 'gemm -> fp16 profit=off guard=off' "$clients/corners" impossible)"
equal 'and the report says why' '1 0 too-small=1' "$(totals)"
rm -rf "$AUTOCAST_STATE"
under 'gemm solver=yes -> keep; gemm -> fp16 profit=off guard=off' "$clients/corners" solver
equal 'a solver is one from its first solve on' '2 1 solver=1' \
    "$(totals)"
rm -rf "$AUTOCAST_STATE"
under 'gemm solver=yes -> keep; gemm -> fp16 profit=off guard=off' "$clients/corners" rare-solver
equal 'and none after a thousand products without another' '1101 101 solver=1000' \
    "$(totals)"
rm -rf "$AUTOCAST_STATE"
under 'gemm k>=128 ta=N -> fp16 profit=off guard=off' "$clients/sizes"
equal 'one caller, four sites, one of them recast' '4 1' \
    "$(query 'len(sites), report["totals"]["recast_calls"]')"
under fp16 "$clients/legacy" >/dev/null
equal 'every argument of a passed-through call arrives' 0 $?

# What a lane needs is done once, not at every call.
AUTOCAST_EMU_COUNTERS=$work/counters under fp16 "$clients/gemm_client" sgemm \
    n n 64 64 64 0 0 0 1 1 0 normal 1 - repeat=3 math=no-reduced >/dev/null
equal 'a lane gets its workspace after its stream' 1 "$(counter cublasSetWorkspace_v2)"
equal 'a lane mirrors the math flags' 2 "$(counter cublasSetMathMode)"
equal 'four launches per FP16 product' 12 "$(counter cuLaunchKernel)"
AUTOCAST_EMU_COUNTERS=$work/counters under 'gemm -> fp16 profit=off own=0' \
    "$clients/many_streams" 48 >/dev/null
equal 'with the last handle the lanes go; what sites remember stays' \
    "$(counter cuMemAllocFromPoolAsync)" "$(($(counter cuMemFreeAsync) + 1))"

# What a user's workspace holds is the program's affair: a cast product does
# not run in it.
bare "$clients/user_workspace" >"$work/bare" 2>&1
under fp16 "$clients/user_workspace" >"$work/under" 2>&1
case $(cat "$work/under") in
*inside=untouched*) complaint= ;;
*) complaint=$(cat "$work/under") ;;
esac
check 'a cast product leaves the program'\''s workspace alone' "$complaint"

bare "$clients/zero_sizes" >"$work/bare" 2>&1
for policy in off fp16 tf32; do
	under $policy "$clients/zero_sizes" >"$work/under" 2>&1
	same "corners of the argument space under $policy" "$work/bare" "$work/under"
done

# A bad policy: said once, at the first call; recasting off; the program runs.
bare "$clients/two_threads" own >"$work/bare" 2>&1
under 'gemm -> fp61' "$clients/two_threads" own >"$work/under" 2>"$work/err"
equal 'a bad policy does not stop the program' 0 $?
same 'nor change its results' "$work/bare" "$work/under"
check 'and is shown with a suggestion' \
    "$(grep -q "did you mean 'fp16'" "$work/err" || cat "$work/err")"
for word in 1 yes on; do
	AUTOCAST_STRICT=$word under 'gemm -> fp61' "$clients/two_threads" own >/dev/null 2>&1
	equal "unless AUTOCAST_STRICT=$word" 2 $?
done

# One notice, on stderr, and only if nobody chose or somebody watches.
policy_file=$work/config/autocast
mkdir -p "$policy_file"
echo 'gemm -> fp16 profit=off guard=off' >"$policy_file/policy"
AUTOCAST_NOTICE=on XDG_CONFIG_HOME=$work/config LD_LIBRARY_PATH=$emulator \
    LD_PRELOAD=$preload "$clients/two_threads" own >"$work/under" 2>"$work/err"
equal 'no notice when a file was chosen and nobody watches' '' "$(cat "$work/err")"
AUTOCAST_NOTICE=on XDG_CONFIG_HOME=$work/nothing LD_LIBRARY_PATH=$emulator \
    LD_PRELOAD=$preload "$clients/gemm_client" sgemm n n 1024 1024 1024 0 0 0 1 1 0 \
    normal 1 - repeat=5 >"$work/under" 2>"$work/err"
equal 'one notice when nobody chose a policy' 1 \
    "$(grep -c '^autocast: recasting FP32 GEMM/conv to fp16 (policy amp' "$work/err")"
equal 'and nothing else' 1 "$(wc -l <"$work/err")"
check 'it tells where to look' \
    "$(grep -q '); "autocast report" shows what, ' "$work/err" || cat "$work/err")"
touch "$work/file"
AUTOCAST_NOTICE=on XDG_CONFIG_HOME=$work/nothing LD_LIBRARY_PATH=$emulator \
    LD_PRELOAD=$preload env -u AUTOCAST_STATE -u XDG_STATE_HOME HOME="$work/file" \
    "$clients/gemm_client" sgemm n n 1024 1024 1024 0 0 0 1 1 0 normal 1 - repeat=5 \
    >"$work/under" 2>"$work/err"
equal 'or that there is nothing to see, where there is no home' \
    '1 no statistics are kept (set AUTOCAST_STATE to a directory), AUTOCAST_POLICY=off stops it' \
    "$(wc -l <"$work/err") $(sed 's/.*); //' "$work/err")"
plan
