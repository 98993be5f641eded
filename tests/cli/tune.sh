#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tune.sh -- policies that are found by running a program: which sites are kept,
# what a check may be, what is refused, how a search goes on that was ended; and a
# run's rungs, frozen.
. "$(dirname "$0")/transcript.sh"
sensitive=$build/tests/preload/programs/sensitive
need_emulated "$sensitive"
mkdir "$place/tmp"
export TMPDIR=$place/tmp
emulated=--emulate=t4
# A call of each site will do, as no first ones are the program's own.
export AUTOCAST_RULES='set own=0'
calls=1
good='grep -q good stdout'

# stub NAME: a program from standard input; it tells that it was run.
stub()
{
	{
		echo '#!/bin/bash'
		echo "echo run >>'$place/here/$1.log'"
		echo "sensitive='$sensitive'"
		cat
	} >"$1"
	chmod +x "$1"
	: >"$1.log"
}

# tune ARGUMENTS: the policy goes to `out`, what is said to `err`; its status.
tune()
{
	"$autocast" tune $emulated "$@" >out 2>err </dev/null
	echo $?
}

bisect()
{
	"$autocast" bisect $emulated "$@" >out 2>err </dev/null
	echo $?
}

# rules: the lines of a policy without its comments.
rules()
{
	grep -v '^#' "${1:-out}"
}

# made: how often a stub was run since.
made()
{
	wc -l <"$1.log"
	: >"$1.log"
}

# widths: of sites that are kept by size.
widths()
{
	sed -n 's/^gemm m=512 n=\([0-9]*\) k=2048 -> keep$/\1/p' out | xargs
}

# under POLICY ARGUMENTS: what the program says under that policy.
under()
{
	AUTOCAST_NOTICE=off "$autocast" run $emulated --policy "$1" -- "$sensitive" "${@:2}"
}

# recast: of the last run, as a part of all calls.
recast()
{
	"$autocast" report --json | python3 -c 'import json, sys
t = json.load(sys.stdin)["totals"]
print("%d of %d" % (t["recast_calls"], t["calls"]))'
}
has_python=0
command -v python3 >/dev/null 2>&1 && has_python=1

# ---- What is refused, before the first run
stub never <<'END'
END
play 37
TMPDIR=/dev/null show tune ./never
shown
equal 'nothing was started' "$(made never),$(ls -A "$TMPDIR")" 0,

# ---- No site is sensitive
stub two <<END
exec "\$sensitive" 2 $calls 1e-5
END
equal 'no site is sensitive: found' "$(tune --check "$good" ./two)" 0
equal 'in two runs' "$(made two)" 2
equal 'all are recast' "$(rules)" 'gemm flops>=1070M -> fp16 profit=off
gemm -> keep
otherwise amp'
equal 'what was done is said' "$(sed 's/[0-9.]* [mu]s/N/g; s/[0-9.]*x/Nx/' err)" \
    'autocast: tune: 2 runs: 2 of 2 sites recast; products N -> N: Nx faster; the check passes'
equal 'the policy says how it was found' "$(sed -n 's/^# [-0-9]*, /# DATE, /; 1,2p' out)" \
    "# DATE, Tesla T4, cublas-13.1, by
# autocast tune --check '$good' --emulate=t4 -- ./two"
cp out two.policy
equal 'it is a policy' "$("$autocast" policy check two.policy 2>&1)" 'two.policy: ok'
for model in t4 h200; do
	equal "run says where it was made, on $model" \
	    "$("$autocast" run --emulate=$model --policy two.policy -- ./two 2>&1 |
		grep -c "made on Tesla T4 with cublas-13.1, this ran on NVIDIA H200 .*: 'autocast tune --emulate' measures here")" \
	    "$([ $model = t4 ]; echo $?)"
	equal "policy check, too, on $model" "$(LD_LIBRARY_PATH=$build/emulator \
	    AUTOCAST_EMU_MODEL=$model "$autocast" policy check two.policy 2>&1 |
	    grep -c 'made on Tesla T4 with cublas-13.1, here are NVIDIA H200')" \
	    "$([ $model = t4 ]; echo $?)"
done
equal 'the program runs by it' "$(under ./two.policy 2 $calls 1e-5)" good
[ $has_python = 0 ] || equal 'which recasts all calls' "$(recast)" '2 of 2'
equal 'nothing is remembered of what is done' "$(ls -A "$AUTOCAST_STATE/tune")" ''

