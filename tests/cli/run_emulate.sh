#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_emulate.sh -- the emulated GPU is put in front of NVIDIA's, and what it
# cannot serve is refused before it starts.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
library=$(readlink -f "$build/libautocast.so")
emulator=$build/emulator
emulated=0
[ -f "$emulator/libcublas.so.13" ] && emulated=1

# What a static CUDA runtime and a static cuBLAS leave in a program.
refused()
{
	local name=$1 wanted=$2
	local said

	said=$("$autocast" run --emulate "$3" 2>&1)
	equal "$name" "$?: $said" "126: autocast: $wanted"
}

cudart='./program has the CUDA runtime linked in, which the emulated GPU cannot replace; rebuild with -cudart shared'
cublas='./program has cuBLAS linked in, which the emulated GPU cannot replace; rebuild with -lcublas instead of -lcublas_static'
echo '#include <stdio.h>
int main(void) { puts("cudaErrorCudartUnloading"); puts("startup failure in cuda runtime"); return 0; }' |
    compile program || skip_all 'cannot compile'
refused 'static CUDA runtime' "$cudart" ./program
equal 'no matter on a real GPU' "$("$autocast" run ./program | wc -l)" 2
echo '#include <stdio.h>
int main(void) { puts("CUBLAS_LOGDEST_DBG"); puts("CUBLAS_WORKSPACE_CONFIG"); return 0; }' |
    compile program
refused 'static cuBLAS' "$cublas" ./program
if command -v nvcc >/dev/null 2>&1; then
	echo 'int main() { void *p; return cudaMalloc(&p, 1); }' >program.cu
	if nvcc -cudart static -o program program.cu 2>/dev/null; then
		strip program
		refused 'what nvcc links by default' "$cudart" ./program
		nvcc -cudart shared -o program program.cu
		"$autocast" run --emulate ./program 2>err >/dev/null
		equal 'its shared runtime is none' "$(grep -c 'linked in' err)" 0
	else
		skip 'what nvcc links by default' 'nvcc does not link'
		skip 'its shared runtime is none' 'nvcc does not link'
	fi
else
	skip 'what nvcc links by default' 'no nvcc'
	skip 'its shared runtime is none' 'no nvcc'
fi

if [ $emulated = 0 ]; then
	"$autocast" run --emulate true 2>err
	equal 'without an emulated GPU' "$?,$(cat err)" \
	    '125,autocast: the emulated GPU is not installed; install autocast-emulator, or build with OpenBLAS'
	plan
	exit
fi
# What the program needs, and what its libraries need, is looked at before.
echo 'int cusparseCreate(void) { return 3; }' |
    ${CC:-cc} -shared -fPIC -x c -Wl,-soname,libcusparse.so.12 \
        -o libcusparse.so.12 - || exit 99
echo 'int cublasNoSuchThing(void); int inner(void) { return cublasNoSuchThing(); }
const char *const marks[] = { "cudaErrorCudartUnloading",
    "startup failure in cuda runtime" };' |
    ${CC:-cc} -shared -fPIC -x c -Wl,-soname,libinner.so -o libinner.so - || exit 99
echo 'int cusparseCreate(void), inner(void);
int main(int count, char **words) {
	(void)words;
	return count > 3 ? cusparseCreate() + inner() : 5; }' |
    ${CC:-cc} -x c -o needy - -Wl,-z,lazy -Wl,--allow-shlib-undefined \
        -L. -l:libcusparse.so.12 -l:libinner.so -Wl,-rpath,"$PWD" || exit 99
"$autocast" run --emulate ./needy >/dev/null 2>err
equal 'a program that needs more than there is runs all the same' 5 $?
equal 'what it lacks is said first' \
    "autocast: libcusparse.so.12, which the program needs, has no emulated stand-in: its calls fail without a GPU
autocast: $PWD/libinner.so has the CUDA runtime linked in, which the emulated GPU cannot replace
autocast: cublasNoSuchThing, which $PWD/libinner.so needs, is not in the emulated GPU's libraries" \
    "$(head -n 3 err)"
AUTOCAST_NOTICE=off "$autocast" run --emulate ./needy 2>err
equal 'unless nothing is to be said' '' "$(cat err)"
"$autocast" doctor --emulate -- ./needy >/dev/null 2>err
equal 'the doctor says it, too' 3 "$(grep -c '^autocast: .*libcusparse\|libinner' err)"

# What the loader refuses: the doctor's command says which name it is.
echo 'int cublasNoSuchThing(void) { return 0; }' |
    ${CC:-cc} -shared -fPIC -x c -Wl,-soname,libcublas.so.13 \
        -o libcublas.so.13 - || exit 99
echo 'int cublasNoSuchThing(void); int main(void) { return cublasNoSuchThing(); }' |
    ${CC:-cc} -x c -o nameless - -Wl,-z,now -L. -l:libcublas.so.13 || exit 99
