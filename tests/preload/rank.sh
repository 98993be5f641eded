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
