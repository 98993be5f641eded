#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T38: the emulated GPU's libraries, found by LD_LIBRARY_PATH, and preloaded
# after ours for a program whose DT_RPATH goes before that: both counted.
. "$(dirname "$0")/binding.sh"
need_emulator
emulated=("$emulator/libcublas.so.13" "$emulator/libcudart.so.13")
compile found "$root/examples/sgemm_strided.c" "${emulated[@]}" \
    "-Wl,-rpath-link,$emulator" -lm
# What the run path leads to answers nothing that this program can use.
stub wrong libcublas.so.13 stub_cublas.c -DVERSION=13
compile fixed "$root/examples/sgemm_strided.c" "${emulated[@]}" \
    "-Wl,-rpath-link,$emulator,--disable-new-dtags,-rpath,$work/wrong" -lm
paths=$emulator

alike 'T38: found by LD_LIBRARY_PATH' 9 "$work/found"
cp "$work/alone" "$work/right"
alone "$work/fixed" >"$work/out" 2>&1
check 'T38: a DT_RPATH goes before LD_LIBRARY_PATH' \
    "$(cmp -s "$work/out" "$work/right" && echo 'it did not')"
# By SONAME: what is preloaded is not looked for. Nothing else leads there.
paths='' after=$(joined "${emulated[@]}" "$emulator/libcuda.so.1")
alike 'T38: preloaded after us, for a program with a DT_RPATH' 9 "$work/fixed"
same 'T38: it computed the same' "$work/right" "$work/bound"
plan
