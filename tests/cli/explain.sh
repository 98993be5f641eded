#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# explain.sh -- an operation in words, and a site of the last run.
. "$(dirname "$0")/transcript.sh"

show explain
show explain gemm.single m=256 n=64 k=1024 ta=n sm=90 asked=fp32
show explain gemm m=4Ki n=4Ki k=4Ki --policy fp16
show explain gemm.strided m=64 n=64 k=64 batch=8 tb=T -e 'gemm.strided batch>=8 -> keep'
show explain gemm.single m=4096 n=4096 k=4096 sm=75
show explain gemm.single m=4096 n=4096 k=4096 asked=pedantic
show explain gemm.single m=4096 n=4096 k=4096 solver=yes
show explain conv.fprop filter=3x3 cin=64 --policy=tf32
show explain gemm.singel m=1 n=1 k=1
show explain frobnicate
show explain gemm.single
show explain gemm.single m=1 n=1
show explain gemm.single m
show explain gemm.single m=many n=1 k=1
show explain gemm.single m=1e40 n=1 k=1
show explain gemm.single m= n=1 k=1
show explain gemm.single mm=1
show explain gemm.single zzz=1
show explain gemm.single m=1 n=1 k=1 ta=x
show explain gemm.single m=1 n=1 k=1 --policy 'gemm -> fp61'
show explain gemm.single m=1 n=1 k=1 --policy nowhere
show explain gemm.single m=1 n=1 k=1 -e
show explain --polcy off gemm.single
show explain 00000000
"$counting"
id=$("$autocast" report | sed -n 's/^  \([0-9a-f]*\) *gemm\.nt .*/\1/p')
show explain "$id"
show explain "$id" --policy off
show explain "$id" m=1
show explain 00000000
shown
plan
