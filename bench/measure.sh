# SPDX-License-Identifier: Apache-2.0
# measure.sh -- sourced by bench/overhead and the tests in tests/perf, after
# tests/preload/preload.sh: builds what is measured in $work, counts instructions,
# takes times. All against a libcublas that returns at once, so that what is
# left is the cost of being there.
# shellcheck disable=SC2034

# what_is_missing: why nothing can be measured here, if so.
what_is_missing()
{
	if [ -n "${SANITIZERS:-}" ]; then
		echo "built with sanitizers ($SANITIZERS)"
	elif [ ! -f "$library" ]; then
		echo 'libautocast.so is not built'
	elif grep -q __gcov "$library"; then
		echo 'built for coverage'
	elif [ -z "${CUDA_CPPFLAGS:-}" ] && [ "${HAVE_CUDA:-}" != yes ]; then
		echo 'no CUDA headers'
	fi
}

# need_callgrind: for tests that count instructions.
need_callgrind()
{
	local missing
	missing=$(what_is_missing)
	[ -z "$missing" ] || skip_all "$missing"
	command -v valgrind >/dev/null || skip_all 'valgrind is not installed'
}

bench=$root/bench
stub=$root/tests/preload/stub
crowd_size=200   # libraries, variables, rules

# compiled OUTPUT ARGS...
compiled()
{
	# shellcheck disable=SC2086
	${CC:-cc} ${CUDA_CPPFLAGS:-} -D_GNU_SOURCE -std=gnu11 -O2 -o "$work/$1" \
	    "${@:2}" || exit 99
}

shared()
{
	compiled "$1" -shared -fPIC -fvisibility=hidden "${@:2}"
}

# rules COUNT: that many, the last of which fits and keeps.
rules()
{
	local i
	for ((i = 1; i < $1; i++)); do
		case $((i % 3)) in
		0) echo "gemm k>=$((100000 - i)) -> fp16" ;;
		1) echo "gemm caller=libnobody-$i.so -> fp16" ;;
		2) echo "gemm m>=$((200000 - i)) n>=100 -> tf32" ;;
		esac
	done
	echo 'gemm -> keep'
}

# What everything here needs: caller, its libloop.so, libcublas.so.13 and, for
# calls that are to be recast, libcuda.so.1; policies rules16 and rules200.
build_caller()
{
	local count
	shared libcublas.so.13 -Wl,-soname,libcublas.so.13 \
	    -Wl,--version-script="$stub/stub.map" "$stub/stub_cublas.c"
	shared libcuda.so.1 -I"$root" -Wl,-soname,libcuda.so.1 \
	    -fvisibility=default "$bench/stub_driver.c"
	shared libloop.so -Wl,-soname,libloop.so "$bench/loop.c" \
	    "$work/libcublas.so.13" -ldl
	compiled caller -pthread "$bench/caller.c" "$work/libloop.so" \
	    "$work/libcublas.so.13" -ldl
	for count in 16 $crowd_size; do
		rules $count >"$work/rules$count"
		"$build/autocast" policy check "$work/rules$count" >/dev/null ||
		    exit 99
	done
}

# A libloop.so with 20,000 symbols, in the folder $work/symbols.
build_symbols()
{
	mkdir "$work/symbols"
	awk 'BEGIN {
		print ".section .note.GNU-stack, \"\", @progbits\n.text"
		for (i = 0; i < 20000; i++)
			printf ".globl s_%d\n.type s_%d, @function\ns_%d: nop\n",
			    i, i, i
	}' >"$work/symbols.s"
	${CC:-cc} -c -o "$work/symbols.o" "$work/symbols.s" || exit 99
	shared symbols/libloop.so -Wl,-soname,libloop.so "$bench/loop.c" \
	    "$work/symbols.o" "$work/libcublas.so.13" -ldl
}

# A library with nothing in it, shaped like ours to the loader: code, constants,
# data, zeros.
build_empty()
{
	echo 'extern int ac_data; extern char ac_zeros[1 << 20];
int ac_data = 1; char ac_zeros[1 << 20];' >"$work/empty.c"
	shared empty.so -fvisibility=default -Wl,-z,now,-z,relro "$work/empty.c"
}

# That many of those in $crowd, each with a colon in front, for LD_PRELOAD; and
# that many environment variables in $variables.
crowd=
variables=()
build_crowd()
{
	local i letters=ABCDEFGHIJKLMNOPQRSTUVWXYZ
	build_empty
	mkdir "$work/crowd"
	for ((i = 0; i < crowd_size; i++)); do
		cp "$work/empty.so" "$work/crowd/$i.so"
		crowd=$crowd:$work/crowd/$i.so
		variables+=("${letters:i % 26:1}_VARIABLE_$i=of some length")
	done
}

# build_pattern N...: the other ways to interpose, pattern1.so and so on.
build_pattern()
{
	local pattern
	for pattern; do
		shared "pattern$pattern.so" -fvisibility=default -pthread \
		    "-DPATTERN=$pattern" "$bench/patterns.c" -ldl
	done
}

