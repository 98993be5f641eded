# SPDX-License-Identifier: Apache-2.0
# mpi.sh -- sourced, after preload.sh, by the tests of ranks that a real mpirun
# starts.
need_emulator
mpirun --version 2>/dev/null | grep -q 'Open MPI' ||
    skip_all 'mpirun of Open MPI is not installed'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
policy='gemm -> tf32 profit=off guard=off'
product="$clients/gemm_client sgemm n n 64 64 64 0 0 0 1 1 0 normal 1"
# mpi RANKS WORD...: so many ranks on this host; each writes to a file.
mpi()
{
	mpirun --oversubscribe -np "$1" "${@:2}" >"$work/said" 2>&1 ||
	    sed 's/^/# /' "$work/said"
}
script='exec "$@" "$0.$OMPI_COMM_WORLD_RANK"'
shape='len(report["processes"]), sum(s["calls"] for s in sites), len(sites)'
