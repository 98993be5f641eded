#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Equal calls give equal bits, on any data, by any recipe: the first, the second
# and the third, after other data, after other products, on another stream, in
# another process. What a site remembers of its last call decides how much work
# a cast is, and nothing else.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/equal
# bench/accuracy's kinds, and some that only tests have.
kinds="$(sed -n "/^data='/,/'\$/p" "$root/bench/accuracy" |
    sed "s/^data='//; s/|.*//" | xargs) channels zero-rows zeros zeros-both
subnormal batch60 1e30x1e30 1e30x1e-30-zero-rows 1e-30x1e30-zero-rows
inf nan nonfinite inf-on-tiny"
backwards=$(echo "$kinds" | xargs -n1 | tac | xargs)

# repeats WHAT POLICY UNSEEN KINDS BACKWARDS RECAST: no call has other bits, and
# none whatever came before; of all calls at least RECAST were recast.
repeats()
{
	under "$2" "$client" "$3" $4 >"$work/there" 2>"$work/said"
	equal "$1: every kind, by every spelling" $(($(wc -w <<<"$4") * 3)) \
	    "$(wc -l <"$work/there")"
	recast=$(total totals.recast_calls)
	check "$1: is recast" "$([ "$recast" -ge "$6" ] || echo "$recast calls")"
	check "$1: equal calls, equal bits" "$(cat "$work/said"
	    grep -v ' other=0$' "$work/there")"
	under "$2" "$client" "$3" $5 >"$work/back" 2>&1
	check "$1: in another process, in another order" \
	    "$(diff <(sort "$work/there") <(sort "$work/back"))"
}

calls=$((5 * $(wc -w <<<"$kinds")))
for policy in fp16 bf16 'gemm -> bf16 tactic=cast profit=off guard=off' \
    'gemm -> fp16 profit=off guard=off workspace=4Mi'; do
	repeats "$policy" "$policy" 0 "$kinds" "$backwards" $((2 * calls))
done
repeats tf32 tf32 0 "$kinds" "$backwards" $((2 * calls))
# The first three calls of a site are the original.
tame='normal weights relu channels gradients1e-8 outlier1e5 softmax'
repeats 'guard=on' 'gemm -> fp16,tf32 profit=off guard=on' 3 "$tame" \
    "$(echo "$tame" | xargs -n1 | tac | xargs)" $((3 * 5 * 7))

# Every form of gemm_client, with transposes, odd sizes, gaps and scalars.
for rung in fp16 bf16 tf32; do
	for form in 'sgemm t t 67 45 131 139 141 77 1 0.75 -1.5 rows30 2 -' \
	    'strided n t 33 65 129 35 67 41 5 1 1 outlier1e9 4 - gap=13' \
	    'strided t n 31 17 64 0 0 0 3 1 0 k30 5 - stride-a=0' \
	    'batched n n 64 48 128 0 0 0 3 1 0 heavytail1e-8 5 - offset=1 stream' \
	    'sgemm n t 64 64 64 0 0 0 1 0.5 2 loguniform50 8 - device-scalars'; do
		check "$rung, three times: $form" "$(under $rung \
		    "$clients/gemm_client" $form repeat=3 2>&1 |
		    grep -v ' repeats=same')"
	done
done
plan
