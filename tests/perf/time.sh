#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T42: what instructions do not show: caches. Times of processor, compared within
# the run; the best of many rounds each, until the claim holds or the rounds are
# over, since a busy machine can only add.
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
rounds=40

missing=$(what_is_missing)
[ -z "$missing" ] || skip_all "$missing"
build_caller
build_pattern 1

# never_above WHAT HUNDREDTHS: 100 * second / first, each a function that takes
# a time, or says nothing if it could not.
never_above()
{
	local round a='' b='' ratio='' found
	for ((round = 1; round <= rounds; round++)); do
		found=$(first) || exit 99
		[ -z "$found" ] || a=$(smaller "$a" "$found")
		found=$(second) || exit 99
		[ -z "$found" ] || b=$(smaller "$b" "$found")
		[ -n "$a" ] && [ -n "$b" ] || continue
		ratio=$(hundredths "$b" "$a")
		[ $round -lt 3 ] || [ "$ratio" -gt "$2" ] || break
	done
	if [ -z "$ratio" ]; then
		skip "$1" "the machine is too busy: nothing in $rounds rounds"
		return
	fi
	echo "# $1: $(as_ratio "$ratio"), at most $(as_ratio "$2")" \
	    "($b and $a ps)"
	check "$1" "$([ "$ratio" -le "$2" ] || echo "$ratio > $2 hundredths")"
}

preload=$library

first() { timed 3 product 200000 1; }
second() { timed 3 product 200000 1024; }
never_above 'T42: 1024 sizes in turn, over one size' 200

if [ "$(nproc)" -ge 2 ]; then
	second() { options='-j 2' timed 20 product 100000 1; }
	never_above 'T42: a call on each of two threads, over one thread' 150
else
	skip 'T42: two threads' 'there is one core'
fi

# ---- Printed only: how fast the machine is at what else we do not decide --------
direct=$(preload='' timed 5 product 200000 1)
kept=$(timed 5 product 200000 1)
pattern=$(preload=$work/pattern1.so timed 5 product 50000 1)
echo "# a kept call takes $(as_ratio "$(hundredths "$kept" "$direct")") times a" \
    "direct one, a dlsym() at every call $(as_ratio "$(hundredths "$pattern" \
    "$kept")") times a kept one"
plan
