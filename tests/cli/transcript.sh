# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# transcript.sh -- sourced by the tests of the command line: a place of one's
# own, TAP, and transcripts. A transcript is a list of blocks
#     [its exit status] $ autocast ARGUMENTS
#     what it said, both streams
# compared block by block with SCRIPT.expected. UPDATE_EXPECTED=1 writes that
# file instead. A command that needs nothing around it stands there alone: a new
# one is written there with any status, and the number of `play` raised.
build=$(cd "${builddir:-${top_builddir:-.}}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
autocast=$build/autocast
counting=$build/tests/cli/counting
expected=$here/$(basename "${0%.sh}").expected
cases=0 block=0
LC_ALL=C TZ=UTC0
export LC_ALL TZ

skip_all()
{
	echo "1..0 # SKIP $1"
	exit 0
}

# need_emulated PROGRAM: an emulated GPU, the library, and one of our programs.
need_emulated()
{
	[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
	[ -z "${SANITIZERS:-}" ] ||
	    skip_all 'a sanitized library loads into sanitized programs only'
	[ -x "$1" ] && [ -f "$build/emulator/libcublas.so.13" ] ||
	    skip_all 'no emulated GPU, or no programs for it'
}

[ -x "$autocast" ] || skip_all 'autocast is not built'
place=$(mktemp -d) || exit 99
transcript=$place/transcript
trap 'rm -rf "$place"' EXIT
mkdir "$place/here" "$place/config"
cd "$place/here" || exit 99
unset AUTOCAST_POLICY AUTOCAST_RULES AUTOCAST_NOTICE AUTOCAST_RUN LD_PRELOAD
export AUTOCAST_STATE=$place/state XDG_CONFIG_HOME=$place/config

# ok NAME STATUS [DETAILS]: the case passes if STATUS is 0.
ok()
{
	cases=$((cases + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $cases - $1"
	else
		echo "not ok $cases - $1"
		[ -z "${3:-}" ] || printf '%s\n' "$3" | sed 's/^/# /'
	fi
}

skip()
{
	cases=$((cases + 1))
	echo "ok $cases - $1 # SKIP $2"
}

# equal NAME GOT WANTED
equal()
{
	local status=0

	[ "$2" = "$3" ] || status=1
	ok "$1" $status "got:    $2
wanted: $3"
}

plan()
{
	echo "1..$cases"
}

# What differs from machine to machine: paths, pids, times.
normal()
{
	sed -e "s,$place,PLACE,g" -e "s,$build,BUILD,g" \
	    -e 's, /[^ ]*/\(autocast/[a-z-]*policy\) (not there), SYSTEM/\1 (not there),' \
	    -e 's/, [0-9-]* [0-9:]*, process [0-9]*,/, DATE, process PID,/' \
	    -e 's/, [0-9-]* [0-9:]*, \([0-9]* processes\)/, DATE, \1/' \
	    -e 's/^  wall     [0-9.]* [mu]*s/  wall     TIME/' \
	    -e 's/"wall_us": [0-9.e]*/"wall_us": TIME/' \
	    -e 's/"pid": [0-9]*/"pid": PID/' -e 's/"run": "[^"]*"/"run": "RUN"/' \
	    -e 's/"start": "[^"]*"/"start": "DATE"/'
}

# The expected block number $1.
expected_block()
{
	awk -v wanted="$1" '/^\[[0-9]+\] \$ / { n++ } n == wanted' "$expected" 2>/dev/null
}

# show ARGUMENTS...: run autocast, compare with the next expected block.
show()
{
	local got said status=0

	block=$((block + 1))
	said=$("$autocast" "$@" 2>&1 </dev/null; echo "[$?]")
	got=$({
		printf '%s $ autocast' "${said##*$'\n'}"
		for argument; do
			case $argument in
			'' | *[!A-Za-z0-9_./=,:@-]*) printf " '%s'" "$argument" ;;
			*) printf ' %s' "$argument" ;;
			esac
		done
		printf '\n%s' "${said%[*}"
	} | normal; echo .)
	printf '%s' "${got%.}" >>"$transcript"
	[ -z "${UPDATE_EXPECTED:-}" ] || return 0
	[ "$got" = "$(expected_block $block; echo .)" ] || status=1
	ok "autocast $*" $status "$(diff <(expected_block $block) <(printf '%s' "${got%.}"))"
}

# play COUNT: the next blocks, by the commands that stand there.
play()
{
	local left

	for ((left = $1; left; left--)); do
		eval "show $(expected_block $((block + 1)) |
		    sed 's/^[^$]*[$] autocast//; q')"
	done
}

# No block is left over; ends the transcript.
shown()
{
	local status=0

	if [ -n "${UPDATE_EXPECTED:-}" ]; then
		cp "$transcript" "$expected"
		return
	fi
	[ -z "$(expected_block $((block + 1)))" ] || status=1
	ok "$(basename "$expected") has no more blocks" $status
}

# What autocast finds of a driver, on a machine without one, too.
pretend_driver()
{
	mkdir -p "$place/driver"
	echo | ${CC:-cc} -shared -nostdlib -x c -o "$place/driver/libcuda.so.1" - \
	    2>"$place/cc.log" || skip_all 'cannot link a library'
	export LD_LIBRARY_PATH=$place/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# compile OUTPUT FLAGS...: a C program from standard input.
compile()
{
	local output=$1

	shift
	${CC:-cc} -w -o "$output" -x c - "$@" 2>"$place/cc.log"
}