rm libcublas.so.13
"$autocast" doctor --emulate -- ./nameless >out 2>/dev/null
equal 'a name is missing at the start: the cause' \
    "$(grep -c '^problem .*a library or a function that it needs is missing' out)" 1
equal 'and the command that shows it' \
    "$(bash -c "$(tail -n 1 out)" 2>/dev/null | grep -c 'undefined symbol: cublasNoSuchThing')" 1
# A program without CUDA: the doctor that run names says so.
echo 'int main(void) { return 0; }' | compile plain
next=$("$autocast" run --emulate ./plain 2>&1 | sed -n 's/.*; type: autocast //p')
equal 'no CUDA at all: what run recommends' "$next" 'doctor --emulate -- ./plain'
equal 'says why' "$("$autocast" $next 2>&1 | grep -c '^problem  neither cuBLAS nor cuDNN was loaded')" 1

# One that gives up where the emulated GPU refuses a call, in a child.
echo '#include <dlfcn.h>
int main(void) {
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned) = dlsym(driver, "cuInit");
	int (*table)(void) = dlsym(driver, "cuGetExportTable");
	return init(0) || table() + table() == 0; }' | compile refused
what='the emulated GPU refused cuGetExportTable: is not built: [A-Z_]*'
equal 'a refused call is the cause' "$("$autocast" run --emulate sh -c './refused; true' 2>&1 |
    grep -c "^autocast: no call of cuBLAS or cuDNN was seen: $what; type: autocast doctor --emulate -- sh -c ")" 1
"$autocast" doctor --emulate -- sh -c './refused; true' >out 2>/dev/null
equal 'the doctor says it, too' "$?,$(grep -c "^problem  $what; the program then made no product, which on a real GPU it may$" out),$(tail -n 1 out)" \
    "2,1,$autocast doctor -- sh -c './refused; true'"
equal 'of another run nothing is left' "$("$autocast" run --emulate true 2>&1 | grep -c refused)" 0