# ---- How something is run ----------------------------------------------------
# By these variables, so that a run is written as `policy=amp counted ...`:
#   preload    what to preload, '' for a direct call
#   policy     AUTOCAST_POLICY
#   options    of caller
#   folder     of libloop.so, in front of $work
#   with       more environment variables (array)
preload=
policy=off
options=
folder=
with=()

# as_said COMMAND...: in an environment that is the same everywhere, since what
# getenv() costs depends on it.
as_said()
{
	# shellcheck disable=SC2086
	env -i PATH="$PATH" HOME="$work" AUTOCAST_NOTICE=off \
	    AUTOCAST_STATE="$work/state" AUTOCAST_POLICY="$policy" \
	    LD_PRELOAD="$preload" LD_LIBRARY_PATH="${folder:+$folder:}$work" \
	    "${with[@]}" "$@"
}

# counted WHAT COUNT SHAPES [WHAT COUNT SHAPES]...: instructions that one of each
# takes, a line each. The difference of two run lengths: what is done once, at
# the start or around the loop, drops out.
counted()
{
	rm -f "$work"/counts*
	# shellcheck disable=SC2086
	as_said valgrind --tool=callgrind --callgrind-out-file="$work/counts" \
	    --zero-before=window --dump-after=window \
	    "$work/caller" $options "$@" >"$work/valgrind" 2>&1 || {
		cat "$work/valgrind" >&2
		return 1
	}
	local part=1 short long
	while [ $# -gt 0 ]; do
		short=$(sed -n 's/^summary: //p' "$work/counts.$part")
		long=$(sed -n 's/^summary: //p' "$work/counts.$((part + 1))")
		echo $(((long - short + $2 / 2) / $2))
		part=$((part + 2))
		shift 3
	done
}

# figures VARIABLE... -- STEP...: each variable gets what a step cost.
figures()
{
	local _names=() _costs
	while [ "$1" != -- ]; do
		_names+=("$1")
		shift
	done
	shift
	_costs=$(counted "$@") || exit 99
	# shellcheck disable=SC2229
	read -r -d '' "${_names[@]}" <<<"$_costs"
}

# collected COMMAND...: instructions of a whole program. Of one function alone,
# with what it calls, if $inside names it.
inside=
collected()
{
	as_said valgrind --tool=callgrind --callgrind-out-file=/dev/null \
	    ${inside:+--toggle-collect="$inside"} "$@" 2>&1 >/dev/null |
	    sed -n 's/.*Collected : *\([0-9]*\).*/\1/p'
}

# a_call PROGRAM ARGUMENT...: instructions of one of a program's calls, whose number
# is its last argument.
a_call()
{
	local few many
	few=$(collected "$work/$1" "${@:2}" 1000) || exit 99
	many=$(collected "$work/$1" "${@:2}" 5000) || exit 99
	echo $(((many - few) / 4000))
}

# timed REPEATS WHAT COUNT SHAPES: picoseconds of processor time that one took.
# On one core, the last we may use, unless there are several threads: then those
# that ran at the same time count, and nothing is said if none did.
pinned=
if command -v taskset >/dev/null; then
	pinned="taskset -c $(taskset -cp $$ | sed 's/.*[ ,-]//')"
fi
timed()
{
	local on=$pinned
	case $options in *-j*) on= ;; esac
	# shellcheck disable=SC2086
	as_said $on "$work/caller" -r "$1" $options "${@:2}"
}

# smaller OLD NEW; OLD may be empty.
smaller()
{
	if [ -z "$1" ] || [ "$2" -lt "$1" ]; then
		echo "$2"
	else
		echo "$1"
	fi
}

# hundredths A B: 100 * A / B, rounded; as_ratio turns it into text.
hundredths()
{
	[ -n "$1" ] && [ -n "$2" ] || exit 99
	echo $(((200 * $1 + $2) / (2 * $2)))
}

as_ratio()
{
	printf '%d.%02d' $(($1 / 100)) $(($1 % 100))
}

# limit_here LIMIT: what a count may be by this compiler. Gates stand at what gcc
# 12 makes, by which every change is tried; others get a tenth more.
limit_here()
{
	case $(${CC:-cc} -dumpversion 2>/dev/null) in
	12 | 12.*) echo "$1" ;;
	*) echo $(($1 + $1 / 10)) ;;
	esac
}

# at_most WHAT FOUND LIMIT: a test case that prints what it found.
at_most()
{
	local limit
	limit=$(limit_here "$3")
	echo "# $1: $2, at most $limit"
	check "$1" "$([ "$2" -le "$limit" ] || echo "$2 > $limit")"
}

# at_most_yet WHAT FOUND GOAL YET: the goal is not reached: that is owed, and no
# more than YET is taken. YET only ever goes down, until at_most() has the goal.
# On some machines it may be reached already.
at_most_yet()
{
	at_most "$1" "$2" "$4"
	[ "$2" -le "$(limit_here "$3")" ] || owed "$1, $3" "$2 > $3"
}
