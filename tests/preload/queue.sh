#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How many calls a probation takes does not depend on whether the host runs ahead
# of its device: small products wait for the account of their tries, by number
# (doc/rules.md V8), and for verdicts a call waits (V4), on a slow emulated GPU too.
. "$(dirname "$0")/preload.sh"
need_emulator

# course_of SIDE CALLS [waits]: calls kept on probation, calls recast.
course_of()
{
	rm -rf "$AUTOCAST_STATE"
	under amp "$clients/queue" "$@" >/dev/null
	query 'sum(s["kept_calls"].get("probation", 0) for s in sites),
	    sum(s["recast_calls"] for s in sites)'
}
small=$(course_of 512 60 waits)
equal 'small products, queued' "$small" "$(course_of 512 60)"
check '... are tried late, for what that costs' \
    "$(awk '{ if ($1 < 40 || $2 < 1) print }' <<<"$small")"
large=$(course_of 1024 24 waits)
equal 'larger ones, queued' "$large" "$(course_of 1024 24)"
check '... are tried soon' "$(awk '{ if ($1 > 16) print }' <<<"$large")"
plan
