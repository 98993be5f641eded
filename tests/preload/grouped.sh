#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Grouped products: each group is recast alone, and checked, and mended. What cuBLAS
# refuses it refuses as it does alone; groups that are kept have its bits, in as few
# original calls as there are runs of them.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/grouped
. "$(dirname "$0")/parts_of_calls.sh"

# Of each size, of one, of none, of several transposes, some adding to C.
mixed='n,t,64,48,300,2,1,0,normal t,n,33,65,129,1,0.5,-1,uniform
n,n,0,5,5,2,1,1,normal c,t,100,80,700,3,2,1,normal t,t,40,70,90,0,1,0,normal
n,n,67,45,131,2,-1,0.5,weights'

# group NUMBER FIELD: what $work/there says of it.
group()
{
	field "$(grep "^group=$1 " "$work/there")" "$2"
}

# within ERROR NUMBER...: of which the error is greater, or it is not finite alike.
within()
{
	local i
	for i in "${@:2}"; do
		[ "$(group $i classes)" = 0 ] || echo "group $i is not finite"
		awk -v i=$i -v err="$(group $i err)" -v most="$1" \
		    'BEGIN { if (!(err <= most)) print "group " i ": " err }'
	done
}

# recast, kept NUMBER...: which are not (of what they are alone, $work/alone).
recast()
{
	local i
	for i in "$@"; do
		grep "^group=$i " "$work/alone" | grep -q "$(group $i checksum)" &&
		    echo "group $i was not recast"
	done
}
kept()
{
	local i
	for i in "$@"; do
		grep "^group=$i " "$work/alone" | grep -q "$(group $i checksum)" ||
		    echo "group $i has other bits"
	done
}

# ---- As alone

learning='gemm -> fp16,bf16x3,fp16x3 profit=off learn=on'
# Sanitizers make each one six times as slow: the two ends are enough there.
forms='s s64 ex ex64'
[ -z "${SANITIZERS:-}" ] || forms='s ex64'
for form in $forms; do
	{
		as_alone "$form, off" off $form calls=3 pad=3 $mixed
		as_alone "$form, another operation" 'gemm.batched -> fp16 profit=off' \
		    $form calls=3 $mixed
		as_alone "$form, the first call" fp16 $form $mixed
		as_alone "$form, its own ones" 'gemm -> fp16 profit=off own=999' \
		    $form calls=9 $mixed
		as_alone "$form, learn=on" "$learning" $form calls=9 pad=3 $mixed
		as_alone "$form, counting exponents" 'gemm -> keep' $form $mixed
	}
done
check 'learn=on measures each group that has work' "$(query \
    '*sorted({s["course"]["judged"] for s in sites if s["flops"]} - {5})')"
for wrong in null={handle,transa,transb,m,n,k,alpha,a,lda,b,ldb,beta,c,ldc,size} \
    count=0 count=-1 ld=60 mode=device; do
	for form in s ex64; do
		as_alone "$form $wrong" fp16 $form good=2 $wrong $mixed
	done
done
for form in s ex64; do
	as_alone "$form arrays=pinned" fp16 $form calls=3 arrays=pinned $mixed
	equal 'arrays on the host: why' unsupported "$(kept_reasons unsupported guard)"
done
for wrong in n,n,-1,5,5,1 n,n,5,-1,5,1 n,n,5,5,-1,1 n,n,5,5,5,-1 x,n,5,5,5,1 n,x,5,5,5,1; do
	as_alone "a group that is $wrong" fp16 s good=2 \
	    n,n,100,100,100,1,1,0,normal $wrong,1,0,normal
done
as_alone 'pedantic' fp16 ex calls=3 compute=69 n,n,100,100,100,1,1,0,normal

# ---- Recast

# Bounds: twice the rungs' errors on zero-mean data (policy/words.def).
while read -r rung most; do
	for form in $forms; do
		complaint=$(bare "$client" $form calls=2 pad=3 $mixed >"$work/alone"
		    runs "gemm.grouped -> $rung $forced" $form calls=2 pad=3 $mixed
		    within $most 0 1 2 3 5; recast 0 1 3 5; kept 2 4)
		check "$form, $rung" "$complaint"
		equal "$form, $rung: four groups of the second call" 4 \
		    "$(total totals.recast_calls)"
	done
done <<'END'
fp16 5.8e-4
bf16 4.8e-3
fp16x3 2.6e-6
bf16x3 8.8e-6
bf16x6 1e-6
END
check 'fp16x2, of numbers that it holds' "$(runs "gemm -> fp16x2 $forced" ex calls=2 \
    n,n,64,48,300,2,1,0,bf16-a n,t,64,48,300,2,1,0,bf16-b; within 2.4e-6 0 1)"
complaint=$(runs 'gemm -> fp16,bf16x3 profit=off' s calls=30 $mixed; within 5.8e-4 0 1 3 5)
check 'checked: what it makes' "$complaint"
check 'checked: 15 of 30 calls at least, of each group' "$(query \
    '*[s["recast_calls"] for s in sites if s["flops"] and s["recast_calls"] < 15]')"
check 'checked: none was mended' "$(query \
    '*[s["id"] for s in sites if s["course"]["mended_calls"]]')"
