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

show policy
show policy chek good.policy
show policy frobnicate
show policy fp16
show policy check 'gemm -> fp16'
show policy check
show policy check good.policy
show policy check good.policy bad.policy empty.policy
show policy check bad.policy
show policy check gone.policy
show policy check missing.policy
show policy check folder
show policy check pipe
show policy check fp16
show policy check tf32
show policy check --strict good.policy
show policy show off
show policy show fp16
show policy show ./fp16
show policy show good.policy
show policy show bad.policy
show policy show good.policy bad.policy
show policy show
show policy where
show policy where here
AUTOCAST_POLICY=fp16 show policy where
AUTOCAST_POLICY=./good.policy show policy where
AUTOCAST_POLICY='gemm -> tf32' show policy where
AUTOCAST_POLICY='gemm -> tf33' show policy where
mkdir -p "$place/config/autocast"
echo 'gemm -> tf32' >"$place/config/autocast/policy"
show policy where
shown
plan
