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
play 5
shown
plan
