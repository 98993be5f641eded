#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T42: what a product of cublasLt costs, kept and recast, against a GPU and a
# libcublasLt that do nothing at once. Instructions, counted by callgrind.
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
need_callgrind

# As programs call it that keep their descriptors: a plain product, and one with
# bias and ReLU whose bias is set before each call.
cat >"$work/lts.c" <<'END'
#include <cublasLt.h>
#include <stdlib.h>
#define AT(i) ((void *)((uintptr_t)(i) << 40))
#define SET(attribute, value) cublasLtMatmulDescSetAttribute(&operation, \
	CUBLASLT_MATMUL_DESC_##attribute, &(value), sizeof (value))
int
main(int argc, char **argv)
{
	const float one = 1, zero = 0;
	const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
	const int has_bias = atoi(argv[argc - 2]);
	void *const bias = AT(4);
	cublasLtMatmulAlgo_t algorithm = { { 1 } };
	cublasLtMatmulDescOpaque_t operation;
	cublasLtMatrixLayoutOpaque_t layout;
	cublasLtHandle_t handle;
	int failed = cublasLtCreate(&handle);

	cublasLtMatmulDescInit(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
	cublasLtMatrixLayoutInit(&layout, CUDA_R_32F, 64, 64, 64);
	if (has_bias)
		failed |= SET(EPILOGUE, epilogue);
	for (long i = atol(argv[argc - 1]); i > 0; i--) {
		if (has_bias)
			failed |= SET(BIAS_POINTER, bias);
		failed |= cublasLtMatmul(handle, &operation, &one, AT(1),
		    &layout, AT(2), &layout, &zero, AT(3), &layout, AT(3),
		    &layout, &algorithm, AT(5), 4096, NULL);
	}
	return failed;
}
END
echo 'libcublasLt.so.13 { global: cublasLt*; local: *; };' >"$work/lt.map"
shared libcublasLt.so.13 -I"$root" -Wl,-soname,libcublasLt.so.13 \
    -Wl,--version-script="$work/lt.map" "$stub/stub_cublaslt.c"
shared libcuda.so.1 -I"$root" -Wl,-soname,libcuda.so.1 -fvisibility=default \
    "$bench/stub_driver.c"
compiled lts "$work/lts.c" "$work/libcublasLt.so.13"

# a_call BIAS: instructions of one behind probation, as $preload and $policy say;
# under a guard 30 of 1920 are sampled.
a_call()
{
	local few many
	few=$(collected "$work/lts" "$1" 1000) || exit 99
	many=$(collected "$work/lts" "$1" 2920) || exit 99
	echo $(((many - few + 960) / 1920))
}

names=('a plain product' 'bias and ReLU')
for bias in 0 1; do
	preload='' policy=off
	direct[bias]=$(a_call $bias)
done

# costs WHAT GOAL GOAL RECAST POLICY: over a direct call, of each.
costs()
{
	local bias limits=("$2" "$3")
	policy=$5 preload=$library
	[ "$4" = "== 0" ] || preload=$library:$work/libcuda.so.1
	for bias in 0 1; do
		rm -rf "$work/state"
		at_most "T42: instructions over a direct call, $1, ${names[bias]}" \
		    $(($(a_call $bias) - direct[bias])) \
		    ${limits[bias]}
		check '... which was seen' "$(query \
		    '"" if sites[0]["calls"] == 2920 and sites[0]["recast_calls"] '"$4"' else sites[0]')"
	done
}
# Once for each libcublasLt, at its first product: where its descriptors have
# their attributes (shim/lt/proof.h). Of those of a libcublasLt that does nothing
# else, four of five are its own getters'.
preload=$library policy=off
once=$(inside=ac_lt_prove collected "$work/lts" 0 1) || exit 99
at_most 'T42: instructions to prove where attributes are' "$once" 13500000
check '... which was seen' "$([ "$once" -ge 100000 ] || echo "$once")"

# Of those that are kept: 90 to compare four descriptors, 45 to pass 16 arguments
# on.
costs 'off' 178 178 '== 0' off
costs 'kept' 178 178 '== 0' 'gemm -> keep'
costs 'kept by size' 178 178 '== 0' amp
costs 'by the library, guard=off' 1495 1634 '> 2900' \
    'gemm -> tf32 profit=off guard=off'
costs 'by a cast, guard=off' 2270 2372 '> 2900' \
    'gemm -> fp16 profit=off guard=off'
costs 'by a cast, guard=on' 2834 2936 '> 2800' \
    'gemm -> fp16 profit=off guard=on'
plan
