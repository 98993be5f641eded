#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T28: what one thread does in the library never hangs a fork, a forked child,
# or the others when it is cancelled.
. "$(dirname "$0")/binding.sh"
cublas_stubs
compile forking "$here/forking.c" "$work/13/libcublas.so.13" -ldl -pthread
limit=30
# A cancelled thread leaves what the C library had just given it.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# survives NAME MODE ARGS...: the same output with and without the library.
survives()
{
	alone "$work/forking" "${@:2}" >"$work/alone" 2>/dev/null
	echo "status $?" >>"$work/alone"
	bound off "$work/forking" "${@:2}" >"$work/bound" 2>/dev/null
	echo "status $?" >>"$work/bound"
	check "T28: $1" "$(diff "$work/alone" "$work/bound")"
}

survives 'a fork handler that waits for a thread in its first call' prepare
survives 'forks while another thread looks a function up' looking 50
survives 'a thread that is cancelled in its first call' cancelled
plan
