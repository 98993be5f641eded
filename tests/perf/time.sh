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
# a time once.
never_above()
{
	local round a='' b='' found
	for ((round = 1; round <= rounds; round++)); do
		a=$(smaller "$a" "$(first)") || exit 99
		b=$(smaller "$b" "$(second)") || exit 99
		found=$(hundredths "$b" "$a")
		[ $round -lt 3 ] || [ "$found" -gt "$2" ] || break
	done
	echo "# $1: $(as_ratio "$found"), at most $(as_ratio "$2")" \
	    "($round rounds; $b and $a ps)"
	check "$1" "$([ "$found" -le "$2" ] || echo "$found > $2 hundredths")"
}

preload=$library

first() { timed 3 product 200000 1; }
second() { timed 3 product 200000 1024; }
never_above 'T42: 1024 sizes in turn, over one size' 200

if [ "$(nproc)" -ge 2 ]; then
	second() { options='-j 2' timed 3 product 1000000 1; }
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
