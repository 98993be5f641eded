#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/gpu/numerics.sh [-q] -- how far recast products are from FP64, on a real
# GPU with NVIDIA's own libraries, under fp16, tf32, bf16 and amp. TAP on
# stdout; 77 with a reason where there is no device. builddir as automake sets
# it; DAY_LIBRARIES: folders with CUDA's libraries, if the loader knows none;
# DAY_EMULATED: the device may be the emulated one.
#
# Bounds, u = 2^-11 (BF16 2^-8): with zero-mean data the Frobenius error is
# 2.95e-4 (2.37e-3), and 1.5 times that passes; with data in (0, 1) at most
# (K / 4 + 4) 2^-23 + 2 u / sqrt(K): truncation in Tensor Cores, and the cast.
set -u

here=$(cd "$(dirname "$0")/../.." && pwd)
builddir=${builddir:-$here}
client=$builddir/tests/preload/programs/gemm_client
quick=${1:-}
count=0
failed=0

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 77
}

if [ -z "${DAY_EMULATED:-}" ]; then
	nvidia-smi -L >/dev/null 2>&1 || skip_all 'nvidia-smi finds no device'
fi
[ -x "$client" ] || skip_all 'gemm_client is not built'
[ -e "$builddir/libautocast.so" ] || skip_all 'libautocast.so is not built'
AUTOCAST_NOTICE=off
AUTOCAST_STATE=off
LD_LIBRARY_PATH=${DAY_LIBRARIES:-${LD_LIBRARY_PATH:-}}
export AUTOCAST_NOTICE AUTOCAST_STATE LD_LIBRARY_PATH

# one POLICY KIND K ARGS...: ok if the error is within KIND's bound.
one()
{
	policy=$1 kind=$2 k=$3
	shift 3
	count=$((count + 1))
	said=$(AUTOCAST_POLICY=$policy LD_PRELOAD=$builddir/libautocast.so \
	    "$client" "$@" reference 2>&1)
	complaint=$(echo "$said" | awk -v kind="$kind" -v k="$k" \
	    -v bf16="$([ "$policy" = bf16 ] && echo 1)" '
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
	}
	END { if (!seen) print "no result" }')
	if [ -z "$complaint" ]; then
		echo "ok $count - $policy: $*"
	else
		echo "not ok $count - $policy: $*"
		echo "# $complaint: $said"
		failed=$((failed + 1))
	fi
}

# Forms: of one matrix, of several a stride apart, of several anywhere. Calls
# enough for a site's probation, and for what follows it.
forms='sgemm strided batched'
sizes='96,64,4096 127,65,1023'
if [ -n "$quick" ]; then
	forms='sgemm batched'
	sizes='65,33,127'
fi
forms=$("$client" forms 2>/dev/null | awk -v wanted="$forms" '
	BEGIN { n = split(wanted, want, " ") }
	{ for (i = 1; i <= n; i++) if ($1 == want[i]) print $1 }')
[ -n "$forms" ] || skip_all 'gemm_client does not start: no CUDA libraries?'

for policy in fp16 tf32 bf16 amp; do
	for form in $forms; do
		batch=1
		[ "$form" = sgemm ] || batch=3
		for size in $sizes; do
			m=${size%%,*} k=${size##*,}
			n=${size#*,} n=${n%,*}
			for ab in 'n n' 't n' 'n t' 't t'; do
				# shellcheck disable=SC2086
				one $policy mean "$k" "$form" $ab "$m" "$n" \
				    "$k" 0 0 0 $batch 1 0 normal 1 - repeat=5
			done
			for data in relu gradients1e-8; do
				one $policy mean "$k" "$form" n n "$m" "$n" \
				    "$k" 0 0 0 $batch 1 0 $data 1 - repeat=5
			done
			one $policy positive "$k" "$form" n n "$m" "$n" "$k" \
			    0 0 0 $batch 1 0 uniform01 1 - repeat=5
		done
	done
done

echo "1..$count"
[ "$failed" = 0 ]
