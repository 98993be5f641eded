#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_end.sh -- `autocast run` ends with what was gained or lost, and never in
# silence: where nothing was reached, one line says so and what to type.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
[ -x "$counting" ] || skip_all 'tests/cli/counting is not built'
cp "$counting" counting
emulated=no
[ -f "$build/emulator/libcublas.so.13" ] && emulated=yes
seen='autocast: no call of cuBLAS or cuDNN was seen'
nowhere='the program makes none, its statistics could not be kept, or libautocast.so did not get into it'

# ends WHAT STATUS LINE COMMAND...: all that it says is this line.
ends()
{
	local what=$1 wanted="$2: $3" said

	shift 3
	said=$("$@" 2>&1 >/dev/null)
	equal "$what" "$?: $said" "$wanted"
}

# ---- No driver
if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
	skip 'no driver' 'there is one'
elif [ $emulated = yes ]; then
	ends 'no driver' 0 "$seen, and there is no NVIDIA driver here (libcuda.so.1 cannot be loaded); type: autocast run --emulate --policy fp16 -- true 'a b'" \
	    "$autocast" run --policy fp16 true 'a b'
else
	skip 'no driver' 'the emulated GPU is not built'
fi

# ---- A driver, and no call
pretend_driver
ends 'no CUDA program' 3 "$seen: $nowhere; type: autocast doctor -- sh -c 'exit 3'" \
    "$autocast" run sh -c 'exit 3'
ends 'nothing could be kept' 0 "autocast: AUTOCAST_STATE=$AUTOCAST_STATE: no statistics are kept there: files may not be that large
$seen: $nowhere; type: autocast doctor -- sh -c 'ulimit -f 0; exec ./counting'" \
    "$autocast" run sh -c 'ulimit -f 0; exec ./counting'
ends 'something was not found' 127 "$seen: status 127 says that a program, or a library that it needs, was not found; type: autocast doctor -- sh -c 'exit 127'" \
    "$autocast" run sh -c 'exit 127'
mkdir bin
printf '#!/bin/sh\nexit "$1"\n' >bin/mpiexec.hydra
chmod +x bin/mpiexec.hydra
ln -s mpiexec.hydra bin/mpiexec
ends 'a launcher that fails' 132 "$seen: bin/mpiexec ended with status 132: it could not start the program, or that failed before its first call; type: autocast doctor -- bin/mpiexec 132 ./x" \
    "$autocast" run bin/mpiexec 132 ./x
ends 'a launcher that does not' 0 "$seen: $nowhere; type: autocast doctor -- bin/mpiexec 0 ./x" \
    "$autocast" run bin/mpiexec 0 ./x
ends 'statistics off' 0 'autocast: nothing was counted: AUTOCAST_STATE is off; type: env -u AUTOCAST_STATE autocast run -- ./counting' \
    env AUTOCAST_STATE=off "$autocast" run ./counting
equal 'its command counts' "$(eval "$(AUTOCAST_STATE=off "$autocast" run ./counting 2>&1 | sed 's/.*type: //; s,autocast run,$autocast run,')" 2>&1 | grep -c 'GPU time')" 1
equal 'a crash comes before the numbers' "$( (exec 2>/dev/null; "$autocast" run sh -c './counting; kill -SEGV $$' 2>&4; :) 4>&1 | head -n 1)" \
    'autocast: signal 11 (Segmentation fault) ended the program; what follows counts up to there'
equal 'who typed ^C knows' "$( (exec 2>/dev/null; "$autocast" run sh -c 'kill -INT $$' 2>&4; :) 4>&1 | grep -c 'ended the program')" 0
equal 'who wants no notice has none' "$(AUTOCAST_NOTICE=off "$autocast" run true 2>&1)" ''
equal 'a run within a run speaks for both' \
    "$("$autocast" run "$autocast" run ./counting 2>&1 | grep -c -e 'GPU time' -e 'was seen')" 1

# ---- What was gained, and what was lost
if [ $emulated = no ] || [ ! -x "$build/examples/digits_mlp" ]; then
	skip 'a loss and its cause' 'the example or the emulated GPU is not built'
	plan
	exit
fi
digits()
{
	{ "$autocast" run --emulate "$@" >/dev/null; } 2>&1
}

set -- -- "$build/examples/digits_mlp" --epochs 1 "$build/examples/digits.csv"
said=$(digits --policy fp16 "$@")
equal 'a loss and its cause come first' "$(echo "$said" | head -n 1 |
    grep -c ' FP32 calls .* -> .*x slower (estimated for NVIDIA H200): the profile fp16 forces them, amp would keep what loses$')" 1
equal 'no more than five lines' "$(echo "$said" | wc -l)" 5
equal 'amp keeps what loses' "$(digits "$@" | grep -c -e 'GPU time' -e slower)" 0
equal 'why nothing was recast stands next to it' "$(digits "$@" | sed -n '1,2s/explain [0-9a-f]*/explain ID/p')" \
    'autocast: recast nothing: 100.0 % of the FP32 work kept for the reason too-small: fewer than 2^24 operations, too few to gain; "autocast explain ID" says more'
said=$("$autocast" report | grep -A2 '^  recast   nothing: ')
equal 'in the head of the report, too' "$(echo "$said" | sed 's/explain [0-9a-f]*/explain ID/')" \
    '  recast   nothing: 100.0 % of the FP32 work kept for the reason too-small
           fewer than 2^24 operations, too few to gain
           "autocast explain ID" says more'
equal 'the command says more' "$("$autocast" explain "$(echo "$said" | sed -n 's/.*explain \([0-9a-f]*\).*/\1/p')" | grep -c '^kept [0-9]*: too-small,')" 1
learning='set profit=off learn=on
gemm -> fp16, tf32
otherwise off'
equal 'a run that learned says so' "$(digits --policy "$learning" "$@" | sed -nE '2s/[0-9]+/N/gp')" \
    'autocast: recast nothing: the run learned, with rungs next to N of N calls; "autocast report -v" shows how those fared'
equal 'and that it checked nothing' "$("$autocast" report -v | grep -c checked),$("$autocast" report -v | grep -cE 'measured next to [0-9]* calls?(;|$)')" \
    "0,$("$autocast" report --json | grep -cE '^        "judged": [1-9]')"
equal 'profit=off is a cause, too' "$(digits -e 'gemm -> fp16 profit=off guard=off' "$@" |
    grep -c ': profit=off forces them, profit=on would keep what loses$')" 1
equal 'LD_PRELOAD lost on the way' "$(digits -- env -u LD_PRELOAD "${@:2}" | sed 's/ -- .*//')" \
    "$seen: $nowhere; type: autocast doctor --emulate"
plan
