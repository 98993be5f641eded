#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a verified product may cost: four launches more than the original, 6 bytes for
# each element of the operands, what is looked at of them and of the product, 12 for
# each output where it is apart, and no waiting for what has come. Counted by the
# emulated GPU, per call over ten of them.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/gemm_client
AUTOCAST_EMU_COUNTERS=$work/counters
export AUTOCAST_EMU_COUNTERS

counter()
{
	awk -v name="$1" '$1 == name { value = $2 } END { print value + 0 }' "$2"
}

# count FILE RUN...: a run, and its counters.
count()
{
	"${@:2}" >"$work/line" 2>&1
	mv "$work/counters" "$1" || : >"$1"
}

# per_call NAME: of the ten calls in between.
per_call()
{
	awk -v a="$(counter "$1" "$work/few")" -v b="$(counter "$1" "$work/many")" \
	    'BEGIN { print (b - a) / 10 }'
}

# spends WHAT POLICY LAUNCHES BYTES CALL...: the kernels launched and the most
# bytes they may move for each call beyond the 33rd.
spends()
{
	for n in 33 43; do
		count "$work/bare$n" bare "$client" "${@:5}" repeat=$n
	done
	mv "$work/bare33" "$work/few"
	mv "$work/bare43" "$work/many"
	without=$(per_call launches)
	count "$work/few" under "$2" "$client" "${@:5}" repeat=33
	count "$work/many" under "$2" "$client" "${@:5}" repeat=43
	check "$1: is answered" "$(grep -v '^status=0 ' "$work/line")"
	equal "$1: kernels" "$3" "$(per_call cuLaunchKernel)"
	equal "$1: launches" "$3" \
	    "$(awk -v a="$(per_call launches)" -v b="$without" 'BEGIN { print a - b }')"
	bytes=$(awk -v r="$(per_call kernel_bytes_read)" \
	    -v w="$(per_call kernel_bytes_written)" 'BEGIN { print r + w }')
	check "$1: bytes" "$(awk -v bytes="$bytes" -v most="$4" -v kernels="$3" \
	    'BEGIN { if (bytes > most || (kernels && !bytes)) print bytes " > " most }')"
}

# lines N: so many of a side are looked at.
lines()
{
	if [ "$1" -lt 32 ]; then echo "$1"; elif [ "$1" -lt 512 ]; then echo 32; else echo 128; fi
}

# budget BATCH M N K [APART [BETA]]
budget()
{
	local seen=$(($2 * $(lines "$3") + $3 * $(lines "$2")))
	local bytes=$((6 * $4 * ($2 + $3) + 4 * $4 * ($(lines "$2") + $(lines "$3"))))
	bytes=$((bytes + 4 * seen + ${5:-0} * 12 * $2 * $3 + ${6:-0} * 4 * seen))
	echo $(($1 * bytes))
}

fp16='gemm -> fp16 profit=off guard=off'
guarded='gemm -> fp16 profit=off guard=on'
spends fp16 "$guarded" 4 "$(budget 1 256 192 320)" \
    sgemm n n 256 192 320 0 0 0 1 1 0 normal 1 -
spends 'fp16, transposed' "$guarded" 4 "$(budget 1 256 192 320 1 1)" \
    sgemm t t 256 192 320 0 0 0 1 1 1 normal 1 -
spends 'fp16, odd' "$guarded" 4 "$(budget 1 67 45 131 1 1)" \
    sgemm n n 67 45 131 139 141 77 1 0.75 -1.5 normal 1 -
spends 'fp16, batch' "$guarded" 4 "$(budget 5 64 48 96)" \
    strided n n 64 48 96 0 0 0 5 1 0 normal 1 -
spends 'fp16, arrays' "$guarded" 4 "$(budget 5 64 48 96 1 1)" \
    batched n n 64 48 96 0 0 0 5 1 1 normal 1 -
spends 'fp16, not verified' "$fp16" 4 "$(budget 1 256 192 320)" \
    sgemm n n 256 192 320 0 0 0 1 1 0 normal 1 -
spends 'bf16 by our cast' 'gemm -> bf16 tactic=cast profit=off tol=8e-3' 4 \
    "$(budget 1 256 192 320)" sgemm n n 256 192 320 0 0 0 1 1 0 normal 1 -
for rung in tf32 bf16; do
	spends $rung "gemm -> $rung profit=off guard=off" 0 0 \
	    sgemm n n 256 192 320 0 0 0 1 1 0 normal 1 -
done

# calls POLICY CALL...: which calls to NVIDIA each product beyond the 33rd makes,
# the program's own left out: NAME or NAMExTIMES, sorted. $repeat: how the client
# is told how many.
repeat=repeat
calls()
{
	for n in 33 43; do
		count "$work/bare$n" bare "$client" "${@:2}" $repeat=$n
		count "$work/ours$n" under "$1" "$client" "${@:2}" $repeat=$n
	done
	awk '$1 ~ /^cu[A-Zbd]/ {
		sign = FILENAME ~ /43$/ ? 1 : -1
		of[$1] += (FILENAME ~ /bare/ ? -sign : sign) * $2
	}
	END {
		for (name in of)
			if (of[name] > 0)
				print name (of[name] == 10 ? "" : "x" of[name] / 10)
	}' "$work"/{bare,ours}{33,43} | sort | paste -sd' '
}
for policy in "$fp16" "$guarded"; do
	equal "calls to NVIDIA of a cast, $policy" "cuCtxGetCurrent cuCtxGetDevice \
cuCtxGetId cuEventRecord cuLaunchKernelx4 cuStreamGetCtx cuStreamGetId \
cuStreamIsCapturing cublasGemmEx cublasGetAtomicsMode cublasGetMathModex2 \
cublasGetPointerMode_v2 cublasGetSmCountTarget cublasGetStream_v2" \
	    "$(calls "$policy" sgemm n n 96 64 80 0 0 0 1 1 0 normal 1 -)"