equal 'it may go to a file' "$(tune --check "$good" -o own.policy ./two)" 0
equal 'with the same lines' "$(rules own.policy | diff - <(rules two.policy)),$(cat out)" ,
equal 'without a check that is said' "$(tune ./two)$(grep -c 'what the program makes of it was not asked' err)" 01
equal 'a rung that errs by more than amp allows has its own' \
    "$(emulated=--emulate tune --rungs bf16 -e 'set profit=off own=0' "$sensitive" 2 20 1e-5),$(grep -c 'bf16 tol=0.008 profit=off$' out),$("$autocast" policy check out >/dev/null && echo fine),$(grep -c ': 2 of 2 sites recast' err)" 0,1,fine,1
equal 'a tolerance is in its lines' "$(tune --tol 4e-4 ./two),$(rules)" \
    '0,gemm flops>=1070M -> fp16 tol=4e-4 profit=off
gemm -> keep
otherwise amp'
"$autocast" policy check out >/dev/null 2>&1
ok 'and is one of a policy' $?
: >two.log
equal 'nothing gains: that is said' "$(tune --tol 1e-4 --check "$good" ./two),$(cat out err)" \
    '1,autocast: tune: nothing to tune: no rung is both faster and accurate enough anywhere; the largest site is gemm.nn 512x520x2048, 50.4 % of the work'
equal 'in one run' "$(made two)" 1
equal 'rules before all others' "$(tune -e 'gemm n=512 -> keep' ./two),$(rules | head -n 1)" '0,gemm n=512 -> keep'

# ---- Calls that are the program's own
# few CALLS: what is said of the sites of so many calls.
few()
{
	AUTOCAST_RULES='' tune "${@:2}" "$sensitive" 2 "$1" 1e-5 >/dev/null
	sed 's/[0-9.]* [mu]s/N/g; s/[0-9.]*x/Nx/; s/; what.*//' err
}
equal 'what own= keeps is not said to be recast' "$(few 1)" \
    "autocast: tune: 2 runs: 0 of 2 sites recast, 2 more with a rung that no call ran on (own; -e 'set own=0' recasts first calls, too); products N as before"
equal 'its rung is in the policy all the same' "$(rules)" "$(rules two.policy)"
equal 'a place has calls of many sites' "$(few 4)" 'autocast: tune: 2 runs: 2 of 2 sites recast; products N -> N: Nx faster in a longer run'
equal 'without first calls of its own all are' "$(few 1 -e 'set own=0')" \
    'autocast: tune: 2 runs: 2 of 2 sites recast; products N -> N: Nx faster'

# ---- One site, two sites
stub four <<END
sleep \${SLOW:-0}
exec "\$sensitive" 4 $calls 1e-5 "\$@"
END
equal 'one site is sensitive: found' "$(tune --check "$good" ./four 2)" 0
equal 'exactly it is kept' "$(rules)" 'gemm m=512 n=528 k=2048 -> keep
gemm flops>=1070M -> fp16 profit=off
gemm -> keep
otherwise amp'
fresh=$(made four)
equal 'as many runs as it says' "$(sed -n 's/^autocast: tune: \([0-9]*\) runs: 3 of 4 sites recast.*/\1/p' err)" "$fresh"
cp out one.policy
equal 'the program is right by it' "$(under ./one.policy 4 $calls 1e-5 2)" good
[ $has_python = 0 ] || equal 'and three sites are recast' "$(recast)" '3 of 4'
equal 'without it is not' "$(under fp16 4 $calls 1e-5 2)" spoilt
equal 'two sites are sensitive' "$(tune --runs 30 --check "$good" "$sensitive" 5 $calls 1e-5 3 1),$(widths)" '0,536 520'
equal 'all are: all are kept' "$(tune --runs 30 --check "$good" ./four 0 1 2 3),$(rules)" '0,gemm -> keep
otherwise amp'
: >four.log

# ---- Convolutions
convolving=$build/tests/preload/programs/convolving
stub convs <<END
'$convolving' n=4 h=28 calls=4 && '$convolving' n=4 h=28 k=48 calls=4 "\$@"
END
if [ -e "$build/emulator/libcudnn.so.9" ]; then
	equal 'convolutions are tuned' "$(tune ./convs),$(made convs),$(rules)" '0,2,gemm -> keep
