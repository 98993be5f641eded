#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recurrent networks of cuDNN: whatever the policy says each pass is the
# program's own, counted and reported. The emulated cuDNN has none, and says so of each pass.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$emulator/libcudnn.so.9" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'

# passes: what the report counts, and how many sites there are.
passes()
{
	query '" ".join(sorted("%s=%d" % (m["symbol"], m["calls"]) for m in
	    report["markers"])) + " sites=%d" % len(sites)'
}

# expected CALLS: of each pass.
expected()
{
	echo "cudnnRNNBackwardData_v8=$1 cudnnRNNBackwardWeights_v8=$1" \
	    "cudnnRNNForward=$1 sites=0"
}

for client in recurrent recurrent_8; do
	bare "$clients/$client" 3 >"$work/bare" 2>"$work/said"
	equal "$client: control: each pass is refused, by its name" '18 3' \
	    "$(grep -vcx 0 "$work/bare") $(grep -c \
	        ': cudnnRNN[A-Za-z_0-9]*: is not built: ' "$work/said")"
	for policy in off amp '* -> fp16 profit=off guard=off'; do
		rm -rf "$AUTOCAST_STATE"
		under "$policy" "$clients/$client" 3 >"$work/under" 2>/dev/null
		same "$client: the answers are cuDNN's, '$policy'" \
		    "$work/bare" "$work/under"
		equal "$client: each pass is counted, '$policy'" \
		    "$(expected 6)" "$(passes)"
	done
done

check 'the text names each, as passed through' "$("$build/autocast" report \
    >"$work/text"; for pass in Forward BackwardData_v8 BackwardWeights_v8; do
	grep -q "cudnnRNN$pass: 6 calls, passed through\$" "$work/text" ||
	    echo "not cudnnRNN$pass"
    done)"
equal 'and the line at the end of a run says it' \
    'nothing to recast: 6 calls passed through, most of them cudnnRNN' \
    "$(env -u AUTOCAST_NOTICE "$build/autocast" run --emulate -- \
        "$clients/recurrent" 2>&1 | grep -o 'nothing to recast: .* cudnnRNN')"
plan
