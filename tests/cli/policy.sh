#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# policy.sh -- check, show and where.
. "$(dirname "$0")/transcript.sh"

echo 'gemm m<=16 -> keep
gemm -> fp16,tf32' >good.policy
echo 'gemm -> fp61
gem m<=16 -> keep' >bad.policy
: >empty.policy
echo 'gemm -> fp16 guard=strict sample=64
conv,rnn -> keep' >gone.policy
printf 'gemm -> fp16' >fp16
mkdir folder
mkfifo pipe

play 27
AUTOCAST_RULES='gemm -> keep' show policy where
AUTOCAST_POLICY=fp16 show policy where
AUTOCAST_POLICY=./good.policy show policy where
AUTOCAST_POLICY='gemm -> tf32' show policy where
AUTOCAST_POLICY='gemm -> tf33' show policy where
mkdir -p "$place/config/autocast"
echo 'gemm -> tf32' >"$place/config/autocast/policy"
show policy where
shown
plan