conv.fprop flops>=57800k -> fp16 profit=off
otherwise amp'
	equal '... by what was measured' "$(sed -n 's/error [2-5][.0-9]*e-4, [.0-9]*x/error E, Nx/; /^# 2 sites/p' out)" \
	    '# 2 sites, 100.0 % of the work: error E, Nx faster'
	equal '... which is said' "$(sed 's/[0-9.]* [mu]s/N/g; s/[0-9.]*x/Nx/; s/; what.*//' err)" \
	    'autocast: tune: 2 runs: 2 of 2 sites recast; convolutions N -> N: Nx faster in a longer run'
	cp out convs.policy
	"$autocast" policy check convs.policy >/dev/null 2>&1
	ok '... and is a policy' $?
	"$autocast" run $emulated --policy ./convs.policy -- ./convs >/dev/null 2>&1
	# Three of each are tried next to the original.
	[ $has_python = 0 ] || equal '... by which they are recast' "$(recast)" '2 of 8'
	equal 'one that cancels is kept' "$(tune ./convs cancel=1e-3),$(rules | sed 's/=[0-9a-f]\{8\} /=ID /')" '0,gemm -> keep
conv.fprop site=ID -> fp16 profit=off
conv.fprop -> keep
otherwise amp'
	equal '... and by a check all are' "$(tune --within 1% ./convs),$(rules)" '0,gemm -> keep
conv.fprop -> keep
otherwise amp'
	equal 'what gradients may be' "$(tune --emulate=h200 "$convolving" op=1 n=4 h=28 calls=4),$(rules)" '0,gemm -> keep
otherwise amp'
	equal 'without a rung that they have' "$(tune --rungs fp16x3 ./convs),$(rules)" '0,gemm -> keep
otherwise amp'
	equal 'what is not measured is left to the profile' "$(tune "$build/tests/preload/programs/graph_steps" steps=3),$(rules)" '0,gemm -> keep
otherwise amp'
else
	skip 'convolutions' 'the emulated cuDNN was not built'
fi

kept_runs=$(find "$AUTOCAST_STATE" -maxdepth 1 -name '*.stats' | wc -l)

# ---- Not enough runs: the end has passed
for runs in 2 3; do
	equal "$runs runs: found" "$(tune --runs $runs --check "$good" ./four 1)" 0
	equal "$runs runs: no more are made" "$(made four)" $runs
	equal "$runs runs: that is said" "$(grep -c '; no runs were left to recast more' err)" 1
	equal "$runs runs: the program is right" "$(AUTOCAST_STATE=off under ./out 4 $calls 1e-5 1)" good
done

# ---- In JSON
if [ $has_python = 1 ]; then
	equal 'in JSON' "$(tune --json -o json.policy --check "$good" ./four 2),$(python3 - out <<'END'
import json, sys
c = json.load(open(sys.argv[1]))
s = c["sites"]
kept = [x for x in s if x["rung"] == "keep"]
print(c["version"], c["runs"] > 2, c["before_us"] > c["after_us"] > 0, len(s), len(kept),
    sorted({x["rung"] for x in s}), {len(x["id"]) for x in s}, round(sum(x["share"] for x in s), 2),
    all(x["keep_us"] >= x["recast_us"] > 0 for x in s), kept[0]["recast_us"] == kept[0]["keep_us"],
    max(x["error"] for x in s) < 1e-3)
END
)" "0,1 True True 4 1 ['fp16', 'keep'] {8} 1.0 True True True"
	equal 'its policy goes to the file' "$(rules json.policy)" "$(rules one.policy)"
else
	skip 'in JSON' 'no python3'
fi

# ---- Checks
equal 'a check that fails on the plain program' "$(tune --check 'grep -q bad stdout' ./two),$(cat out err)" \
    '3,autocast: tune: your check fails on the plain program: nothing can be found with it'
: >two.log
equal 'one that cannot start' "$(tune --check no-such-check ./two),$(tail -n 1 err)" \
    "125,autocast: tune: the check 'no-such-check' cannot be started: its status is 127"
