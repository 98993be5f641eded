#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ranks of a real mpirun make one run, and one folder, however the library
# came to them; jobs are counted, not ranks.
. "$(dirname "$0")/preload.sh"
need_emulator
mpirun --version 2>/dev/null | grep -q 'Open MPI' ||
    skip_all 'mpirun of Open MPI is not installed'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export AUTOCAST_POLICY='gemm -> tf32 profit=off guard=off'
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
equal 'no file next to it' 0 "$(ls "$AUTOCAST_STATE" | grep -c stats)"
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

for i in $(seq 40); do
	rm -rf "$work/old" && cp -r "$(ls -d "$AUTOCAST_STATE"/job-* |
	    head -n 1)" "$work/old"
	touch -d "@$i" "$work/old"
	mv "$work/old" "$AUTOCAST_STATE/job-$(printf %016x "$i")"
done
under_mpi 2
equal '32 jobs are kept' 32 "$(ls -d "$AUTOCAST_STATE"/job-* | wc -l)"
plan
