#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ptx_mutants.sh [EACH [TURNS]] -- damages one line of the PTX that ships and
# runs test_shipped_ptx on it: EACH mutants of eight kinds, spread over both
# texts, in lines that are run at all. A line per mutant: killed or survived.
# Not a part of make check: it takes minutes. make ptx-mutants
#
# What survives for a reason: a branch over a division of 64 bits, inverted, takes
# the long way to the same quotient; a barrier between a membar and the count of
# blocks, where the thread that counts is of the warp that wrote: a GPU may run
# lanes of a warp apart. By reading, not by proof: here they stay together. Before the last
# sums of ac_scaler_norm, is_last() has two barriers: one more changes nothing.
each=${1:-12} turns=${2:-8}
root=${top_srcdir:-.} program=${builddir:-.}/tests/unit/kernels/test_shipped_ptx
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# What the texts' lines are; those that are not run are of no use.
SHIPPED_MISSED=1 "$program" "$turns" 1 | awk '
	/^ac_.*: line / { print (/^ac_scaler/ ? "scaler" : "recast"), $NF }' \
	>"$work/missed"

# mutate KIND LINE <TEXT: the text with that line changed; with LINE 0 the lines
# that can be.
mutate()
{
	awk -v kind="$1" -v line="$2" '
	function changed(s,   n, at, part) {
		if (kind == "barrier")
			return sub(/bar\.sync[^;]*;/, ";", s) ? s : ""
		if (kind == "shuffle")
			return sub(/shfl\.sync\.bfly/, "shfl.sync.up", s) ||
			    sub(/shfl\.sync\.down/, "shfl.sync.up", s) ||
			    sub(/shfl\.sync\.idx/, "shfl.sync.up", s) ? s : ""
		# VALUE, DISTANCE, CLAMP, MASK; all are registers.
		if ((kind == "distance" || kind == "mask") && s ~ /^shfl/) {
			split(s, part, ",")
			return part[1] "," part[2] "," \
			    part[kind == "distance" ? 4 : 3] "," part[4] "," \
			    (kind == "mask" ? part[3] ";" : part[5])
		}
		if (kind == "predicate")
			return sub(/^@p/, "@!p", s) ||
			    sub(/^@!p/, "@p", s) ? s : ""
		if (kind == "offset") {
			if (!match(s, /\+[0-9]+\]/))
				return ""
			n = substr(s, RSTART + 1, RLENGTH - 2) + 4
			at = RSTART + RLENGTH - 1
			return substr(s, 1, RSTART) n substr(s, at)
		}
		if (kind == "compare" && (sub(/setp\.lt/, "setp.le", s) ||
		    sub(/setp\.le/, "setp.lt", s) ||
		    sub(/setp\.gt/, "setp.ge", s) ||
		    sub(/setp\.ge/, "setp.gt", s) ||
		    sub(/setp\.eq/, "setp.ne", s) ||
		    sub(/setp\.ne/, "setp.eq", s)))
			return s
		if (kind == "arithmetic" && (sub(/^add\.f/, "sub.f", s) ||
		    sub(/^sub\./, "add.", s) ||
		    sub(/^mul\.f/, "add.f", s) || sub(/^max\./, "min.", s) ||
		    sub(/^min\./, "max.", s) || sub(/^or\.b/, "xor.b", s) ||
		    sub(/^shl\.b/, "shr.b", s) || sub(/^add\.s/, "sub.s", s)))
			return s
		return ""
	}
	line == 0 { if (changed($0) != "") print NR; next }
	NR == line { $0 = changed($0) }
	{ print }'
}

# A kind in a text: `count` of its lines, spread evenly.
some()
{
	mutate "$1" 0 <"$root/kernels/$2.ptx" | awk -v text="$2" -v count="$3" '
	NR == FNR { if ($1 == text) missed[$2] = 1; next }
	!($1 in missed) { lines[n++] = $1 }
	END {
		if (count > n)
			count = n
		for (i = 0; i < count; i++)
			print lines[int((i + 0.5) * n / count)]
	}' "$work/missed" -
}

killed=0 survived=0
for kind in barrier shuffle distance mask predicate offset compare arithmetic; do
	for text in recast scaler; do
		count=$((each * 2 / 3)) variable=SHIPPED_RECAST
		[ $text = recast ] || count=$((each - count))
		[ $text = recast ] || variable=SHIPPED_SCALER
		for line in $(some $kind $text $count); do
			mutate $kind "$line" <"$root/kernels/$text.ptx" \
			    >"$work/ptx"
			if env "$variable=$work/ptx" timeout 300 "$program" \
			    "$turns" 1 >/dev/null 2>&1; then
				survived=$((survived + 1)) what=survived
			else
				killed=$((killed + 1)) what=killed
			fi
			echo "$what: $kind, $text.ptx line $line:" \
			    "$(sed -n "${line}p" "$root/kernels/$text.ptx")"
		done
	done
done
echo "$killed killed, $survived survived"
