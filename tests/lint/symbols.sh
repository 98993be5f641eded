#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh -- libautocast.so exports the catalogue, unversioned (a version
# node would make the loader skip every wrapper, silently), and autocast_*.
. "$(dirname "$0")/tap.sh"

library=$build/libautocast.so
[ -f "$library" ] || skip_all 'libautocast.so is not built'
command -v readelf >/dev/null 2>&1 || skip_all 'no readelf'

exports=$(readelf -W --dyn-syms "$library" |
    awk '$7 != "UND" && $5 != "LOCAL" && NR > 3 { print $8 }' | grep . | sort)
# Rows whose first column names an exported symbol; companions are called only.
rows=$(sed -n '/^COMPANION/d
    s/^[A-Z]\+(.*\b\(\(cublas\|cusolver\|cudnn\)[A-Za-z0-9_]*\),.*/\1/p' \
    "$root/shim/bind/entries.def" | sort -u)

check 'every catalogue row is exported, unversioned' \
    "$(for row in $rows; do
	echo "$exports" | grep -qx "$row" || echo "$row"
    done)"
check 'nothing else of NVIDIA is exported' \
    "$(echo "$exports" | grep -vE '^(autocast_|AUTOCAST_1)' |
	grep -vxF "$rows" | grep -vxE 'dlv?sym|dlopen|dlclose')"
check 'the own interface is versioned' \
    "$(echo "$exports" | grep '^autocast_' | grep -v '@@AUTOCAST_1$')"
plan
