#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Conditions on `rank`: whatever launched the job says which process is which.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/gemm_client
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID RANK
one='gemm rank=0 -> keep;gemm rank>=1 -> tf32 profit=off guard=off'

# rung POLICY VARIABLES...: what a product runs as.
rung()
{
	rm -rf "$AUTOCAST_STATE"
	under "$1" env "${@:2}" "$client" sgemm n n 64 64 64 0 0 0 1 1 0 normal \
	    1 "$work/out" >"$work/said" 2>&1 || sed 's/^/# /' "$work/said"
	query '" ".join(s["rung"] + " " + str(s.get("reason")) for s in sites)'
}

equal 'no job: no rank' 'keep no-rule' "$(rung "$one")"
for variable in OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID RANK; do
	equal "$variable=0" 'keep rule' "$(rung "$one" "$variable=0")"
	equal "$variable=3" 'tf32 none' "$(rung "$one" "$variable=3")"
done
equal 'the launcher that is nearest' 'keep rule' \
    "$(rung "$one" RANK=3 SLURM_PROCID=2 OMPI_COMM_WORLD_RANK=0)"
equal 'what is no number is no rank' 'tf32 none' \
    "$(rung "$one" OMPI_COMM_WORLD_RANK=none RANK=1)"
equal 'nor is a fraction' 'keep no-rule' "$(rung "$one" RANK=1.5)"
# job SIZE VARIABLE VARIABLE...: its ranks, and how many runs, processes and
# ranks the last run has. The variable of the rank has no value yet.
job()
{
	for ((rank = 0; rank < $1; rank++)); do
		LD_LIBRARY_PATH=$emulator LD_PRELOAD=$preload AUTOCAST_POLICY=off \
		    env "$2=$rank" "${@:3}" sh -c '"$@"; :' sh "$client" sgemm \
		    n n 64 64 64 0 0 0 1 1 0 normal 1 "$work/out" >/dev/null
	done
	query 'len(report["processes"]), report.get("job_size"),
	    len(report.get("ranks", []))'
	rm -rf "$AUTOCAST_STATE"
}
rm -rf "$AUTOCAST_STATE"
equal 'srun' '2 2 2' "$(job 2 SLURM_PROCID SLURM_STEP_NUM_TASKS=2 \
    SLURM_JOB_ID=7 SLURM_STEP_ID=0)"
equal 'a batch script' '1 None 0' "$(job 2 SLURM_PROCID SLURM_NTASKS=2 \
    SLURM_JOB_ID=7)"
equal 'srun --mpi=pmix' '2 2 2' "$(job 2 PMIX_RANK SLURM_STEP_NUM_TASKS=2 \
    PMIX_NAMESPACE=slurm.pmix.7.0)"
equal 'torchrun --rdzv-id' '2 2 2' "$(job 2 RANK WORLD_SIZE=2 \
    TORCHELASTIC_RUN_ID=7)"
equal 'torchrun' '2 2 2' "$(job 2 RANK WORLD_SIZE=2 TORCHELASTIC_RUN_ID=none)"
equal "MPICH's mpiexec" '2 2 2' "$(job 2 PMI_RANK PMI_SIZE=2)"
equal 'Intel MPI' '2 2 2' "$(job 2 PMI_RANK PMI_SIZE=2 I_MPI_HYDRA_UUID=7)"
equal 'one that was never there' '2 3 2' "$(job 2 PMI_RANK PMI_SIZE=3)"
for rank in 0 1; do
	rung "$one" AUTOCAST_RULE=x OMPI_COMM_WORLD_RANK=$rank >"$work/rung"
	equal "rank $rank of a misspelt variable" \
	    $((1 - rank)) "$(grep -c 'there is no variable AUTOCAST_RULE; did' \
	    "$work/said")"
done
if [ -e "$emulator/libcudnn.so.9" ]; then
	rm -rf "$AUTOCAST_STATE"
	RANK=3 under 'conv.fprop rank=3 -> fp16 profit=off guard=off' \
	    "$clients/convolving" n=1 c=8 k=8 h=8 calls=1 >/dev/null 2>&1
	equal 'convolutions have one, too' fp16 "$(query 'sites[0]["rung"]')"
else
	skip 'convolutions have one, too' 'the emulated cuDNN was not built'
fi
plan
