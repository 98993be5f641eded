#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Products of cublasLt, recast: every epilogue, order, type, batch, C and place of
# alpha and beta within bounds that follow from the bits that are kept
# (tests/preload/programs/lt_client.h); what must pass through keeps its bits and
# has a reason; programs that tune get what they get alone; wrong calls are the
# library's to answer.
. "$(dirname "$0")/preload.sh"
need_emulator
AUTOCAST_EMU_CLOCK=model
export AUTOCAST_EMU_CLOCK

# holds WHAT POLICY PROGRAM ARGS...: its promises and bounds; output in $work/under.
holds()
{
	name=$1
	rm -rf "$AUTOCAST_STATE"
	under "$2" "$clients/$3" "${@:4}" >"$work/under" 2>"$work/said"
	status=$?
	check "$name" "$([ $status = 0 ] || { echo "status $status"
	    grep -h -m 5 -e BEYOND -e broken "$work/under" "$work/said"; })"
}

# ways OUTPUT: of each type, order and epilogue, whether the library did it, and
# whether all, some or no results have the bits of $work/bare.
ways()
{
	python3 - "$work/bare" "$1" <<'EOS'
import sys
lines = [[l.split() for l in open(p)] for p in sys.argv[1:]]
seen = {}
for alone, ours in zip(*lines):
	epilogue, kind, order, *rest = alone[0].split("/")
	assert alone[:2] == ours[:2], (alone, ours)
	way = "refused" if alone[1] != "status=0" else \
	    "same" if alone[2] == ours[2] else "recast"
	seen.setdefault((kind, order, epilogue), set()).add(way)
for (kind, order, epilogue), way in seen.items():
	# A D in row order has an epilogue of its own in no recipe; sums of inputs
	# would be those of scaled ones.
	want = "same"
	if kind in ("fast-tf32", "fast-16f"): # as accurate, by another way
		continue
	if kind in ("fp32", "fast-16bf") and not epilogue.startswith("BGRAD") and \
	    (order not in ("row-d", "row-abd") or epilogue == "DEFAULT"):
		want = "recast"
	if way != {want} and way != {"refused"}:
		print(kind, order, epilogue, *way, "not", want)
	if way == {"refused"} and want == "recast":
		print(kind, order, epilogue, "is refused")
EOS
}

# ---- numbers. Eight calls of each: four come before one algorithm is taken for
# the program's choice.
bare "$clients/lt_matrix" >"$work/bare"
holds 'fp16: every product' fp16 lt_matrix calls=8 bits=11
check 'fp16: what is recast, and what is not' "$(ways "$work/under")"
equal 'and what is not is said to be' 'pedantic=384 type=1920 unsupported=1104' \
    "$(query '" ".join("%s=%d" % (r, k["calls"] / 8) for r, k in
    sorted(report["totals"]["kept"].items()) if r != "probation")')"
equal 'of epilogues, too' 'bgrada/bgradb: unsupported
other: an epilogue in row order: unsupported' "$(query \
    '"\n".join(sorted({"%s: %s" % (s["shape"], s["reason"]) for s in sites
    if s["rung"] == "keep" and s["type"] == "f32"
    and s["asked"] != "pedantic"}))')"
for policy in tf32 bf16 'gemm -> bf16 tactic=cast profit=off guard=off' \
    'gemm -> fp16,tf32 profit=off guard=on'; do
	bits=11
	case $policy in *bf16*) bits=8 ;; esac
	for order in tn row-d; do
		words="kind=fp32 order=$order"
		bare "$clients/lt_matrix" $words >"$work/bare"
		holds "$policy: $order" "$policy" lt_matrix $words calls=12 \
		    bits=$bits
		check "$policy: what is recast, and what is not" \
		    "$(ways "$work/under")"
	done
	# Without an epilogue, what cuBLAS would have been asked for.
	for order in nn tn nt tt; do
		words="epilogue=DEFAULT kind=fp32 order=$order c=same calls=8 bits=8"
		under "$policy" "$clients/lt_matrix" $words >"$work/lt"
		under "$policy" "$clients/lt_matrix" $words via=gemm >"$work/gemm"
		same "$policy: $order has the bits of a product of cuBLAS" \
		    "$work/gemm" "$work/lt"
	done
	for data in inf nan tiny large; do
		[ "$data" != large ] || [ "$policy" != "${policy#*guard=on}" ] ||
			holds "$policy: data $data" "$policy" lt_matrix \
			    kind=fp32 order=nn calls=8 bits=$bits data=$data
	done
done
holds 'odd sizes' fp16 lt_matrix kind=fp32 size=33x17x29 pad=3 calls=8 bits=11
bare "$clients/lt_odd" >"$work/odd"
under 'gemm -> fp16 guard=off profit=off' "$clients/lt_odd" >"$work/under"
same 'an attribute that is set between recasts is seen' "$work/odd" "$work/under"
check 'control: the library refuses it' "$(grep -q ' 7 0 7 ' "$work/odd" ||
    cat "$work/odd")"
holds 'without an algorithm' fp16 lt_matrix kind=fp32 order=tn algo=null calls=8 bits=11

