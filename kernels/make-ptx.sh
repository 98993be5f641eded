#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernels/make-ptx.sh [OUTPUT] -- compile cast.cu to the PTX that is checked in.
#
# The header is lowered to the oldest version and target that the text really
# needs (shfl.sync: 6.0; sm_70), so that the driver of any CUDA since 9 takes
# it; tests/lint/ptx.sh proves that it assembles. Without OUTPUT, cast.ptx and
# the record of the compiler (cast.ptx.nvcc) are replaced; with OUTPUT only
# that file is written. Run by hand after editing cast.cu, cast.h or kernels.h.
set -eu

room=$(cd "$(dirname "$0")" && pwd)
nvcc=${NVCC:-nvcc}
output=${1:-$room/cast.ptx}
raw=$(mktemp)
trap 'rm -f "$raw"' EXIT INT TERM

"$nvcc" -ptx -O3 -arch=compute_75 -I "$room/.." -o "$raw" "$room/cast.cu"
# File and line records would carry the paths of the machine.
sed -e 's/^\.version .*/.version 6.0/' -e 's/^\.target .*/.target sm_70/' \
    -e '/^[[:space:]]*\.file[[:space:]]/d' \
    -e '/^[[:space:]]*\.loc[[:space:]]/d' \
    -e '/^\/\//d' "$raw" |
    { echo '// SPDX-License-Identifier: Apache-2.0'
      echo '// Made by kernels/make-ptx.sh from kernels/cast.cu; do not edit.'
      cat; } > "$output"
[ $# -gt 0 ] || "$nvcc" --version | sed -n 's/^Cuda compilation tools, //p' \
    > "$room/cast.ptx.nvcc"
