#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T35: nothing on stdout, ever; on stderr what somebody asked for. Every client
# program, whatever the policy and the log level.
. "$(dirname "$0")/../preload/preload.sh"
need_emulator
[ -x "$clients/two_threads" ] || skip_all 'the client programs were not built'
[ -z "$sanitizer" ] || skip_all "a sanitizer speaks when it likes ($SANITIZERS)"
recasting='gemm -> fp16 profit=off guard=off'

# The client set, one call of each; numbers differ with the arithmetic.
list()
{
	cat <<END
corners depth
corners batch-overlap
corners alpha0
contexts pair
contexts again
device_alpha
held_stream grow
legacy
many_streams 16
no_context
plugin_host $clients/plugin.so
plugin_host $clients/plugin.so lazy
reset_exit return
reset_exit quick
reset_exit again
sizes
two_devices one
two_devices threads
two_threads shared 20
two_threads own 20
user_workspace
zero_sizes
END
	for form in $(bare "$clients/gemm_client" forms | awk '{ print $1 }'); do
		echo "gemm_client $form n t 33 29 17 0 0 0 1 0.5 2 normal 1 -"
	done
	[ ! -x "$build/examples/digits_mlp" ] ||
	    echo "../../../examples/digits_mlp --epochs 1 $build/examples/digits.csv"
}

# words FILE: what it says, but for numbers, and user_workspace's own finding.
words()
{
	sed -E 's/[-+]?[0-9][0-9a-f.]*(e[-+]?[0-9]+)?|checksum=[0-9a-f]*/N/g
	    s/inside=[a-z]*/inside=/' "$1"
}

# speak NAME RUN...: stdout and stderr of all clients together.
speak()
{
	_name=$1
	shift
	list | while read -r client arguments; do
		models=h200
		[ "$client" != two_devices ] || models=h200,t4
		AUTOCAST_EMU_MODEL=$models \
		    "$@" "$clients/$client" $arguments >"$work/out" 2>"$work/err" \
		    </dev/null
		echo "$client $arguments: status $?" >>"$work/$_name.out"
		words "$work/out" >>"$work/$_name.out"
		sed "s|^|$client: |" "$work/err" >>"$work/$_name.err"
	done
}

speak bare bare
check 'T35, control: the client set says something' \
    "$([ "$(wc -l <"$work/bare.out")" -ge 60 ] || cat "$work/bare.out")"
for policy in off tf32 "$recasting"; do
	speak under under "$policy"
	same "T35: nothing on stdout, '$policy'" "$work/bare.out" "$work/under.out"
	same "T35: nothing on stderr, '$policy'" "$work/bare.err" "$work/under.err"
	rm -f "$work"/under.*
done
check 'T35, control: and products were recast' \
    "$([ "$(find "$AUTOCAST_STATE" -name '*.stats' | wc -l)" -gt 20 ] || echo no)"

# Everything that can be said, said: none of it on stdout.
AUTOCAST_LOG=debug AUTOCAST_NOTICE=on speak loud under "$recasting"
same 'T35: nothing on stdout when all is logged' "$work/bare.out" "$work/loud.out"
AUTOCAST_LOG=debug AUTOCAST_NOTICE=on speak bad under 'gemm -> fp61'
same 'T35: nothing on stdout when the policy is bad' "$work/bare.out" "$work/bad.out"
check 'T35, control: but the mistake is named on stderr' \
    "$(grep -q fp61 "$work/bad.err" || head -n 3 "$work/bad.err")"
AUTOCAST_LOG=off AUTOCAST_NOTICE=on speak off under 'gemm -> fp61'
same 'T35: not even of a bad policy when the log is off' "$work/bare.err" "$work/off.err"

# With stdout, or both, closed: no file of ours takes their numbers.
for closed in 1 '1 2' '0 1 2'; do
	rm -rf "$AUTOCAST_STATE"
	(
		for fd in $closed; do
			eval "exec $fd>&-"
		done
		under "$recasting" "$clients/two_threads" own 20
		echo $? >"$work/status"
	)
	# Its one line cannot be printed: that is its own affair.
	equal "T35: a program with $closed closed ends as it does" 0 \
	    "$(cat "$work/status")"
	equal 'T35: and its numbers are whole' True \
	    "$(query 'report["totals"]["recast_calls"] > 0')"
done

# unread PROGRAM ARGS...: its status, where nobody reads its stderr any more.
unread()
{
	python3 -c 'import os, subprocess, sys
reading, writing = os.pipe()
os.close(reading)
print(subprocess.run(sys.argv[1:], stderr=writing, stdout=subprocess.DEVNULL).returncode)' \
	    "$@"
}
for policy in "$recasting" 'gemm -> fp61'; do
	equal "T35: nobody reads stderr, '$policy'" 0 "$(LD_LIBRARY_PATH=$emulator \
	    AUTOCAST_NOTICE=on AUTOCAST_LOG=debug AUTOCAST_POLICY=$policy unread \
	    env LD_PRELOAD="$preload" "$clients/many_streams" 16)"
done
equal 'T35: nor of autocast run' 0 "$(unread "$build/autocast" run --emulate \
    --report "$work/report.json" -- "$clients/many_streams" 16)"
check '... which leaves its report all the same' \
    "$(python3 -m json.tool <"$work/report.json" 2>&1 >/dev/null | head -n 1)"

check 'T35: nothing that prints on stdout is called at all' \
    "$(nm -D --undefined-only "$library" 2>/dev/null |
        grep -wE 'stdout|stderr|w?printf|f?puts|putchar(_unlocked)?|fprintf|vfprintf|vprintf|fwrite|perror|__printf_chk|__vprintf_chk|dprintf|psignal|psiginfo')"
plan