check 'in the math mode TF32, too' "$(runs "gemm -> fp16 $forced" s calls=2 math=tf32 \
    n,n,66,64,66,2,1,0,normal; within 5.8e-4 0)"

# ---- One bad group

bad='n,n,96,80,300,2,1,0,normal n,n,96,81,300,2,1,0,cancelling
n,n,64,80,300,1,1,0,normal'
bare "$client" s $bad >"$work/there"
most=$(group 1 err)
for rung in fp16 bf16 fp16x3 bf16x3; do
	# As FP32 makes it: of numbers that cancel to 1e-4, 3e-3 is left of it.
	complaint=$(runs "gemm -> $rung profit=off own=0" s calls=2 $bad; within "$most" 1
	    within 4.8e-3 0 2)
	check "numbers that cancel, in one of three groups, $rung" "$complaint"
	equal "... that one was recomputed whole, $rung" '80 0 80 0 81 1' "$(query \
	    '*sorted("%d %d" % (s["n"], s["course"]["mended_calls"]) for s in sites)')"
	runs "gemm -> $rung $forced" s calls=2 $bad >"$work/out"
	check "control: it would have been wrong, $rung" "$([ -n "$(within "$most" 1)" ] ||
	    group 1 err)"
done
check 'infinities and NaNs stay where they are' "$(runs 'gemm -> fp16 profit=off own=0' s \
    calls=4 n,n,64,64,200,2,1,0,inf n,t,64,48,100,1,1,1,nan n,n,64,64,200,2,1,0,normal
    within 5.8e-4 0 1 2)"

# ---- Some of them

# some POLICY KEPT RECAST ORIGINALS GROUP...: in the second of two calls.
some()
{
	local complaint
	bare "$client" s calls=2 "${@:5}" >"$work/alone"
	complaint=$(runs "$1 $forced" s calls=2 "${@:5}"
	    { kept $2; recast $3; })
	[ "$(calls cublasSgemmGroupedBatched)" = $((1 + $4)) ] || complaint="$complaint
	    $(calls cublasSgemmGroupedBatched) original calls"
	check "kept: $2, recast: $3" "$complaint"
}
small=n,n,40,50,60,2,1,0.5,normal
large=n,t,90,50,60,2,1,0.5,normal
wide='gemm.grouped m>=64 -> fp16'
some "$wide" '0 1' '' 1 $small $small
some "$wide" '' '0 1' 0 $large $large
some "$wide" '0' '1' 1 $small $large
some "$wide" '1' '0' 1 $large $small
some "$wide" '0 1 3 4' '2 5' 2 $small $small $large $small $small $large
some "$wide" '1 3 5' '0 2 4' 3 $large $small $large $small $large $small

# ---- What fails

# fails FUNCTION:CALL:STATUS WANTED ARGS...: the last call's status.
fails()
{
	local line
	line=$(AUTOCAST_EMU_FAIL=$1 under "$wide $forced" "$client" s calls=2 \
	    "${@:3}" 2>/dev/null | head -n 1)
	equal "$1 fails" "$2" "$(field "$line" status)"
}
fails cublasSgemmGroupedBatched:2:14 14 $large $small $large
fails cublasSgemmGroupedBatched:2:13 0 $large $large
# What cuBLAS cannot do it says before anything was added to C.
AUTOCAST_EMU_FAIL=cublasSgemmGroupedBatched:0:15 as_alone 'not supported' \
    "$wide $forced" s calls=4 $large $large
for call in cuLaunchKernel:2:1 cublasGemmStridedBatchedEx:1:14; do
	bare "$client" s calls=2 $large $small $large >"$work/alone"
	complaint=$(export AUTOCAST_EMU_FAIL=$call
	    runs "$wide $forced" s calls=2 $large $small $large; kept 0 1; recast 2)
	check "$call fails: the first group is the original's" "$complaint"
done

# ---- In graphs

for policy in "gemm -> fp16 $forced" 'gemm -> fp16 profit=off'; do
	complaint=$(runs "$policy" s calls=8 captured=3 $mixed; within 5.8e-4 0 1 3 5)
	for name in complaints allocations_in_capture loads_in_capture syncs_in_capture; do
		[ "$(calls $name)" = 0 ] || complaint="$complaint $name"
	done
	check "captured and replayed: $policy" "$complaint"
	equal "captured: four groups, $policy" 4 "$(total totals.captured)"
done

# ---- Where it pays

AUTOCAST_EMU_CLOCK=model
export AUTOCAST_EMU_CLOCK
# A group that takes a GPU's smallest tile as long alone as with fifty others gains
# nothing by leaving them.
runs amp s calls=8 n,n,1024,1024,2048,1,1,0,normal n,n,256,256,1024,2,1,0,normal >"$work/out"
equal 'amp: what gains is recast' '1024x1024x2048' "$(query \
    '*["%dx%dx%d" % (s["m"], s["n"], s["k"]) for s in sites if s["recast_calls"]]')"
equal 'amp: the other one is kept for that reason' no-profit "$(kept_reasons no-profit)"
check 'amp: no group is timed' "$(query \
    '*[s["id"] for s in sites if s["course"]["timed"]]')"
plan
