#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# emulated.sh -- the emulated libraries export the names of emulator/names/ and
# functions of ours that a sister library imports. What is built of them, and is
# no stub, is called: by another folder of this repository, or by a program of
# emulator/EXPORTS.
. "$(dirname "$0")/tap.sh"

[ -f "$build/emulator/libcuda.so.1" ] || skip_all 'no emulated GPU was built'
command -v nm >/dev/null 2>&1 || skip_all 'no nm'

# One name for all forms of a function.
fold()
{
	sed -E 's/@.*//; s/(_(v[0-9]+|64|ptsz|ptds))+$//' | sort -u
}

# What could be such a function's name in the files that are listed on stdin.
names()
{
	(cd "$root" && xargs grep -ohaE '\b(__cuda|cu|emu|nvml)[A-Za-z0-9_]+') |
	    fold
}

# A stub is weak.
exports=$(nm -D --defined-only "$build"/emulator/lib*.so.* |
    awk 'NF == 3 && $2 == "T" { print $3 }' | fold)
named=$(files 'shim/*' 'kernels/*' 'scaler/*' 'bench/*' 'examples/*' 'tests/*' |
    grep -v '^tests/unit/emulator/' | names)
# CALL(symm, ...) of test_emu_matrix.c calls cublasSsymm and cublasDsymm;
# cublas##L##getrfBatched of test_emu_factor.c the forms of both letters.
made()
{
	file=$root/tests/unit/emulator/$1.c before=$2 after=$3
	shift 3
	for letters; do
		sed -En "s/.*$before([A-Za-z0-9]+)$after.*/\1/p" "$file" |
		    sed "s/^/$letters/"
	done
}
tested=$(files 'tests/unit/emulator/*' | names
    made test_emu_matrix '\bCALL\(' , cublasS cublasD
    made test_emu_factor '\bcublas##L##' '' cublasS cublasD
    made test_emu_systems '\bcublas##L##' '' cublasS cublasD cublasC cublasZ
    made test_emu_typed '\bcublas##L##' '' cublasC cublasZ
    made test_emu_typed '\bcublas##L##r##' '' cublasCs cublasZd
    made test_emu_typed '\bcublas##norm##' '' cublasSc cublasDz
    made test_emu_typed '\bcublasI##l##' '' cublasIc cublasIz)
# [SD] stands for both letters.
listed=$(sed -n 's/^\t//p' "$root/emulator/EXPORTS" | tr ' ' '\n' |
    awk -F '[][]' 'NF == 1; NF > 1 {
	for (i = 1; i <= length($2); i++)
		print $1 substr($2, i, 1) $3 }' | sort)
imports=$(nm -D --undefined-only "$build"/emulator/lib*.so.* |
    awk '{ print $NF }' | fold)

for library in "$build"/emulator/lib*.so.*; do
	list=$(basename "$library" | sed 's/^lib\(cu[a-z]*\)\(Lt\)\{0,1\}\.so/\1\2/
	    s/Lt/lt/; s/^cuda\.1/cuda/; s/^libnvidia-ml.*/nvml/')
	check "$(basename "$library") exports the names of $list, at their nodes" \
	    "$(nm -D --defined-only "$library" |
	        awk 'NF == 3 && $2 != "A" && $3 !~ /^emu/ { print $3 }' |
	        sed 's/@@/@/' | LC_ALL=C sort >"$work/exports"
	    sed '/^#/d' "$root/emulator/names/$list" |
	        diff - "$work/exports" 2>&1 | head -n 20)"
done
check 'somebody calls each function of NVIDIA that is built' \
    "$(echo "$exports" | grep -v '^emu' | grep -vxF "$named
$listed")"
check 'a test or the product names each of them' \
    "$(echo "$exports" | grep -v '^emu' | grep -vxF "$named
$tested")"
check 'somebody calls each function of ours that libcuda.so.1 exports' \
    "$(echo "$exports" | grep '^emu' | grep -vxF "$named
$imports")"
[ -f "$build/emulator/libcudnn.so.9" ] ||
    listed=$(echo "$listed" | grep -v '^cudnn')
# What the headers of CUDA 13.0 do not declare is a stub by them.
echo '#include <cublas_api.h>' | ${CC:-cc} ${CUDA_CPPFLAGS:-} -E -xc - |
    grep -q cublasSetEmulationSpecialValuesSupport ||
    listed=$(echo "$listed" | grep -vE 'FixedPointEmul|EmulationSpecial')
check 'emulator/EXPORTS names functions that are exported, once each' \
    "$(echo "$listed" | grep -vxF "$exports"
    echo "$listed" | uniq -d)"
plan
