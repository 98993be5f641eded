#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A libcublasLt that is gone is never called again: the next one gets the calls
# from the same place, with the same descriptors, on a handle of its own.
. "$(dirname "$0")/preload.sh"
. "$root/bench/measure.sh"
missing=$(what_is_missing)
[ -z "$missing" ] || skip_all "$missing"

cat >"$work/unload.c" <<'END'
#include <cublasLt.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#define AT(i) ((void *)((uintptr_t)(i) << 40))
#define GET(symbol) ((__typeof__(&symbol))dlsym(library, #symbol))
int
main(int argc, char **argv)
{
	const float one = 1, zero = 0;
	int failed = 0;

	for (int i = 0; i < 6; i++) {
		void *library = dlopen(argv[1 + i % (argc - 1)], RTLD_NOW);
		__typeof__(&cublasLtMatmul) matmul = GET(cublasLtMatmul);
		cublasLtMatmulDescOpaque_t operation;
		cublasLtMatrixLayoutOpaque_t layout;
		cublasLtHandle_t handle;
		uintptr_t here;

		failed |= GET(cublasLtCreate)(&handle);
		failed |= GET(cublasLtMatmulDescInit_internal)(&operation,
		    sizeof operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
		failed |= GET(cublasLtMatrixLayoutInit_internal)(&layout,
		    sizeof layout, CUDA_R_32F, 64, 64, 64);
		for (int j = 0; j < 10; j++)
			failed |= matmul(handle, &operation, &one, AT(1),
			    &layout, AT(2), &layout, &zero, AT(3), &layout,
			    AT(3), &layout, NULL, NULL, 0, NULL);
		failed |= GET(cublasLtDestroy)(handle);
		here = (uintptr_t)dlsym(library, "cublasLtHere")
		    & ~(uintptr_t)4095;
		dlclose(library);
		/* Nobody can be there again. */
		if (mmap((void *)here, 4096, PROT_NONE, MAP_PRIVATE
		    | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
		    != (void *)here)
			printf("it is still there\n");
	}
	return failed;
}
END
echo 'libcublasLt.so.13 { global: cublasLt*; local: *; };' >"$work/lt.map"
echo 'void cublasLtHere(void); __attribute__((visibility("default")))
void cublasLtHere(void) { }' >"$work/here.c"
for copy in 1 2; do
	mkdir "$work/$copy"
	shared $copy/libcublasLt.so.13 -I"$root" -Wl,-soname,libcublasLt.so.13 \
	    -Wl,--version-script="$work/lt.map" "$stub/stub_cublaslt.c" \
	    "$work/here.c"
done
shared libcuda.so.1 -I"$root" -Wl,-soname,libcuda.so.1 -fvisibility=default \
    "$bench/stub_driver.c"
compiled unload "$work/unload.c" -ldl

for policy in off 'gemm -> tf32 profit=off guard=off' \
    'gemm -> fp16 profit=off guard=off'; do
	preload=$library:$work/libcuda.so.1
	rm -rf "$work/state"
	equal "$policy: every call reaches a library that is there" '' \
	    "$(as_said "$work/unload" "$work"/[12]/libcublasLt.so.13 2>&1
	    [ $? = 0 ] || echo 'it failed')"
	equal "$policy: and was seen" 60 \
	    "$(query 'sum(site["calls"] for site in sites)')"
done
plan