equal 'is asked once' "$(made two)" 1
equal 'a file of ours that cannot' "$(: >dull; tune --check ./dull ./two),$(tail -n 1 err)" \
    "125,autocast: tune: the check './dull' cannot be started: its status is 126"
cat >check <<END
#!/bin/sh
[ "\$PWD" != '$place/here' ] && [ -f stderr ] && [ "\$(cat ./numbers)" = 7 ] && $good
END
chmod +x check
stub writing <<END
echo 7 >numbers
echo hush >&2
exec "\$sensitive" 2 $calls 1e-5
END
equal 'a check of the folder that we are in, with files' "$(tune --files 'numb*' --check ./check ./writing),$(cat err)" \
    "0,$(sed 's/; what.*//' err | head -n 1)"
# A file that a run does not write is not judged by it, and is left alone.
stub skipping <<END
[ "\$AUTOCAST_POLICY" = '' ] || [ -z "\$1" ] || echo 7 >"\$1"
case \$AUTOCAST_POLICY in *learn=on*) echo 7 >once ;; esac
[ "\$2" != both ] || echo 8 >again
exec "\$sensitive" 2 $calls 1e-5
END
unsaid='autocast: tune: run 1 wrote no file like --files'
equal 'no file of that name' "$(tune --files 'no*such' ./skipping),$(grep -c 'run [12] wrote no file like --files' err)" 0,2
equal 'with --within it is an end' "$(tune --within 1% --files 'no*such' ./skipping),$(cat out err)" "3,$unsaid 'no*such'"
equal 'bisect: too' "$(bisect --policy fp16 --within 1% --files 'no*such' ./skipping),$(cat out err)" "3,${unsaid/tune/bisect} 'no*such'"
echo 7 >old
cp -p old older
equal 'a file of before is none of the run' "$(tune --within 1% --files old ./skipping),$(cat out err)" \
    '3,autocast: tune: run 1 did not write old: what was there before does not count'
equal 'and it is left as it is' "$(cmp old older && stat -c %y old)" "$(stat -c %y older)"
equal 'a check does not see it' "$(tune --files old --check '[ ! -e old ]' ./skipping),$(grep -c 'did not write old' err)" 0,2
equal 'nor what only the first run wrote' "$(tune --runs 3 --files once --check '[ -e once ]' ./skipping),$(grep -c 'did not write once: what was there before does not count' err)" 0,2
equal 'of inputs nothing is said where others are written' "$(tune --files 'o*d' --files again --files '*er' --files 'old*' ./skipping older both),$(grep -c 'did not write old:' err)" 0,2
equal 'a file is judged that is written with the same content' "$(tune --within 1% --files older ./skipping older),$(grep -c 'did not' err)" 0,0
stub apart <<END
mkdir -p a b
echo 1 >a/log
echo 2 >b/log
exec "\$sensitive" 2 $calls 1e-5
END
equal 'of two files of one name one could not be judged' "$(tune --within 1% --files '*/log' ./apart),$(cat out err)" \
    '125,autocast: tune: --files names b/log, and the run has another output of that name: only one could be judged'
equal 'two patterns may name one file' "$(tune --within 1% --files 'a/*' --files a/log ./apart),$(grep -c log err)" 0,0
equal 'one that leaves files behind' "$(tune --check "touch .hidden; mkdir -p a/b; touch a/b/c; $good" ./four 2),$(widths)" 0,528
equal 'and they are gone' "$(ls -A "$TMPDIR")" ''
equal 'one that does not know is asked again, then it is bad' \
    "$(tune --check 'grep -q spoilt stdout && exit 125; exit 0' ./four 2),$(widths)" 0,528
equal 'what it says goes to the standard error' "$(tune --check "echo heard; $good" ./two),$(grep -c ^heard out err | xargs)" '0,out:0 err:4'
# The second run is bad and what follows is good; the last but one is bad as well.
: >four.log
equal 'verdicts that contradict each other' "$(tune --check '[ $(wc -l <'"$place/here/four.log"') != 2 ]' ./four),$(cat out err)" \
    '3,autocast: tune: verdicts contradict each other: equal runs pass and fail; the check must say the same of them'
: >four.log
equal 'a plain program that is bad later' "$(tune --check '[ $(wc -l <'"$place/here/four.log"') = 1 ]' ./four),$(cat out err)" \
    '3,autocast: tune: verdicts contradict each other, and another plain run fails the check, which must say the same of equal runs'

