#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# many_ranks.sh -- the ranks of a job are added up as they are read: what a report
# takes of memory is that of the sites they have in common, not of each rank's.
# Of one rank they are in memory once, of many three times at most, when they are
# added up (report/read/merge.c); and as often again while they are sorted.
. "$(dirname "$0")/transcript.sh"
[ -z "${SANITIZERS:-}" ] || skip_all 'sanitizers keep memory that was freed'
[ -x "$counting" ] || skip_all 'tests/cli/counting is not built'
command -v python3 >/dev/null || skip_all 'no python3'
sites=30000
export AUTOCAST_NOTICE=off

# job RANKS SITES: at once, as the ranks of a job are.
job()
{
	rm -rf "$AUTOCAST_STATE"
	for ((rank = 0; rank < $1; rank++)); do
		OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$1 \
		    PMIX_NAMESPACE=job "$counting" 0 crowd "$2" 2>/dev/null &
	done
	wait
}

# peak: KB that the report of it takes; and of how many processes it is.
peak()
{
	python3 - "$autocast" report <<'END'
import re, resource, subprocess, sys
said = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True).stdout
ranks = re.search(rb"ranks +(\d+) of", said)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
      int(ranks.group(1)) if ranks else 1)
END
}
job 1 1
read -r empty _ < <(peak)
job 1 $sites
read -r one _ < <(peak)
job 16 $sites
read -r many ranks < <(peak)
echo "# KB: $empty of no sites, $one of a rank, $many of 16"
equal 'all ranks are in it' "$ranks" 16
# What sees no sites proves nothing: that is the size of a Python.
[ "$one" -ge $((2 * empty)) ]
ok 'the sites of one rank take memory' $? "$one, of none $empty"
[ "$many" -le $((3 * one)) ]
ok '16 ranks take at most three times what one does' $? "$many, one $one"
plan
