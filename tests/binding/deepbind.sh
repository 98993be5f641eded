#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T8: a plugin opened with RTLD_DEEPBIND binds to its own libraries first. It
# is missed; under `set deepbind=on` it is caught.
. "$(dirname "$0")/binding.sh"
[ -z "$sanitizer" ] || skip_all "$SANITIZERS: its runtime refuses RTLD_DEEPBIND"
cublas_stubs
thirteen=$work/13/libcublas.so.13
compile plugin.so -shared -fPIC "$here/plugin.c" "$thirteen"
compile plugin-noplt.so -shared -fPIC -fno-plt "$here/plugin.c" "$thirteen"
compile host "$here/host.c" -ldl

for plugin in plugin.so plugin-noplt.so; do
	for mode in deep lazy-deep; do
		alike "T8: $plugin, $mode: missed" 0 "$work/host" $mode \
		    "$work/$plugin" multiply multiply_by_data
		rules='set deepbind=on'
		AUTOCAST_RULES=$rules alike "T8: $plugin, $mode, $rules" 2 \
		    "$work/host" $mode "$work/$plugin" multiply multiply_by_data
		rules='set deepbind=off'
		AUTOCAST_RULES=$rules alike "T8: $plugin, $mode, $rules" 0 \
		    "$work/host" $mode "$work/$plugin" multiply multiply_by_data
	done
done
alike 'T8: without the flag: caught' 2 "$work/host" now "$work/plugin.so" \
    multiply multiply_by_data
plan
