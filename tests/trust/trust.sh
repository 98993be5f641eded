# SPDX-License-Identifier: Apache-2.0
# trust.sh -- sourced by the tests of trust: rhythm under a policy, and its judge.
#   default  amp on a GPU whose FP32, TF32 and launches are 20 times slower than
#            the emulated H200's, and calibrated so: what a CPU multiplies in
#            a millisecond is worth a try there
#   guarded  every product, whatever it gains
#   strict   the same under guard=strict
# shellcheck disable=SC2034,SC1091
. "$(dirname "$0")/../preload/preload.sh"
rhythm=$build/tests/trust/rhythm
trust=$root/tests/trust
slower='fp32=0.051,tf32=0.051,launch=0.051'

# What `slower` is, as a measurement; once for all runs.
calibrate()
{
	[ ! -d "$AUTOCAST_STATE/rates" ] || return
	AUTOCAST_STATE=$work/first under tf32 "$rhythm" m=8 n=8 k=8 good:1 >/dev/null
	library_name=$(AUTOCAST_STATE=$work/first query 'report["processes"][0]["library"]')
	mkdir -p "$AUTOCAST_STATE/rates"
	awk 'BEGIN {
		value["fp32"] = 52e12 * 0.051; value["tf32"] = 403e12 * 0.051
		value["fp16"] = value["bf16"] = 790e12
		value["bandwidth"] = 4.3e12
		value["launch"] = 2.5e-6 * 0.051
		value["host-launch"] = 3e-6 * 0.051
		print "version = 1\ngpu = NVIDIA H200 (emulated)\nsm = 90"
		print "driver = 13000\nlibrary = '"$library_name"'"
		print "date = 2026-11-21"
		for (name in value)
			print name " = " value[name] " of 9 spread 0.01"
	}' >"$AUTOCAST_STATE/rates/NVIDIA_H200__emulated_-13000-$library_name"
}

# play POLICY RHYTHM-ARGUMENT...
play()
{
	case $1 in
	default)
		calibrate
		AUTOCAST_EMU_CLOCK=model AUTOCAST_EMU_RATES=$slower \
		    under amp "$rhythm" m=128 n=128 k=1024 "${@:2}"
		;;
	guarded) under 'gemm -> fp16,tf32 profit=off guard=on' "$rhythm" "${@:2}" ;;
	strict) under 'gemm -> fp16,tf32 profit=off guard=strict' "$rhythm" "${@:2}" ;;
	esac
}

# judge AWK-OPTION...: of what is played, which promises are broken.
judge()
{
	awk "$@" -f "$trust/judge.awk"
}
