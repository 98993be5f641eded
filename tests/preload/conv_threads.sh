#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Convolutions of many threads and streams, of forked children, and of a cuDNN
# that comes and goes. Under ThreadSanitizer all of it is looked at for races,
# the emulated GPU's memory too.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$emulator/libcudnn.so.9" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
convolving=$clients/convolving
forced='conv.fprop -> fp16 profit=off guard=off;conv.dgrad -> fp16 profit=off guard=off;conv.wgrad -> fp16 profit=off guard=off'
guarded='conv.fprop -> fp16 profit=off;conv.dgrad -> fp16 profit=off;conv.wgrad -> fp16 profit=off'
often='conv.fprop -> fp16 profit=off'
RACE=66
TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}exitcode=$RACE:halt_on_error=1
export TSAN_OPTIONS
small='n=1 c=8 k=8 h=8'

# convolve POLICY WORDS: into $work/out, with a report of its own.
convolve()
{
	rm -rf "$AUTOCAST_STATE"
	under "$1" "$convolving" $small $2 >"$work/out" 2>"$work/err"
}

# done_by POLICY WORDS OUTPUT CALLS: the program ends well, with that output
# and so many calls in the report.
done_by()
{
	convolve "$1" "$2"
	equal "$2, ${1:0:37}: status, output" "0 $3" \
	    "$? $(sort -u "$work/out" | paste -sd' ')$(head -n 40 "$work/err")"
	equal "$2, ${1:0:37}: calls" "$4" "$(total totals.calls)"
}
convolve "$forced" calls=1
recast=$(cut -d' ' -f3 "$work/out")
convolve "$forced" 'op=3 calls=1'
fused=$(cut -d' ' -f3 "$work/out")
original=$(bare "$convolving" $small calls=1 | cut -d' ' -f3)

# ---- Threads, streams --------------------------------------------------------

done_by "$forced" 'threads=8' "$recast" 32
equal 'a plan each' 8 "$(query 'sites[0]["course"]["plans"]')"
done_by "$forced" 'threads=8 algo=0' "$recast" 32
done_by "$forced" 'threads=8 op=3 algo=0' "$fused" 32
done_by "$forced" 'threads=8 shared=1' "$recast" 32
equal 'one plan' 1 "$(query 'sites[0]["course"]["plans"]')"
done_by "$forced" 'streams=8' "$recast" 32
done_by "$forced" 'streams=8 algo=0' "$recast" 32
done_by "$forced" 'threads=4 handles=5 calls=1' "$recast" 20
# Which of a thread's calls are its site's first ones is chance.
for policy in "$guarded" "$often"; do
	convolve "$policy" 'threads=8 calls=30'
	check "threads=8 on trial, ${policy:0:37}" \
	    "$(grep -v "^$original\$\|^$recast\$" "$work/out" "$work/err")"
	equal "threads=8 on trial, ${policy:0:37}: calls" "240 True" \
	    "$(query 'report["totals"]["calls"], report["totals"]["recast_calls"] > 0')"
	done_by "$policy" 'threads=8 shared=1' "$recast" 32
	done_by "$policy" 'streams=8' "$recast" 32
done
convolve "$guarded" 'threads=8 calls=30'
check 'eight threads: one trial' "$(query '"" if sites[0]["course"]["samples"]
    and not sites[0]["course"]["demotions"] else sites[0]')"

# ---- The end -----------------------------------------------------------------

# main() returns while convolutions are on their way.
ends=
for turn in 1 2 3 4 5; do
	bare "$convolving" $small calls=1 leave=30 >"$work/out" 2>&1
	ends="$ends $?"
	convolve "$forced" 'calls=1 leave=30'
	ends="$ends $?"
done
equal 'a program that does not wait ends' ' 0 0 0 0 0 0 0 0 0 0' "$ends"
equal 'and all is counted' 31 "$(total totals.calls)"

# ---- Graphs ------------------------------------------------------------------

# Eight threads that describe, ask, tune and run graphs, three times each.
rm -rf "$AUTOCAST_STATE"
under "$forced" "$clients/autotune" threads 8 $small w=8 >"$work/out" \
    2>"$work/err"
equal 'graphs of eight threads: it ends' '0 ' "$? $(head -n 40 "$work/err")"
under "$forced" "$clients/autotune" tune "$work/one" $small w=8 \
    >"$work/one.said" 2>&1
same 'graphs of eight threads: each engine does what it does alone' \
    <(grep ^tuned "$work/one.said" | sort -u) \
    <(grep ^tuned "$work/out" | sort -u)
equal 'graphs of eight threads: all of them' \
    $((24 * $(grep -c ^tuned "$work/one.said"))) "$(grep -c ^tuned "$work/out")"

# ---- Forks -------------------------------------------------------------------

# processes: calls, and of them recast, of each process.
processes()
{
	query '"%d calls, %d recast, %d processes" % (report["totals"]["calls"],
	    report["totals"]["recast_calls"], len(report["processes"]))'
}
AUTOCAST_RUN=one # else a child forked early has a report of its own
export AUTOCAST_RUN
case ${SANITIZERS:-} in
*thread*) skip 'forked children' 'TSan does not follow a fork of many threads' ;;
*)
	for policy in "$forced" "$guarded"; do
		convolve "$policy" 'fork=1 calls=5'
		equal 'a child of its own: both have their results' 2 \
		    "$(grep -c "^5 0 $recast" "$work/out")"
	done
	convolve "$forced" 'fork=1 calls=5'
	equal 'a child of its own is counted' \
	    '10 calls, 10 recast, 2 processes' "$(processes)"
	equal 'and so are its plans' 2 \
	    "$(query 'sum(s["course"]["plans"] for s in sites)')"
	convolve "$forced" 'fork=2 calls=5'
	equal 'a child that does nothing counts nothing again' \
	    '5 calls, 5 recast, 1 processes' "$(processes)"
	equal 'and no plan' 1 \
	    "$(query 'sum(s["course"]["plans"] for s in sites)')"
	# A GPU is not there for the child of a process that used it.
	bare "$convolving" fork=3 calls=2 >"$work/bare" 2>"$work/err"
	convolve "$forced" 'fork=3 calls=2'
	equal 'a child without a GPU: its statuses are the original ones' \
	    "$(sed -n 's/^child //p' "$work/bare")" \
	    "$(sed -n 's/^child //p' "$work/out")"
	check 'control: it was not well' \
	    "$(grep -q '^child [1-9]' "$work/out" || cat "$work/out" "$work/err")"
	;;
esac
unset AUTOCAST_RUN

# ---- A cuDNN that comes and goes ---------------------------------------------

ways='now lazy deepbind twice'
# dlopen() refuses RTLD_DEEPBIND there, and its convolutions are large.
[ -z "$sanitizer" ] || ways=twice
for policy in off "$forced" "$guarded"; do
	for way in $ways; do
		[ -z "$sanitizer" ] || [ "$policy" = "$guarded" ] || continue
		rm -rf "$AUTOCAST_STATE"
		under "$policy" "$clients/plugin_host" \
		    "$clients/convolving.so" $way >"$work/out" 2>&1
		equal "a plugin, $way, ${policy:0:37}" "0 plugin_host $way" \
		    "$? $(sed 's/ checksum.*//' "$work/out")"
		[ $way != deepbind ] || continue
		equal "its calls, $way, ${policy:0:37}" \
		    "$([ $way = twice ] && echo 40 || echo 20)" \
		    "$(total totals.calls)"
	done
done
plan
