#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What reports say of a program's gradient scaler: what its host knows anyway,
# at no cost to the program.
. "$(dirname "$0")/preload.sh"
need_emulator

# told WAY: the line of the report.
told()
{
	rm -rf "$AUTOCAST_STATE"
	LD_LIBRARY_PATH=$build:$emulator LD_PRELOAD=$preload \
	    AUTOCAST_POLICY=amp "$clients/scaled" "$1" || echo "status $?"
	"$build/autocast" report | sed -n 's/^  scaler  *//p'
}

# The sixth has an inf: 2048 before it, 1024 after it, 2048 again.
equal 'each step told the host: the rule says the rest' \
    'scale 2048 after 12 updates, 1 of them with inf or NaN (2 growths, 1 backoff); 11 steps made, 1 skipped' \
    "$(told step)"
equal 'JSON has it' '{"backoffs": 1, "growths": 2, "is_behind": false, "overflows": 1, "scale": 2048, "scalers": 1, "skips": 1, "steps": 11, "updates": 12}' \
    "$(query 'json.dumps(report["processes"][0]["scaler"], sort_keys=True)')"
"$build/autocast" report --json >"$work/kept.json"
equal 'a saved report says it again' "$("$build/autocast" report | grep '^  scaler')" \
    "$("$build/autocast" report "$work/kept.json" | grep '^  scaler')"
equal 'the page shows the scale' 1 "$("$build/autocast" report --html |
    grep -c 'Scale of gradients</dt><dd>2048 <small>scale 2048 after')"
equal 'nothing is known of steps that the device decides' \
    '0 steps made, 0 skipped' "$(told async)"
equal 'but what the program reads' '12 1 2 1
scale 2048 after 12 updates, 1 of them with inf or NaN (2 growths, 1 backoff); 0 steps made, 0 skipped' \
    "$(told read)"
[ -z "${SANITIZERS:-}" ] || { plan && exit; }
equal 'the end of run says it' 'autocast: gradients: scale 2048 after 12 updates, 1 of them with inf or NaN (2 growths, 1 backoff); 11 steps made, 1 skipped' \
    "$(LD_LIBRARY_PATH=$build:$emulator env -u AUTOCAST_NOTICE "$build/autocast" run --emulate "$clients/scaled" step 2>&1 |
    grep gradients)"
plan
