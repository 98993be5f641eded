# SPDX-License-Identifier: Apache-2.0
# parts_of_calls.sh -- sourced, behind preload.sh, by the tests of calls that are
# recast in parts: what the program $client says of one under a policy, and alone.
export AUTOCAST_EMU_SUMS=exact AUTOCAST_EMU_COUNTERS=$work/counters
forced='profit=off guard=off'

# runs POLICY ARGS...: its output is $work/there; complaints about it.
runs()
{
	rm -rf "$AUTOCAST_STATE" "$work/counters"
	under "$1" "$client" "${@:2}" >"$work/there" 2>"$work/there.err" ||
	    echo "status $?"
	grep -m 1 BROKEN "$work/there"
	grep -m 1 'emulated GPU' "$work/there.err"
}

# as_alone WHAT POLICY ARGS...: the same status, bytes and complaints.
as_alone()
{
	local complaint alone
	bare "$client" "${@:3}" >"$work/alone" 2>"$work/alone.err"
	alone=$?
	rm -rf "$AUTOCAST_STATE"
	under "$2" "$client" "${@:3}" >"$work/there" 2>"$work/there.err"
	complaint=$([ $? = $alone ] || echo "not status $alone. ")
	complaint=$complaint$(cmp "$work/alone" "$work/there" 2>&1)
	[ "$(grep -c 'emulated GPU' "$work/alone.err")" = \
	    "$(grep -c 'emulated GPU' "$work/there.err")" ] ||
	    complaint="$complaint $(cat "$work/there.err")"
	check "as alone: $1" "$complaint"
}

# calls FUNCTION: how often the program or the library made it.
calls()
{
	awk -v f="$1" '$1 == f { n = $2 } END { print n + 0 }' "$work/counters"
}
