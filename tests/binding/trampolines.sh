#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program whose names of NVIDIA's are those of a library that passes calls on
# to the libraries that it opens at the first one, as TensorFlow's does: its
# handles are known and its calls recast, from the first one on, as those of the
# same program that is linked to NVIDIA's libraries.
. "$(dirname "$0")/binding.sh"
need_emulator
[ "$(uname -m)" = x86_64 ] || skip_all 'the trampolines are for x86-64'
paths=$emulator:$work
policy='gemm -> fp16 profit=off; conv -> fp16 profit=off'
programs=$root/tests/preload/programs

# Both interfaces of cuBLAS, and cuDNN's if it was built.
sources=("$programs/injected.c")
libraries=("$emulator/libcublasLt.so.13" "$emulator/libcublas.so.13")
if [ -e "$build/tests/preload/programs/injected_conv" ]; then
	sources+=("$programs/injected_conv.c")
	libraries+=("$emulator/libcudnn.so.9")
fi
rest=("$emulator/libcudart.so.13" -lm "-Wl,-rpath-link,$emulator")
compile direct -I"$root" "${sources[@]}" "${libraries[@]}" "${rest[@]}"
nm -D --undefined-only "$work/direct" | sed 's/@.*//' | sed -n '
    s/.* \(cublasLt.*\)/TRAMPOLINE(\1, "libcublasLt.so.13")/p; t
    s/.* \(cublas.*\)/TRAMPOLINE(\1, "libcublas.so.13")/p
    s/.* \(cudnn.*\)/TRAMPOLINE(\1, "libcudnn.so.9")/p' >"$work/names"

# framework FLAGS: libframework.so.
framework()
{
	compile libframework.so -shared -fPIC -Wl,-soname,libframework.so \
	    "-DNAMES=\"$work/names\"" "-DFLAGS=$1" "$here/trampolines.c" -ldl
}

# facts: of the last run's calls.
facts()
{
	query 'sorted((s["operation"], s["calls"], s["recast_calls"]) for s in sites)'
}

# recast NAME PROGRAM ARGS...
recast()
{
	bound "$policy" "${@:2}" 2>&1 | sed '/^main 0$/d' >"$work/bound"
	same "$1: it computes the same" "$work/right" "$work/bound"
	equal "$1: what is recast" "$expected" "$(facts)"
}

framework 'RTLD_NOW | RTLD_LOCAL'
compile linked "${sources[@]}" "$work/libframework.so" "${rest[@]}"
compile plugin.so -shared -fPIC "${sources[@]}" "$work/libframework.so" \
    "${rest[@]}"
compile plugin.so -shared -fPIC "${sources[@]}" -Wl,--no-as-needed \
    "$work/libframework.so" "${libraries[@]}" "${rest[@]}"
compile host "$here/host.c" -ldl

alone "$work/direct" >"$work/right" 2>&1
bound "$policy" "$work/direct" >"$work/bound" 2>&1
same 'linked to NVIDIA'\''s: recast, it is right' "$work/right" "$work/bound"
expected=$(facts)
check 'linked to NVIDIA'\''s: calls are recast' \
    "$([ "$(total totals.recast_calls)" -gt 9 ] || echo "$expected")"
recast 'linked' "$work/linked"
recast 'a plugin' "$work/host" now "$work/plugin.so" main
recast 'a plugin next to NVIDIA'\''s' "$work/host" now "$work/plugin.so" main
all=('RTLD_LAZY | RTLD_GLOBAL' 'RTLD_NOW | RTLD_DEEPBIND')
if [ -n "${SANITIZERS:-}" ]; then # whose malloc() it would not get
	skip 'a plugin, RTLD_DEEPBIND' "no sanitizer allows it ($SANITIZERS)"
	all=("${all[0]}")
fi
for flags in "${all[@]}"; do
	framework "$flags"
	recast "a plugin, $flags" "$work/host" now "$work/plugin.so" main
done
after=$(joined "$work/libframework.so" "${libraries[@]}")
recast 'before NVIDIA'\''s' "$work/linked"
after=$(joined "${libraries[@]}")
recast 'after NVIDIA'\''s' "$work/linked"
plan
