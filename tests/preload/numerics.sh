#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How far recast products are from FP64, for every kind of data, transposes,
# odd sizes and padded matrices.
#
# Bounds. u = 2^-11 (TF32, FP16), 2^-8 (BF16). Inputs rounded to nearest make
# |C - AB| <= (2u + u^2) |A||B| element by element; FP32 accumulation adds less
# than (K/4 + 4) 2^-23 |A||B| (Tensor Core truncation in groups of 4, which
# covers FP32's own rounding too). On zero-mean data the errors average out:
# the Frobenius norm is 2.9e-4 (BF16 2.4e-3), and 1.5 times that is the bound.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/gemm_client

declare -A unit=([tf32]=0.00048828125 [fp16]=0.00048828125 [bf16]=0.00390625)
declare -A norm=([tf32]=4.5e-4 [fp16]=4.5e-4 [bf16]=3.6e-3)

# judge LINE RUNG K KIND: complaints about one result.
judge()
{
	case $1 in
	*BROKEN*) echo "something outside C was written: $1" ;;
	esac
	[ "$(field "$1" status)" = 0 ] || echo "status: $1"
	[ "$(field "$1" classes)" = 0 ] || echo "infinities and NaNs differ: $1"
	awk -v kind="$4" -v k="$3" -v u="${unit[$2]}" -v norm="${norm[$2]}" \
	    -v err="$(field "$1" err)" -v comp="$(field "$1" comp)" 'BEGIN {
		sum = (k / 4 + 4) * 2^-23
		if (kind ~ /component/ && !(comp <= 2 * u + u * u + sum))
			print "comp " comp " > " 2 * u + u * u + sum
		if (kind ~ /norm/ && !(err <= norm))
			print "err " err " > " norm
		if (kind ~ /mean/ && !(err <= sum + 2 * u / sqrt(k)))
			print "err " err " > " sum + 2 * u / sqrt(k)
		if (kind ~ /exact/ && err != 0)
			print "err " err " is not 0"
	}'
}

# Which bounds hold for which data. `component` needs every element within
# 2^-29 of its operand's largest for FP16; graded data keep the norm only.
kinds()
{
	case $1 in
	normal | weights | relu | channels) echo 'component norm' ;;
	gradients* | 1e30x1e-30 | 1e-30x1e30 | 1e-30x1e10) echo 'component norm' ;;
	uniform01) echo 'component mean' ;;
	uniform | softmax | outlier1e5 | zero-rows) echo 'component norm' ;;
	1e30x1e-30-zero-rows | 1e-30x1e30-zero-rows) echo 'component norm' ;;
	loguniform | loguniform-a | heavytail1e-8) echo norm ;;
	outlier1e9 | rows30 | rows45 | loguniform50) echo norm ;;
	cancelling) echo component ;;
	subnormal) echo norm ;;
	integers | zeros | zeros-both) echo exact ;;
	1e30x1e30 | 1e30x1e30-zero-rows) echo classes ;;
	esac
}
data='normal weights relu channels gradients1e-5 gradients1e-6 gradients1e-7
gradients1e-8 gradients1e-9 1e30x1e-30 1e-30x1e30 1e-30x1e10 uniform01 uniform
softmax outlier1e5 zero-rows 1e30x1e-30-zero-rows 1e-30x1e30-zero-rows
loguniform loguniform-a heavytail1e-8 outlier1e9 rows30 rows45 loguniform50
cancelling subnormal integers zeros zeros-both 1e30x1e30 1e30x1e30-zero-rows'

# measure RUNG ARGS...: one line of the client under a rung forced everywhere.
measure()
{
	under "$1" "$client" "${@:2}" reference 2>&1
}

plain()
{
	bare "$client" "$@" reference 2>&1
}

