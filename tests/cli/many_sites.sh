#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# many_sites.sh -- what is done with a run grows as the number of its sites does:
# four times as many sites cost four times as much and the share of sorting, where
# a loop in a loop would cost sixteen times as much. Instructions, by callgrind.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'sanitizers and valgrind exclude each other'
[ -x "$counting" ] || skip_all 'tests/cli/counting is not built'
command -v valgrind >/dev/null || skip_all 'valgrind is not installed'
few=5000 many=20000 most=600  # hundredths

# cost ARGUMENTS...: instructions of autocast, without those of its program.
cost()
{
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$autocast" \
	    "$@" 2>&1 >/dev/null |
	    sed -n 's/.*Collected : *\([0-9]*\).*/\1/p'
}

declare -A few_cost
for sites in $few $many; do
	for verb in run report 'report --json' explain; do
		case $verb in
		run) arguments=(run "$counting" 0 crowd "$sites") ;;
		explain) arguments=(explain "$("$autocast" report |
		    awk '/gemm/ { print $1; exit }')") ;;
		*) read -r -a arguments <<<"$verb" ;;
		esac
		counted=$(cost "${arguments[@]}")
		if [ "$sites" = $few ]; then
			few_cost[$verb]=$counted
			continue
		fi
		echo "# $verb: ${few_cost[$verb]} at $few sites, $counted at $many"
		grown=$((100 * counted / few_cost[$verb]))
		# What does not even see the sites proves nothing.
		[ "$grown" -ge 200 ] && [ "$grown" -le $most ]
		ok "$verb grows with the sites, not with their square" $? \
		    "$grown hundredths"
		[ "$verb" = 'report --json' ] || continue
		each=$((counted / many))
		echo "# $each instructions a site"
		[ $each -le 10000 ]
		ok "$verb takes 10,000 instructions a site at most" $? "$each"
	done
done
plan
