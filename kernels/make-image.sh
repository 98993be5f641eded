#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernels/make-image.sh PTX IMAGE TARGET... -- compile a text for these GPUs, as
# "80 90": the machine code and the text in one file that a driver takes whole.
# At the end stands the text once more, by which the library knows its own
# (kernels/load/image.c). $PTXAS and $FATBINARY are CUDA's.
set -eu
ptx=$1 image=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
for target; do
	"$PTXAS" -O3 --fmad=false -arch="sm_$target" -o "$work/$target.cubin" \
	    "$ptx"
	set -- "$@" "--image3=kind=elf,sm=$target,file=$work/$target.cubin"
	shift
done
"$FATBINARY" -64 --compress=false --create="$work/image" "$@" \
    "--image3=kind=ptx,sm=70,file=$ptx"
cat "$work/image" "$ptx" >"$image.new"
mv "$image.new" "$image"
