#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernels/make-ptx.sh [FOLDER] -- compile *.cu to the PTX that is checked in.
#
# The header is lowered to the oldest version and target that the text really
# needs (shfl.sync: 6.0; sm_70), so that the driver of any CUDA since 9 takes
# it; tests/lint/ptx.sh proves that it assembles. Without FOLDER, the texts here
# are replaced, and the records of the compiler (*.ptx.nvcc); with FOLDER only
# the texts are written, there. Run by hand after editing
# what the .cu files include. Those of one text are one unit, so the driver has
# one module to compile.
set -eu

room=$(cd "$(dirname "$0")" && pwd)
nvcc=${NVCC:-nvcc}
folder=${1:-$room}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# make NAME UNIT...: NAME.ptx of those .cu files.
make()
{
	name=$1
	shift
	for unit; do
		echo "#include \"kernels/$unit.cu\""
	done > "$work/all.cu"
	# As on the CPU, no product is fused into a sum.
	"$nvcc" -ptx -O3 -fmad=false -arch=compute_75 -I "$room/.." \
	    -o "$work/all.ptx" "$work/all.cu"
	# Out goes what the driver has no use for: records of files and lines
	# (they would carry the machine's paths), notes, blanks, long names of
	# labels, parameters, registers and shared memory. It is a quarter of the text. A hint on
	# bytes that nobody uses, younger than 6.0, goes as well.
	sed -e 's/^\.version .*/.version 6.0/' \
	    -e 's/^\.target .*/.target sm_70/' \
	    -e 's,//.*,,' -e 's/[[:space:]]\{1,\}/ /g' -e 's/^ //' \
	    -e 's/ $//' -e 's/, /,/g' -e 's/ ;/;/g' -e 's/\$L__BB[0-9]*_/B/g' \
	    -e 's/\bac_[a-z_]*_param_/q/g' -e 's/%\([prf][0-9<]\)/\1/g' \
	    -e 's/%rd\([0-9<]\)/d\1/g' -e 's/%rs\([0-9<]\)/h\1/g' \
	    -e 's/%fd\([0-9<]\)/g\1/g' \
	    -e 's/_ZZ[0-9]*ac_[a-z]*_\([a-z_]*\)E[0-9]*\([a-z]*\)/\1_\2/g' \
	    -e '/^\.pragma "used_bytes_mask/d' -e '/^\.file /d' -e '/^\.loc /d' -e '/^$/d' "$work/all.ptx" |
	    { echo '// SPDX-License-Identifier: Apache-2.0'
	      echo '// Made by kernels/make-ptx.sh from kernels/*.cu; do not edit.'
	      cat; } > "$folder/$name.ptx"
	[ "$folder" != "$room" ] || "$nvcc" --version |
	    sed -n 's/^Cuda compilation tools, //p' > "$room/$name.ptx.nvcc"
}

make scaler scaler/scaler scaler/scaler_sums
make recast verified/verified_probe verified/verified_bring \
    verified/verified_cast verified/verified_verify verified/verified_apart \
    verified/verified_tile verified/verified_mend \
    recast/recast_block recast/recast_ranges recast/recast_symmetric \
    conv/conv_check
