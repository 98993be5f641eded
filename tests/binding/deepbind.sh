#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T8: a plugin opened with RTLD_DEEPBIND binds to its own libraries first. It
# is missed, and the report says so; under `set deepbind=on` it is caught.
. "$(dirname "$0")/binding.sh"
[ -z "$sanitizer" ] || skip_all "$SANITIZERS: its runtime refuses RTLD_DEEPBIND"
cublas_stubs
thirteen=$work/13/libcublas.so.13
compile plugin.so -shared -fPIC "$here/plugin.c" "$thirteen"
compile plugin-noplt.so -shared -fPIC -fno-plt "$here/plugin.c" "$thirteen"
compile host "$here/host.c" -ldl

# deepbind_noted: what the report knows of such dlopens.
deepbind_noted()
{
	query '" ".join("%s %d" % (m["symbol"], m["calls"])
	    for m in report["markers"] if "DEEPBIND" in m["symbol"])'
}

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
equal 'T8: and the report says nothing' '' "$(deepbind_noted)"

# A process of which nothing is counted has no report: here one call is.
compile both "$here/deepbind.c" "$thirteen" -ldl
for row in 'off 1 dlopen(RTLD_DEEPBIND)' 'on 2 dlopen(RTLD_DEEPBIND dropped)'; do
	read -r setting calls word <<<"$row"
	AUTOCAST_RULES="set deepbind=$setting" bound off "$work/both" \
	    "$work/plugin.so" >"$work/bound" 2>&1
	equal "T8: two calls, deepbind=$setting: $calls caught" "0 2 $calls" \
	    "$? $(grep -c ' 1300$' "$work/bound") $(counted)"
	equal "T8: the report knows of the dlopen, deepbind=$setting" "$word 1" \
	    "$(deepbind_noted)"
	"$build/autocast" report >"$work/report" 2>&1
	check "T8: and shows it, deepbind=$setting" \
	    "$(grep -qF "$word" "$work/report" || cat "$work/report")"
done
plan