# ---- Numbers
# Its loss moves by a tenth where site 1 is recast; a time in it differs anyway.
stub loss <<END
case \$("\$sensitive" 4 $calls 1e-5 1) in
spoilt) echo "loss 0.55" ;;
*) echo "loss 0.50" ;;
esac
[ -z "\$1" ] || echo "took 1e\$(wc -l <loss.log) ns"
END
equal 'numbers may move by so much' "$(tune --within 20% ./loss),$(widths),$(grep -c 'no number of the output moved by more than 20 %$' err)" 0,,1
equal 'and no more' "$(tune --within 1% ./loss),$(widths)" 0,520
: >loss.log
stub mute <<END
exec "\$sensitive" 4 $calls 1e-5 1 >&2
END
stub clock <<END
"\$sensitive" 4 $calls 1e-5 1 >&2
echo "at 1e\$(wc -l <clock.log) ns"
END
for way in './mute=the program prints nothing that --within could compare; --files names what it writes' \
    './clock=all that --within could compare differs between two plain runs; --check can judge what the program makes'; do
	why=${way#*=}
	equal "tune: $why" "$(tune --within 1% "${way%%=*}"),$(grep -o 'tune: .*' err)" "3,tune: $why"
	equal "bisect: $why" "$(bisect --policy fp16 --within 1% "${way%%=*}"),$(grep -o 'bisect: .*' err)" "3,bisect: $why"
done
equal 'what differs in each run is left out' "$(tune --within 0.01 ./loss time),$(widths)" 0,520
equal '... and counted' "$(grep -c '; 1 of 2 differ between two plain runs, and are left out' err)" 1
equal 'for one plain run more' "$(made loss)" $(($(sed -n 's/.*tune: \([0-9]*\) runs.*/\1/p' err) + 1))

# ---- Programs
equal 'no product' "$(tune --check true true),$(cat err)" \
    '3,autocast: tune: the program made no product that could be seen; type: autocast doctor --emulate=t4 -- true'
if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
	skip 'no product without a GPU' 'there is a driver'
else
	equal 'no product without a GPU' "$("$autocast" tune --check true --tol 1e-3 -- true 'a b' 2>&1)" \
	    "autocast: tune: the program made no product that could be seen, and there is no NVIDIA driver here; type: autocast tune --check true --tol 0.001 --emulate -- true 'a b'"
fi
equal 'a plain run that fails' "$(tune false),$(cat err)" \
    '3,autocast: tune: the program ended with status 1, with nothing recast; is its command right?'
stub dying <<'END'
kill -SEGV $$
END
equal 'or crashes' "$(tune --check true ./dying),$(cat err)" \
    '3,autocast: tune: the program ended by signal 11, with nothing recast'
stub brittle <<END
case \$("\$sensitive" 4 $calls 1e-5 3) in
spoilt) kill -SEGV \$\$ ;;
*) exit \$1 ;;
esac
END
equal 'a crash where it is recast is a verdict' "$(tune ./brittle 0),$(widths)" 0,536
equal 'a status that is its own is none' "$(tune --check true ./brittle 7),$(widths)" 0,536
equal 'without a check it is' "$(tune ./brittle 7),$(tail -n 1 err)" \
    '3,autocast: tune: the program ended with status 7, with nothing recast; is its command right?'

# ---- Streams and files
equal 'no standard input' "$("$autocast" tune $emulated ./two <&- 2>/dev/null | grep -c 'fp16 profit=off$')" 1
equal 'no standard error' "$("$autocast" tune $emulated ./two 2>&- | grep -c 'fp16 profit=off$')" 1
: >two.log
equal 'no standard output' "$("$autocast" tune $emulated ./two 2>&1 >&-; echo "[$?]")" \
    "autocast: tune: standard output is closed; nothing was started
[125]"
equal 'nothing was started then' "$(made two)" 0
equal 'a full disk' "$({ "$autocast" tune $emulated ./two >/dev/full; } 2>&1; echo "[$?]")" \
    'autocast: tune: cannot write the output: No space left on device
[125]'
: >two.log
equal 'a file that cannot be written' "$(tune --fresh -o no/such/file ./two),$(made two),$(cat err)" \
    '125,0,autocast: tune: cannot write no/such/file: No such file or directory'
