#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ranks of a real mpirun make one run, and one folder, however the library
# came to them; jobs are counted, not ranks.
. "$(dirname "$0")/preload.sh"
. "$(dirname "$0")/mpi.sh"
export AUTOCAST_POLICY="$policy"
unset XDG_STATE_HOME
under_mpi()
{
	mpi "$1" env LD_LIBRARY_PATH="$emulator" LD_PRELOAD="$preload" \
	    sh -c "$script" "$work/out" $product
}

under_mpi 3
equal 'LD_PRELOAD: one run' '3 3 1' "$(query "$shape")"
equal 'one folder' 1 "$(ls -d "$AUTOCAST_STATE"/job-* | wc -l)"
equal 'no file next to it' '' \
    "$(find "$AUTOCAST_STATE" -maxdepth 1 -name '*stats*')"
under_mpi 2
equal 'the next job is another run' '2 2 1' "$(query "$shape")"
equal 'in a folder of its own' 2 "$(ls -d "$AUTOCAST_STATE"/job-* | wc -l)"

# What no launcher names: the process that launched all ranks stands for them,
# whatever shells there are in between.
mpi 2 env -u PMIX_NAMESPACE -u OMPI_MCA_orte_precondition_transports \
    LD_LIBRARY_PATH="$emulator" LD_PRELOAD="$preload" \
    sh -c '"$@" "$0.$OMPI_COMM_WORLD_RANK"; true' "$work/out" $product
equal 'a job without a name' '2 2 1' "$(query "$shape")"

# A rank that is killed, one without the library, one with another policy.
mpi 4 env LD_LIBRARY_PATH="$emulator" LD_PRELOAD="$preload" sh -c '
    case $OMPI_COMM_WORLD_RANK in
    1) AUTOCAST_POLICY="gemm -> bf16 profit=off guard=off" ;;
    2) unset LD_PRELOAD ;;
    esac
    "$@" "$0.$OMPI_COMM_WORLD_RANK"; true' "$work/out" $product
"$build/autocast" report -v >"$work/report"
equal 'who is missing is said' 1 \
    "$(grep -c '3 of 4, on 1 host; no statistics of rank 2$' "$work/report")"
equal 'and who went another way' 1 \
    "$(grep -c ': tf32 on ranks 0, 3; bf16 on rank 1$' "$work/report")"
equal 'one rank alone' '1 1 1' "$("$build/autocast" report --rank 1 --json |
    python3 -c 'import json, sys
report = json.load(sys.stdin)
sites = report["sites"]
print('"$shape"', sum(s["rung"] == "bf16" for s in sites))' |
    cut -d " " -f 1,2,4)"
equal 'of which no other is said to be missing' 1 \
    "$("$build/autocast" report --rank 1 | grep -c '^  rank     1 alone, of 4, on 1 host$')"
equal 'one that left nothing' \
    "autocast: report: the run has no statistics of a rank 2; 'autocast \
report' names the ranks of a job" "$("$build/autocast" report --rank 2 2>&1)"

for i in $(seq 40); do
	rm -rf "$work/old" && cp -r "$(ls -d "$AUTOCAST_STATE"/job-* |
	    head -n 1)" "$work/old"
	touch -d "@$i" "$work/old"
	mv "$work/old" "$AUTOCAST_STATE/job-$(printf %016x "$i")"
done
under_mpi 2
"$build/autocast" report >/dev/null
equal '32 jobs are kept by a report' 32 "$(ls -d "$AUTOCAST_STATE"/job-* | wc -l)"
plan
