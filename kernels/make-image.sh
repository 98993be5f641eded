#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernels/make-image.sh PTX PACKED IMAGE TARGET... -- compile a text for these GPUs,
# as "80 90": the machine code and the text in one file that a driver takes whole.
# At the end stand check sum and length of the text, by which the library knows its
# own (kernels/load/image.c). $PTXAS and $FATBINARY are CUDA's.
set -eu
ptx=$1 packed=$2 image=$3
shift 3
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
{ cat "$work/image" && tail -c 8 "$packed"; } >"$image.new"
mv "$image.new" "$image"
