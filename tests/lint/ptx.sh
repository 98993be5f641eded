#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ptx.sh -- the checked-in PTX is what the .cu files compile to, and every GPU since
# Turing takes it without local memory.
. "$(dirname "$0")/tap.sh"

: "${NVCC:=nvcc}" "${PTXAS:=ptxas}" "${NVDISASM:=nvdisasm}"
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
	awk -v most="$most" '
		/Compiling entry function/ {
			allowed = /ac_verified_cast/ ? 118 : most
		}
		match($0, /Used [0-9]* registers/) {
			said = substr($0, RSTART, RLENGTH)
			split(said, word)
			if (word[2] > allowed)
				print said " of " allowed
		}' "$work/said"
}

for name in recast scaler; do
	ptx=$root/kernels/$name.ptx
	# Subnormals must live: not one instruction flushes them. A multiply and
	# an add are fused where recast.ptx says so, rounded once.
	# Its mend has blocks of 128 threads, three of which fit; of cast, two
	# blocks of 256 would with 128 registers, but only costs may not grow.
	fused='fma\.' most=128
	[ "$name" != recast ] || fused='fma\.r[^n]|fma\.rn\.[^f]' most=168
	check "$name: nothing flushes subnormals" \
	    "$(grep -nE "\.ftz|\.approx|$fused" "$ptx")"
	check "$name: the header suits old drivers" "$(
	    grep -nE '^\.(version|target) ' "$ptx" |
	    grep -vE ':\.(version 6\.0|target sm_70)$')"
	check "$name: no machine is named" \
	    "$(grep -nE '(^|[[:space:]"])/[a-z]' "$ptx")"
	check "$name: stores 16 bytes at once" "$(
	    grep -qE '^(@!?p[0-9]+ )?st(\.global)?(\.c[gs])?\.v4\.[fu]32 ' "$ptx" ||
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

# loops: of recast.ptx, on stdin as nvdisasm has it, what is dear. Of cast, each
# loop makes 16 numbers, and two take 24 instructions a number, of FP16 in both
# directions of K; others look for whole numbers and write parts, of either format,
# in 51 at most, of which a number of one part runs some. What loads one number at
# a time is for ends, what adds 0x7fff makes BF16: they do not count. Of mend, the
# loop that multiplies takes at most 1.3 instructions and 0.3 loads from shared
# memory an output and k, and an FFMA each.
loops()
{
	awk '
		function loop(from, to,   i, b, all, slow, n, ffma, lds, store) {
			for (i = from; i <= to; i++) {
				if (starts[i] || i == from) {
					slow += n * plain
					n = plain = 0
				}
				all++
				n++
				ffma += text[i] ~ / FFMA/
				lds += text[i] ~ / LDS/
				store += text[i] ~ / STG\.E\.64/
				plain = plain || text[i] ~ / 0x7fff,/ ||
				    (text[i] ~ / LDG/ && text[i] !~ /\.128/)
				b += text[i] ~ / LDG/
			}
			slow += n * plain
			if (kernel == "ac_verified_cast" && ffma > 99) {
				casts++
				if ((all - slow) / 16 > 51)
					print "cast: " (all - slow) / 16
				good += (all - slow) / 16 <= 24
			}
			if (kernel == "ac_verified_mend" && ffma > 31 && !b) {
				mends++
				if (all > 1.3 * ffma || lds > 0.3 * ffma)
					print "mend: " ffma, "FFMA,", lds, \
					    "LDS of", all
			}
		}
		/^\.text\./ {
			kernel = substr($1, 7)
			sub(":", "", kernel)
			lines = 0
			split("", at)
			split("", starts)
		}
		/^\.L_/ { name = $1; sub(":", "", name); at[name] = lines + 1
			starts[lines + 1] = 1 }
		/\/\*[0-9a-f]+\*\/ .*;/ {
			text[++lines] = $0
			if ($0 !~ / BRA /)
				next
			starts[lines + 1] = 1
			match($0, /\.L_[a-z0-9_]+/)
			to = substr($0, RSTART, RLENGTH)
			if (to in at)
				loop(at[to], lines)
		}
		END {
			if (good < 2 || casts < 4 || mends < 1)
				print casts + 0 " loops of cast, " good + 0 \
				    " of them fast, " mends + 0 " of mend"
		}'
}

for target in sm_80 sm_90; do
	ptx=$root/kernels/recast.ptx most=168
	what="verified: $target: what a number and an output cost in SASS"
	if ! command -v "$NVDISASM" >/dev/null 2>&1; then
		skip "$what" 'no nvdisasm'
	elif ! printf '%s\n' "$known" | grep -qx "$target"; then
		skip "$what" "$unknown"
	else
		check "$what" "$(assembles "$target"
		    "$NVDISASM" -c "$work/cubin" | loops)"
	fi
done

plan