for rung in tf32 bf16 fp16; do
	for d in $data; do
		arguments="sgemm n t 96 80 256 0 0 0 1 1 0 $d 1 -"
		line=$(measure $rung $arguments)
		complaint=$(judge "$line" $rung 256 "$(kinds "$d")")
		# A result with the bits of FP32 was not recast at all.
		case $(kinds "$d") in
		exact | classes) ;;
		*)
			[ "$(field "$line" checksum)" != \
			    "$(field "$(plain $arguments)" checksum)" ] ||
			    complaint="$complaint not recast: $line"
			;;
		esac
		check "$rung on $d" "$complaint"
	done
	# Results too small for FP32: zero, as without us. Of which sign, the sums
	# of the CPU's library decide there.
	for d in 1e-30x1e-30 1e-30x1e-30-zero-rows; do
		arguments="sgemm n n 64 48 128 0 0 0 1 1 0 $d 1 -"
		check "$rung on $d is zero, as without us" \
		    "$(for line in "$(plain $arguments)" "$(measure $rung $arguments)"; do
			judge "$line" $rung 128 exact
			[ "$(field "$line" classes)" = 0 ] || echo "$line"
		    done)"
	done
done

# K graded against B by 2^30 and more, or the matrices of a batch against each
# other: FP16 has no exponent range for it. The guard sees that and leaves FP16,
# unless the error is within its tolerance all the same.
guarded='gemm -> fp16,tf32 tol=1e-3 profit=off guard=on'
for d in k30 k45 k60; do
	for rung in tf32 bf16; do
		line=$(measure $rung sgemm n n 96 80 256 0 0 0 1 1 0 $d 1 -)
		check "$rung on $d" "$(judge "$line" $rung 256 'component norm')"
	done
	line=$(measure fp16 sgemm n n 96 80 256 0 0 0 1 1 0 $d 1 -)
	check "fp16 on $d is hard" "$(awk -v err="$(field "$line" err)" \
	    'BEGIN { if (err <= 4.5e-4) print err }')"
	line=$(measure "$guarded" sgemm n n 96 80 256 0 0 0 1 1 0 $d 1 - repeat=5)
	case $d in
	k30) check "the guard on $d" "$(awk -v err="$(field "$line" err)" \
	    'BEGIN { if (!(err <= 1e-3)) print err }')" ;;
	*) check "the guard on $d" "$(judge "$line" tf32 256 'component norm')" ;;
	esac
	equal "the guard on $d: still recast" 2 "$(total totals.recast_calls)"
done
for form in strided batched; do
	arguments="$form n t 48 40 128 0 0 0 8 1 0 batch60 1 -"
	line=$(measure fp16 $arguments)
	check "fp16 on a graded batch, $form, is hard" "$(awk \
	    -v row="$(field "$line" row)" 'BEGIN { if (row <= 0.1) print row }')"
	line=$(measure "$guarded" $arguments repeat=5)
	check "the guard on a graded batch, $form" \
	    "$(judge "$line" tf32 128 'component norm')$(awk \
	    -v row="$(field "$line" row)" 'BEGIN { if (row > 4e-3) print row }')"
done

# The error of zero-mean data does not grow with K, that of positive data falls.
for rung in tf32 bf16 fp16; do
	for k in 16 1024 4096; do
		line=$(measure $rung sgemm t n 48 40 $k 0 0 0 1 1 0 uniform01 1 -)
		check "$rung on uniform01, K = $k" "$(judge "$line" $rung $k 'component mean')"
		line=$(measure $rung sgemm t n 48 40 $k 0 0 0 1 1 0 gradients1e-7 1 -)
		check "$rung on gradients1e-7, K = $k" \
		    "$(judge "$line" $rung $k 'component norm')"
	done
done

