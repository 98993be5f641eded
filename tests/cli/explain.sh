#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# explain.sh -- an operation in words, and a site of the last run.
. "$(dirname "$0")/transcript.sh"
eval "$(declare -f normal | sed '1s/normal/usual/')"
# What all pages have stands in the first ones; of the others it has what $cut leaves.
cut=
normal()
{
	usual | sed -E -e 's/^(run @[0-9]+), .*/\1, DATE/' -e "$cut"
}

play 9
cut='/^$/d; /: solver is no$/d; /any GPU of sm 90,/d; /NVIDIA H200, by rates/d'
play 15
mkdir -p "$AUTOCAST_STATE/rates"
rates=$AUTOCAST_STATE/rates/NVIDIA_L40S-13000-cublas-13.1
printf '%s\n' 'version = 1' 'gpu = NVIDIA L40S' 'sm = 89' 'driver = 13000' \
    'library = cublas-13.1' 'date = 2026-11-21' \
    'fp16 = 2e14 of 15 spread 0.01' >"$rates"
show explain gemm m=2Ki n=2Ki k=2Ki gpu=l40s
echo 'fp16 = 1' >>"$rates"
show explain gemm m=2Ki n=2Ki k=2Ki gpu=l40s
rm -r "$AUTOCAST_STATE"
play 70
"$counting"
play 4
"$counting" 0 train+1a2b all
id=723accb5
equal '@1 is the last run' "$("$autocast" explain @1 $id)" "$("$autocast" explain $id)"
play 1
equal 'a run and a site in either order' "$("$autocast" explain $id @2)" "$("$autocast" explain @2 $id)"
play 5
# What decides in words decides here, too: no more than the operation is shown.
cut='/^$/d; /^  amp:3 /,$d'
play 5
"$counting" 0 net+1 all
play 2
shown
plan
