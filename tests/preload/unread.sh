#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Times of programs that end before their calls have come to read them: what the
# device has passed is read where the program waits for it, and at exit. Nothing
# there waits.
. "$(dirname "$0")/preload.sh"
need_emulator
AUTOCAST_EMU_CLOCK=model
AUTOCAST_EMU_SUMS=once
export AUTOCAST_EMU_CLOCK AUTOCAST_EMU_SUMS

# times WAY: how the program ended, and where its times come from.
times()
{
	rm -rf "$AUTOCAST_STATE"
	AUTOCAST_POLICY='gemm -> fp16 profit=off' \
	    LD_LIBRARY_PATH=$emulator LD_PRELOAD=$preload \
	    timeout 60 "$clients/unread" "$1" 2>&1
	echo "$? $("$build/autocast" report -v |
	    sed -n 's/^  times *\([a-z]*\).*/\1/p')"
}

equal 'times of a program that synchronises at its end' '0 estimated' "$(times sync)"
equal 'of one that only frees memory' '0 estimated' "$(times free)"
equal 'of one that destroys its handle and leaves by _exit()' '0 estimated' "$(times destroy)"
equal 'not those of a context that is gone' '0 none' "$(times reset)"
equal 'not those that the device has not passed: exit() does not wait' '0 none' "$(times held)"
plan
