#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# repeat.sh N COMMAND... -- in a build folder: run COMMAND, which runs tests, N
# times, and list the cases that did not pass (or were not skipped) N times. The
# logs of tests that failed stay in tests/repeat/.
turns=$1
shift
case $turns in '' | *[!0-9]* | 0) echo 'N is a number from 1' >&2; exit 2 ;; esac
kept=tests/repeat
rm -rf "$kept"
mkdir -p "$kept"
trap 'rm -f "$kept/results"' EXIT

turn=0
while [ $turn -lt "$turns" ]; do
	turn=$((turn + 1))
	find . -name '*.trs' -exec rm -f {} +
	"$@" >"$kept/make.$turn" 2>&1 && rm -f "$kept/make.$turn"
	find . -name '*.trs' | sort | while read -r file; do
		log=${file%.trs}.log
		grep -aE '^(PASS|XFAIL|SKIP|FAIL|XPASS|ERROR): ' "$log"
		! grep -qE '^:test-result: (FAIL|XPASS|ERROR)' "$file" ||
			cp "$log" "$kept/$(echo "${log#./}" | tr / - |
			    sed "s/log$/$turn.log/")"
	done >>"$kept/results"
	echo "$turn of $turns: $(find "$kept" -name "*.$turn.log" |
	    wc -l) tests failed"
done

# A line: RESULT: TEST NUMBER - NAME, of which a name may have what varies.
awk -v turns="$turns" '
	{
		key = $2 " " ($3 ~ /^[0-9]+$/ ? $3 : "")
		name[key] = $0
		sub(/^[A-Z]*: /, "", name[key])
		good[key] += /^(PASS|XFAIL|SKIP)/
	}
	END {
		for (key in name) {
			cases++
			if (good[key] == turns)
				continue
			bad++
			print good[key] " of " turns ": " name[key]
		}
		print cases + 0 " cases, " bad + 0 " of them not " turns \
		    " of " turns
		exit bad || !cases
	}' "$kept/results"
