#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recurrent networks of cuDNN: whatever the policy says each pass is the
# program's own, counted and reported; a policy that names them is refused. The
# emulated cuDNN has none, and says so of each pass.
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

# ---- Their word in a policy is refused as a setting that is gone is: the program
# runs, nothing is recast, and it is told why.

# told POLICY: the status of a program under it, and the first line of what is said
# of the policy, without the place in it.
told()
{
	echo "$1" >"$work/it.policy"
	rm -rf "$AUTOCAST_STATE"
	under "$work/it.policy" "$clients/convolving" calls=2 2>"$work/said" \
	    >/dev/null
	echo "$? $(sed -n '1s/.*it.policy:1:[0-9]*: //p' "$work/said")," \
	    "$(total totals.recast_calls) recast"
}
rest='conv.fprop -> fp16 profit=off guard=off'
equal 'control: without the word' '0 , 2 recast' "$(told "$rest")"
equal 'control: a setting that is gone' \
    "0 'sample' is gone: every call is checked, 0 recast" \
    "$(told "$rest sample=3")"
gone="0 'rnn' is gone: recurrent networks are counted and kept; delete the word or its line, 0 recast"
equal 'the word alone' "$gone" "$(told "rnn -> fp16 guard=off; $rest")"
equal 'the word next to others' "$gone" "$(told "conv,rnn -> keep; $rest")"
plan