# A fat binary as nvcc packs it: KINDS of entries of 8 bytes, 1 for PTX, 2 for
# machine code, whose text says whether it has kernels.
device_code()
{
	local kind size=$((72 * $#))

	echo 'struct fat { unsigned magic; unsigned short version, bytes;
	unsigned long size; struct { unsigned short kind, version; unsigned head;
	unsigned long size, rest[6]; char text[8]; } e[4]; };
__attribute__((section(".nv_fatbin"), aligned(8), used))'
	echo "static const struct fat fat = { 0xba55ed50, 1, 16, $size, {"
	for kind; do
		echo "{ ${kind%%[!0-9]*}, 1, 64, 8, { 0 }, \"${kind#[0-9]}\" },"
	done
	echo '} };'
}
kernels_of()
{
	"$autocast" run --emulate ./kernels 2>&1 |
	    grep 'machine code only\|-gencode'
}
code='kernels as machine code only; the emulated GPU runs PTX'
next='autocast: build with -arch=sm_80, or add -gencode arch=compute_80,code=compute_80: both keep the PTX'
{ device_code 2code; echo 'int inside(void) { return 0; }'; } |
    ${CC:-cc} -shared -fPIC -x c -o libkernels.so - || exit 99
{ device_code 2code 2code; echo 'int inside(void); int main(void) { return inside(); }'; } |
    ${CC:-cc} -x c -o kernels - -L. -lkernels -Wl,-rpath,"$PWD" || exit 99
equal 'machine code only: the program, its library, what to do, once' \
    "autocast: ./kernels has $code
autocast: $PWD/libkernels.so has $code
$next" "$(kernels_of)"
{ device_code 2code; echo 'int inside(void) { return 0; }'; } |
    ${CC:-cc} -shared -fPIC -x c -o libkernels.so - || exit 99
{ device_code 2code 1text; echo 'int inside(void); int main(void) { return inside(); }'; } |
    compile kernels -L. -lkernels -Wl,-rpath,"$PWD"
equal 'the program has PTX, its library has not' \
    "autocast: $PWD/libkernels.so has $code
$next" "$(kernels_of)"
# nvcc -rdc=true keeps the PTX of the pieces where no driver looks for it.
{ device_code 2code; device_code 1text | sed 's/"\.nv_fatbin"/"__nv_relfatbin"/
s/struct fat /struct piece /; s/ fat = / piece = /'
echo 'int main(void) { return 0; }'; } | compile kernels
equal 'PTX of pieces is none' "autocast: ./kernels has $code
$next, without -rdc=true" "$(kernels_of)"
# What nvcc links into programs without kernels: machine code, but none.
{ device_code "2\\177ELF"; echo 'int main(void) { return 0; }'; } |
    compile kernels
equal 'no kernels need no PTX' '' "$(kernels_of)"

"$autocast" run --emulate true 2>err
equal 'nothing is said where nothing lacks' 0 \
    "$(grep -c 'which\|linked in' err)"

told()
{
	"$autocast" run "$2" printenv "$1" 2>/dev/null
}

equal 'found by the loader' "$(told LD_LIBRARY_PATH --emulate)" "$emulator"
equal 'before the user'\''s own' "$(LD_LIBRARY_PATH=/x:/y told LD_LIBRARY_PATH --emulate)" "$emulator:/x:/y"
equal 'the model' "$(told AUTOCAST_EMU_MODEL --emulate=t4)" t4
equal 'the model in capitals' "$(AUTOCAST_EMU_CLOCK=model \
    "$autocast" calibrate --emulate=T4 --dry-run | sed -n '1s/13\.[0-9]*$/13/p')" \
    'Tesla T4 (emulated), sm 75, driver 13.0, cublas-13'
equal 'several models' "$(told AUTOCAST_EMU_MODEL --emulate=h200,t4)" h200,t4
models=$(sed -n 's/.*\.key = "\([a-z0-9]*\)".*/\1/p' "$here/../../emulator/driver/model.c")
for model in $models; do
	equal "the model $model" "$(told AUTOCAST_EMU_MODEL "--emulate=$model")" "$model"
done
equal 'these and no others are offered' \
    "$("$autocast" run --emulate=pascal true 2>&1 | sed 's/.*--emulate=//; s/, \| or /\n/g')" \
    "$models"
equal 'one of several is none' "$("$autocast" run --emulate=h200,t5 true 2>&1)" \
    "autocast: run: no emulated GPU 't5'; use --emulate=h200, h100, b200, b300, a100, l40s, rtx4090, rtx5090, rtxpro6000 or t4"
equal 'the default model is not forced' "$(AUTOCAST_EMU_MODEL=t4 told AUTOCAST_EMU_MODEL --emulate)" t4
equal 'times are modelled' "$(told AUTOCAST_EMU_CLOCK --emulate)" model
equal 'unless the user says otherwise' "$(AUTOCAST_EMU_CLOCK=real told AUTOCAST_EMU_CLOCK --emulate)" real
equal 'no clock of a real GPU is touched' "$(told AUTOCAST_EMU_CLOCK --policy=off)" ''
equal 'compare has them modelled, too' "$("$autocast" compare --emulate -n 1 --show -- printenv AUTOCAST_EMU_CLOCK 2>/dev/null | sort | uniq -c | sed -n 's/^ *\([0-9]*\) model$/\1/p')" 4
equal 'not without being asked' "$(told LD_LIBRARY_PATH --policy=off)" ''

said=$(AUTOCAST_EMU_MODEL=h200,t5 "$autocast" run --emulate true 2>&1)
equal 'nor is one that the environment names' "$?,$said" "2,autocast: run: no emulated GPU 't5'; use --emulate=h200, h100, b200, b300, a100, l40s, rtx4090, rtx5090, rtxpro6000 or t4"

# A folder without the libraries is no emulated GPU.
mkdir -p elsewhere/emulator
cp "$autocast" "$build/libautocast.so" elsewhere/
equal 'an empty folder is none' "$(elsewhere/autocast run --emulate printenv LD_LIBRARY_PATH 2>/dev/null | grep -c elsewhere)" 0

# DT_RPATH goes before LD_LIBRARY_PATH: there the libraries are preloaded,
# behind ours, or they would take its calls.
echo '#include <stdio.h>
#include <stdlib.h>
int main(void) { puts(getenv("LD_PRELOAD")); return 0; }' >rpath.c
compile rpath -Wl,--disable-new-dtags,-rpath,/x <rpath.c
compile runpath -Wl,--enable-new-dtags,-rpath,/x <rpath.c
preloaded=$("$autocast" run --emulate ./rpath 2>/dev/null)
equal 'DT_RPATH: ours comes first' "${preloaded%%:*}" "$library"
equal 'DT_RPATH: then the emulated ones' \
    "$(echo "$preloaded" | tr : '\n' | sed 1d | sort)" \
    "$(ls "$emulator"/libcu*.so.* | sort)"
equal 'DT_RUNPATH: ours only' "$("$autocast" run --emulate ./runpath 2>/dev/null)" "$library"

example=$build/examples/digits_mlp
data=$build/examples/digits.csv
if [ -x "$example" ] && [ -f "$data" ]; then
	"$autocast" run --emulate --policy fp16 --report r.json "$example" --epochs 1 "$data" >out 2>err
	equal 'the example runs, recast' "$?,$(grep -c 'now fp16 .*emulated GPU' err)" '0,1'
	equal 'its report says emulated' \
	    "$(sed -n 's/^  *"emulated": \(.*\),$/\1/p' r.json | sort -u)" true
else
	skip 'the example runs, recast' 'examples/digits_mlp is not built'
	skip 'its report says emulated' 'examples/digits_mlp is not built'
fi
plan
