#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T18, T19: libraries and plugins that are closed, and others that come to lie
# where they were: neither a pointer nor a decision outlives what it is about.
. "$(dirname "$0")/binding.sh"
cublas_stubs
gpu_stub
stub release libcublas.so.13 stub_cublas.c -DVERSION=13 -DRELEASE=1
compile swap "$here/swap.c" -ldl
for version in 12 13; do
	compile plugin$version.so -shared -fPIC "$here/plugin.c" \
	    "$work/$version/libcublas.so.$version"
done
compile twin.so -shared -fPIC "$here/plugin.c" "$work/13/libcublas.so.13"
tf32='gemm -> tf32 profit=off guard=off'
paths=$paths:$work

# swapped NAME STATUSES POLICY WAY FILE FILE: a hundred rounds.
swapped()
{
	local status
	bound "$3" "$work/swap" "${@:4}" >"$work/bound" 2>"$work/err"
	status=$?
	# Nothing was shown if the loader chose other addresses.
	if [ "$status" = 3 ]; then
		skip "$1" 'the loader put them elsewhere'
	else
		equal "$1" "$2 status 0" \
		    "$(sed 's/^[a-z]* //' "$work/bound" | xargs) status $status"
	fi
}

for policy in off "$tf32"; do
	answers='1200 1300'
	[ "$policy" = off ] || answers='1201 1301'
	swapped "T18: another libcublas at the same address, by dlsym, $policy" \
	    "$answers" "$policy" library libcublas.so.12 libcublas.so.13
	equal 'T18: every call was counted' 100 "$(counted)"
	swapped "T18: another libcublas at the same address, plugins, $policy" \
	    "$answers" "$policy" plugin plugin12.so plugin13.so
	equal 'T18: every call was counted' 100 "$(counted)"
	answers='1300 1310'
	[ "$policy" = off ] || answers='1301 1311'
	swapped "T18: another release at the same address, by dlsym, $policy" \
	    "$answers" "$policy" library "$work/13/libcublas.so.13" \
	    "$work/release/libcublas.so.13"
	equal 'T18: every call was counted' 100 "$(counted)"
done
equal 'T18: every call was recast' 100 \
    "$(grep -c '^libcublas.so.13: cublasGemmEx' "$work/err")"

# What closes has nothing to do with us: nothing is to be learnt again.
compile stranger.so -shared -fPIC -x c /dev/null
compile strangers "$here/strangers.c" "$work/13/libcublas.so.13"
if [ -n "$sanitizer$in_emulator" ]; then
	skip 'T18: other libraries that come and go' \
	    'a sanitizer or an emulator keeps memory'
else
	bound off "$work/strangers" "$work/stranger.so" >"$work/bound" 2>&1
	equal 'T18: other libraries that come and go cost no memory' \
	    '0 16000' "$? $(counted)"
fi

# The plugins are the same to the byte but for their names, which rules name.
swapped 'T19: the decision follows the plugin' '1301 1300' \
    'gemm caller=plugin13.so -> tf32 profit=off guard=off; gemm caller=twin.so -> keep' \
    plugin plugin13.so twin.so
swapped 'T19: the other way round' '1300 1301' \
    'gemm caller=twin.so -> tf32 profit=off guard=off; gemm caller=plugin13.so -> keep' \
    plugin plugin13.so twin.so
equal 'T19: and each is a site of its own' 'plugin13.so 50 twin.so 50' \
    "$(query '" ".join(sorted("%s %d" % (s["caller"].split("+")[0], s["calls"])
    for s in sites))')"
compile solver.so -shared -fPIC -DSOLVES "$here/plugin.c" "$work/13/libcublas.so.13"
swapped 'T19: who solves is forgotten with it' '1300 1301' \
    'gemm solver=yes -> keep; gemm solver=no -> tf32 profit=off guard=off' \
    plugin solver.so plugin13.so
swapped 'T19: the other way round, once more' '1301 1300' \
    'gemm solver=yes -> keep; gemm solver=no -> tf32 profit=off guard=off' \
    plugin plugin13.so solver.so
plan
