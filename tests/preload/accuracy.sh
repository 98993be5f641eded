#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The table of errors in doc/accuracy.md is what `make accuracy` prints: some rows are made
# again, and all of them must be there.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS): too slow"
readme=$root/doc/accuracy.md
# No rung is left; one; all.
sample='k30 k45 cancelling'

# table FILE: what stands between the marks.
table()
{
	sed -n '/^<!-- accuracy: /,/^<!-- accuracy end -->/p' "$1" | grep -v '^<!--'
}

# without_depths: the same without the third table, by K, which takes longest.
without_depths()
{
	awk '/^The same by K/ { on = 1 } /^Arithmetic/ { on = 0 } !on'
}

# kinds: the kinds of data of tables, each once.
kinds()
{
	sed -n 's/^| `\([^`]*\)`.*/\1/p' | awk '!seen[$0]++'
}

cp "$readme" "$work/readme"
"$root/bench/accuracy" -r "${sample// /,}" -w "$work/readme" >"$work/made" 2>&1
equal 'it runs' 0 $?
equal 'and makes the rows it is asked for' "$sample" "$(kinds <"$work/made" | xargs)"
for kind in $sample; do
	check "doc/accuracy.md has this row: $kind" "$(table "$readme" |
	    grep -F "| \`$kind\` |" | diff - <(grep -F "| \`$kind\` |" "$work/made"))"
done
check 'and says how they were made' "$(table "$readme" | without_depths | grep -v '^| `' |
    diff - <(grep -v '^| `' "$work/made"))"
equal 'it has every kind of data' \
    "$(sed -n "/^data='/,/'\$/p" "$root/bench/accuracy" | sed "s/^data='//; s/|.*//" | xargs)" \
    "$(table "$readme" | without_depths | kinds | xargs)"
equal 'and two of them by K' 12 "$(table "$readme" | grep -cE '^\| `(normal|uniform01)` \| [0-9]+ \|')"
check 'what is written is what was printed' \
    "$(table "$work/readme" | diff - "$work/made")"
check 'and nothing else of the file changes' "$(diff \
    <(sed '/^<!-- accuracy: /,/^<!-- accuracy end -->/d' "$readme") \
    <(sed '/^<!-- accuracy: /,/^<!-- accuracy end -->/d' "$work/readme"))"
echo nothing >"$work/plain"
"$root/bench/accuracy" -r integers -w "$work/plain" >/dev/null 2>&1
equal 'a file without the marks is left alone' nothing "$(cat "$work/plain")"
plan
