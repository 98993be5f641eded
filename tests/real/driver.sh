#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# NVIDIA's own libcuda.so.1, on a machine without a device: it has every row of
# kernels/load/driver.def that its version can have, before and after cuInit();
# kernels/ finds the same functions and answers that there is no context; and a
# CUDA program fails with the library preloaded as it fails without.
. "$(dirname "$0")/../preload/preload.sh"
programs=$root/tests/real/programs
libcuda=${LIBCUDA_DIR:-$build/libcuda}
[ -f "$library" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"
[ -f "$libcuda/libcuda.so.1" ] ||
    skip_all "there is no $libcuda/libcuda.so.1: make fetch-libcuda"
[ ! -e /proc/driver/nvidia ] || skip_all 'this machine has a device'
# The driver makes this node for root, whether there is a device or not.
[ -e /dev/nvidiactl ] || trap 'rm -rf "$work" /dev/nvidiactl' EXIT

${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -I"$root" -o "$work/driver" \
    "$programs/driver.c" "$build/kernels/libkernels.a" "$build/base/libbase.a" \
    -pthread -ldl || exit 99
rows=$(grep -c '^DRIVER(' "$root/kernels/load/driver.def")
for way in first late; do
	LD_LIBRARY_PATH=$libcuda timeout 60 "$work/driver" $way >"$work/out" 2>&1
	equal "$way: the program ends" 0 $?
	equal "$way: NVIDIA's driver it is" "file $libcuda/libcuda.so.1" \
	    "$(grep '^file' "$work/out")"
	version=$(sed -n 's/^version //p' "$work/out")
	for when in before after; do
		grep "^$when row " "$work/out" >"$work/rows"
		equal "$way: all rows are asked for, $when cuInit()" "$rows" \
		    "$(wc -l <"$work/rows")"
		check "$way: all that ${version:-this version} can have are there, $when cuInit()" \
		    "$(awk -v version="${version:-99999}" '$6 != "found," &&
		        ($5 == "NEEDED:" || $4 <= version)' "$work/rows")"
		check "$way: kernels/ has the same, $when cuInit()" \
		    "$(grep -v ', the same$' "$work/rows")"
		equal "$way: no context to load kernels into, $when cuInit()" \
		    "$when load: no context" "$(grep "^$when load" "$work/out")"
	done
	equal "$way: cuInit() finds no device" 'init: 100' \
	    "$(grep '^init' "$work/out")"
done
echo "# CUDA $version, $rows rows, absent: $(grep -c '^after row .* absent' "$work/out")"

# A CUDA program, with NVIDIA's libraries above the driver.
cuda_lib=$(. "$root/tests/real/real.sh" >/dev/null && echo "$cuda_lib")
if [ -z "$cuda_lib" ]; then
	skip 'a CUDA program fails as without' "NVIDIA's libcublas is not installed"
	plan
	exit
fi
cat >"$work/program.c" <<'PROGRAM'
#include <stdio.h>

int cudaGetDeviceCount(int *count);
int cudaMalloc(void **data, unsigned long bytes);
int cublasCreate_v2(void **handle);
int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k,
    const float *alpha, const float *a, int lda, const float *b, int ldb,
    const float *beta, float *c, int ldc);

int
main(void)
{
	void *handle = NULL, *data = NULL;
	int count = -1;
	const float one = 1;

	printf("devices %d", cudaGetDeviceCount(&count));
	printf(" of %d, memory %d", count, cudaMalloc(&data, 256));
	printf(" at %p, handle %d", data, cublasCreate_v2(&handle));
	printf(" at %p, product %d\n", handle, cublasSgemm_v2(handle, 0, 0, 4, 4,
	    4, &one, data, 4, data, 4, &one, data, 4));
	return 9;
}
PROGRAM
${CC:-cc} -o "$work/program" "$work/program.c" \
    "$(find "$cuda_lib" -maxdepth 1 -name 'libcublas.so.[0-9]*' | sort | head -n 1)" \
    "$(find "$cuda_lib" -maxdepth 1 -name 'libcudart.so.[0-9]*' | sort | head -n 1)" \
    -Wl,-rpath-link,"$cuda_lib" || exit 99
export LD_LIBRARY_PATH=$libcuda:$cuda_lib
timeout 60 "$work/program" >"$work/alone" 2>"$work/alone.err"
equal 'a CUDA program ends' 9 $?
check '... without a device' "$(grep -q '^devices [1-9][0-9]* of' "$work/alone" ||
    cat "$work/alone")"
for policy in off amp 'gemm -> fp16 profit=off'; do
	AUTOCAST_POLICY=$policy LD_PRELOAD=$preload timeout 60 "$work/program" \
	    >"$work/with" 2>"$work/with.err"
	equal "with the library it ends so, '$policy'" 9 $?
	same "... with the same answers, '$policy'" "$work/alone" "$work/with"
	same "... and messages, '$policy'" "$work/alone.err" "$work/with.err"
done
echo "# $(cat "$work/alone")"
plan
