#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ptx.sh -- the checked-in PTX is what the .cu files compile to, and every GPU since
# Turing takes it without local memory. What is cast is stored by 16 bytes: the
# compiler may split a store that the text has in one, and nothing else shows it.
. "$(dirname "$0")/tap.sh"

: "${NVCC:=nvcc}" "${PTXAS:=ptxas}"
: "${NVDISASM:=nvdisasm}" "${CUOBJDUMP:=cuobjdump}"
unknown='this ptxas does not know it'
command -v "$PTXAS" >/dev/null 2>&1 || unknown='no ptxas'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

release=$("$NVCC" --version 2>/dev/null |
    sed -n 's/^Cuda compilation tools, //p')
NVCC=$NVCC "$root/kernels/make-ptx.sh" "$work" 2>"$work/messages"
known=$("$PTXAS" --help 2>/dev/null | tr -c 'a-z0-9_' '\n')

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
	    awk -v most="$most" \
	    '$2 > most { print "two blocks do not fit an SM: " $0 }'
}

# disassembles: the SASS of $work/cubin, by whichever tool there is.
disassembles()
{
	if command -v "$NVDISASM" >/dev/null 2>&1; then
		"$NVDISASM" -c "$work/cubin"
	else
		"$CUOBJDUMP" -sass "$work/cubin"
	fi
}

# stores: the kernels of $ptx that cast, on stdin as SASS, and do not store 16
# bytes at once, or store by an address of any kind: that was split.
stores()
{
	awk '
		/^\.text\./ { kernel = substr($1, 7); sub(":", "", kernel) }
		/Function : / { kernel = $3 }
		kernel !~ /^ac_recast_(cast|settle)$/ { next }
		{ met[kernel] = 1 }
		/ STG\.E[.A-Z]*\.128/ { wide[kernel] = 1 }
		/ ST\.E/ { print kernel ": " $0 }
		END {
			for (kernel in met) {
				count++
				if (!wide[kernel])
					print kernel ": no STG.E.128"
			}
			if (count != 2)
				print count + 0 " kernels were found"
		}'
}

for name in cast scaler verified; do
	ptx=$root/kernels/$name.ptx
	# Subnormals must live: not one instruction flushes them. A multiply and
	# an add are fused where verified.ptx says so, rounded once.
	# Its mend has blocks of 128 threads, three of which fit.
	fused='fma\.' most=128
	[ "$name" != verified ] || fused='fma\.r[^n]|fma\.rn\.[^f]' most=168
	check "$name: nothing flushes subnormals" \
	    "$(grep -nE "\.ftz|\.approx|$fused" "$ptx")"
	check "$name: the header suits old drivers" "$(
	    grep -nE '^\.(version|target) ' "$ptx" |
	    grep -vE ':\.(version 6\.0|target sm_70)$')"
	check "$name: no machine is named" \
	    "$(grep -nE '(^|[[:space:]"])/[a-z]' "$ptx")"
	check "$name: stores 16 bytes at once" "$(
	    grep -qE '^(@%p[0-9]+ )?st(\.global)?(\.c[gs])?\.v4\.[fu]32 ' "$ptx" ||
	    echo 'no st.v4')"
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
			    "$unknown"
		fi
	done
done

ptx=$root/kernels/cast.ptx most=128
for target in sm_80 sm_90; do
	what="cast: $target: SASS stores what is cast 16 bytes at once"
	if ! command -v "$NVDISASM" >/dev/null 2>&1 &&
	    ! command -v "$CUOBJDUMP" >/dev/null 2>&1; then
		skip "$what" 'no nvdisasm, no cuobjdump'
	elif ! printf '%s\n' "$known" | grep -qx "$target"; then
		skip "$what" "$unknown"
	else
		check "$what" "$(assembles "$target"; disassembles 2>&1 | stores)"
	fi
done
plan
