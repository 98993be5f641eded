#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# images.sh -- the machine code next to the library has every kernel of the PTX,
# for each GPU that configure chose, and ends in the check sum of that PTX.
. "$(dirname "$0")/tap.sh"

targets=$(sed -n 's/^KERNEL_TARGETS = *//p' "$build/Makefile")
[ -n "$targets" ] || skip_all 'it was built without ptxas'
command -v readelf >/dev/null 2>&1 || skip_all 'no readelf'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

for name in recast scaler; do
	image=$build/libautocast-$name.fatbin ptx=$root/kernels/$name.ptx
	equal "$name: it ends in the PTX's check sum and length" \
	    "$(tail -c 8 "$image" | od -tx1)" "$(gzip -9n <"$ptx" | tail -c 8 | od -tx1)"
	grep -o '\.entry [a-z_0-9]*' "$ptx" | sed 's/.* //' | sort >"$work/wanted"
	found=
	for at in $(LC_ALL=C grep -obUaP '\x7fELF' "$image" | cut -d: -f1); do
		tail -c "+$((at + 1))" "$image" >"$work/one"
		readelf -sW "$work/one" 2>/dev/null |
		    awk '$4 == "FUNC" && $5 == "GLOBAL" { print $NF }' |
		    sort >"$work/has"
		# The number of the GPU is in the flags.
		found="$found $(readelf -hW "$work/one" 2>/dev/null |
		    sed -n 's/^ *Flags: *0x\([0-9a-f]*\).*/\1/p')"
		check "$name: each kernel, at byte $at" \
		    "$(diff "$work/wanted" "$work/has")"
	done
	equal "$name: one for each GPU" "$(echo "$targets" | wc -w)" \
	    "$(echo "$found" | tr ' ' '\n' | grep . | sort -u | wc -l)"
done
plan