# Transposes, odd sizes, padded matrices, every function, both index widths.
for rung in tf32 bf16 fp16; do
	for ta in n t c; do
		for tb in n t c; do
			line=$(measure $rung sgemm $ta $tb 67 45 131 139 141 77 1 0.75 -1.5 normal 2 -)
			check "$rung, $ta$tb, odd and padded" \
			    "$(judge "$line" $rung 131 'component norm')"
		done
	done
	for form in sgemm64 sgemmex sgemmex64 gemmex gemmex64; do
		line=$(measure $rung $form t n 33 65 129 0 0 41 1 -2 0.5 normal 3 -)
		check "$rung, $form" "$(judge "$line" $rung 129 'component norm')"
	done
	for form in strided strided64 stridedex stridedex64; do
		line=$(measure $rung $form n t 33 65 129 35 67 41 5 1 1 normal 4 - gap=13)
		check "$rung, $form" "$(judge "$line" $rung 129 'component norm')"
		line=$(measure $rung $form t n 31 17 64 0 0 0 3 1 0 normal 5 - stride-a=0)
		check "$rung, $form, one A for all" \
		    "$(judge "$line" $rung 64 'component norm')"
	done
	# Addresses that only the GPU knows: cast, or left alone.
	for form in batched batched64 batchedex batchedex64; do
		line=$(measure $rung $form n t 33 65 129 35 67 41 5 1 1 normal 4 - gap=13)
		check "$rung, $form" "$(judge "$line" $rung 129 'component norm')"
		line=$(measure $rung $form t n 31 17 64 0 0 0 3 -2 0 normal 5 - stride-b=0)
		check "$rung, $form, one B for all" \
		    "$(judge "$line" $rung 64 'component norm')"
	done
	line=$(measure $rung batched n n 64 48 128 0 0 0 3 1 0 normal 5 - offset=1 stream stride-a=0)
	check "$rung, batched, at odd addresses, on a stream" \
	    "$(judge "$line" $rung 128 'component norm')"
	equal "$rung, batched: recast" "$([ $rung = tf32 ] && echo 0 || echo 1)" \
	    "$(total totals.recast_calls)"
	for d in 1e30x1e-30-zero-rows 1e-30x1e30-zero-rows gradients1e-8; do
		line=$(measure $rung batched t t 64 48 128 0 0 0 3 1 0 $d 5 -)
		check "$rung, batched, $d" "$(judge "$line" $rung 128 'component norm')"
	done
	for size in '1 1 1' '1 1 1000' '1 77 3' '129 1 17' '8 8 8' '255 257 7'; do
		line=$(measure $rung sgemm n n $size 0 0 0 1 1 0 normal 6 -)
		check "$rung, $size" \
		    "$(judge "$line" $rung "${size##* }" component)"
	done
	line=$(measure $rung sgemm n n 64 64 64 0 0 0 1 1 0 normal 7 - nan-c)
	check "$rung, beta 0 does not read C" \
	    "$(judge "$line" $rung 64 'component norm')"
	line=$(measure $rung sgemm n t 64 64 64 0 0 0 1 0.5 2 normal 8 - device-scalars)
	check "$rung, scalars on the device" \
	    "$(judge "$line" $rung 64 'component norm')"
	line=$(measure $rung sgemm t t 64 64 64 0 0 0 1 1 1 normal 9 - offset=1 stream)
	check "$rung, matrices at odd addresses, on a stream" \
	    "$(judge "$line" $rung 64 'component norm')"
done
line=$(measure 'gemm -> bf16 tactic=cast tol=8e-3 profit=off guard=off' sgemm t n 67 45 131 139 141 77 1 0.75 -1.5 normal 2 -)
check 'bf16 by our cast' "$(judge "$line" bf16 131 'component norm')"

# Infinities and NaNs come out as in FP32; nonfinite.sh looks closer.
for d in inf nan inf-on-zero nonfinite inf-on-tiny; do
	for rung in tf32 bf16 fp16; do
		line=$(measure $rung sgemm n n 96 80 64 0 0 0 1 1 0 $d 1 -)
		check "$rung, classes on $d" "$(judge "$line" $rung 64 classes)"
	done
done
# A GPU without TF32 and BF16: FP16 works there, the others are kept.
line=$(AUTOCAST_EMU_MODEL=t4 measure fp16 sgemm n t 96 80 256 0 0 0 1 1 0 normal 1 -)
check 'fp16 on a T4' "$(judge "$line" fp16 256 'component norm')"
equal 'fp16 on a T4 is recast' 1 "$(total totals.recast_calls)"
for rung in tf32 bf16; do
	line=$(AUTOCAST_EMU_MODEL=t4 measure $rung sgemm n t 96 80 256 0 0 0 1 1 0 normal 1 -)
	equal "$rung on a T4 has FP32's bits" \
	    "$(field "$(AUTOCAST_EMU_MODEL=t4 plain sgemm n t 96 80 256 0 0 0 1 1 0 normal 1 -)" checksum)" \
	    "$(field "$line" checksum)"
	equal "$rung on a T4 is kept, and why" unsupported "$(kept_reasons unsupported rule no-rule)"
done
plan
