#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One gradient scaler from two threads, seven streams, two devices, and a forked
# child. What it queues is ordered by its own events alone: under
# ThreadSanitizer a missing one is a race.
. "$(dirname "$0")/preload.sh"
need_emulator
ways=$clients/scaler_ways
RACE=66
TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}exitcode=$RACE:halt_on_error=1
AUTOCAST_EMU_MODEL=h200,t4
AUTOCAST_EMU_COUNTERS=$work/counters
export TSAN_OPTIONS AUTOCAST_EMU_MODEL AUTOCAST_EMU_COUNTERS

# way NAME: what it says, then what the emulated GPU complains of.
way()
{
	rm -f "$work/counters"
	LD_LIBRARY_PATH=$build:$emulator LD_PRELOAD=$sanitizer \
	    "$ways" "$1" 2>"$work/err"
	echo "status $? $(head -n 20 "$work/err")"
	[ ! -f "$work/counters" ] ||
	    sed -n '/^complaints [1-9]/p' "$work/counters"
}

# 12 turns from 1024, growing after 4 clean ones; the sixth has an inf: 2048,
# back to 1024, 2048 again, and two turns.
two='clean: weight 12 scale 2048 tracker 2
one inf: weight 11 scale 2048 tracker 2
status 0 '
equal 'two threads, a group each' "$two" "$(way threads)"
AUTOCAST_EMU_JITTER=7 && export AUTOCAST_EMU_JITTER
equal 'the same, with pauses' "$two" "$(way threads)"
one='streams: weight 11 scale 2048 tracker 2
status 0 '
equal 'each call on another stream' "$one" "$(way streams)"
# sqrt(2 * 3000) is the norm; an inf on the second device is seen on both.
equal 'two devices, one group' 'clean: status 0 flags 0 0 left 1 norm 77.4597 stepped 1
clean: scales were 1024 1024, is 1024
inf on 1: status 0 flags 1 1 left 1 norm inf stepped 0
inf on 1: scales were 1024 1024, is 512
after: status 0 flags 0 0 left 1 norm 77.4597 stepped 1
after: scales were 512 512, is 512
last: status 0 flags 0 0 left 1 norm 77.4597 stepped 1
last: scales were 512 512, is 512
status 0 ' "$(way devices)"
equal 'and others who are asked, have an inf, and fail' 'clean: status 0 flags 0 0 left 1 norm 77.4597 stepped 1
clean: scales were 1024 1024, is 1024
inf on 1: status 0 flags 1 1 left 1 norm inf stepped 0
inf on 1: scales were 1024 1024, is 512
after: status 0 flags 1 1 left 1 norm 77.4597 stepped 0
after: scales were 512 512, is 256
last: status 19 flags 1 1 left 1 norm 77.4597 stepped 0
last: scales were 256 256, is 128
asked 4 times
status 0 ' "$(way reduce)"
unset AUTOCAST_EMU_JITTER
case ${SANITIZERS:-} in
*thread*) skip 'forked children' 'ThreadSanitizer ends a child that a thread left' ;;
*) equal 'forked children' '20 of 20 children came to their end
status 0 ' "$(way fork)" ;;
esac

# The test of the test: without one of the waits, a race.
case ${SANITIZERS:-} in
*thread*)
	missed=
	for wait in 2 3 4 5 6; do
		AUTOCAST_EMU_DROP=cuStreamWaitEvent:$wait way streams |
		    grep -q "status $RACE" && missed=$missed$wait
	done
	check 'a missing wait is a race' "$([ -n "$missed" ] || echo none seen)" ;;
*) skip 'a missing wait is a race' 'not built with --enable-tsan' ;;
esac
plan
