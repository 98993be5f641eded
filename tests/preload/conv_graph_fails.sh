#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Convolutions of cuDNN's graph interface where something fails once: each call
# of cuDNN's and of the driver's on the way, at its turns. The program's own call
# is made, or the way goes on; nothing is lost, no result is wrong, nothing stays
# behind.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$build/examples/graph_conv" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
client=$build/examples/graph_conv
words='relu runs=9'
AUTOCAST_EMU_COUNTERS=$work/counters
export AUTOCAST_EMU_COUNTERS

# run POLICY FAILURE: into $work/out, with a new report.
run()
{
	rm -rf "$AUTOCAST_STATE"
	AUTOCAST_EMU_FAIL=$2 under "$1" "$client" $words >"$work/out" 2>&1
}

# behind FUNCTION: what the last run left of descriptors and memory; the
# descriptor that was not made is among those counted, and what the driver would
# not free is not ours.
behind()
{
	local made=$(($(counter cudnnBackendCreateDescriptor) -
	    $(counter cudnnBackendDestroyDescriptor)))
	[ "$1" != cudnnBackendCreateDescriptor ] || made=$((made - 1))
	[ $made = 0 ] || echo "$made descriptors"
	[ "$1" = cuMemFreeAsync ] || [ "$(counter device_bytes)" = 0 ] ||
	    echo "$(counter device_bytes) bytes"
}

# fail POLICY FUNCTION STEP STATUS: each STEPth of its calls; under ASan, where
# a run takes four times as long, each fourth of these.
fail()
{
	local own all wrong='' failed=0 n left step=$3
	case ${SANITIZERS:-} in *address*) step=$((4 * step)) ;; esac
	own=$(sed -n "s/^$2 //p" "$work/own")
	run "$1" ''
	all=$(counter "$2")
	# What a step leaves out today it meets within as many days.
	for ((n = 1 + 10#$(date +%j) % step; n <= all; n += step)); do
		run "$1" "$2:$n:$4"
		if ! grep -q hash= "$work/out"; then
			failed=$((failed + 1))
			continue
		fi
		left=$(behind "$2")
		[ -z "$left" ] || wrong="$wrong $n: $left;"
		cmp -s "$work/out" "$work/bare" ||
		    cmp -s "$work/out" "$work/forced" || wrong="$wrong $n: bits;"
		"$build/autocast" report | grep -q ' in 9 calls at ' ||
		    wrong="$wrong $n: calls;"
	done
	check "failing once: $2, by $step" "$wrong"
	check "the program's own fail, and no others: $2" \
	    "$([ "$failed" -le "${own:-0}" ] || echo "$failed of $own")"
	check "control: $2" "$([ "${all:-0}" -gt "${own:-0}" ] || echo "$all")"
}

guarded='conv.fprop -> fp16 profit=off'
bare "$client" $words >"$work/bare"
mv "$work/counters" "$work/own"
run "$guarded guard=off" ''
mv "$work/out" "$work/forced"

# A run takes a tenth of a second: of the 510 descriptors each fourth, of their
# 254 attributes each other one, and all else.
while read -r function step; do
	fail "$guarded" "$function" "$step" 3000
done <<'END'
cudnnBackendCreateDescriptor 4
cudnnBackendSetAttribute 2
cudnnBackendGetAttribute 1
cudnnBackendFinalize 1
cudnnBackendExecute 1
cudnnGetStream 1
END
run "$guarded" ''
for function in $(sed -n 's/^\(cu[A-Z][^ ]*\) [1-9].*/\1/p' "$work/counters"); do
	fail "$guarded" "$function" 1 999
done
plan
