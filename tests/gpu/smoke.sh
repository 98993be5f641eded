#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/gpu/smoke.sh -- the examples and the cast on a real GPU with NVIDIA's
# own libraries. TAP on stdout; 77 with a reason where there is no device.
# builddir and srcdir as automake sets them; both default to the directory
# above this one's parent. DAY_LIBRARIES: folders with CUDA's libraries, if the
# loader knows none; DAY_EMULATED: the device may be the emulated one.
set -u

here=$(cd "$(dirname "$0")/../.." && pwd)
srcdir=${srcdir:-$here}
builddir=${builddir:-$here}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
count=0
failed=0

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 77
}

# ok STATUS NAME: 0 passes.
ok()
{
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failed=$((failed + 1))
	fi
}

skipped()
{
	ok 0 "$2 # SKIP it does not without us"
}

# run NAME COMMAND...: output and diagnostics in scratch files.
run()
{
	name=$1
	shift
	if "$@" >"$scratch/$name.out" 2>"$scratch/$name.err"; then
		ok 0 "$name: runs"
	else
		ok $? "$name: runs"
		sed 's/^/# /' "$scratch/$name.out" "$scratch/$name.err"
	fi
}

accuracy()
{
	awk 'END { print $3 + 0 }' "$scratch/$1.out"
}

# Programs lie at the top of the build or in examples/.
find_program()
{
	for place in "$builddir" "$builddir/examples"; do
		if [ -x "$place/$1" ]; then
			echo "$place/$1"
			return
		fi
	done
	return 1
}

# within A B TOLERANCE
within()
{
	awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN {
		d = a > b ? a - b : b - a
		exit !(a > 0 && b > 0 && d <= t)
	}'
}

if [ -n "${DAY_EMULATED:-}" ]; then
	device='the emulated GPU'
elif [ -n "${DAY_PROGRAMS:-}" ]; then
	device='the GPU of this visit' # seen at work, nvidia-smi or not
else
	command -v nvidia-smi >/dev/null 2>&1 ||
		skip_all 'no nvidia-smi: no GPU'
	device=$(nvidia-smi --query-gpu=name,driver_version \
	    --format=csv,noheader 2>/dev/null) ||
		skip_all 'nvidia-smi finds no device'
	[ -n "$device" ] || skip_all 'nvidia-smi lists no device'
fi
LD_LIBRARY_PATH=${DAY_LIBRARIES:-${LD_LIBRARY_PATH:-}}
export LD_LIBRARY_PATH
autocast=$(find_program autocast) || skip_all 'autocast is not built'
digits_mlp=$(find_program digits_mlp) || skip_all 'digits_mlp is not built'
sgemm_strided=$(find_program sgemm_strided) ||
	skip_all 'sgemm_strided is not built'
ldd "$digits_mlp" | grep -q 'not found' &&
	skip_all "the CUDA libraries are not where the loader looks"
unset AUTOCAST_POLICY AUTOCAST_EMU_MODEL
echo "# $device" | sed '2,$d'

gzip -dc "$srcdir/examples/data/digits.csv.gz" >"$scratch/digits.csv" ||
	skip_all 'gzip cannot read digits.csv.gz'
data=$scratch/digits.csv

run plain "$digits_mlp" --weights "$scratch/plain.w" "$data"
run again "$digits_mlp" --weights "$scratch/again.w" "$data"
# What cuBLAS does not keep without us, it need not keep with us.
bits=ok
if ! cmp -s "$scratch/plain.w" "$scratch/again.w"; then
	bits=skipped
	ok 0 'plain: two runs give the same weights # SKIP cuBLAS gives others'
else
	ok 0 'plain: two runs give the same weights'
fi
run off "$autocast" run --policy off -- \
    "$digits_mlp" --weights "$scratch/off.w" "$data"
cmp -s "$scratch/plain.w" "$scratch/off.w"
$bits $? 'off: weights are byte-equal to plain'
run fp16 "$autocast" run --policy fp16 -- \
    "$digits_mlp" --weights "$scratch/fp16.w" "$data"
cmp -s "$scratch/plain.w" "$scratch/fp16.w"
[ $? = 1 ]
ok $? 'fp16: weights differ from plain, so something was recast'
run fp16-again "$autocast" run --policy fp16 -- \
    "$digits_mlp" --weights "$scratch/fp16-again.w" "$data"
cmp -s "$scratch/fp16.w" "$scratch/fp16-again.w"
$bits $? 'fp16: two runs give the same weights'

echo "# accuracy plain $(accuracy plain) fp16 $(accuracy fp16)"
within "$(accuracy plain)" 1 0.04
ok $? 'plain: test accuracy is at least 0.96'
# n of the 360 test digits are n/360. An accuracy of 0.976 has a standard error of
# sqrt(0.976 x 0.024 / 360) = 0.008 on them; 0.02, seven digits, is 2.5 of those.
within "$(accuracy fp16)" "$(accuracy plain)" 0.02
ok $? 'fp16: test accuracy within 0.02 of plain'

for policy in off tf32 fp16 amp; do
	run "strided-$policy" "$autocast" run --policy $policy -- \
	    "$sgemm_strided"
done

echo "1..$count"
[ "$failed" = 0 ]
