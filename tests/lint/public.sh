#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# public.sh -- the public functions are the same in the headers, in the table of
# functions, in what both libraries export, and in the manual.
. "$(dirname "$0")/tap.sh"

cd "$root" || exit 99

# The prototypes of the headers, a line each, as C would read them.
prototypes()
{
	sed -e ':more' -e 's:/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/::g' \
	    -e '/\/\*/{N;bmore' -e '}' include/autocast.h \
	    include/autocast_scaler.h | tr '\n\t' '  ' | sed 's/;/;\n/g' |
	    sed -n 's/.*AUTOCAST_API \(.*(.*)\);$/\1/p' |
	    sed -e 's/  */ /g' -e 's/( /(/g' | sort
}

# Those of a manual page's synopsis.
synopsis()
{
	awk '/^\.Sh/ { on = $2 == "SYNOPSIS" }
	    !on { next }
	    { gsub(/"/, "") }
	    /^\.Ft/ { type = substr($0, 5) }
	    /^\.Fo/ { printf "%s%s%s(", type, type ~ /\*$/ ? "" : " ", $2; comma = "" }
	    /^\.Fa/ { printf "%s%s", comma, substr($0, 5); comma = ", " }
	    /^\.Fc/ { print ")" }' "$@" | grep ' \**autocast_[a-z_]*('
}

# The names in the lines that come in.
names()
{
	sed 's/(.*//; s/.*[ *]//'
}

pages=$(files 'man/*.3')
check 'every function is in a manual page as the header has it' \
    "$(diff <(prototypes) <(synopsis $pages | sort))"
check 'every function is explained, not only listed' \
    "$(for name in $(prototypes | names); do
	grep -qE "^\.(It )?Fn (.* , Fn )?$name( |\$)" $pages || echo "$name"
    done)"
check 'every status is in a manual page' \
    "$(sed -n 's/^STATUS(\([A-Z_]*\),.*/\1/p' include/autocast.h |
    while read -r status; do
	grep -qE "^\.(It )?Dv (.* , )?(AUTOCAST_)?$status( |\$)" $pages || echo "$status"
    done)"

check 'the structs of the manual are those of the header' "$(for name in \
    autocast_tensor autocast_scaler_options autocast_scaler_counters; do
	diff <(sed -n "/^typedef struct $name {/,/^} $name;/p" \
		include/autocast_scaler.h) \
	    <(sed -n "/^typedef struct $name {/,/^} $name;/p" \
		man/autocast_scaler.3)
    done)"

rows=$(sed -n 's/^FUNCTION(\([a-z_]*\)).*/autocast_\1/p' include/autocast_functions.h)
check 'the table has every function once' \
    "$(diff <(prototypes | names | sort) <(echo "$rows" | sort))"
# Programs know rows by their place. Append here what is appended there.
check 'rows of the table stay where they are' \
    "$(diff tests/lint/public.rows <(echo "$rows"))"

if ! command -v readelf >/dev/null 2>&1; then
	skip 'the libraries export the functions' 'no readelf'
	plan
	exit
fi
for library in libautocast-api.so.1 libautocast.so; do
	if [ ! -f "$build/$library" ]; then
		skip "$library exports the functions" 'it is not built'
		continue
	fi
	exports=$(readelf -W --dyn-syms "$build/$library" |
	    awk '$7 != "UND" && ($5 == "GLOBAL" || $5 == "WEAK") { print $8 }')
	check "$library exports the functions, with their version" \
	    "$(diff <(printf '%s\n' "$rows" autocast_functions_get |
		sed 's/$/@@AUTOCAST_1/' | sort) \
		<(echo "$exports" | grep '^autocast_' | sort))"
	case $library in *-api*)
		check "$library exports nothing else" \
		    "$(echo "$exports" | grep -vE '^(autocast_|AUTOCAST_1)')" ;;
	esac
done
plan
