#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# man.sh -- the manual pages are well formed, and autocast(1) and the program
# tell of the same verbs, options and variables.
. "$(dirname "$0")/tap.sh"

cd "$root" || exit 99
page=man/autocast.1
if command -v mandoc >/dev/null 2>&1; then
	for file in $(files 'man/*'); do
		case $file in *.[1-9]) ;; *) continue ;; esac
		check "$file is well formed" \
		    "$(mandoc -Tlint -W warning "$file" | grep -v 'referenced manual not found')"
	done
else
	skip 'the pages are well formed' 'no mandoc'
fi

variables=$(sed -n 's/^ENV([^"]*"\([A-Z0-9_]*\)".*/\1/p' base/env.def)
check 'every variable is in autocast(1), or autocast-emulator(7)' "$(for variable in $variables; do
	case $variable in *_EMU_*) its=man/autocast-emulator.7 ;; *) its=$page ;; esac
	grep -qE "^\.It Ev (.* , Ev )?$variable( |\$)" $its || echo "$variable"
    done)"

# Those that rungs.c refuses are kept, all others are recast.
check 'every epilogue of cublasLt is in libautocast(7), with its fate' "$(
    sed -n 's/^EPILOGUE( \([A-Z_]*\), *"\(.*\)" )$/\1 \2/p' policy/words.def |
    while read -r id name; do
	fate=recast
	case $id in INPUT_SUMS | OTHER) fate=kept ;; esac
	grep -q "^\.It Li $name Ta .* Ta $fate" man/libautocast.7 || echo "$name"
	grep -q "^\.Ql $name\( \|\$\)" man/autocast-policy.5 ||
	    echo "$name, autocast-policy(5)"
    done)"
check 'NVIDIA'\''s names of epilogues are those of the table' "$(
    sed -n 's/^EPILOGUE( \([A-Z_]*\),.*/\1/p' shim/lt/epilogues.def |
    while read -r id; do
	grep -q "^\.It Li [a-z_]* Ta $id Ta recast$" man/libautocast.7 ||
	    echo "$id"
    done)"

autocast=$build/autocast
if [ ! -x "$autocast" ]; then
	skip 'autocast(1) and --help agree' 'autocast is not built'
	plan
	exit
fi
# A verb may be two words.
mapfile -t verbs < <("$autocast" --help |
    sed -n 's/^  \([a-z]\{1,\}\( [a-z-]*[a-z]\)\{0,1\}\)  *[A-Z].*/\1/p'
    echo completion)
check 'there are verbs, ten at most' "$(printf '%s\n' "${verbs[@]}" |
    awk '!/ / && $1 != "completion" { n++ } END { if (n < 6 || n > 10) print n }')"

# The options that `autocast VERB --help` prints, without their dashes.
options()
{
	"$autocast" $1 --help |
	    sed -n -e 's/^  \(-[a-zA-Z]\), \(--[a-z-]*\).*/\1 \2/p' \
	        -e 's/^  \(--*[a-zA-Z][a-z-]*\).*/\1/p' | tr ' ' '\n' |
	    sed 's/^-//'
}

# The text of the page about one verb, the synopsis about all.
section()
{
	awk -v title=".Ss autocast $1" '
	    $0 == title { on = 1; next } /^\.S[hs]/ { on = 0 } on' $page
}

synopsis=$(awk '/^\.Sh SYNOPSIS/ { on = 1; next } /^\.Sh/ { on = 0 } on' $page)
for verb in "${verbs[@]}"; do
	check "autocast $verb is in the synopsis" \
	    "$(echo "$synopsis" | sed 's/^\.[A-Z][a-z] //' | paste -sd' ' |
	    grep -qF "Nm ${verb/ --/ -}" || echo missing)"
	check "autocast $verb has a section" \
	    "$([ -n "$(section "$verb")" ] || echo missing)"
	documented=$(section "$verb" | sed -n 's/^\.It Fl \([A-Za-z-]*\).*/\1/p' | sort)
	check "options of autocast $verb" \
	    "$(diff <(options "$verb" | sort) <(echo "$documented" | sed '/^$/d'))"
	check "options of autocast $verb in the synopsis" \
	    "$(for option in $(options "$verb"); do
		echo "$synopsis" | grep -qE "(Op )?Fl $option( |\$)" || echo "$option"
	    done)"
done
plan
