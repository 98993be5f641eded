#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rungs by parts: how far their products are from FP64, by data, K and GPU, with
# the sums of Tensor Cores; through every form and epilogue; what they launch;
# which data they are mended on, and that the next rung takes over.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/gemm_client rhythm=$build/tests/trust/rhythm
export AUTOCAST_EMU_SUMS=exact AUTOCAST_EMU_COUNTERS=$work/counters

# within LINE ERROR: complaints about one result.
within()
{
	case $1 in
	*BROKEN*) echo "something outside C was written: $1" ;;
	esac
	[ "$(field "$1" status)" = 0 ] || echo "status: $1"
	[ "$(field "$1" classes)" = 0 ] || echo "infinities and NaNs differ: $1"
	awk -v err="$(field "$1" err)" -v most="$2" \
	    'BEGIN { if (!(err <= most)) print err " > " most }'
}

# forced RUNG ARGS...: a line of the client, nothing mended but what no cast holds.
forced()
{
	rm -rf "$AUTOCAST_STATE"
	under "gemm -> $1 profit=off guard=off" "$client" "${@:2}" reference 2>&1
}

# ---- Errors. Two parts of BF16 leave 2^-18 of a number at most, and the product of
# the small ones as much of one: 2^-18 is 3.8e-6, and 1.7 times that the bound for
# three of them at random. Of three parts, and of FP16's two, what is left is below
# FP32's own 6e-8: the sums tell. Each chunk cuts off less than K/4 2^-25 of its terms:
# at 1,024 1.5e-5 to a side where all have one sign, a fifth where signs are mixed; a
# part of that at 512. FP16 loses what is graded by 20 binades. A GPU before Hopper cuts
# off twice as much.
# most RUNG DATA: the bound.
most()
{
	case $1/$2 in
	bf16x3/*) echo 6.5e-6 ;;
	bf16x6/*) echo 1e-6 ;;
	fp16x3/uniform01 | fp16x3/relu | fp16x3/softmax) echo 1.5e-5 ;;
	*) echo 3e-6 ;;
	esac
}
zero_mean='normal uniform weights gradients1e-8 channels rows30 outlier1e5
loguniform-a 1e-30x1e30 uniform01 relu softmax'
for model in h200 a100; do
	times=$([ $model = h200 ] && echo 1 || echo 2)
	for rung in fp16x3 bf16x3 bf16x6; do
		data=$zero_mean
		[ $rung = fp16x3 ] || data="$data k30 rows45"
		[ $model = h200 ] || data='normal uniform01'
		for d in $data; do
			complaint=
			for k in 256 1024 4096 8192; do
				line=$(AUTOCAST_EMU_MODEL=$model forced $rung sgemm \
				    n t 64 48 $k 0 0 0 1 1 0 "$d" 1 -)
				complaint=$complaint$(within "$line" \
				    "$(awk -v x="$(most $rung "$d")" -v t="$times" \
				    'BEGIN { print x * t }')")
			done
			check "$model: $rung on $d" "$complaint"
		done
	done
done
for d in bf16-a bf16-b; do
	line=$(forced fp16x2 sgemm n n 64 48 1500 0 0 0 1 1 0 $d 1 -)
	check "fp16x2 on $d" "$(within "$line" 2e-6)"
done

# ---- Every form, all transposes, odd sizes, padded matrices, two chunks of K.
for rung in fp16x3 bf16x6; do
	for ta in n t c; do
		for tb in n t; do
			for beta in 0 1 0.7; do
				line=$(forced $rung sgemm $ta $tb 67 45 1131 1139 1141 77 1 0.7 \
				    $beta normal 2 -)
				check "$rung: $ta$tb, beta $beta" "$(within "$line" 3e-6)"
			done
		done
	done
	for form in sgemm64 sgemmex gemmex gemmex64; do
		line=$(forced $rung $form t n 33 65 1129 0 0 41 1 -2 0.5 normal 3 -)
		check "$rung: $form" "$(within "$line" 3e-6)"
	done
	for form in strided stridedex64 batched batchedex64; do
		for beta in 0 1; do
			line=$(forced $rung $form n t 33 65 1029 35 67 41 5 1 $beta normal 4 - \
			    gap=13)
			check "$rung: $form, beta $beta" "$(within "$line" 3e-6)"
		done
	done
	line=$(forced $rung sgemm n n 64 64 1100 0 0 0 1 1 0 normal 7 - nan-c)
	check "$rung: beta 0 does not read C" "$(within "$line" 3e-6)"
	for d in inf minus-inf nan inf-on-zero nonfinite; do
		line=$(forced $rung sgemm n n 65 70 1100 0 0 0 1 1 0 $d 7 -)
		check "$rung: $d comes out as in FP32" "$(within "$line" 3e-6)"
	done
done
for d in inf nan inf-on-zero nonfinite; do
	line=$(forced fp16x3 sgemm n t 1024 1000 64 0 0 0 1 1 0 $d 3 -)
	check "$d in a million outputs" "$(within "$line" 3e-6)"
done
for rung in fp16x3 bf16x3; do
	for order in nn tn; do
		rm -rf "$AUTOCAST_STATE"
		under "gemm -> $rung profit=off guard=off" "$clients/lt_matrix" \
		    kind=fp32 order=$order size=40x36x1100 calls=6 bits=16 \
		    batch=one scalars=host >"$work/lt" 2>&1
		status=$?
		check "$rung: every epilogue, $order" "$([ $status = 0 ] || {
		    echo "status $status"; grep -m 5 -e BEYOND -e broken "$work/lt"; })"
		check "$rung: are recast, $order" "$(total totals.recast_share |
		    awk '$1 < 0.3')"
	done
done

# The same bounds behind each epilogue, two chunks of K, and in a graph. All but the
# first calls of a place and captures that were not heard of are recast.
# played RUNG MOST ARGS...: results of rhythm that are off by more, or kept.
played()
{
	rm -rf "$AUTOCAST_STATE"
	under "gemm -> $1 profit=off guard=off" "$rhythm" m=66 n=50 k=1100 "${@:3}" \
	    good:6 graph:again:2 | awk -v most="$2" '$3 > most || (NR > 4 && $5)
		END { if (NR != 8) print NR " results" }'
}
for rung in fp16x3 bf16x3 bf16x6; do
	for e in '' default bias relu relu_bias gelu gelu_bias gelu_aux_bias drelu dgelu \
	    dgelu_bgrad; do
		check "$rung: ${e:-cuBLAS}, and in a graph" \
		    "$(played $rung "$(most $rung normal)" ${e:+"lt=$e"})"
	done
done

# ---- What it launches: a product more for each chunk but the first, four kernels.
# launched K RUNG [FUNCTION]: products of a call, or calls of another function.
launched()
{
	for n in 4 8; do
		rm -rf "$AUTOCAST_STATE"
		under "gemm -> $2 profit=off" "$client" sgemm n n 64 48 "$1" 0 0 0 1 1 0 \
		    bf16-b 1 - repeat=$n >/dev/null 2>&1
		awk -v name="${3:-cublasGemmEx}" '$1 == name { x = $2 } END { print x + 0 }' "$work/counters"
	done | xargs | awk '{ print ($2 - $1) / 4 }'
}
equal 'fp16x3, K 1,024: products' 1 "$(launched 1024 fp16x3)"
equal 'fp16x3, K 1,025: products' 2 "$(launched 1025 fp16x3)"
equal 'bf16x3, K 4,096: products' 2 "$(launched 4096 bf16x3)"
equal 'bf16x6, K 2,000: products' 4 "$(launched 2000 bf16x6)"
equal 'fp16x2, K 2,000: products' 2 "$(launched 2000 fp16x2)"
# 4,000 of K in 16 bits, and C, which the second product reads.
equal 'fp16x2, K 2,000: twice the work' $((2 * (64 + 48) * 4000 + 3 * 4 * 64 * 48)) \
    "$(launched 2000 fp16x2 gemm_bytes)"
for k in 1024 2000; do
	equal "fp16x2, K $k: kernels" 4 "$(launched $k fp16x2 cuLaunchKernel)"
done

# ---- The guard: what a rung cannot hold is mended, and the next one serves.
rm -rf "$AUTOCAST_STATE"
line=$(under 'gemm -> fp16x3,bf16x3 tol=1e-5 profit=off' "$client" sgemm n n 96 80 \
    1500 0 0 0 1 1 0 k30 1 - repeat=20 reference 2>&1)
check 'K graded by 30 binades: within 1e-5' "$(within "$line" 1e-5)"
equal 'bf16x3 has taken over' 1 "$(query 'sum(s["rung"] == "bf16x3"
    and s["recast_calls"] > 10 for s in sites)')"

# profile NAME: that profile, whatever it gains, as a policy's text.
profile()
{
	printf 'set profit=off\nconv -> keep\notherwise %s' "$1"
}

# ran: what was recast by which rung in the last run.
ran()
{
	query '" ".join(sorted("%s=%d" % (s["rung"], s["recast_calls"]) for s in sites
	    if s["recast_calls"]))'
}

# accurate DATA: 40 calls of that profile.
accurate()
{
	rm -rf "$AUTOCAST_STATE"
	line=$(under "$(profile accurate)" "$client" sgemm n n 96 80 700 0 0 0 1 1 0 \
	    "$1" 1 - repeat=40 reference 2>&1)
	check "accurate on $1: within 1e-5" "$(within "$line" 1e-5)"
}
accurate k30
accurate rows45
accurate normal
equal 'accurate: two products are not for any data' fp16x3=37 "$(ran)"
for d in bf16-a bf16-b; do
	accurate $d
	check "accurate on $d: two products, but for the first calls" "$(ran |
	    awk -F= '!(/^fp16x2=/ && $2 + 0 >= 30)')"
done

# ---- Programs that keep promises of their own: captures and their replays, threads,
# streams, tuning, a host that is ahead.
while read -r words; do
	rm -rf "$AUTOCAST_STATE"
	under 'gemm -> fp16x3 profit=off' "$clients/"$words >"$work/out" 2>"$work/err"
	equal "fp16x3: $words" 0 $?
	check "fp16x3: $words: recast" "$(total totals.recast_calls | awk '!$1')"
done <<'END'
captured global 4
graphs global replay
steps sgemm zeros global
capture_meanwhile settled
two_threads shared 8
many_streams 20
turning 1 8
lt_torch calls=30 bits=16
lt_stack threads=2 rounds=30 sizes=1 bits=16 few
END

# ---- netlib's test of SGEMM: sizes from 0 to 9, all transposes, alphas and betas. Two
# parts of FP16 and three of BF16 pass it unmended; in `accurate` whatever serves.
# netlib POLICY: what it says, and how many calls ran as cast.
netlib()
{
	rm -rf "$AUTOCAST_STATE"
	under "$1" "$clients/netlib_sgemm" 2>&1
	ran | tr ' ' '\n' | awk -F= '$1 ~ /x/ { calls += $2 } END { print "cast=" calls }'
}
for rung in fp16x3 bf16x6; do
	line=$(netlib "gemm -> $rung profit=off guard=off" | xargs)
	check "$rung: netlib's ratio is below 16" "$(awk -v r="$(field "$line" ratio)" \
	    'BEGIN { if (!(r > 0 && r < 16)) print r }')"
	equal "$rung: each of its products is cast" "$(field "$line" products)" \
	    "$(field "$line" cast)"
done
line=$(netlib "$(profile accurate)" | xargs)
check "accurate: netlib's ratio is below 16" "$(awk -v r="$(field "$line" ratio)" \
    -v calls="$(field "$line" cast)" \
    'BEGIN { if (!(r > 0 && r < 16 && calls > 100)) print r, calls }')"

# ---- Codes that factorise by products of their own: what `amp` has for solvers.
for kind in lu cholesky; do
	plain=$(bare "$clients/factorise" $kind 400 64 8)
	for policy in 'gemm -> bf16x3,fp16x3 tol=1e-3 profit=off' "$(profile amp)"; do
		rm -rf "$AUTOCAST_STATE"
		line=$(under "$policy" "$clients/factorise" $kind 400 64 8)
		name="$kind, ${policy##* }"
		check "$name: backward error at most three times FP32's" "$(awk \
		    -v a="$(field " $plain" error)" -v b="$(field " $line" error)" \
		    'BEGIN { if (!(b > 0 && b <= 3 * a)) print b " > 3 x " a }')"
		check "$name: four fifths of the work are recast" \
		    "$(total totals.recast_share | awk '$1 < 0.8')"
	done
	check "$kind: amp takes FP32-class rungs for a solver" "$(ran |
	    tr ' ' '\n' | awk -F= '$1 == "fp16x3" { calls += $2 }
	    END { if (calls < NR * 7) print calls } $1 != "fp16x3"')"
done

# ---- Whole numbers come out exactly: ids, and products of which a part of a
# number times a part of another is left out.
for rung in fp16x2 fp16x3 bf16x3 bf16x6; do
	rm -rf "$AUTOCAST_STATE"
	check "$rung: one-hot rows times ids to 2^24, and sums of them" "$(under \
	    "gemm -> $rung profit=off" "$rhythm" onehot:12 packed:12 prefix:12 |
	    awk '$4; END { if (NR != 36) print NR " results" }')"
	rm -rf "$AUTOCAST_STATE"
	line=$(under "gemm -> $rung profit=off" "$client" sgemm n n 80 72 60 0 0 0 1 1 0 \
	    integers 1 - repeat=5 reference 2>&1)
	check "$rung: whole numbers" "$(within "$line" 0)"
done
plan
