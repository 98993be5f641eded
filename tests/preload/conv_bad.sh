#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Calls of cuDNN's older convolution interface that are wrong in one way each,
# among good ones that are recast: the status without the library, the output
# as it was, and the next good call is good.
. "$(dirname "$0")/preload.sh"
need_emulator
bad=$clients/bad_convolutions
[ -e "$bad" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
forced='conv.fprop -> fp16 profit=off guard=off;conv.dgrad -> fp16 profit=off guard=off;conv.wgrad -> fp16 profit=off guard=off'
guarded='conv.fprop -> fp16 profit=off;conv.dgrad -> fp16 profit=off;conv.wgrad -> fp16 profit=off'

for op in 0 1 2 3; do
	words="op=$op n=1 c=8 k=8 h=8"
	bare "$bad" $words >"$work/bare" 2>/dev/null
	equal "op=$op: it ends" 0 $?
	check "control: op=$op: calls are refused for many reasons" "$(awk '
	    $(NF - 1) { seen[$(NF - 1)]; wrong++; touched += $NF }
	    END { if (wrong < 30 || touched || length(seen) < 3) print wrong }' \
	    "$work/bare")"
	for policy in off "$forced" "$guarded"; do
		rm -rf "$AUTOCAST_STATE"
		under "$policy" "$bad" $words >"$work/under" 2>/dev/null
		equal "op=$op, ${policy:0:37}: it ends" 0 $?
		same "op=$op, ${policy:0:37}: the same statuses" "$work/bare" \
		    "$work/under"
	done
	check "control: op=$op: good calls among them were recast" \
	    "$(total totals.recast_calls | grep -vE '^[3-9][0-9]$')"
done
plan
