#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Products with a symmetric matrix of which one triangle is stored: recast as any other,
# by a copy that is whole; of the other triangle, which is NaN here, nothing is read.
# What cuBLAS refuses it refuses as it does alone.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/symm
. "$(dirname "$0")/parts_of_calls.sh"

# within LEAST MOST: what is wrong with the error, or with infinities.
within()
{
	awk -v least="$1" -v most="$2" -v err="$(field "$(cat "$work/there")" err)" \
	    -v classes="$(field "$(cat "$work/there")" classes)" \
	    'BEGIN { if (!(err >= least && err <= most)) print "err " err
	    if (classes != 0) print "classes " classes }'
}

# ---- As alone

forms='int 64'
[ -z "${SANITIZERS:-}" ] || forms=64
for form in $forms; do
	as_alone "$form, off" off $form l l 300 90 1 0.5 normal calls=2 pad=3
	as_alone "$form, its own ones" 'gemm -> fp16 profit=off own=99' $form r u 300 90 \
	    1 0.5 normal calls=9
	as_alone "$form, learn=on" 'gemm -> fp16,tf32,bf16x3 profit=off learn=on' $form l \
	    u 300 90 1 0.5 normal calls=9 pad=5
	equal "$form, learn=on: it is measured" '3 3 3' \
	    "$(query '*(s["course"]["judged"] for s in sites)')"
	for wrong in null={handle,alpha,a,b,beta,c} ld=60 ld=-1; do
		as_alone "$form $wrong" fp16 $form l l 300 90 1 0.5 normal $wrong
	done
	for wrong in 'x l 300 90' 'l f 300 90' 'l l -1 90' 'r u 300 -1' 'l u 0 90' \
	    'r l 300 0'; do
		as_alone "$form $wrong" "gemm -> fp16 $forced" $form $wrong 1 0.5 normal
	done
	as_alone "$form, alpha 0" fp16 $form l l 300 90 0 0.5 nan
done
NVIDIA_TF32_OVERRIDE=0 as_alone 'NVIDIA_TF32_OVERRIDE=0' fp16 int l l 300 90 1 0 normal

# ---- Recast

# Bounds are twice the rungs' errors on zero-mean data (policy/words.def), least is a
# third.
# Sanitizers make each one six times as slow: the two ends are enough there.
hows=('int l l' '64 r u' '64 l u' 'int r l')
[ -z "${SANITIZERS:-}" ] || hows=("${hows[@]:0:2}")
while read -r rung guards least most; do
	for guard in ${guards//,/ }; do
		for how in "${hows[@]}"; do
			complaint=$(runs "gemm -> $rung profit=off own=0 guard=$guard" \
			    $how 330 201 -0.7 0.5 normal pad=3; within $least $most)
			check "$how, $rung, guard=$guard" "$complaint"
			equal '... is recast' 1 "$(total totals.recast_calls)"
		done
	done
done <<'END'
fp16 on 9.7e-5 5.8e-4
bf16 on 8e-4 4.8e-3
tf32 on,off 9.7e-5 5.8e-4
fp16x3 on 0 2.6e-6
bf16x3 off 1.4e-6 8.8e-6
bf16x6 on 0 1e-6
END
for beta in 0 1; do
	check "scalars on the device, beta $beta" "$(runs "gemm -> fp16 $forced" int r l 300 \
	    90 0.5 $beta normal scalars=device; within 9e-5 5.8e-4)"
done
for side in l r; do
	complaint=$(runs 'gemm -> tf32 profit=off own=0' int $side u 200 200 1 0 normal \
	    calls=40; within 9e-5 5.8e-4)
	check "tf32, looked at by turns, side $side" "$complaint"
done
complaint=$(runs 'gemm -> fp16,bf16x3 profit=off' int l u 300 200 1 0.5 normal calls=30
    within 9e-5 5.8e-4)
check 'checked' "$complaint"
check 'checked: none was mended' "$(query \
    '*[s["id"] for s in sites if s["course"]["mended_calls"]]')"
complaint=$(AUTOCAST_RANGES=on runs "gemm -> fp16 $forced" int l u 300 200 1 0 normal
    within 9e-5 5.8e-4)
check 'of half a matrix no ranges are counted' "$complaint"

# ---- Bad data

# Columns of 45 binades: no row of a cast holds them. Mended: FP32 sums of 256 terms.
for side in l r; do
	for rung in fp16 bf16x3; do
		complaint=$(runs "gemm -> $rung profit=off own=0" int $side l 256 300 1 0 \
		    k45; within 0 1.5e-5)
		check "numbers of many sizes, $rung, side $side" "$complaint"
	done
	runs "gemm -> fp16 profit=off own=0" int $side l 256 300 1 0 k45 >"$work/out"
	equal '... are mended' 1 "$(query '*(s["course"]["mended_calls"] for s in sites)')"
	runs "gemm -> fp16 $forced" int $side l 256 300 1 0 k45 >"$work/out"
	check "control: they would have been wrong, side $side" "$(within 9e-5 10)"
	for data in inf nan inf-on-zero; do
		check "$data where FP32 has it, side $side" "$(runs \
		    'gemm -> fp16 profit=off own=0' int $side u 256 200 1 0 $data
		    within 0 5.8e-4)"
	done
done

# ---- What fails

for call in cuLaunchKernel:{1,2,5}:1 cublasGemmEx:1:14; do
	complaint=$(export AUTOCAST_EMU_FAIL=$call
	    runs "gemm -> fp16 $forced" int l l 200 90 1 0 normal; within 0 1e-6)
	check "$call fails: the original is made" "$complaint"
	equal '... once' 1 "$(calls cublasSsymm_v2)"
done
complaint=$(runs "gemm -> fp16 $forced workspace=128Ki" int l l 200 90 1 0 normal
    within 0 1e-6)
check 'the copy counts as workspace' "$complaint"
equal '... and that is why' workspace "$(kept_reasons workspace unsupported)"

# ---- In graphs

for policy in "gemm -> fp16 $forced" 'gemm -> fp16 profit=off'; do
	complaint=$(runs "$policy" int r u 300 200 1 0.5 normal calls=9 captured=3
	    within 9e-5 5.8e-4)
	for name in complaints allocations_in_capture loads_in_capture syncs_in_capture; do
		[ "$(calls $name)" = 0 ] || complaint="$complaint $name"
	done
	check "captured and replayed: $policy" "$complaint"
	equal "captured: $policy" 1 "$(total totals.captured)"
done

plan
