#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ptx.sh -- the checked-in PTX is what the .cu files compile to, and every GPU since
# Turing takes it without local memory.
. "$(dirname "$0")/tap.sh"

: "${NVCC:=nvcc}" "${PTXAS:=ptxas}"
command -v "$PTXAS" >/dev/null 2>&1 || skip_all 'no ptxas'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

release=$("$NVCC" --version 2>/dev/null |
    sed -n 's/^Cuda compilation tools, //p')
NVCC=$NVCC "$root/kernels/make-ptx.sh" "$work" 2>"$work/messages"
known=$("$PTXAS" --help | tr -c 'a-z0-9_' '\n')

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

for name in cast scaler; do
	ptx=$root/kernels/$name.ptx
	# Subnormals must live: not one instruction flushes them.
	check "$name: nothing flushes subnormals" \
	    "$(grep -nE '\.ftz|\.approx|fma\.' "$ptx")"
	check "$name: the header suits old drivers" "$(
	    grep -nE '^\.(version|target) ' "$ptx" |
	    grep -vE ':\.(version 6\.0|target sm_70)$')"
	check "$name: no machine is named" \
	    "$(grep -nE '(^|[[:space:]"])/[a-z]' "$ptx")"
	recorded=$(cat "$ptx.nvcc")
	if [ "$release" = "$recorded" ]; then
		check "$name: it is what the .cu files compile to, without a warning" \
		    "$(cat "$work/messages"; cmp "$ptx" "$work/$name.ptx" 2>&1)"
	else
		skip "$name: it is what the .cu files compile to" \
		    "made with $recorded, here is ${release:-no nvcc}"
	fi
	for target in sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120; do
		if printf '%s\n' "$known" | grep -qx "$target"; then
			check "$name: $target: assembles, no stack, no spill" \
			    "$(assembles "$target")"
		else
			skip "$name: $target: assembles, no stack, no spill" \
			    'this ptxas does not know it'
		fi
	done
done
plan
