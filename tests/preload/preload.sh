# SPDX-License-Identifier: Apache-2.0
# preload.sh -- sourced by the preload tests: TAP, a private folder, and the
# ways to run a program with and without the library.
. "$(dirname "$0")/../lint/tap.sh"
library=$build/libautocast.so
emulator=$build/emulator
clients=$build/tests/preload/programs
work=$(mktemp -d "${TMPDIR:-/tmp}/autocast-test.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
AUTOCAST_NOTICE=off
AUTOCAST_STATE=$work/state
export AUTOCAST_NOTICE AUTOCAST_STATE
# A sanitizer's runtime must come before everything else that is preloaded.
sanitizer=
case ${SANITIZERS:-} in
*address*) sanitizer=$(${CC:-cc} -print-file-name=libasan.so) ;;
*thread*) sanitizer=$(${CC:-cc} -print-file-name=libtsan.so) ;;
esac
preload=${sanitizer:+$sanitizer:}$library

need_emulator()
{
	[ -e "$emulator/libcublas.so.13" ] ||
	    skip_all 'the emulated GPU was not built (OpenBLAS is missing)'
}

# compile OUTPUT ARGS...: a C program or library that includes CUDA's headers.
compile()
{
	${CC:-cc} $CUDA_CPPFLAGS -O2 -o "$work/$1" "${@:2}" || exit 99
}

# bare PROGRAM ARGS: on the emulated GPU, without the library.
bare()
{
	LD_LIBRARY_PATH=$emulator "$@"
}

# field LINE NAME: what a client's line says after NAME=.
field()
{
	sed -n "s/.* $2=\([^ ]*\).*/\1/p" <<<" $1"
}

# under POLICY PROGRAM ARGS: on the emulated GPU, with the library preloaded.
under()
{
	_policy=$1
	shift
	LD_LIBRARY_PATH=$emulator AUTOCAST_POLICY=$_policy \
	    LD_PRELOAD=$preload "$@"
}

# without ANYTHING PROGRAM ARGS: as under, but bare.
without()
{
	bare "${@:2}"
}

# train POLICY NAME: the accuracy of the network $example, with its words, on the
# digits, with the library, or without it (POLICY none). Weights are in $work/NAME,
# what it says in NAME.out.
train()
{
	local run=under
	[ "$1" != none ] || run=without
	$run "$1" "$build/examples/${example[0]}" "${example[@]:1}" \
	    --weights "$work/$2" "$build/examples/digits.csv" >"$work/$2.out" 2>&1 ||
	    sed 's/^/# /' "$work/$2.out"
	sed -n 's/^test accuracy //p' "$work/$2.out"
}

# learns WHAT ACCURACY [MOST]: as FP32 does: within MOST of $plain.
learns()
{
	check "$1 learns: accuracy is within ${3:-0.01} of $plain" \
	    "$(awk -v a="$2" -v p="$plain" -v most="${3:-0.01}" \
	        'BEGIN { d = a - p; if (!(a > 0) || d > most || d < -most) print "accuracy " a }')"
}

# same WHAT FILE FILE: the case passes if both files hold the same bytes.
same()
{
	check "$1" "$(cmp "$2" "$3" 2>&1)"
}

# query SCRIPT ARGS: a Python expression over the last run's JSON report.
query()
{
	"$build/autocast" report --json | python3 -c 'import json, sys
report = json.load(sys.stdin)
sites = report["sites"]
print('"$1"')' "${@:2}"
}

# total PATH: one number or word of the report, totals.recast_share for one.
total()
{
	query '__import__("functools").reduce(lambda v, k: v[k], sys.argv[1].split("."), report)' "$1"
}

# counts: calls recast, and kept by reason, of each site.
counts()
{
	query '*sorted("%s %d %s" % (s["rung"], s["recast_calls"],
	    ",".join("%s:%d" % i for i in sorted(s["kept_calls"].items()) if i[1]))
	    for s in sites)'
}

# counter NAME: how often, by what AUTOCAST_EMU_COUNTERS=$work/counters wrote.
counter()
{
	sed -n "s/^$1 //p" "$work/counters"
}

# recorded: "calls recast, of them in graphs, kept by the capture" of the last.
recorded()
{
	query 'report["totals"]["recast_calls"], report["totals"]["captured"], sum(
	    s["kept_calls"].get("capture", 0) for s in sites)'
}

# in_time NAME...: whether the verdicts of the last run came in time. Else a busy
# machine had it run originals meanwhile, and the cases NAME, which count those,
# are skipped.
in_time()
{
	local late name
	late=$(total totals.late)
	[ "$late" != 0 ] || return 0
	for name in "$@"; do
		skip "$name" "the machine is so busy that $late verdicts were late"
	done
	return 1
}

# kept_reasons REASON...: those of them that kept a call.
kept_reasons()
{
	query '" ".join(r for r in sys.argv[1:] if any(s["kept_calls"].get(r) for s in sites))' "$@"
}

site_of_most_calls()
{
	query 'max(sites, key=lambda s: s["calls"])["id"]'
}

sites_recast()
{
	query 'sum(s["recast_calls"] > 0 for s in sites)'
}
