#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ranks of a real mpirun make one run, and one folder, however the library
# came to them; jobs are counted, not ranks.
. "$(dirname "$0")/preload.sh"
need_emulator
mpirun --version 2>/dev/null | grep -q 'Open MPI' ||
    skip_all 'mpirun of Open MPI is not installed'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
policy='gemm -> tf32 profit=off guard=off'
export AUTOCAST_POLICY="$policy"
unset XDG_STATE_HOME
product="$clients/gemm_client sgemm n n 64 64 64 0 0 0 1 1 0 normal 1"
# mpi RANKS WORD...: so many ranks on this host; each writes to a file.
mpi()
{
	mpirun --oversubscribe -np "$1" "${@:2}" >"$work/said" 2>&1 ||
	    sed 's/^/# /' "$work/said"
}
script='exec "$@" "$0.$OMPI_COMM_WORLD_RANK"'
under_mpi()
{
	mpi "$1" env LD_LIBRARY_PATH="$emulator" LD_PRELOAD="$preload" \
	    sh -c "$script" "$work/out" $product
}
shape='len(report["processes"]), sum(s["calls"] for s in sites), len(sites)'

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

"$build/autocast" run --emulate -- mpirun --oversubscribe -np 2 \
    sh -c "$script" "$work/out" $product >"$work/said" 2>&1
equal 'autocast run -- mpirun: one run' '2 2 1' "$(query "$shape")"

# A rank that is killed, one without the library, one with another policy.
mpi 4 env LD_LIBRARY_PATH="$emulator" LD_PRELOAD="$preload" sh -c '
    case $OMPI_COMM_WORLD_RANK in
    1) AUTOCAST_POLICY="gemm -> bf16 profit=off guard=off" ;;
    2) unset LD_PRELOAD ;;
    esac
    "$@" "$0.$OMPI_COMM_WORLD_RANK"; true' "$work/out" $product
"$build/autocast" report >"$work/report"
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
equal 'one that left nothing' \
    "autocast: report: the run has no statistics of a rank 2; 'autocast \
report' names the ranks of a job" "$("$build/autocast" report --rank 2 2>&1)"

# `autocast run` for each rank: the first one speaks for all, and writes.
unset AUTOCAST_NOTICE AUTOCAST_POLICY
mpi 3 "$build/autocast" run --emulate -e "$policy" \
    --report "$work/report.json" -- sh -c "$script" "$work/out" $product
equal 'mpirun autocast run: one run' '3 3 1' "$(query "$shape")"
equal 'the lines at the end come once' '1 1' \
    "$(grep -c 'FP32 GEMM work' "$work/said") $(grep -c 'shows every site' \
    "$work/said")"
equal 'which are of all ranks' 1 \
    "$(grep -c 'sums over 3 of 3 ranks$' "$work/said")"
equal 'so is the report' 3 "$(grep -c '"pid"' "$work/report.json")"
mpi 2 sh -c 'test $OMPI_COMM_WORLD_RANK = 1 && sleep 0.3
    exec "$@" "$0.$OMPI_COMM_WORLD_RANK"' "$work/out" "$build/autocast" \
    run --emulate -e "$policy" -- $product
equal 'the first rank waits a little' '2 2 1' "$(query "$shape")"
mkdir "$work/tmp"
TMPDIR=$work/tmp "$build/autocast" compare -n 2 --emulate -e "$policy" -- \
    mpirun --oversubscribe -np 2 sh -c "$script" "$work/out" $product \
    >"$work/said" 2>&1
equal 'compare leaves nothing of ranks' '' \
    "$(find "$work/tmp" -name '*autocast*'; grep -i 'no such' "$work/said")"
AUTOCAST_NOTICE=off AUTOCAST_POLICY=$policy
export AUTOCAST_NOTICE AUTOCAST_POLICY

for i in $(seq 40); do
	rm -rf "$work/old" && cp -r "$(ls -d "$AUTOCAST_STATE"/job-* |
	    head -n 1)" "$work/old"
	touch -d "@$i" "$work/old"
	mv "$work/old" "$AUTOCAST_STATE/job-$(printf %016x "$i")"
done
under_mpi 2
equal '32 jobs are kept' 32 "$(ls -d "$AUTOCAST_STATE"/job-* | wc -l)"
plan
