#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Products of which one triangle is written: the blocks off the diagonal are recast,
# checked and mended, the others are the program's own calls; the other triangle, and
# what surrounds C, is not touched. What cuBLAS refuses it refuses as it does alone.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/syrk
. "$(dirname "$0")/parts_of_calls.sh"

# within LEAST MOST: what is wrong with the error.
within()
{
	awk -v least="$1" -v most="$2" -v err="$(field "$(cat "$work/there")" err)" \
	    'BEGIN { if (!(err >= least && err <= most)) print "err " err }'
}

# ---- As alone

# Sanitizers make each one six times as slow: the two ends are enough there.
forms='s s64 x x64'
[ -z "${SANITIZERS:-}" ] || forms='s x64'
for form in $forms; do
	as_alone "$form, off" off $form l n 300 90 1 0.5 normal calls=2 pad=3
	as_alone "$form, another operation" "gemm.single -> fp16 $forced" $form u t \
	    300 90 1 0.5 normal calls=2
	as_alone "$form, its own ones" 'gemm -> fp16 profit=off own=99' $form u n 300 90 \
	    1 0.5 normal calls=9
	as_alone "$form, learn=on" 'gemm -> fp16,tf32,bf16x3 profit=off learn=on' $form l \
	    c 300 90 1 0.5 normal calls=9 pad=5
	equal "$form, learn=on: the block between the halves is measured" '3 3 3' \
	    "$(query '*(s["course"]["judged"] for s in sites)')"
	as_alone "$form, too small" fp16 $form l n 127 300 1 0 normal calls=2
	for wrong in null={handle,alpha,a,beta,c} ld=60 ld=-1; do
		as_alone "$form $wrong" fp16 $form l n 300 90 1 0.5 normal $wrong
	done
	[ "${form#s}" != "$form" ] ||
	    as_alone "$form null=b" fp16 $form l n 300 90 1 0.5 normal null=b
	for wrong in 'f n 300 90' 'l x 300 90' 'l n -1 90' 'l n 300 -1' 'u n 0 90' \
	    'l n 300 0'; do
		as_alone "$form $wrong" fp16 $form $wrong 1 0.5 normal
	done
	as_alone "$form, alpha 0" fp16 $form l n 300 90 0 0.5 nan
done
as_alone 'A is a part of C' "gemm -> fp16 $forced" s l n 300 90 1 0.5 normal within=0
equal '... and that is why' overlap "$(kept_reasons overlap unsupported)"
NVIDIA_TF32_OVERRIDE=0 as_alone 'NVIDIA_TF32_OVERRIDE=0' fp16 s l n 300 90 1 0 normal

# ---- Recast

# Of all that is off the diagonal of blocks of 64 to 127: bounds are twice the rungs'
# errors on zero-mean data (policy/words.def), least is a third.
while read -r rung least most; do
	for form in s x64; do
		for how in 'l n' 'u n' 'l t' 'u c'; do
			complaint=$(runs "gemm.syrk -> $rung $forced" $form $how 330 200 \
			    -0.7 0.5 normal pad=3; within $least $most)
			check "$form $how, $rung" "$complaint"
		done
	done
	equal "$rung: four blocks are recast, of 330, 192, 138 and 128" 4 \
	    "$(total totals.recast_calls)"
	equal "$rung: and five are the program's" 5 "$(calls cublasSsyrkx_64)"
done <<'END'
fp16 9.7e-5 5.8e-4
bf16 8e-4 4.8e-3
tf32 9.7e-5 5.8e-4
fp16x3 0 2.6e-6
bf16x3 1.4e-6 8.8e-6
bf16x6 0 1e-6
END
for beta in 0 1; do
	check "scalars on the device, beta $beta" "$(runs "gemm -> fp16 $forced" s l n 300 90 \
	    0.5 $beta normal scalars=device; within 9e-5 5.8e-4)"
done
check 'below a part of the same matrix, as a factorisation has it' "$(runs \
    "gemm -> fp16 $forced" s l n 256 128 -1 1 normal within=128; within 1e-9 5.8e-4)"
check '... is recast' "$([ "$(total totals.recast_calls)" = 3 ] || query sites)"
complaint=$(runs 'gemm -> fp16,bf16x3 profit=off' s u t 300 200 1 0.5 normal calls=30
    within 9e-5 5.8e-4)
check 'checked' "$complaint"
check 'checked: none was mended' "$(query \
    '*[s["id"] for s in sites if s["course"]["mended_calls"]]')"

# ---- Bad data

# To 1e-4: sums in FP32 leave 3e-3 of them (the emulated syrk sums in FP64).
for rung in fp16 bf16x3; do
	complaint=$(runs "gemm -> $rung profit=off own=0" x l n 256 300 1 0 cancelling
	    within 0 3e-3)
	check "numbers that cancel, $rung" "$complaint"
	equal "... every block was recomputed, $rung" '1 2' "$(query \
	    '*sorted(s["course"]["mended_calls"] for s in sites)')"
	runs "gemm -> $rung $forced" x l n 256 300 1 0 cancelling >"$work/out"
	check "control: they would have been wrong, $rung" "$(within 5e-3 10)"
done
check 'infinities stay where they are' "$(runs 'gemm -> fp16 profit=off own=0' x l n \
    256 200 1 0 inf; within 0 5.8e-4)"

# ---- What fails

# fails FUNCTION:CALL:STATUS WANTED: of a call that would be recast.
fails()
{
	equal "$1 fails" "$2" "$(field "$(AUTOCAST_EMU_FAIL=$1 under \
	    "gemm -> fp16 $forced" "$client" s l n 300 90 1 0.5 normal 2>/dev/null)" status)"
}
fails cublasSsyrk_v2:1:14 14
fails cublasSsyrk_v2:2:13 13
for call in cuLaunchKernel:1:1 cublasGemmEx:1:14; do
	complaint=$(export AUTOCAST_EMU_FAIL=$call
	    runs "gemm -> fp16 $forced" s l n 200 90 1 0.5 normal; within 0 1e-7)
	check "$call fails: the original is made" "$complaint"
done

# ---- In graphs

for policy in "gemm -> fp16 $forced" 'gemm -> fp16 profit=off'; do
	complaint=$(runs "$policy" s u n 300 200 1 0.5 normal calls=9 captured=3
	    within 9e-5 5.8e-4)
	for name in complaints allocations_in_capture loads_in_capture syncs_in_capture; do
		[ "$(calls $name)" = 0 ] || complaint="$complaint $name"
	done
	check "captured and replayed: $policy" "$complaint"
	equal "captured: three blocks, $policy" 3 "$(total totals.captured)"
done

# ---- Where it pays

export AUTOCAST_EMU_CLOCK=model AUTOCAST_EMU_SUMS=once
runs 'gemm -> fp16 own=0' s l n 2048 2048 1 0 normal >"$work/out"
equal 'what gains is recast, the halves are not' '1024x1024 512x512:no-profit' \
    "$(query '*("%dx%d%s" % (s["m"], s["n"], "" if s["recast_calls"] else ":no-profit"
    * bool(s["kept_calls"].get("no-profit"))) for s in sites)')"
check 'no part is timed' "$(query \
    '*[s["id"] for s in sites if s["course"]["timed"]]')"
plan
