#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# catalogue.sh -- every row of the catalogue is listed, each with its fate.
. "$(dirname "$0")/transcript.sh"

shim=${top_srcdir:-${srcdir:-$here/../..}}/shim/bind
[ -f "$shim/entries.def" ] || shim=$here/../../shim/bind
rows=$(sed -n '/^COMPANION/d
    s/^[A-Z]*(.*\b\(cu[a-z]*[A-Z][A-Za-z0-9_]*\),.*/\1/p' \
    "$shim/entries.def" | sort -u)
equal 'the rows are the catalogue' \
    "$("$autocast" explain --functions | sed 's/ .*//' | sort)" "$rows"
equal 'no row is without a fate' \
    "$("$autocast" explain --functions | awk 'NF < 2 || $2 == "passed"')" ''
eval "$(declare -f normal | sed '1s/normal/usual/')"
# Of functions the first line stands as it is, and of each fate all that have it.
normal()
{
	usual | awk '!/^cu[a-z]*[A-Z]/ { print; next }
	    !n { print }
	    {
		name = $1
		sub(/^[^ ]* */, "")
		if (!($0 in of))
			fate[++n] = $0
		of[$0] = of[$0] " " name
	    }
	    END { for (i = 1; i <= n; i++) print fate[i] ":" of[fate[i]] }'
}
play 5
shown
plan