equal 'needs no run again' "$(tune -o such ./two),$(made two),$(rules such | head -n 1)" \
    '0,0,gemm flops>=1070M -> fp16 profit=off'
equal 'without a directory of its own' "$(AUTOCAST_STATE=off tune --check "$good" ./two),$(rules | diff - <(rules two.policy))" 0,
mkdir "$place/blocked"
echo mine >"$place/blocked/tune"
equal 'with a file in its place' "$(AUTOCAST_STATE=$place/blocked tune --check "$good" ./two),$(cat "$place/blocked/tune")" 0,mine
equal 'nothing is left behind' "$(ls -A "$TMPDIR")" ''
equal 'nor statistics of its runs' "$(find "$AUTOCAST_STATE" -maxdepth 1 -name '*.stats' | wc -l)" "$kept_runs"
# Of commands that could not be carried out.
rm -r "$AUTOCAST_STATE/tune"

# ---- Ended in the midst
: >four.log
# interrupted RUNS SIGNAL COMMAND...: end it once so many runs have begun, and a bit.
interrupted()
{
	local pid

	: >four.log
	SLOW=0.3 "${@:3}" >out 2>err </dev/null &
	pid=$!
	for _ in $(seq 6000); do
		[ "$(wc -l <four.log)" -lt "$1" ] || break
		sleep 0.01
	done
	sleep "0.$((RANDOM % 3))"
	kill "-$2" $pid 2>/dev/null
	wait $pid 2>/dev/null
	# What it ran may go on, and writes no more to us.
	sleep 0.5
	: >four.log
}
RANDOM=1
for runs in 1 3 5; do
	interrupted $runs KILL "$autocast" tune $emulated --check "$good" ./four 2
	mkdir -p "$AUTOCAST_STATE/tune/own"
	for folder in "$AUTOCAST_STATE"/tune/*/; do
		echo mine >"$folder/mine"
	done
	equal "killed in run $runs: found" "$(tune --check "$good" ./four 2)" 0
	equal "killed in run $runs: the same policy" "$(rules | diff - <(rules one.policy))" ''
	again=$(made four)
	ok "killed in run $runs: fewer runs" $((again > fresh - runs + 1 || again < 1)) "$again of $fresh"
	equal "killed in run $runs: what is the user's stays" \
	    "$(find "$AUTOCAST_STATE/tune" -type f | grep -vc '/mine$'),$(cat "$AUTOCAST_STATE/tune/own/mine")" 0,mine
done
rm -rf "$TMPDIR"/autocast-tune-*
equal 'its own name was not the only one' "$(find "$AUTOCAST_STATE/tune" -name mine | wc -l)" 2
rm -r "$AUTOCAST_STATE/tune"
stub four <<END
sleep \${SLOW:-0}
case \$("\$sensitive" 4 $calls 1e-5 2) in
spoilt) echo bad ;;
*) echo good ;;
esac
exit 7
END
interrupted 3 KILL "$autocast" tune $emulated --check "$good" ./four
equal 'a status of its own is remembered' "$(tune --check "$good" ./four),$(widths)" 0,528
interrupted 3 KILL "$autocast" tune $emulated --check "$good" ./four
: >four.log
equal 'who wants can begin again' "$(tune --fresh --check "$good" ./four),$(made four),$(widths),$(grep -c 'goes on' err)" "0,$fresh,528,0"
interrupted 3 KILL "$autocast" tune $emulated --check "$good" ./four
equal 'another command has other runs' "$(tune --check "$good" ./four other),$(made four),$(widths)" "0,$fresh,528"
# Begun again if what decides changed meanwhile: the script that a check is, and
# what is emulated. Of an included file bisect tells, below.
echo "$good" >script
chmod +x script
interrupted 3 KILL "$autocast" tune $emulated --check './script a' ./four
echo "true && $good" >script
equal 'a script that was changed' "$(tune --check './script a' ./four),$(made four)" "0,$fresh"
rm -r "$AUTOCAST_STATE/tune"
for models in t4 t4,t4; do
	export AUTOCAST_EMU_MODEL=$models
	[ $models != t4 ] || interrupted 3 KILL "$autocast" tune --emulate --check "$good" ./four
	: >four.log
	emulated=--emulate
	equal "what is emulated, by the environment: $models" "$(tune --runs 4 --check "$good" ./four),$(made four)" \
	    "0,$([ $models = t4 ] && echo 2 || echo 4)"
done
unset AUTOCAST_EMU_MODEL
emulated=--emulate=t4
rm -rf "$TMPDIR"/autocast-tune-*
for signal in INT TERM; do
	interrupted 2 $signal env --default-signal=INT "$autocast" tune $emulated --check "$good" ./four $signal
	equal "SIG$signal leaves nothing in TMPDIR" "$(ls -A "$TMPDIR")" ''
	equal "SIG$signal: it goes on" "$(tune --check "$good" ./four $signal),$(widths),$(($(made four) < fresh))" 0,528,1
	equal "SIG$signal: and says so" "$(head -n 1 err)" \
	    'autocast: tune: goes on after the runs of an earlier start; --fresh forgets them'
done
# The first one of two has not ended its run when the other one is through.
stub held <<END
"\$sensitive" 2 $calls 1e-5
for _ in \$(seq \${HELD:-0}); do [ -e go ] || sleep 0.1; done
END
HELD=3000 "$autocast" tune $emulated --check "$good" ./held >first 2>/dev/null </dev/null &
held=$!
for _ in $(seq 6000); do
	compgen -G "$AUTOCAST_STATE/tune/*/learnt/*" >/dev/null && break
	sleep 0.01
done
equal 'the same command at the same time' "$(tune --check "$good" ./held),$(rules | diff - <(rules two.policy))" 0,
touch go
wait $held
equal 'and the one that began' "$?,$(rules first | diff - <(rules two.policy))" 0,

# ---- bisect
equal 'bisect: two sites' "$(bisect --policy fp16 --check "$good" "$sensitive" 8 $calls 1e-5 2 6)" 0
equal 'bisect: exactly they' "$(sed -nE 's/^# gemm.nn 512x([0-9]+)x2048 sensitive\+[0-9a-f]+ on fp16, .*/\1/p' out | sort | xargs),$(grep -cE '^gemm site=[0-9a-f]{8} -> keep$' out),$(wc -l <out)" '528 560,2,4'
equal 'bisect: what was done' "$(sed 's/[0-9]* runs/N runs/' err)" 'autocast: bisect: N runs: the check passes with 2 of 8 sites kept'
{ cat out; echo 'otherwise fp16'; } >kept.policy
equal 'bisect: they do' "$(under ./kept.policy 8 $calls 1e-5 2 6)" good
equal 'bisect: nothing to find' "$(bisect --policy fp16 --check "$good" ./two),$(cat out err)" \
    '1,autocast: bisect: the check passes under this policy: there is nothing to find'
