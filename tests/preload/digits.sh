#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The product's main job on real data: a network that has never heard of the
# library trains on the digits as well as in FP32, with its products recast.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -x "$build/examples/digits_mlp" ] || skip_all 'the example was not built'

example=(digits_mlp)
plain=$(train none plain)
check 'plain accuracy is at least 0.96' \
    "$(awk -v a="$plain" 'BEGIN { if (!(a >= 0.96)) print a }')"

for policy in fp16 bf16 tf32; do
	learns $policy "$(train $policy $policy)" 0.005
	share=$(total totals.recast_share)
	check "at least 99 % of the GEMM FLOPs were recast under $policy" \
	    "$(awk -v s="$share" 'BEGIN { if (!(s >= 0.99 && s <= 1)) print s }')"
done

# Three calls of each site are the original's, and demotions cost little.
learns 'the guard' "$(train 'gemm -> fp16,tf32 profit=off guard=on' guarded)" 0.005
# Which calls are sampled depends on a site's address. Where one of them has a
# row that is too far off, the site is kept for 1000 calls: that is no loss by
# probation.
name='at least 97 % of the GEMM FLOPs were recast, or had been found wanting'
! in_time "$name" || check "$name" \
    "$(awk -v s="$(total totals.recast_flops)" -v all="$(total totals.flops)" \
	-v kept="$(total totals.kept.guard.flops 2>/dev/null || echo 0)" \
        'BEGIN { if (!(s >= 0.8 * all && s + kept >= 0.97 * all))
	    print s, kept, all }')"

train fp16 again >/dev/null
same 'the same run gives the same bytes' "$work/fp16" "$work/again"
AUTOCAST_EMU_JITTER=7 train fp16 jitter >/dev/null
same 'and so it does when the workers pause at random' "$work/fp16" "$work/jitter"

train off off >/dev/null
same 'weights under off are those without the library' "$work/plain" "$work/off"
equal 'nothing was recast under off' 0 "$(total totals.recast_calls)"

# The same comparison must see a single recast site.
site=$(site_of_most_calls)
train "gemm site=$site -> fp16 profit=off guard=off" planted >/dev/null
check 'one planted recast changes the bytes' \
    "$(! cmp -s "$work/plain" "$work/planted" || echo 'same bytes')"
equal 'and it was the only site' 1 "$(sites_recast)"

# Policies that ship with the example.
train "$root/examples/policies/digits.policy" policy >/dev/null
check 'digits.policy keeps the output layer and recasts the rest' \
    "$(awk -v s="$(total totals.recast_share)" \
        'BEGIN { if (!(s > 0.5 && s < 1)) print s }')"
plan
