#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every driver call and every call of cublasLt that a recast product makes fails
# once: the program gets a right result or, if its own call failed, its own error.
. "$(dirname "$0")/preload.sh"
need_emulator
client="$clients/lt_torch"

# attempt FAILURE POLICY: eight rounds of twelve products, and a complaint unless
# all are right, or the program fails just as it does alone.
attempt()
{
	line=$(AUTOCAST_EMU_FAIL=$1 under "$2" "$client" calls=8 bits=11 2>&1)
	status=$?
	[ $status != 0 ] || return
	# Once the product is queued there is no way back (doc/rules.md R6).
	[ "$1 $line" != 'cuLaunchKernel:3 cublasLtMatmul: cuBLAS status 13' ] ||
	    return
	alone=$(AUTOCAST_EMU_FAIL=$1 bare "$client" calls=8 2>&1)
	[ "$(tail -n 1 <<<"$line")" = "$(tail -n 1 <<<"$alone")" ] ||
	    echo "$1: status $status: $line; alone: $alone"
}

# Without the rows that the preload never calls.
driver=$(sed -n '/gradient scaler/q
    s/^DRIVER( *\([A-Za-z0-9_]*\),.*/\1/p' "$root/kernels/load/driver.def")
for call in $driver; do
	complaint=
	for n in 1 2 3; do
		complaint=$complaint$(attempt "$call:$n" fp16)
	done
	check "$call fails" "$complaint"
done

# What of cublasLt a recast calls. The first 48 products are the program's alone,
# and so are the calls for them.
lt=$(sed -n 's/^\(COMPANION\|MARKER\|WRAPPED\)(.*\b\(cublasLt[A-Za-z_]*\),.*/\2/p' \
    "$root/shim/bind/entries.def")
check 'they are found' "$(wc -w <<<"$lt" | awk '$1 < 8')"
for call in $lt; do
	complaint=
	for n in 1 2 3 48 49 50 51 60; do
		complaint=$complaint$(attempt "$call:$n" fp16)
	done
	check "$call fails" "$complaint"
done

# The 49th product is the first recast one. Refusals give way to the original
# call, execution errors are the program's to see (doc/rules.md R6).
for policy in tf32 fp16; do
	for status in 1 3 7 8 15; do
		equal "cublasLtMatmul refuses with $status under $policy" 0 "$(
		    AUTOCAST_EMU_FAIL=cublasLtMatmul:49:$status under $policy \
		    "$client" calls=8 bits=11 >"$work/said" 2>&1; echo $?)"
		equal 'and the report says so' refused "$(kept_reasons refused)"
	done
	for status in 13 14; do
		equal "cublasLtMatmul answers $status under $policy" \
		    "cublasLtMatmul: cuBLAS status $status" "$(
		    AUTOCAST_EMU_FAIL=cublasLtMatmul:49:$status under $policy \
		    "$client" calls=8 bits=11 2>&1 | tail -n 1)"
	done
done

# A device without room for the casts, and a policy that leaves none.
for limit in 1 64Ki; do
	complaint=$(under "gemm -> fp16 profit=off guard=off workspace=$limit" \
	    "$client" calls=8 bits=11 2>&1) && complaint=
	check "workspace=$limit" "$complaint"
done
plan
