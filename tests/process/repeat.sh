#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make check-repeat lists the cases that did not pass each time, and no others.
. "$(dirname "$0")/../lint/tap.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/autocast-test.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# A stand-in for make: case 2 fails in the second turn, case 3 is not there in
# the third.
cat >suite <<'EOF'
echo turn >>turns
turn=$(wc -l <turns)
result=PASS
[ "$turn" != 2 ] || result=FAIL
echo ":test-result: $result" >a.trs
{
	echo "PASS: a 1 - whose name varies: $turn"
	echo "$result: a 2 - sometimes"
	[ "$turn" = 3 ] || echo 'SKIP: a 3 - comes and goes'
} >a.log
[ "$result" = PASS ]
EOF
sh "$root/tests/repeat.sh" 3 sh suite >out
equal 'what flickers: status 1' 1 $?
equal '... and is listed' '2 of 3: a 2 - sometimes
2 of 3: a 3 - comes and goes
3 cases, 2 of them not 3 of 3' "$(grep -v 'tests failed' out | sort)"
equal '... and has its log' 'FAIL: a 2 - sometimes' \
    "$(grep FAIL tests/repeat/a.2.log)"
sed -i 's/!= 2/!= 9/; s/= 3/= 9/' suite
equal 'what passes: status 0' '3 cases, 0 of them not 3 of 3' \
    "$(sh "$root/tests/repeat.sh" 3 sh suite | tail -n 1)"
sh "$root/tests/repeat.sh" 3 true >out
equal 'no test at all is no success' 1 $?
plan
