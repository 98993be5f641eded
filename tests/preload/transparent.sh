#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Under policy `off`, and for every call that is kept, the provider sees the
# program's own arguments: same status, same bytes, for every function.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/gemm_client

# same_as_bare POLICY NAME ARGS...: output line and bytes of C.
same_as_bare()
{
	policy=$1
	name=$2
	shift 2
	bare "$client" "${@/OUT/$work/bare}" >"$work/line" 2>&1
	status=$?
	under "$policy" "$client" "${@/OUT/$work/under}" >"$work/line2" 2>&1
	equal "$name: exit status" $status $?
	same "$name: line" "$work/line" "$work/line2"
	[ ! -e "$work/bare" ] || same "$name: C" "$work/bare" "$work/under"
	rm -f "$work/bare" "$work/under"
}

for form in $(bare "$client" forms | awk '{ print $1 }'); do
	batch=1
	case $form in
	*batched* | *strided* | *grouped*) batch=3 ;;
	esac
	for policy in off 'gemm m>=1000 -> fp16'; do
		same_as_bare "$policy" "$form, $policy" "$form" n t 33 29 17 37 31 41 $batch 0.5 2 normal 1 OUT
		same_as_bare "$policy" "$form, $policy, device scalars" "$form" t n 33 29 17 0 0 0 $batch 1 0 normal 2 OUT device-scalars
	done
	# Edges: the provider's own answer, under a policy that recasts.
	for size in '0 5 5' '5 0 5' '5 5 0' '-1 5 5' '5 5 -2'; do
		same_as_bare fp16 "$form, fp16, $size" "$form" n n $size 8 8 8 $batch 1 0.5 normal 3 OUT
	done
	same_as_bare fp16 "$form, fp16, alpha 0" "$form" n n 9 8 7 0 0 0 $batch 0 0.5 nan 3 OUT
	same_as_bare fp16 "$form, fp16, ld too small" "$form" n n 9 8 7 3 7 9 $batch 1 0 normal 3 OUT
	same_as_bare fp16 "$form, fp16, unknown transpose" "$form" bad n 9 8 7 9 9 9 $batch 1 0 normal 3 OUT
done

# What the program opted out of.
same_as_bare fp16 'pedantic math mode' sgemm n n 64 64 64 0 0 0 1 1 0 normal 1 OUT math=pedantic
same_as_bare fp16 'pedantic compute type' gemmex n n 64 64 64 0 0 0 1 1 0 normal 1 OUT compute=32f-pedantic
same_as_bare fp16 'pedantic handle, TF32 asked' gemmex n n 64 64 64 0 0 0 1 1 0 normal 1 OUT math=pedantic compute=32f-fast-tf32
NVIDIA_TF32_OVERRIDE=0 same_as_bare fp16 'NVIDIA_TF32_OVERRIDE=0' sgemm n n 64 64 64 0 0 0 1 1 0 normal 1 OUT
AUTOCAST_EMU_MODEL=b200 CUBLAS_EMULATE_SINGLE_PRECISION=1 same_as_bare fp16 'CUBLAS_EMULATE_SINGLE_PRECISION=1' sgemm n n 64 64 64 0 0 0 1 1 0 normal 1 OUT
CUBLAS_BATCH_INVARIANCE_FLAGS=1 same_as_bare fp16 'CUBLAS_BATCH_INVARIANCE_FLAGS=1' sgemm n n 64 64 64 0 0 0 1 1 0 normal 1 OUT
same_as_bare fp16 'C is A' sgemm n n 64 64 64 0 0 0 1 1 0 normal 1 OUT alias=ac
same_as_bare fp16 'C is B' sgemm n n 64 64 64 0 0 0 1 1 0 normal 1 OUT alias=bc

# The negative control: the same comparison must see one recast.
bare "$client" sgemm n n 64 64 64 0 0 0 1 1 0 normal 1 "$work/bare" >/dev/null
under fp16 "$client" sgemm n n 64 64 64 0 0 0 1 1 0 normal 1 "$work/under" >/dev/null
if cmp -s "$work/bare" "$work/under"; then
	check 'a recast product is seen by this test' 'the bytes are the same'
else
	check 'a recast product is seen by this test' ''
fi
# A == B is an ordinary product: recast.
under fp16 "$client" sgemm n t 64 64 64 0 0 0 1 1 0 normal 1 "$work/under" alias=ab reference >"$work/line"
bare "$client" sgemm n t 64 64 64 0 0 0 1 1 0 normal 1 "$work/bare" alias=ab >/dev/null
check 'A is B: recast' "$(cmp -s "$work/bare" "$work/under" && echo 'not recast'; grep BROKEN "$work/line")"
plan
