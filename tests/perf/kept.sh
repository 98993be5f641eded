#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T21, T42: what a call costs that is kept, and what the cost does not depend on.
# Instructions, counted by callgrind: exact, whatever else runs. Times are taken
# too and only printed (bench/overhead says more).
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
need_callgrind
build_caller
build_crowd
build_symbols
build_pattern 1

figures direct direct_many -- product 2000 1 product 4096 1024
preload=$work/empty.so figures empty_dlsym empty_default -- \
    dlsym 1000 1 default 1000 1

# ---- T42: a kept call --------------------------------------------------------
for policy in off amp "$work/rules16" "$work/rules200"; do
	preload=$library figures one many -- product 2000 1 product 4096 1024
	name=${policy##*/}
	at_most "T42: instructions over a direct call, $name" \
	    $((one - direct)) 150
	at_most "T42: instructions over a direct call, $name, 1024 sizes" \
	    $((many - direct_many)) 150
	check "T42: and the call was seen, $name" \
	    "$([ $((one - direct)) -ge 20 ] || echo "$one, $direct direct")"
done
policy=off
preload=$library figures kept dlsym default -- \
    product 2000 1 dlsym 1000 1 default 1000 1
preload=$library options=-d figures thunk -- product 2000 1
at_most 'T42: instructions over a direct call, by dlsym()' \
    $((thunk - direct)) 200
at_most 'T42: hundredths of the instructions of a direct call' \
    "$(hundredths "$kept" "$direct")" 650
preload=$work/pattern1.so figures pattern -- product 2000 1
at_most 'T42: hundredths of the instructions of a dlsym() at every call' \
    "$(hundredths "$kept" "$pattern")" 25

# ---- T42: where a compiler guards stacks by default ---------------------------
# guarded OPTION...: wrappers of products in which it guards one.
guarded()
{
	local part

	for part in gemm/cublas_gemm lt/cublaslt_matmul; do
		${CC:-cc} ${CUDA_CPPFLAGS:-} -D_GNU_SOURCE -std=gnu11 -O2 -fPIC -w \
		    -fvisibility=hidden -fstack-protector-strong "$@" -I"$root" \
		    -I"$root/include" -S -o "$work/guarded.s" \
		    "$root/shim/$part.c" || echo "$part.c does not compile"
		awk '/^[A-Za-z_][A-Za-z_0-9]*:/ { name = $1 }
		    /__stack_chk_fail/ && name ~ /^cublas/ { print name }' \
		    "$work/guarded.s"
	done
}
found=$(guarded -Dno_stack_protector=unused)
if [ -z "$found" ]; then
	skip 'T42: no wrapper of a product is guarded' 'this compiler guards none'
else
	check 'T42: no wrapper of a product is guarded' "$(guarded)"
fi

# ---- T21: what it does not depend on ------------------------------------------
with=("${variables[@]}")
preload=$library figures found -- product 2000 1
with=()
at_most "T21: hundredths of it with $crowd_size more environment variables" \
    "$(hundredths "$found" "$kept")" 110
preload=$library$crowd figures found -- product 2000 1
at_most "T21: hundredths of it with $crowd_size more libraries" \
    "$(hundredths "$found" "$kept")" 110
preload=$library folder=$work/symbols figures found -- product 2000 1
at_most 'T21: hundredths of it called from an object with 20,000 symbols' \
    "$(hundredths "$found" "$kept")" 110

# ---- T42: dlsym() of what is not ours ------------------------------------------
at_most 'T42: hundredths of dlsym() of a foreign name with an empty library' \
    "$(hundredths "$dlsym" "$empty_dlsym")" 120
at_most 'T42: hundredths of dlsym(RTLD_DEFAULT) of a foreign name' \
    "$(hundredths "$default" "$empty_default")" 120
plan
