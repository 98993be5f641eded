#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# drawn.sh [SEED COUNT [POLICY...]]: programs that draw.py draws from COUNT seeds
# on, under each policy. With arguments it says which promises are broken, and
# what shows it again; a test without.
. "$(dirname "$0")/trust.sh"
need_emulator
[ -z "${SANITIZERS:-}" ] || skip_all 'numbers only: minutes under a sanitizer'
calibrate_slower

# one SEED POLICY: complaints, and the line that reproduces them.
one()
{
	local judge args complaints
	IFS=$'\t' read -r judge args <<<"$(python3 "$trust/draw.py" "$1" "$2")"
	complaints=$(results "${2#lt-}" $args | judge $judge)
	[ -n "$complaints" ] || return
	cat <<END
seed $1, $2:
$complaints
  bash tests/trust/play.sh ${2#lt-} $args |
      awk $judge -f tests/trust/judge.awk
END
}

# drawn SEED COUNT POLICY: two at a time.
drawn()
{
	local worker seed
	for worker in 0 1; do
		for ((seed = $1 + worker; seed < $1 + $2; seed += 2)); do
			one $seed "$3"
		done >"$work/drawn.$worker" &
	done
	wait
	cat "$work/drawn.0" "$work/drawn.1"
}

if [ $# -ge 2 ]; then
	for policy in ${3:-default guarded strict lt-default lt-guarded \
	    lt-strict}; do
		echo "$policy, seeds $1 to $(($1 + $2 - 1)):"
		drawn "$1" "$2" "$policy" | tee "$work/all"
		echo "$policy: $(grep -c '^seed ' "$work/all") of $2 broke a promise"
		cat "$work/all" >>"$work/any"
	done
	[ ! -s "$work/any" ]
	exit
fi
check 'drawn programs, the default policy' "$(drawn 1 10 default)"
check 'drawn programs, profit=off' "$(drawn 1 15 guarded)"
check 'drawn programs, guard=strict' "$(drawn 1 6 strict)"
check 'drawn programs of cublasLt, the default policy' \
    "$(drawn 1 10 lt-default)"
check 'drawn programs of cublasLt, profit=off' "$(drawn 1 15 lt-guarded)"
check 'drawn programs of cublasLt, guard=strict' "$(drawn 1 6 lt-strict)"
plan
