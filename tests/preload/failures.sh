#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What cuBLAS answers to a recast call, launches that fail, a device without room:
# the program gets a right result, but where C cannot be had back. That each call
# of NVIDIA's fails once is in injected.sh.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/gemm_client

# multiply POLICY BETA: what is said of one product.
depth=256
multiply()
{
	under "$1" "$client" sgemm n t 96 80 $depth 0 0 0 1 1 "$2" normal 1 - \
	    reference stream 2>&1
}

# attempt FAILURE POLICY BETA: a complaint unless all is well.
attempt()
{
	rm -rf "$AUTOCAST_STATE"
	line=$(AUTOCAST_EMU_FAIL=$1 multiply "$2" "$3")
	case $line in
	*BROKEN*) echo "$line" ;;
	*'status=0 '*) ;;
	*) echo "$line" ;;
	esac
	awk -v err="$(sed -n 's/.* err=\([^ ]*\).*/\1/p' <<<"$line")" \
	    'BEGIN { if (!(err <= 4.5e-4)) print "err " err }'
}

# What the provider answers to a recast call (doc/rules.md R6): the original call
# is made, unless a library's conversion may have added to C before it failed.
# 1 NOT_INITIALIZED 3 ALLOC_FAILED 7 INVALID_VALUE 8 ARCH_MISMATCH
# 15 NOT_SUPPORTED; 13 EXECUTION_FAILED 14 INTERNAL_ERROR
for policy in tf32 fp16; do
	for status in 1 3 7 8 15; do
		check "T33: cublasGemmEx refuses with $status under $policy" \
		    "$(attempt "cublasGemmEx:1:$status" $policy 0.5)"
	done
	for status in 13 14; do
		check "T33: cublasGemmEx answers $status under $policy, C is not read" \
		    "$(attempt "cublasGemmEx:1:$status" $policy 0)"
		equal 'and the report says so' refused "$(kept_reasons refused)"
		# A cast product is apart until its last launch.
		[ $policy = fp16 ] && wanted=0 || wanted=$status
		equal "T33: cublasGemmEx answers $status under $policy, C is added to" \
		    "status=$wanted" "$(AUTOCAST_EMU_FAIL=cublasGemmEx:1:$status \
		    multiply $policy 0.5 | grep -o 'status=[0-9]*')"
	done
done

# By parts a product goes in chunks of K, the second of which fails: C is intact, or
# written again.
depth=1500
parts='gemm -> fp16x3 profit=off guard=off'
for status in 3 13 15; do
	for beta in 0 0.5; do
		check "the second chunk answers $status, beta $beta" \
		    "$(attempt "cublasGemmEx:2:$status" "$parts" $beta)"
		equal 'and the report says so' refused "$(kept_reasons refused)"
	done
done
check 'parts for which workspace= has no room' "$(attempt none "$parts workspace=1Mi" 0)"
equal 'and the report says so' workspace "$(kept_reasons workspace)"
depth=256

check 'the third launch of a cast fails, its last: C is not read' \
    "$(attempt cuLaunchKernel:3 fp16 0)"
equal 'and the report says so' refused "$(kept_reasons refused)"

# What a cast leaves behind when the launch after it fails is nothing to the
# next call: the call that was kept is the only one with bits of its own.
for n in 9 14 19; do
	equal "launch $n fails, nothing of that stays" 'other=1' \
	    "$(AUTOCAST_EMU_FAIL=cuLaunchKernel:$n under \
	    'gemm -> fp16 profit=off guard=off' "$clients/alternating" single \
	    alternate 12 2>&1 | grep -o 'other=[0-9]*')"
done

# A device without room for the casts, next to the handle of the program: by its own
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
