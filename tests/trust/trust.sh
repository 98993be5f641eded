# SPDX-License-Identifier: Apache-2.0
# trust.sh -- sourced by the tests of trust: rhythm under a policy, and its judge.
#   default  amp on a GPU whose FP32 and launches are 20 times slower than the
#            emulated H200's, and calibrated so: what a CPU multiplies in a
#            millisecond is worth a cast there
#   guarded  every product, whatever it gains
#   strict   the same under guard=strict
#   tf32     every product, as cuBLAS converts it
. "$(dirname "$0")/../preload/preload.sh"
rhythm=$build/tests/trust/rhythm
trust=$root/tests/trust
slower='fp32=0.051,tf32=0.051,launch=0.051'

# calibrate NAME SM RATE=VALUE...: as if somebody had measured this emulated GPU.
calibrate()
{
	if [ -z "${library_name:-}" ]; then
		AUTOCAST_STATE=$work/first under tf32 "$rhythm" m=8 n=8 k=8 good:1 \
		    >/dev/null
		library_name=$(AUTOCAST_STATE=$work/first query \
		    'report["processes"][0]["library"]')
		mkdir -p "$AUTOCAST_STATE/rates"
	fi
	printf '%s\n' 'version = 1' "gpu = $1" "sm = $2" 'driver = 13000' \
	    "library = $library_name" 'date = 2026-11-21' \
	    "${@:3}" | sed '/=[0-9]/{ s/=/ = /; s/$/ of 9 spread 0.01/; }' \
	    >"$AUTOCAST_STATE/rates/${1//[^A-Za-z0-9-]/_}-13000-$library_name"
}

# What `slower` is, as a measurement; once for all runs.
calibrate_slower()
{
	[ -d "$AUTOCAST_STATE/rates" ] ||
	    calibrate 'NVIDIA H200 (emulated)' 90 \
	    fp32=2.652e12 tf32=20.55e12 fp16=790e12 bf16=790e12 \
	    bandwidth=4.3e12 launch=0.1275e-6 host-launch=0.153e-6
}

# play POLICY RHYTHM-ARGUMENT...
play()
{
	case $1 in
	default)
		calibrate_slower
		AUTOCAST_EMU_CLOCK=model AUTOCAST_EMU_RATES=$slower \
		    under amp "$rhythm" m=128 n=128 k=1024 "${@:2}"
		;;
	guarded) under 'gemm -> fp16 profit=off guard=on' "$rhythm" "${@:2}" ;;
	tf32) under 'gemm -> tf32 profit=off guard=on' "$rhythm" "${@:2}" ;;
	strict) under 'gemm -> fp16 profit=off guard=strict' "$rhythm" "${@:2}" ;;
	esac
}

# results POLICY RHYTHM-ARGUMENT...: for the judge; what the library says of a graph
# that has gone bad is no result.
results()
{
	local status
	play "$@" 2>/dev/null
	status=$?
	[ "$status" = 0 ] || echo "exit status $status"
}

# judge AWK-OPTION...: of what is played, which promises are broken.
judge()
{
	awk "$@" -f "$trust/judge.awk"
}

# A CPU has no seconds for products of 2048^3. After shrink() they are 3/8 as large in
# each direction, and the GPU slower by as much as they are smaller: arithmetic by
# (8/3)^3, memory by (8/3)^2, launches not at all. So times are those of the full
# size, but for samples, whose bytes grow with K alone: they take 8/3 as long. Of
# results that are the same each time the CPU makes the first.
smaller=0.052734375 smaller_moves=0.140625
shrink()
{
	export AUTOCAST_EMU_CLOCK=model AUTOCAST_EMU_SUMS=once
	export AUTOCAST_EMU_RATES=host=1,fp64=$smaller,fp32=$smaller,tf32=$smaller
	AUTOCAST_EMU_RATES=$AUTOCAST_EMU_RATES,fp16=$smaller,bf16=$smaller
	AUTOCAST_EMU_RATES=$AUTOCAST_EMU_RATES,memory=$smaller_moves
}

# calibrate_as_listed NAME: as the library has it without a measurement.
calibrate_as_listed()
{
	local sm rates
	read -r sm rates <<<"$(sed -n "s/^RATES( *\([0-9]*\), *\"$1\", *\"[^\"]*\", */\1, /p" \
	    "$root/policy/profit/rates.def" | awk -F ', *' -v by="$smaller" \
	    -v moves="$smaller_moves" '{
		printf "%s fp32=%g", $1, $3 * by
		if ($4 > 0)
			printf " tf32=%g", $4 * by
		printf " fp16=%g", $5 * by
		if ($6 > 0)
			printf " bf16=%g", $6 * by
		printf " bandwidth=%g launch=%s host-launch=%s\n", $7 * moves, $8, $9
	    }')"
	calibrate "$1 (emulated)" "$sm" $rates
}

# sized N...: what stands for N there.
sized()
{
	local n
	for n; do
		echo $((n * 3 / 8))
	done
}