equal 'bisect: a plain program that fails' "$(bisect --policy fp16 --check false ./two),$(cat out err)" \
    '3,autocast: bisect: your check fails on the plain program: nothing can be found with it'
equal 'bisect: numbers' "$(bisect --policy fp16 --within 1% ./loss time),$(grep -c 512x520x2048 out)" 0,1
equal 'bisect: to a file' "$(bisect --policy fp16 --check "$good" -o lines "$sensitive" 3 $calls 1e-5 1),$(grep -c '^gemm site' lines),$(cat out)" 0,1,
{ echo 'gemm m=3 -> keep'; echo 'include "base.policy"'; } >chosen.policy
cp two.policy base.policy
stub four <<END
sleep \${SLOW:-0}
exec "\$sensitive" 4 $calls 1e-5 "\$@"
END
interrupted 3 KILL "$autocast" bisect $emulated --policy ./chosen.policy --check "$good" ./four 1
equal 'bisect: goes on' "$(bisect --policy ./chosen.policy --check "$good" ./four 1),$(grep -c 512x520x2048 out)" 0,1
interrupted 3 KILL "$autocast" bisect $emulated --policy ./chosen.policy --check "$good" ./four 1
echo 'gemm -> keep' >base.policy
equal 'bisect: not with what another policy did' "$(bisect --policy ./chosen.policy --check "$good" ./four 1),$(cat out)" 1,
rm -rf "$TMPDIR"/autocast-bisect-*

