#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A network whose layers are products of cublasLt with their biases, GELU and
# gradients in them, and which has never heard of the library, trains as in FP32.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -x "$build/examples/lt_linear" ] || skip_all 'the example was not built'

example=(lt_linear)
plain=$(train none plain)
check 'plain accuracy is at least 0.96' \
    "$(awk -v a="$plain" 'BEGIN { if (!(a >= 0.96)) print a }')"
train none again >/dev/null
same 'the same run gives the same bytes' "$work/plain" "$work/again"
AUTOCAST_EMU_JITTER=7 train none jitter >/dev/null
same 'and so it does when the workers pause at random' "$work/plain" "$work/jitter"

train off off >/dev/null
same 'weights under off are those without the library' "$work/plain" "$work/off"
same 'and so is what is printed' "$work/plain.out" "$work/off.out"
equal 'nothing was recast under off' 0 "$(total totals.recast_calls)"

# Of five products in a step all but one are recast: BGRADB sums up an input,
# which has a sixteenth of the FLOPs (256 x 10 of 2 x 64 x 256 + 3 x 256 x 10).
for policy in fp16 bf16 tf32 'gemm -> fp16,tf32 profit=off guard=on'; do
	learns "$policy" "$(train "$policy" recast)"
	check "at least 90 % of the FLOPs were recast under $policy" \
	    "$(total totals.recast_share | awk '!($1 >= 0.9 && $1 < 0.96)')"
	equal "products with these epilogues under $policy" \
	    'bias default dgelu_bgrad gelu_aux_bias' "$(query '" ".join(sorted(
	    {s["shape"].split(" ")[-1] or "default" for s in sites
	    if s["recast_calls"]}))')"
	check "under $policy, the gradient that sums up an input is kept" \
	    "$(query '" ".join(s["shape"] for s in sites if s["operation"] == "gemm.lt"
	    and "bgradb" in s["shape"] and (s["recast_calls"]
	    or not s["kept_calls"].get("unsupported")))')"
done
train fp16 fp16 >/dev/null
train fp16 again >/dev/null
same 'a recast run gives the same bytes again' "$work/fp16" "$work/again"
check 'which are not the plain ones' \
    "$(! cmp -s "$work/plain" "$work/fp16" || echo 'same bytes')"
plan