# The default policy, where it pays: as for a product of cuBLAS, all but those of
# the trial.
for epilogue in DEFAULT BIAS GELU_AUX_BIAS DGELU_BGRAD; do
	AUTOCAST_EMU_MODEL=t4 holds "amp: $epilogue" amp lt_matrix calls=120 bits=11 \
	    size=1024x512x512 kind=fp32 order=tn batch=one c=unread scalars=host \
	    epilogue=$epilogue
	check "amp: $epilogue: recast" "$(total totals.recast_calls | awk '$1 < 90')"
done

# ---- programs
for policy in tf32 fp16 'gemm -> fp16,tf32 profit=off guard=on'; do
	holds "as PyTorch: $policy" "$policy" lt_torch calls=40 bits=11
	# Of 40 calls of each product four come before its algorithm is taken for
	# chosen, and a guard looks at some more.
	check "as PyTorch: $policy: all but a few calls of each product" \
	    "$(total totals.recast_calls | awk '$1 < 12 * 32 || $1 > 12 * 36')"
	holds "as XLA, by threads: $policy" "$policy" lt_xla threads bits=11
	check "as XLA, by threads: $policy: recast" \
	    "$(total totals.recast_calls | awk '$1 < 140')"
	holds "on the stack: $policy" "$policy" lt_stack bits=11
	holds "on the stack, few kinds: $policy" "$policy" lt_stack bits=11 few sizes=1
	check "on the stack, few kinds: $policy: recast" \
	    "$(total totals.recast_calls | awk '$1 < 96')"
done

# ---- tuning: all results are the program's own.
bare "$clients/lt_tune" "$work/tuned" warm=1 reps=3 uses=10 >"$work/bare"
mv "$work/tuned" "$work/tuned.bare"
for policy in fp16 'gemm -> fp16,tf32 profit=off guard=on'; do
	holds "as TunableOp: $policy" "$policy" lt_tune "$work/tuned" bits=11 \
	    warm=1 reps=3 uses=10
	# A guard's tries take time of their own next to what is timed.
	[ "$policy" != fp16 ] || same 'as TunableOp: the same file' \
	    "$work/tuned.bare" "$work/tuned"
	equal "as TunableOp: $policy: and the same results on the way to it" \
	    "$(sed -n 's/id=\([0-9]*\) ns=\([0-9]*\) .*hash=/\1 \2 /p' "$work/bare")" \
	    "$(sed -n 's/id=\([0-9]*\) ns=\([0-9]*\) .*hash=/\1 \2 /p' "$work/under")"
	check "as TunableOp: $policy: then the winner is recast" \
	    "$(total totals.recast_calls | awk '$1 < 12')"
done
# Matrices that are aligned in two ways may alternate between two algorithms for
# ever: they are recast after 64 calls that brought no new one, once all are met.
for turns in 2 3; do
	holds "as TunableOp: $turns algorithms in turn" fp16 lt_tune \
	    "$work/tuned" bits=11 warm=1 reps=3 uses=$((64 + 8 * turns)) \
	    turns=$turns
	check "as TunableOp: $turns algorithms in turn: then recast" \
	    "$(total totals.recast_calls | awk -v least=$((3 * 7 * turns)) \
	    '$1 < least')"
done
bare "$clients/lt_xla" tries=3 eager=8 >"$work/bare"
for policy in tf32 fp16 'gemm -> fp16,tf32 profit=off guard=on'; do
	holds "as XLA: $policy" "$policy" lt_xla tries=3 eager=8 bits=11
	# But for a sum that adds to what a cast wrote: that is verified all the while.
	sums=none
	[ "${policy#*guard=on}" = "$policy" ] || sums=^sum
	equal "as XLA: $policy: no mixture while it compares algorithms" \
	    "$(grep tuned= "$work/bare" | grep -v $sums)" \
	    "$(grep tuned= "$work/under" | grep -v $sums)"
	# Of graphs that XLA captures, forced casts stay out.
	check "as XLA: $policy: then recast, and so is what it captures" "$(
	    paste -d ' ' "$work/bare" "$work/under" |
	    awk -v kept="$([ "$policy" = tf32 ]; echo $?)" '$2 ~ /^eager/ &&
	    ($2 == $6 || ($3 == $7) != kept)')"
done

# ---- wrong calls, each after eight good ones that are recast: where cublasLt has
# an answer, it is that, and nothing else was written.
bare "$clients/lt_bad" >"$work/bare"
for policy in tf32 fp16; do
	under "$policy" "$clients/lt_bad" >"$work/under" 2>&1
	check "wrong calls: $policy" "$(paste -d '|' "$work/bare" "$work/under" |
	    awk -F '|' '{
		sub(/ [0-9a-f]*$/, "", $2)
		alone = $1
		sub(/ [0-9a-f]*$/, "", alone)
		if (alone != $2) print
	    }')"
	check "wrong calls: $policy: which write nothing" "$(diff \
	    <(grep -v ': 0 [0-9a-f]*$' "$work/bare") \
	    <(grep -v ': 0 [0-9a-f]*$' "$work/under"))"
	check "wrong calls: $policy: the others are recast" \
	    "$(total totals.recast_calls | awk '$1 < 200')"
done
plan