done
equal 'calls to NVIDIA of a recast by the library' \
    'cublasGemmEx cublasGetMathMode' "$(calls 'gemm -> tf32 profit=off guard=off' \
    sgemm n n 96 64 80 0 0 0 1 1 0 normal 1 -)"
# Kept, and that is known before: by the policy, or for its size; a place's first
# ones, of which only whether they add to C is asked, since later ones may; and
# where the kernels were refused.
for policy in off 'gemm -> keep' 'gemm m>=97 -> fp16' amp; do
	equal "calls to NVIDIA of a call that is kept, $policy" \
	    'cublasGetMathMode' "$(calls "$policy" \
	    sgemm n n 96 64 80 0 0 0 1 1 0 normal 1 -)"
done
equal "calls to NVIDIA of a call that is the program's own" \
    'cublasGetMathMode cublasGetPointerMode_v2' "$(calls \
    'gemm -> fp16,tf32 profit=off guard=on own=50' \
    sgemm n n 96 64 80 0 0 0 1 1 0 normal 1 -)"
equal 'which is why it was kept' "{'own': 43}" \
    "$(query 'sites[0]["kept_calls"]')"
equal 'calls to NVIDIA of a call in a context that refused our kernels' \
    'cuCtxGetCurrent cuCtxGetDevice cuCtxGetId cublasGetMathMode cublasGetStream_v2' \
    "$(AUTOCAST_EMU_FAIL=cuFuncLoad:1,cuFuncLoad:2 calls "$fp16" \
    sgemm n n 96 64 80 0 0 0 1 1 0 normal 1 -)"

# The same of cublasLt. Nothing is asked of it but the product, which takes the
# place of the program's. doc/ways.md has the list.
client=$clients/lt_matrix
repeat=calls
for epilogue in DEFAULT RELU_BIAS; do
	product="epilogue=$epilogue kind=fp32 order=nn batch=one c=same scalars=host"
	equal "calls to NVIDIA of a cast by cublasLt, $epilogue" \
	    'cuCtxGetCurrent cuCtxGetDevice cuCtxGetId cuEventRecord cuLaunchKernelx4 '\
'cuStreamGetCtx cuStreamGetId cuStreamIsCapturing' \
	    "$(calls "$fp16" $product)"
	equal "calls to NVIDIA of a kept call of cublasLt, $epilogue" '' \
	    "$(calls off $product)"
done
client=$clients/gemm_client

# Whether or not operands change from call to call: every result is that of a first
# call with them. The data would tell any other cast apart.
for form in single strided arrays; do
	for mode in steady alternate; do
		for policy in fp16 'gemm -> fp16 profit=off own=0 reproducible=on'; do
			equal "$form, $mode, $policy: the bits of a first call" \
			    'other=0' "$(under "$policy" \
			    "$clients/alternating" $form $mode 20 | cut -d' ' -f1)"
		done
	done
	equal "$form: the same first call" \
	    "$(under fp16 "$clients/alternating" $form steady 1)" \
	    "$(under fp16 "$clients/alternating" $form alternate 1)"
done

# waits POLICY PROGRAM ARGS: the host's, beyond those of the program, and how
# often it asked for an event. The programs wait for each of their calls, so that
# every check has come before it is wanted: nobody has to be asked.
waits()
{
	count "$work/few" bare "${@:2}"
	count "$work/many" under "$1" "${@:2}"
	echo "$(($(counter syncs "$work/many") - $(counter syncs "$work/few")))" \
	    "$(($(counter cuEventQuery "$work/many") + \
	        $(counter cuEventSynchronize "$work/many")))"
}
for policy in "$guarded" "$guarded reproducible=on"; do
	equal "$policy: once for the lane" '1 0' \
	    "$(waits "$policy" "$client" sgemm n n 96 64 80 0 0 0 1 1 0 normal 1 - repeat=300)"
	equal "$policy: and for none of 12 sites" '1 0' \
	    "$(waits "$policy" "$clients/shapes" 6)"
	equal "$policy: which were recast" 12 "$(sites_recast)"
done
# Nothing of the kind while a stream captures, whether the site is met there for
# the first time, between its first two calls, or long after.
for mode in global thread relaxed; do
	for warm in 0 1 4; do
		for policy in "$fp16" "$guarded"; do
			count "$work/many" under "$policy" \
			    "$clients/captured" $mode $warm
			check "$mode capture after $warm calls, $policy" \
			    "$(grep -v '^captured' "$work/line"
			    grep -E '(_in_capture|^complaints) [^0]' "$work/many"
			    grep -q '^captures 1$' "$work/many" || echo 'no capture')"
		done
	done
done
equal 'and it was recast' 4 "$(total totals.captured)"
equal 'guard=off: never for a site' '1 0' \
    "$(waits "$fp16" "$clients/shapes" 6)"
plan