# ---- freeze
unset AUTOCAST_RULES
rm -rf "$AUTOCAST_STATE"
equal 'freeze: no run' "$("$autocast" policy freeze 2>&1 | wc -l),$("$autocast" policy freeze >/dev/null 2>&1; echo $?)" 1,125
under 'gemm n=520 -> keep
otherwise fp16' 3 6 0 0 1 2 >/dev/null
equal 'freeze: the rungs of the last run' "$("$autocast" policy freeze | sed 's/^# [-0-9]*, /# DATE, /; s/[0-9.]* %/N %/')" \
    '# DATE, Tesla T4, cublas-13.1, by
# autocast policy freeze, of sensitive
set reproducible=on own=0
# 1 site, N % of the work
gemm m=512 n=520 k=2048 -> keep
# 2 sites, N % of the work
gemm flops>=1070M -> fp16 guard=off profit=off
gemm -> keep
otherwise off'
under 'set guard=off profit=off
gemm n=520 -> fp16 tol=4e-4 tactic=library
gemm n=528 -> fp16x3 guard=strict
otherwise fp16' 3 6 0 0 1 2 >loose.out
"$autocast" policy freeze >loose.policy
equal 'freeze: what the rungs were under, too' "$(rules loose.policy)" 'set reproducible=on own=0
gemm m=512 n=520 k=2048 -> fp16 guard=off tactic=library tol=4e-4 profit=off
gemm m=512 n=512 k=2048 -> fp16 guard=off profit=off
gemm flops>=1100M -> fp16x3 guard=strict profit=off
gemm -> keep
otherwise off'
# decided FILE: what was decided about each site.
decided()
{
	python3 -c 'import json, sys
for s in sorted(json.load(open(sys.argv[1]))["sites"], key=lambda s: s["id"]):
    print(s["id"], s["rung"], s["tactic"], s["tol"], s["guard"])' "$1"
}
if [ $has_python = 1 ]; then
	"$autocast" report --json -o loose.json
	under ./loose.policy 3 6 0 0 1 2 >/dev/null
	"$autocast" report --json -o again.json
	equal 'freeze: it decides as the run did' "$(decided again.json)" "$(decided loose.json)"
	equal 'freeze: of three sites' "$(decided again.json | sed 's/.* //' | sort | uniq -c | xargs)" '2 off 1 strict'
else
	skip 'freeze: it decides as the run did' 'no python3'
	skip 'freeze: of three sites' 'no python3'
fi
under 'gemm n=520 -> keep
otherwise fp16' 3 6 0 0 1 2 >/dev/null
"$autocast" policy freeze -o frozen.policy
equal 'freeze: to a file' "$?,$("$autocast" policy freeze | diff - frozen.policy)" 0,
equal 'freeze: to stdout' "$("$autocast" policy freeze -o - | diff - frozen.policy)" ''
equal 'freeze: it is a policy' "$("$autocast" policy check frozen.policy 2>&1)" 'frozen.policy: ok'
for seed in $(seq 10); do
	AUTOCAST_EMU_JITTER=$seed under ./frozen.policy 3 6 0 0 1 2
done | sort | uniq -c >bits
equal 'freeze: ten runs, the same bits' "$(sed -E 's/^ *([0-9]+) bits [0-9a-f]{16}$/\1/' bits)" 10
[ $has_python = 0 ] || equal 'freeze: from the first call' "$(recast)" '12 of 18'
equal 'freeze: other bits than those of the plain program' \
    "$(under off 3 6 0 0 1 2 | grep -c "$(sed 's/.*bits //' bits)")" 0
equal 'freeze: nothing was recast' "$("$autocast" policy freeze 2>&1; echo "[$?]")" \
    'autocast: policy freeze: nothing was recast in that run
[125]'
equal 'freeze: the run before' "$("$autocast" policy freeze @2 | grep -v '^#' | diff - <(grep -v '^#' frozen.policy))" ''
equal 'freeze: one that is not there' "$("$autocast" policy freeze @99 >/dev/null 2>&1; echo $?)" 125
equal 'freeze: a file that cannot be written' "$("$autocast" policy freeze @2 -o no/such 2>&1; echo "[$?]")" \
    'autocast: policy freeze: cannot write no/such: No such file or directory
[125]'
equal 'freeze: a full disk' "$({ "$autocast" policy freeze @2 >/dev/full; } 2>&1; echo "[$?]")" \
    'autocast: policy freeze: cannot write the output: No space left on device
[125]'
plan
