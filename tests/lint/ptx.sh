#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ptx.sh -- the checked-in PTX is what the .cu files compile to, and every GPU since
# Turing takes it without local memory.
. "$(dirname "$0")/tap.sh"

ptx=$root/kernels/cast.ptx
: "${NVCC:=nvcc}" "${PTXAS:=ptxas}"
command -v "$PTXAS" >/dev/null 2>&1 || skip_all 'no ptxas'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# Subnormals must live: not one instruction flushes them.
check 'nothing flushes subnormals' "$(grep -nE '\.ftz|\.approx|fma\.' "$ptx")"
check 'the header suits old drivers' "$(grep -nE '^\.(version|target) ' "$ptx" |
    grep -vE ':\.(version 6\.0|target sm_70)$')"
check 'no machine is named' "$(grep -nE '(^|[[:space:]"])/[a-z]' "$ptx")"

recorded=$(cat "$root/kernels/cast.ptx.nvcc")
release=$("$NVCC" --version 2>/dev/null |
    sed -n 's/^Cuda compilation tools, //p')
if [ "$release" = "$recorded" ]; then
	NVCC=$NVCC "$root/kernels/make-ptx.sh" "$work/cast.ptx" \
	    2>"$work/messages"
	check 'it is what the .cu files compile to, without a warning' \
	    "$(cat "$work/messages"; cmp "$ptx" "$work/cast.ptx" 2>&1)"
else
	skip 'it is what the .cu files compile to' \
	    "made with $recorded, here is ${release:-no nvcc}"
fi

# assembles TARGET: complaints about anything but clean code, the kernels' and
# the functions' that they call.
assembles()
{
	"$PTXAS" -v -arch="$1" -o "$work/cubin" "$ptx" >"$work/said" 2>&1 || {
		cat "$work/said"
		return
	}
	grep 'stack frame' "$work/said" | grep -v \
	    ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'
	[ "$(grep -c 'Used [0-9]* registers' "$work/said")" = \
	    "$(grep -c '^\.visible \.entry' "$ptx")" ] || cat "$work/said"
	grep -o 'Used [0-9]* registers' "$work/said" |
	    awk '$2 > 128 { print "two blocks do not fit an SM: " $0 }'
}

known=$("$PTXAS" --help | tr -c 'a-z0-9_' '\n')
for target in sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120; do
	if printf '%s\n' "$known" | grep -qx "$target"; then
		check "$target: assembles, no stack, no spill" \
		    "$(assembles "$target")"
	else
		skip "$target: assembles, no stack, no spill" \
		    'this ptxas does not know it'
	fi
done
plan
