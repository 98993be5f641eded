#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# calls.sh -- what a file needs of another, by its object, keeps to the order
# that layers.sh holds includes to.
. "$(dirname "$0")/tap.sh"

# Each names all entries of one kind, for whoever looks one up.
tables='shim/bind/thunk.c cmd/main.c api/functions.c'
work=$(mktemp) || exit 99
trap 'rm -f "$work"' EXIT
for room in $rooms; do
	files "$room/*.c" "$room/*.S"
done | sort -u >"$work"
# shellcheck disable=SC2046
objects=$(for room in $rooms; do
	[ ! -d "$build/$room" ] || find "$build/$room" -name '*.o'
done)
[ "$(echo "$objects" | wc -l)" -gt 100 ] || skip_all 'nothing is built'
echo "$objects" | xargs nm -A -P 2>/dev/null >>"$work"

needs()
{
	awk -v build="$build" -v ladder="$ladder" -v tables="$tables" \
	    -v show="$1" -v most=8 -f "$root/tests/lint/calls.awk" "$work" | sort
}
check 'shim: a folder calls those before it on the ladder only' \
    "$(needs climbs)"
check 'no folders call each other in a circle' "$(needs circles)"
check 'no circle of calls in a folder has more than 8 files' "$(needs knots)"
plan
