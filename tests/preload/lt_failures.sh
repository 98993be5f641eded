#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What cublasLt answers to a recast product, and a device without room: the program
# gets a right result, but where C cannot be had back. That each call of NVIDIA's
# fails once is in injected.sh.
. "$(dirname "$0")/preload.sh"
need_emulator
client="$clients/lt_torch"

# The 49th product is the first recast one, the 53rd the first of those that adds
# to C: it alone may not be made again where it failed (doc/rules.md R6).
for policy in tf32 fp16; do
	for status in 1 3 7 8 13 14 15; do
		equal "cublasLtMatmul answers $status under $policy" 0 "$(
		    AUTOCAST_EMU_FAIL=cublasLtMatmul:49:$status under $policy \
		    "$client" calls=8 bits=11 >"$work/said" 2>&1; echo $?)"
		equal 'and the report says so' refused "$(kept_reasons refused)"
	done
	# A cast product is apart until its last launch.
	for status in 13 14; do
		equal "cublasLtMatmul answers $status under $policy, C is added to" \
		    "$([ $policy = fp16 ] || echo "cublasLtMatmul: cuBLAS status $status")" "$(
		    AUTOCAST_EMU_FAIL=cublasLtMatmul:53:$status under $policy \
		    "$client" calls=8 bits=11 2>&1 | tail -n 1 | grep status)"
	done
done

# A device without room for the casts, and a policy that leaves none.
for limit in 1 64Ki; do
	complaint=$(under "gemm -> fp16 profit=off guard=off workspace=$limit" \
	    "$client" calls=8 bits=11 2>&1) && complaint=
	check "workspace=$limit" "$complaint"
done
plan
