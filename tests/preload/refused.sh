#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Drivers that have no memory pools, or map no memory of the program's, as under
# some virtual GPUs and sandboxes: products are recast as everywhere else.
. "$(dirname "$0")/preload.sh"
need_emulator
AUTOCAST_EMU_COUNTERS=$work/counters
export AUTOCAST_EMU_COUNTERS
cast='gemm -> fp16 profit=off guard=off workspace=64Mi'
guarded='gemm -> fp16 profit=off guard=on'
NOT_SUPPORTED=801

# refuse CALL...: each time.
refuse()
{
	AUTOCAST_EMU_FAIL=
	for call; do
		AUTOCAST_EMU_FAIL=$AUTOCAST_EMU_FAIL${AUTOCAST_EMU_FAIL:+,}$call:0:$NOT_SUPPORTED
	done
	export AUTOCAST_EMU_FAIL
}

# holds POLICY PROGRAM ARGS...: as without the refusal.
holds()
{
	rm -rf "$AUTOCAST_STATE"
	out=$(under "$1" "$clients/$2" "${@:3}" 2>&1)
	status=$?
	complaint=$(grep 'emulated GPU: ' <<<"$out")
	[ $status = 0 ] || complaint="status $status: $out"
	[ "$(total totals.recast_calls)" -gt 0 ] ||
	    complaint="$complaint nothing was recast: $(query 'report["totals"]["kept"]')"
	check "no ${AUTOCAST_EMU_FAIL//:0:$NOT_SUPPORTED/}, ${1:0:24}: ${*:2}" "$complaint"
}

for calls in cuMemPoolCreate cuMemAllocFromPoolAsync cuMemHostRegister \
    'cuMemPoolCreate cuMemHostRegister'; do
	refuse $calls
	for kind in shared own; do
		holds "$cast" two_threads $kind
	done
	for policy in "$cast" "$guarded"; do
		holds "$policy" many_streams 48
		for way in return quick destroy late again; do
			holds "$policy" reset_exit $way
		done
	done
	# Nothing is freed while a stream is held up, or this hangs.
	for mode in grow other; do
		holds fp16 held_stream $mode
	done
	holds "$cast" lane_order grow
	holds 'gemm -> fp16 profit=off guard=off workspace=1200Ki' lane_order share
	rm -rf "$AUTOCAST_STATE"
	line=$(under "$guarded" "$clients/gemm_client" sgemm n t 96 80 256 0 0 0 1 1 \
	    0.5 normal 1 - reference repeat=300 stream 2>&1)
	check "no $calls: 300 products are right" "$(awk -v err="$(sed -n \
	    's/.* err=\([^ ]*\).*/\1/p' <<<"$line")" -v line="$line" \
	    'BEGIN { if (err == "" || !(err <= 4.5e-4)) print line }')"
	equal "no $calls: and checked" True "$(query 'any(
	    s["course"]["judged"] > 0 for s in sites)')"
	said=$(AUTOCAST_LOG=info under "$guarded" "$clients/reset_exit" again 2>&1 |
	    grep -c 'the driver refuses')
	equal "no $calls: said once each" "$(wc -w <<<"$calls")" "$said"
done

# What is held goes where the program itself waits.
refuse cuMemPoolCreate
under "$cast" "$clients/gemm_client" sgemm n t 96 80 256 0 0 0 1 1 0 normal 1 - \
    >/dev/null 2>&1
plain=$(counter device_bytes)
frees=$(counter cuMemFree_v2)
AUTOCAST_EMU_FAIL='' under "$cast" "$clients/gemm_client" sgemm n t 96 80 256 0 \
    0 0 1 1 0 normal 1 - >/dev/null 2>&1
equal 'a destroyed handle leaves no more than with pools' \
    "$(counter device_bytes)" "$plain"
check 'and it was cuMemFree that freed it' "$([ "$frees" -gt 0 ] || echo "$frees")"

# Refused altogether: the program's own results, and a reason.
refuse cuMemHostRegister cuMemHostAlloc
rm -rf "$AUTOCAST_STATE"
said=$(AUTOCAST_LOG=info under "$guarded" "$clients/gemm_client" sgemm n t 96 \
    80 256 0 0 0 1 1 0 normal 1 - repeat=300 2>&1)
equal 'no host memory at all: named' 1 \
    "$(grep -c 'the driver refuses cuMemHostAlloc' <<<"$said")"
equal 'and nothing is recast' '0 driver' \
    "$(total totals.recast_calls) $(kept_reasons driver out-of-memory)"
refuse cuMemPoolCreate cuMemAlloc
rm -rf "$AUTOCAST_STATE"
said=$(AUTOCAST_LOG=info under "$cast" "$clients/gemm_client" sgemm n t 96 80 \
    256 0 0 0 1 1 0 normal 1 - repeat=9 2>&1)
equal 'no device memory at all: named' 1 \
    "$(grep -c 'the driver refuses cuMemAlloc ' <<<"$said")"
equal 'and nothing is recast, either' '0 driver' \
    "$(total totals.recast_calls) $(kept_reasons driver out-of-memory)"
plan
