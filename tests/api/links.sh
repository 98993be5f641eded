#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One training program, linked with the library before and after NVIDIA's
# libraries, or with none and AUTOCAST_DYNAMIC; with and without the preload,
# which wins where it is there. The weights are the same bits everywhere.
. "$(dirname "$0")/../preload/preload.sh"
need_emulator
api=$build/libautocast-api.so
ln -s "$emulator/libcublas.so.13" "$work/libcublas.so"
ln -s "$emulator/libcudart.so.13" "$work/libcudart.so"
vendor="-L$work -Wl,-rpath-link,$emulator -lcublas -lcudart"
ours="-L$build -lautocast-api"

# compile NAME ARGS...: the training program.
compile()
{
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O2 -fPIE -pie \
	    ${SANITIZERS:+-fsanitize=$SANITIZERS} \
	    $CUDA_CPPFLAGS -I"$root/include" -o "$work/$1" \
	    "$root/tests/api/training.c" "${@:2}" -ldl || exit 99
}
{
compile before $ours $vendor
compile after $vendor $ours
compile dynamic -DAUTOCAST_DYNAMIC $vendor
compile both -DAUTOCAST_DYNAMIC $vendor -Wl,--no-as-needed $ours
}

# runs NAME WHERE SCALE ENVIRONMENT COMMAND...: exits with 0, finds the
# functions in WHERE, ends with SCALE, and with the weights of all others.
runs()
{
	env LD_LIBRARY_PATH="$emulator:$build" AUTOCAST_POLICY=off $4 "${@:5}" \
	    >"$work/out" 2>"$work/err"
	equal "$1: status" 0 $?
	equal "$1: whose functions" "$2" "$(sed -n 's/^autocast_functions_get: //p' "$work/out")"
	if grep -q '^bound' "$work/out"; then
		equal "$1: bound" "bound to $2" "$(grep '^bound' "$work/out")"
	fi
	equal "$1: scale" "$3" "$(grep '^scale' "$work/out")"
	check "$1: says nothing" "$(cat "$work/err")"
	grep 'p[-+]' "$work/out" >"$work/weights"
	[ -e "$work/expected" ] || cp "$work/weights" "$work/expected"
	equal "$1: there are weights" 60 "$(wc -l <"$work/weights")"
	same "$1: weights" "$work/expected" "$work/weights"
}

real='scale 262144, tracker 1'
none='scale 1, tracker 0'
for program in before after; do
	runs "$program, alone" libautocast-api.so.1 "$real" \
	    "${sanitizer:+LD_PRELOAD=$sanitizer}" "$work/$program"
	[ -f "$library" ] && runs "$program, preloaded" libautocast.so "$real" \
	    "LD_PRELOAD=$preload" "$work/$program"
done
runs 'dynamic, alone' nowhere "$none" \
    "${sanitizer:+LD_PRELOAD=$sanitizer}" "$work/dynamic"
[ -f "$library" ] && runs 'dynamic, preloaded' libautocast.so "$real" \
    "LD_PRELOAD=$preload" "$work/dynamic"
runs 'dynamic, opened' libautocast-api.so.1 "$real" \
    "${sanitizer:+LD_PRELOAD=$sanitizer}" "$work/dynamic" "$api.1"
[ -f "$library" ] && runs 'dynamic, opened and preloaded' libautocast.so "$real" \
    "LD_PRELOAD=$preload" "$work/dynamic" "$api.1"
runs 'dynamic, linked' libautocast-api.so.1 "$real" \
    "${sanitizer:+LD_PRELOAD=$sanitizer}" "$work/both"
check 'a program that looks up links with nothing of ours' \
    "$(readelf -W -d "$work/dynamic" | grep -i autocast)"
plan
