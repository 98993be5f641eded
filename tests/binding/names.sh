#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every name of emulator/names/: a program that is linked with all names of one
# emulated library begins, with all of them bound at its start. What is not
# built answers that it is not supported, says its name once, and returns what
# its kind of function returns. File names without a version reach CUDA 13's.
. "$(dirname "$0")/../preload/preload.sh"
emulator=$build/emulator
[ -f "$emulator/libcuda.so.1" ] || skip_all 'no emulated GPU was built'
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"
command -v nm >/dev/null || skip_all 'no nm'
export LD_LIBRARY_PATH=$emulator

# every LIST LIBRARY: a program with a pointer to each name of LIST.
every()
{
	if [ ! -f "$emulator/$2" ]; then
		skip "every name of $1 is bound" "no $2"
		return
	fi
	sed '/^#/d; s/@.*//' "$root/emulator/names/$1" >"$work/names"
	{
		sed 's/.*/int &();/' "$work/names"
		echo 'int (*const every[])() = {'
		sed 's/$/,/' "$work/names"
		printf '};\nint printf(const char *, ...);\nint main(void) {\n'
		echo 'int bound = 0; for (unsigned i = 0; i < sizeof every /'
		echo 'sizeof *every; i++) bound += every[i] != 0;'
		echo 'printf("%d\n", bound); return 0; }'
	} >"$work/every.c"
	${CC:-cc} -w -std=gnu11 -fno-builtin -o "$work/every" "$work/every.c" \
	    "$emulator/$2" -Wl,-rpath-link,"$emulator" || exit 99
	equal "every name of $1 is bound" "$(wc -l <"$work/names")" \
	    "$(LD_BIND_NOW=1 "$work/every" 2>&1)"
}
every cublas.13 libcublas.so.13
every cublas.12 libcublas.so.12
every cublaslt.13 libcublasLt.so.13
every cublaslt.12 libcublasLt.so.12
every cudart.13 libcudart.so.13
every cudart.12 libcudart.so.12
every cuda libcuda.so.1
every nvml libnvidia-ml.so.1
every cudnn.9 libcudnn.so.9
every cudnn.8 libcudnn.so.8

# One stub of each kind: library, name, what it returns.
cat >"$work/stub.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int
main(int count, char **words)
{
	void *library = dlopen(words[1], RTLD_NOW);
	void *at = library ? dlsym(library, words[2]) : NULL;
	int (*asked)(void) = (int (*)(void))dlsym(library, count > 4 ?
	    words[4] : words[2]);

	if (!at) {
		printf("%s\n", dlerror());
		return 1;
	}
	for (int i = 0; i < 2; i++) {
		if (!strcmp(words[3], "int"))
			printf("%d ", ((int (*)(void))at)());
		else if (!strcmp(words[3], "float"))
			printf("%g ", (double)((float (*)(void))at)());
		else if (!strcmp(words[3], "double"))
			printf("%g ", ((double (*)(void))at)());
		else if (!strcmp(words[3], "void"))
			((void (*)(void))at)();
	}
	printf(count > 4 ? "then %d\n" : "\n", count > 4 ? asked() : 0);
	return 0;
}
END
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -o "$work/stub" "$work/stub.c" -ldl || exit 99
# stub LIBRARY NAME KIND ANSWERS WORD [FUNCTION THAT IS ASKED THEN]
stub()
{
	if [ ! -f "$emulator/$1" ]; then
		skip "$1: $2 is not supported" "no $1"
		return
	fi
	equal "$1: $2 is not supported" "$4" \
	    "$("$work/stub" "$1" "$2" "$3" ${6+"$6"} 2>"$work/said" | sed 's/ $//')"
	equal "$1: $2 is named once" \
	    "autocast: emulated GPU: $2: is not built: $5" "$(cat "$work/said")"
}
blas=CUBLAS_STATUS_NOT_SUPPORTED dnn=CUDNN_STATUS_NOT_SUPPORTED
stub libcublas.so.13 cublasCgeqrfBatched int '15 15' $blas
stub libcublas.so.12 cublasCgeqrfBatched int '15 15' $blas
stub libcublas.so.13 cublasSsbmv void 'then 15' $blas cublasGetError
stub libcublas.so.13 cublasIcamin int '0 0 then 15' $blas cublasGetError
stub libcublas.so.13 cublasSnrm2 float '0 0' $blas
stub libcublas.so.12 cublasDzasum double '0 0' $blas
stub libcublasLt.so.13 cublasLtHeuristicsCacheGetCapacity int '15 15' $blas
stub libcudart.so.13 cudaGraphDebugDotPrint int '801 801 then 801' \
    cudaErrorNotSupported cudaGetLastError
stub libcudart.so.12 cudaCreateTextureObject int '801 801' cudaErrorNotSupported
stub libcuda.so.1 cuTexRefCreate int '801 801' CUDA_ERROR_NOT_SUPPORTED
stub libcudnn.so.9 cudnnMultiHeadAttnForward int '3000 3000' $dnn
stub libcudnn.so.8 cudnnMultiHeadAttnForward int '9 9' $dnn

# Calls that a header renames are there by their first names, too.
for name in cuCtxDestroy cuDevicePrimaryCtxRelease cuEventDestroy \
    cuStreamDestroy cuCtxPopCurrent cuCtxPushCurrent \
    cuDevicePrimaryCtxReset cuEventElapsedTime; do
	check "$name is no stub" \
	    "$(nm -D "$emulator/libcuda.so.1" | grep -x ".* W $name")"
done
equal 'a first name does what the second does' '3 3' \
    "$("$work/stub" libcuda.so.1 cuCtxPopCurrent int 2>/dev/null |
        sed 's/ $//')"

for name in libcublas libcublasLt libcudart libcuda libcudnn; do
	[ -e "$emulator/$name.so" ] || continue
	equal "$name.so is the newest $name" \
	    "$(cd "$emulator" && find . -name "$name.so.*" |
	        sort -t. -k4n | sed 's,^\./,,' | tail -n 1)" \
	    "$(readlink "$emulator/$name.so")"
	check "$name.so is opened" "$("$work/stub" $name.so nothing int 2>&1 |
	    grep -v 'undefined symbol: nothing')"
done
plan
