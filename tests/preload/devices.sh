#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs on two GPUs, an H200 and a T4: each product is recast on the device
# of its handle, as the policy says for that device, or not at all.
. "$(dirname "$0")/preload.sh"
need_emulator
AUTOCAST_EMU_MODEL=h200,t4
export AUTOCAST_EMU_MODEL

# Calls, recast calls, and the reasons of the others.
counts()
{
	query 'report["totals"]["calls"], report["totals"]["recast_calls"], *(
	    "%s=%d" % (r, k["calls"]) for r, k in report["totals"]["kept"].items())'
}

# holds WHAT POLICY COUNTS MODE: says on stdout what it says without the
# library, ends well, and is counted so.
holds()
{
	rm -rf "$AUTOCAST_STATE"
	bare "$clients/two_devices" "$4" >"$work/bare" 2>"$work/bare.err"
	under "$2" "$clients/two_devices" "$4" >"$work/under" 2>"$work/err"
	equal "$1" "0 $(cat "$work/bare") $3" "$? $(cat "$work/under") $(counts)"
}

# The kernels of each mode tell what was recast: a cast product takes four, FP16
# on either device, BF16 on one, since a T4 has none.
cast='gemm -> bf16 tactic=cast tol=8e-3 profit=off guard=off'
for policy in off tf32 fp16 "$cast"; do
	for row in 'one 12' 'threads 48' 'migrate 48' 'stream 12'; do
		set -- $row
		case $policy in
		fp16) kernels=$((4 * $2)) ;;
		*bf16*) kernels=$((4 * $2 / 2)) ;;
		*) kernels= ;;
		esac
		out=$(AUTOCAST_EMU_COUNTERS=$work/counters under "$policy" \
		    "$clients/two_devices" "$1" 2>&1)
		equal "$1 under $policy" "0 two_devices $1 $kernels" \
		    "$? $out $(counter cuLaunchKernel)"
	done
done
holds 'each on its own device, one thread' fp16 '12 12' one
holds 'each on its own device, two threads' fp16 '48 48' threads
holds 'a pointer that comes back on the other device' fp16 '15 15' reuse
for seed in 1 2 3; do
	AUTOCAST_EMU_JITTER=$seed holds "threads, jitter $seed" fp16 '48 48' threads
done
equal 'such a pointer does come back' 'reuse same' \
    "$(under fp16 "$clients/two_devices" reuse | head -n 1)"

# The device that is current must be the handle's, and the stream's context the
# current one: else the call is kept, for that reason and no other, and the
# provider answers it.
holds 'a handle used while the other device is current, in reach' fp16 \
    '2 1 no-context=1' elsewhere
holds 'a handle used while the other device is current, out of reach' fp16 \
    '2 1 no-context=1' far
equal 'the complaint is about the program' \
    "$(sed 's/0x[0-9a-f]*/P/g' "$work/bare.err")" "$(sed 's/0x[0-9a-f]*/P/g' "$work/err")"
holds "a stream of the other device's" fp16 '2 1 no-context=1' foreign
equal 'the complaint is about the program, and the only one' \
    "$(sed 's/0x[0-9a-f]*/P/g' "$work/bare.err")" "$(sed 's/0x[0-9a-f]*/P/g' "$work/err")"

# rungs: size and rung of each site, by size.
rungs()
{
	rm -rf "$AUTOCAST_STATE"
	under "$1" "$clients/two_devices" "$2" >/dev/null 2>&1 || echo "status $?"
	query '" ".join("%d:%s=%d" % (s["m"], s["rung"], s["recast_calls"])
	    for s in sorted(sites, key=lambda s: -s["m"]))'
}
equal 'sm decides' '48:tf32=6 24:fp16=6' \
    "$(rungs 'gemm sm=90 -> tf32 profit=off guard=off; gemm sm=75 -> fp16 profit=off guard=off' sizes)"
equal 'gpu decides' '48:bf16=6 24:fp16=6' \
    "$(rungs 'gemm gpu=*H200* -> bf16 tol=8e-3 profit=off guard=off; gemm gpu=*T4* -> fp16 profit=off guard=off' sizes)"
equal 'device decides' '48:keep=0 24:fp16=6' \
    "$(rungs 'gemm device=0 -> keep; gemm device=1 -> fp16 profit=off guard=off' sizes)"
equal 'what a device lacks is not taken' '48:tf32=6 24:fp16=6' \
    "$(rungs 'gemm -> tf32,fp16 profit=off guard=off' sizes)"
# One call site, one size, two devices: two decisions.
AUTOCAST_EMU_COUNTERS=$work/counters under 'gemm device=0 -> keep; gemm -> fp16 profit=off guard=off' \
    "$clients/two_devices" one >/dev/null 2>&1
equal 'one site on two devices is decided for each' 24 "$(counter cuLaunchKernel)"
equal 'and counted for each' '48:fp16=6 48:keep=0' \
    "$(rungs 'gemm device=0 -> keep; gemm -> fp16 profit=off guard=off' one | tr ' ' '\n' |
	sort | tr '\n' ' ' | sed 's/ $//')"
plan
