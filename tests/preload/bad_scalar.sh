#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program whose alpha cannot be read, and whose signal handler jumps out of
# cuBLAS, costs nothing but that call: all others are recast, and checked.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitizer takes the signal for its own'

# others FROM TO: calls that were recast, and checked, without FROM to TO.
others()
{
	rm -rf "$AUTOCAST_STATE"
	under 'gemm -> fp16 profit=off guard=on' "$clients/bad_scalar" "$1" "$2" ||
	    return
	echo "$(total totals.recast_calls)" \
	    "$(query 'sum(s["course"]["judged"] for s in sites)')"
}

whole=$(others 0 0)
check "without one, all but three of 2000: $whole" \
    "$([ "${whole% *}" -ge 1990 ] && [ "${whole% *}" = "${whole#* }" ] || echo no)"
for from in 1 4 1204; do
	some=$(others $from $from)
	check "all but that one, call $from: $some" \
	    "$([ "${some% *}" -ge $((${whole% *} - 2)) ] &&
	    [ "${some% *}" = "${some#* }" ] || echo no)"
done
plan
