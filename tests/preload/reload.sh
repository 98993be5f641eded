#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Libraries that come and go, against a libcublas that does nothing.
. "$(dirname "$0")/preload.sh"
[ "${HAVE_CUDA:-}" = yes ] || [ -n "${CUDA_CPPFLAGS:-}" ] || skip_all 'no CUDA headers'
here=$root/tests/preload/stub

compile libcublas.so.13 -shared -fPIC -fvisibility=hidden \
    -Wl,-soname,libcublas.so.13 -Wl,--version-script="$here/stub.map" \
    "$here/stub_cublas.c"
compile plugin.so -shared -fPIC "$here/plugin.c" "$work/libcublas.so.13"
compile reload "$here/reload.c" -ldl

for policy in off amp; do
	LD_LIBRARY_PATH=$work AUTOCAST_POLICY=$policy LD_PRELOAD=$preload \
	    "$work/reload" "$work/plugin.so" >"$work/out" 2>&1
	status=$?
	equal "a plugin that comes back while its cuBLAS moves, $policy" \
	    '0 ' "$status $(cat "$work/out")"
	equal "every call was counted, $policy" 4 "$(total totals.calls)"
	rm -rf "$AUTOCAST_STATE"
done
plan
