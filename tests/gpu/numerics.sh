#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/gpu/numerics.sh [-q] -- how far recast products are from FP64, on a real
# GPU with NVIDIA's own libraries, under fp16, tf32, bf16 and amp. TAP on
# stdout; 77 with a reason where there is no device. builddir as automake sets
# it; DAY_LIBRARIES: folders with CUDA's libraries, if the loader knows none;
# DAY_CLIENTS: where gemm_client is, if not there; DAY_EMULATED: the device may be
# the emulated one. Lines come as the cases end, without numbers.
#
# Bounds, u = 2^-11 (BF16 2^-8): with zero-mean data the Frobenius error is
# 2.95e-4 (2.37e-3), and 1.5 times that passes; with data in (0, 1) at most
# (K / 4 + 4) 2^-23 + 2 u / sqrt(K): truncation in Tensor Cores, and the cast.
set -u

here=$(cd "$(dirname "$0")/../.." && pwd)
builddir=${builddir:-$here}
client=${DAY_CLIENTS:-$builddir/tests/preload/programs}/gemm_client
quick=${1:-}

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 77
}

# bench/gpu-day has seen the device at work, with nvidia-smi or without.
if [ -z "${DAY_EMULATED:-}${DAY_PROGRAMS:-}" ]; then
	nvidia-smi -L >/dev/null 2>&1 || skip_all 'nvidia-smi finds no device'
fi
[ -x "$client" ] || skip_all 'gemm_client is not built'
[ -e "$builddir/libautocast.so" ] || skip_all 'libautocast.so is not built'
AUTOCAST_NOTICE=off
AUTOCAST_STATE=off
LD_LIBRARY_PATH=${DAY_LIBRARIES:-${LD_LIBRARY_PATH:-}}
export AUTOCAST_NOTICE AUTOCAST_STATE LD_LIBRARY_PATH

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# one KIND K ARGS...: ok if the error under $policy is within KIND's bound, and
# under a forced rung is one (but for arrays, which TF32 keeps, and for odd sizes
# under TF32, for which cuBLAS may have none but FP32 kernels).
one()
{
	kind=$1 k=$2
	shift 2
	said=$(AUTOCAST_POLICY=$policy LD_PRELOAD=$builddir/libautocast.so \
	    "$client" "$@" reference repeat=$repeat 2>&1)
	complaint=$(echo "$said" | awk -v kind="$kind" -v k="$k" \
	    -v bf16="$([ "$policy" = bf16 ] && echo 1)" \
	    -v recast="$([ "$policy" != amp ] && [ "$1" = sgemm ] &&
		[ "$policy $k" != 'tf32 127' ] && echo 1)" '
	function field(name,    i) {
		for (i = 1; i <= NF; i++)
			if (index($i, name "=") == 1)
				return substr($i, length(name) + 2)
	}
	/^status=/ {
		seen = 1
		u = bf16 ? 2 ^ -8 : 2 ^ -11
		bound = kind == "mean" ? (bf16 ? 3.6e-3 : 4.5e-4) : \
		    (k / 4 + 4) * 2 ^ -23 + 2 * u / sqrt(k)
		err = field("err")
		if (field("status") != "0" || field("classes") != "0" || \
		    field("padding") != "ok" || field("inputs") != "ok" || \
		    err !~ /^[0-9]/ || err + 0 > bound)
			print "bound " bound
		if (recast && kind == "mean" && err + 0 < 5e-5)
			print "too good to have been recast"
	}
	END { if (!seen) print "no result" }')
	# One write each: four of these run at once.
	if [ -z "$complaint" ]; then
		echo "ok - $policy: $*"
		echo ok >>"$work/$policy"
	else
		printf 'not ok - %s: %s\n# %s: %s\n' "$policy" "$*" \
		    "$complaint" "$said"
		echo "not ok" >>"$work/$policy"
	fi
}

# both FORM BATCH: deep products of every kind of data, odd ones transposed.
both()
{
	for data in normal relu gradients1e-8; do
		one mean $depth "$1" n n $deep 0 0 0 "$2" 1 0 $data 1 -
	done
	one positive $depth "$1" n n $deep 0 0 0 "$2" 1 0 uniform01 1 -
	for ab in 't n' 'n t' 't t'; do
		one mean 127 "$1" $ab 65 33 127 0 0 0 "$2" 1 0 normal 1 -
	done
}

# Calls enough for a site's probation, and for what follows it.
every_form()
{
	repeat=3
	[ "$policy" != amp ] || repeat=100
	both sgemm 1
	[ -n "$quick" ] || both strided 3
	both batched 3
}

depth=4096
[ -z "$quick" ] || depth=256
deep="96 64 $depth"
"$client" forms >/dev/null 2>&1 ||
	skip_all 'gemm_client does not start: no CUDA libraries?'

# All at once: most of the time goes into starting.
for policy in fp16 tf32 bf16 amp; do
	every_form &
done
wait
cat "$work"/* >"$work/all"
echo "1..$(wc -l <"$work/all")"
! grep -q '^not ok' "$work/all"
