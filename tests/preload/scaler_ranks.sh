#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two processes under Open MPI agree on skips: one rank's inf is everybody's.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -x "$build/examples/scaler_ranks" ] ||
    skip_all 'the example was not built (Debian: libopenmpi-dev openmpi-bin)'
command -v mpirun >/dev/null || skip_all 'no mpirun (Debian: openmpi-bin)'
case ${SANITIZERS:-} in
*thread*) skip_all 'Open MPI is not built with ThreadSanitizer' ;;
esac

# ranks COUNT NAME ENVIRONMENT...: weights in $work/NAME.RANK. A rank that
# waits for ever is ended.
ranks()
{
	root_too=
	[ "$(id -u)" != 0 ] || root_too=--allow-run-as-root
	TMPDIR=$work LD_LIBRARY_PATH=$emulator timeout -k 5 60 mpirun \
	    --oversubscribe $root_too --mca btl self,vader \
	    --mca btl_vader_single_copy_mechanism none \
	    --mca mpi_yield_when_idle 1 \
	    -np "$1" env "${@:3}" "$build/examples/scaler_ranks" --epochs 2 \
	    --weights "$work/$2" "$build/examples/digits.csv" \
	    >"$work/$2.out" 2>&1 || { echo "# status $?"; sed 's/^/# /' "$work/$2.out"; }
}

# steps NAME: rank, scale, steps and skips.
steps()
{
	awk '/^rank/ { print $2, $4, $6, $8 }' "$work/$1.out"
}

# 44 batches, 22 for each rank in each of two epochs; one inf on the last.
ranks 2 two
equal 'both ranks skip the step in which one finds an inf' \
    '0: 32768 43 1
1: 32768 43 1' "$(steps two)"
same 'both have the same weights' "$work/two.0" "$work/two.1"
equal 'they learn' 2 "$(awk '/^rank/ && $11 >= 0.8' "$work/two.out" | wc -l)"
ranks 2 preloaded AUTOCAST_POLICY=amp "LD_PRELOAD=$preload"
equal 'so they do with the library preloaded' "$(steps two)" "$(steps preloaded)"
same 'with the same weights' "$work/two.0" "$work/preloaded.0"
ranks 1 one
equal 'one rank alone skips, too' '0: 32768 87 1' "$(steps one)"
plan
