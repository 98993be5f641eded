#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# AUTOCAST_RANGES=on counts every element of every call, whatever the form, the
# policy and the stream, and changes no bit of a product.
. "$(dirname "$0")/preload.sh"
need_emulator

# counts WHAT POLICY "ELEMENTS OF A, OF B" PROGRAM ARGS: of all sites together.
counts()
{
	rm -rf "$AUTOCAST_STATE"
	without=$(under "$2" "${@:4}" 2>&1)
	rm -rf "$AUTOCAST_STATE"
	with=$(AUTOCAST_RANGES=on under "$2" "${@:4}" 2>&1)
	equal "$1: the bits" "$without" "$with"
	# Rows of one site share them.
	equal "$1: the elements" "$3" "$(query '*(sum(s["ranges"][x]["elements"]
	    for s in {s["id"]: s for s in sites}.values()) for x in "ab")')"
}

# A is 37 x 29, B is 29 x 41, each padded; two calls.
for policy in fp16 off 'gemm -> tf32 profit=off guard=on'; do
	for ops in 'n n' 't t'; do
		counts "$policy, $ops" "$policy" "$((2 * 37 * 29)) $((2 * 29 * 41))" \
		    "$clients/gemm_client" sgemm $ops 37 41 29 50 51 52 1 1 0 \
		    normal 1 - repeat=2
	done
done
counts 'a strided batch' fp16 "$((3 * 37 * 29)) $((3 * 29 * 41))" \
    "$clients/gemm_client" strided n n 37 41 29 0 0 0 3 1 0 normal 1 -
counts 'B is the same for all of a batch' fp16 "$((3 * 37 * 29)) $((29 * 41))" \
    "$clients/gemm_client" strided n n 37 41 29 0 0 0 3 1 0 normal 1 - stride-b=0
counts 'arrays of addresses' fp16 "$((3 * 37 * 29)) $((3 * 29 * 41))" \
    "$clients/gemm_client" batched n n 37 41 29 0 0 0 3 1 0 normal 1 -
# As the product of cuBLAS, whatever follows it.
for policy in fp16 off 'gemm -> tf32 profit=off guard=on'; do
	for epilogue in DEFAULT GELU_BIAS DRELU_BGRAD; do
		counts "$policy, cublasLt, $epilogue" "$policy" \
		    "$((8 * 40 * 36)) $((8 * 36 * 44))" "$clients/lt_matrix" \
		    kind=fp32 order=tn batch=one c=unread scalars=host \
		    epilogue=$epilogue calls=8 bits=8 size=40x44x36
	done
done
counts 'sites that go round 16 streams' fp16 \
    "$((3 * 2 * 20 * 56 * 56)) $((3 * 2 * 20 * 56 * 56))" \
    "$clients/many_streams" 20
plan
