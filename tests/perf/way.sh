#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which files a product enters, as doc/ways.md lists them, by the lines that
# callgrind counts. UPDATE_EXPECTED=1 writes the lists.
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
missing=$(what_is_missing)
[ -z "$missing" ] || skip_all "$missing"
command -v valgrind >/dev/null || skip_all 'valgrind is not installed'
build_caller
page=$root/doc/ways.md
files '*.c' '*.h' '*.def' >"$work/ours"

# way POLICY: what the last calls of many enter, a line per folder. A file's
# name is written once, at its first use; the line after calls= is what was
# called. The compiler writes names as BUILD/../NAME.
way()
{
	policy=$1
	preload=$library:$work/libcuda.so.1 counted product 400 1 \
	    product 1920 1 >/dev/null || exit 99
	cat "$work"/counts.[1-4] | awk '
	/^part: / { is_last = $2 == 4 }
	/^c?f[lie]=/ {
		match($0, /\([0-9]+\)/)
		id = substr($0, RSTART, RLENGTH)
		if (NF > 1)
			name[id] = $NF
		if (!/^c/)
			file = name[id]
	}
	/^[-+*0-9]/ && is_last && !is_called { seen[file] }
	{ is_called = /^calls=/ }
	END {
		for (file in seen)
			print file
	}' | sed -e 's,.*/\.\./,,' -e "s,^$root/,," | sort -u |
	    grep -xF -f "$work/ours" | awk -F/ '
	{ folder = $0; sub(/\/[^\/]*$/, "", folder) }
	folder != last { line = line "\n" folder ":"; width = length(folder) + 1 }
	{
		if (width + 1 + length($NF) > 80) {
			line = line "\n   "
			width = 3
		}
		line = line " " $NF
		width += 1 + length($NF)
		last = folder
	}
	END { print substr(line, 2) }'
}

# listed NAME POLICY: the block of the page behind the line `<!-- NAME -->`.
listed()
{
	way "$2" >"$work/way"
	# Without -g nobody knows.
	[ -s "$work/way" ] || skip_all 'built without debug information'
	if [ -n "${UPDATE_EXPECTED:-}" ]; then
		awk -v name="<!-- $1 -->" -v way="$work/way" '
		fences && /^```$/ && !--fences { inside = 0 }
		!inside
		$0 == name { fences = 2 }
		fences == 1 && !inside {
			inside = 1
			while ((getline line < way) > 0)
				print line
		}' "$page" >"$work/page" && cp "$work/page" "$page"
	fi
	awk -v name="<!-- $1 -->" '
	fences && /^```$/ { fences--; next }
	fences == 1
	$0 == name { fences = 2 }' "$page" >"$work/listed"
	check "doc/ways.md lists the files that a product enters: $1" \
	    "$(diff "$work/listed" "$work/way")"
}
listed kept off
listed recast 'gemm -> fp16 profit=off guard=on'
plan
