#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program whose alpha cannot be read, and whose signal handler jumps out of
# cuBLAS, costs no trial its turn: the next call is tried, and what is recast
# goes on being sampled.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitizer takes the signal for its own'

# samples FROM TO: how many calls were sampled and recast.
samples()
{
	rm -rf "$AUTOCAST_STATE"
	under 'gemm -> fp16,tf32 profit=off guard=on sample=4' \
	    "$clients/bad_scalar" "$1" "$2" || return
	sampled=$(query 'sum(s["course"]["samples"] for s in sites)')
	recast=$(total totals.recast_calls)
}

samples 0 0
whole=$sampled
check 'without one, FP16 is left and tried again' \
    "$([ "$(query 'sum(s["course"]["retries"] for s in sites)')" -ge 1 ] &&
    [ "$whole" -ge 450 ] || echo "$whole samples")"
# FP16 proves itself from 1000 calls after it was left on, at 128 calls: some of
# these, each of which fails.
samples 1204 1300
check 'at a retry: samples go on' \
    "$([ "$sampled" -ge $((whole * 9 / 10)) ] || echo "$sampled of $whole")"
samples 1 1
check 'at the first call: samples go on' \
    "$([ "$sampled" -ge $((whole * 9 / 10)) ] || echo "$sampled of $whole")"
# All but that one, three on trial, and those at which FP16 proves itself.
check 'at the first call: the site is recast' \
    "$([ "$recast" -ge $((2000 - 1 - 3 - 128)) ] || echo "$recast")"
plan
