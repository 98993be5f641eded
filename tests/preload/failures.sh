#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every driver call and every cuBLAS call the library makes fails once: the
# program gets a right result or, if its own call failed, its own error.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/gemm_client

# attempt FAILURE POLICY [N]: three products in a row, or N, and a complaint
# unless all is well or the program fails just as it does without the library.
attempt()
{
	repeat=repeat=${3:-3}
	line=$(AUTOCAST_EMU_FAIL=$1 under "$2" "$client" sgemm n t 96 80 256 0 0 0 \
	    1 1 0.5 normal 1 - reference "$repeat" stream 2>&1)
	status=$?
	if [ $status != 0 ]; then
		alone=$(AUTOCAST_EMU_FAIL=$1 bare "$client" sgemm n t 96 80 256 0 0 0 \
		    1 1 0.5 normal 1 - reference "$repeat" stream 2>&1)
		[ "$(tail -n 1 <<<"$line")" = "$(tail -n 1 <<<"$alone")" ] ||
		    echo "status $status: $line; alone: $alone"
		return
	fi
	case $line in
	*BROKEN*) echo "$line" ;;
	*'status=0 '*) ;;
	*) echo "$line" ;;
	esac
	awk -v err="$(sed -n 's/.* err=\([^ ]*\).*/\1/p' <<<"$line")" \
	    'BEGIN { if (!(err <= 4.5e-4)) print "err " err }'
}

# Without the rows that the preload never calls.
driver=$(sed -n '/gradient scaler/q
    s/^DRIVER( *\([A-Za-z0-9_]*\),.*/\1/p' "$root/kernels/load/driver.def")
companions=$(sed -n 's/^COMPANION( *\(cublas[A-Za-z0-9_]*\), *"libcublas\.so".*/\1/p' \
    "$root/shim/bind/entries.def")
for call in $driver $companions cublasCreate_v2; do
	complaint=
	for n in 1 2 3; do
		complaint=$complaint$(attempt "$call:$n" fp16)
	done
	check "T39: $call fails" "$complaint"
done

# What the provider answers to a recast call (doc/rules.md R6): refusals give
# way to the original call, execution errors are the program's to see.
# 1 NOT_INITIALIZED 3 ALLOC_FAILED 7 INVALID_VALUE 8 ARCH_MISMATCH
# 15 NOT_SUPPORTED; 13 EXECUTION_FAILED 14 INTERNAL_ERROR
for policy in tf32 fp16; do
	for status in 1 3 7 8 15; do
		check "T33: cublasGemmEx refuses with $status under $policy" \
		    "$(attempt "cublasGemmEx:1:$status" $policy 1)"
	done
	for status in 13 14; do
		line=$(AUTOCAST_EMU_FAIL=cublasGemmEx:1:$status under $policy \
		    "$client" sgemm n t 96 80 256 0 0 0 1 1 0 normal 1 - 2>&1)
		case $line in
		*"status=$status "*) complaint= ;;
		*) complaint=$line ;;
		esac
		check "T33: cublasGemmEx answers $status under $policy" "$complaint"
	done
done

# What a cast leaves behind when the launch after it fails is nothing to the
# next call: the call that was kept is the only one with bits of its own.
for n in 5 11 17; do
	equal "launch $n fails, nothing of that stays" 'other=1' \
	    "$(AUTOCAST_EMU_FAIL=cuLaunchKernel:$n under \
	    'gemm -> fp16 profit=off guard=off' "$clients/alternating" single \
	    alternate 12 2>&1 | grep -o 'other=[0-9]*')"
done

# A device without room for the casts, beside the handle of the program: by its own
# limit, and in fact.
for policy in fp16 'gemm -> fp16 profit=off guard=off workspace=1Gi'; do
	rm -rf "$AUTOCAST_STATE"
	line=$(AUTOCAST_EMU_MEMORY=$(((32 << 20) + 1200000)) under "$policy" "$client" sgemm n t \
	    256 256 256 0 0 0 1 1 0 normal 1 - reference 2>&1)
	case $line in
	*'status=0 '*) complaint= ;;
	*) complaint=$line ;;
	esac
	reason=workspace
	[ "$policy" = fp16 ] || reason=out-of-memory
	check "no room on the device, policy '$policy'" "$complaint"
	equal 'and the report says why' $reason \
	    "$(kept_reasons out-of-memory workspace)"
done

for limit in 1 64Ki 300Ki 1Mi; do
	rm -rf "$AUTOCAST_STATE"
	bytes=$(awk -v l=$limit 'BEGIN { n = l + 0
		if (l ~ /Ki/) n *= 1024
		if (l ~ /Mi/) n *= 1048576
		print n }')
	line=$(under "gemm -> fp16 profit=off guard=off workspace=$limit" "$client" sgemm \
	    n t 256 256 256 0 0 0 1 1 0 normal 1 - reference stream repeat=3 2>&1)
	complaint=
	case $line in
	*BROKEN* | *'err=nan'*) complaint=$line ;;
	*'status=0 '*) ;;
	*) complaint=$line ;;
	esac
	peak=$(total totals.peak_scratch_bytes)
	[ "$peak" -le "$bytes" ] || complaint="$complaint $peak bytes were held"
	check "workspace=$limit is not exceeded (peak $peak)" "$complaint"
done
plan
