#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# compare.sh -- a program run plain and recast in turn: what is refused, what
# differs, what takes longer, what is left behind.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
mkdir "$place/tmp"
export TMPDIR=$place/tmp

# stub NAME: a program from standard input, in which $recast is 1 in recast
# runs and $1 is its first argument.
stub()
{
	{
		echo '#!/bin/bash'
		echo 'case $LD_PRELOAD in *libautocast.so*) recast=1 ;; *) recast=0 ;; esac'
		cat
	} >"$1"
	chmod +x "$1"
}

# The line that says what is compared.
announced='^autocast: compare .* 1 [a-z]* of runs to warm up and '

# Times and sizes are the machine's.
measured()
{
	grep -vE "^(wall time|warm-up|outliers|user CPU|system CPU|peak memory|verdict) |$announced" |
	    sed -E '/^\/ plain/{s/[0-9]+(\.[0-9e-]+)? */N                     /g;s/ +$//}'
}

# compare ARGUMENTS: what it says of outputs, and its status; 1 only for them.
compare()
{
	"$autocast" compare -n 1 --limit 1000000 "$@" 2>&1 | measured
	echo "[${PIPESTATUS[0]}]"
}

# ---- Refused before the first run
stub never <<'END'
touch started
END
play 20
TMPDIR=/dev/null show compare ./never
equal 'nothing was started' "$(ls)" never

# ---- Outputs
stub same <<'END'
echo "loss 0.5 in step 1"
END
equal 'the same' "$(compare ./same)" "1 pair        plain                 recast                recast / plain
GPU scratch   -                     -
recast        nothing: no FP32 work was counted; see 'autocast doctor'
stdout        0 of 2 numbers differ
[0]"

stub planted <<'END'
for i in $(seq 231); do echo "row 0.5 $i $i.25 1e-3 7 8 9 10 11 12"; done |
    sed "124s/9 10 11/9 10.0$((recast))0 11/"
END
equal 'a planted 1e-3 is found' "$(compare ./planted | tail -n 2)" \
    'stdout        1 of 2,310 numbers differs, worst 0.001 (relative) at stdout:124:31: 10.000 / 10.010
[0]'
equal 'and is too much' "$(compare --tol 5e-4 ./planted | tail -n 1)" '[1]'

stub restless <<'END'
echo "pid $$ took 0.$RANDOM$RANDOM s"
echo "in $(mktemp -u)"
echo "loss 0.$((5 + recast))"
END
equal 'what differs anyway is left out' "$(compare ./restless | tail -n 3)" \
    'stdout        1 of 1 number differs, worst 0.17 (relative) at stdout:3:6: 0.5 / 0.6
              2 numbers and 1 line differ between plain runs: not compared
[1]'

stub wordy <<'END'
echo first
[ $recast = 0 ] || printf 'it\033[31m is red\n'
echo "last 1"
END
equal 'text' "$(compare ./wordy | tail -n 3)" \
    "stdout        0 of 1 number differs
              1 line differs in more than numbers, first at stdout:2: '' / 'it?[31m is red'
[1]"

stub files <<'END'
echo "0.5,$recast" >both.csv
printf 'ab\0c%s' $recast >bytes.bin
[ $recast = 0 ] && echo 1 >plain.txt || rm -f plain.txt
[ $recast = 1 ] && echo 1 >recast.txt || rm -f recast.txt
[ -e sometimes.txt ] && rm sometimes.txt || echo 1 >sometimes.txt
mkdir -p folder.txt
END
equal 'files' "$(compare --files '*.txt' --files 'b*' --files both.csv ./files | tail -n 7)" \
    'stdout        empty
plain.txt     plain runs wrote it, a recast one did not
sometimes.txt not every plain run wrote it: not compared
both.csv      1 of 2 numbers differs, worst 1 (relative) at both.csv:1:5: 0 / 1
bytes.bin     binary, 1 of 5 bytes differ, first byte 5
recast.txt    only recast runs wrote it
[1]'
equal 'a file that no run wrote' "$(compare --files 'no*.such' ./same)" \
    "autocast: compare: no run wrote a file like --files 'no*.such'
[3]"
mkdir results
equal 'nor a folder' "$(compare --files results ./same)" \
    "autocast: compare: no run wrote a file like --files 'results'
[3]"

# ---- Standard streams
stub reader <<'END'
cat
echo to stderr >&2
END
echo 'x 1' >input
printf 'skipped\nx 1\n' >longer
equal 'every run reads the file' "$(compare --show ./reader <input 2>&1 | grep -c '^x 1$')" 4
equal 'from where it was' "$({ read -r _; compare --show ./reader; } <longer | grep -cE '^(x 1|skipped)$')" 4
equal 'a pipe is empty' "$(echo 'x 1' | compare ./reader | grep stdout)" 'stdout        empty'
equal 'standard error passes' "$("$autocast" compare -n 1 ./reader <input 2>&1 >out | grep -c 'to stderr')" 4
equal 'standard output does not' "$(grep -c 'x 1' out)" 0

# ---- The environment
stub told <<'END'
echo "${AUTOCAST_POLICY-none} ${LD_PRELOAD-none}" | sed "s,[^ :]*/,,g" >"told-$recast"
END
LD_PRELOAD=$build/libautocast.so "$autocast" compare -n 1 --policy fp16 ./told >out 2>&1
equal 'plain is plain' "$(cat told-0)" 'none none'
equal 'recast is recast' "$(cat told-1)" 'fp16 libautocast.so'

# ---- Times
# So much longer that a busy machine does not hide it.
stub slow <<'END'
sleep 0.$((2 * recast))2
END
"$autocast" compare -n 7 --json ./slow >out
equal 'slow is too slow' "$?,$(grep -o '"verdict": "[a-z-]*"' out)" '1,"verdict": "too-slow"'
"$autocast" compare -n 7 --limit 5000 ./slow >out
equal 'but within a limit' "$?,$(grep -c '^verdict  *recast is slower: .* not proven to be more than 5000 %$' out)" '0,1'
if [ -f "$build/emulator/libcublas.so.13" ]; then
	"$autocast" compare --emulate -n 7 ./slow >out
	equal 'an emulated GPU has no speed of its own' "$?,$(grep -cE "^(verdict  *none on the speed: the wall time is not a GPU's|wall time .* \+- [0-9.]+)$" out)" '0,2'
	"$autocast" compare --emulate -n 7 --json ./slow >out
	equal 'nor in JSON' "$?,$(grep -o '"verdict": "[a-z-]*"' out)" '0,"verdict": "none"'
	"$autocast" compare --emulate -n 7 --limit 2 --json ./slow >out
	equal 'unless it may not' "$?,$(grep -o '"verdict": "[a-z-]*"' out)" '1,"verdict": "too-slow"'
else
	skip 'an emulated GPU has no speed of its own' 'no emulated GPU'
	skip 'nor in JSON' 'no emulated GPU'
	skip 'unless it may not' 'no emulated GPU'
fi
stub fast <<'END'
sleep 0.$((2 - 2 * recast))2
END
"$autocast" compare -n 7 ./fast >out
equal 'faster' "$?,$(grep -c '^verdict  *recast is faster: ' out)" '0,1'
"$autocast" compare -n 5 ./same >out
equal 'five pairs prove nothing' "$?,$(grep -c '^verdict  *none: fewer than 6 pairs' out)" '0,1'
# The first run of each side, and the second plain one, take longer.
stub cold <<'END'
n=$(($(cat "runs-$recast" 2>/dev/null) + 1))
echo $n >"runs-$recast"
case $n-$recast in 1-*) sleep 0.9 ;; 3-0) sleep 1.9 ;; *) sleep 0.05 ;; esac
END
"$autocast" compare ./cold >out
equal 'the warm-up is shown, and does not count' \
    "$(grep -cE '^warm-up +([1-9][.0-9]* s|9[0-9]{2}[.0-9]* ms) +([1-9][.0-9]* s|9[0-9]{2}[.0-9]* ms), not counted$' out)" 1
equal 'outliers are counted' "$(grep -cE '^outliers +[1-3] of 7 +[0-3] of 7, beyond three spreads$' out)" 1
stub order <<'END'
echo $recast >>order.log
END
compare -n 2 ./order >out
equal 'plain and recast take turns' "$(tr -d '\n' <order.log)" 011001

# ---- JSON
if command -v python3 >/dev/null 2>&1; then
	"$autocast" compare -n 2 --limit 1000000 --json --files both.csv -- ./files 'a "b' >out
	equal 'JSON' "$?,$(python3 - out <<'END'
import json, sys
c = json.load(open(sys.argv[1]))
o = c["outputs"][1]
print(c["version"], c["status"], c["emulated"], c["pairs"], c["command"],
    c["verdict"], c["low"], len(c["wall_seconds"]["plain"]),
    all(t > 0 for t in c["wall_seconds"]["recast"]),
    c["warm_up_seconds"]["plain"] > 0, c["outliers"]["recast"],
    all(b > 1e5 and b % 1024 == 0 for b in c["peak_bytes"]["recast"]),
    o["name"], o["is"], o["differs"], o["differing_numbers"], o["worst"]["column"])
END
)" "1,1 1 False 2 ['./files', 'a \"b'] none None 2 True True 0 True both.csv compared True 1 5"
else
	skip 'JSON' 'no python3'
fi

# ---- Markdown
stub marked <<'END'
echo "loss 0.5"
[ $recast = 0 ] || echo '| <b>*@nobody* `x`'
echo 7 >'```'
END
"$autocast" compare -n 1 --limit 1000000 --markdown --files '`*' ./marked 2>/dev/null >out
equal 'markdown' "$?,$(sed -E 's/^\| (wall|warm|user|system|peak)([^|]*) \|.*/\1\2/' out)" \
    "1,| 1 pair | plain | recast | recast / plain |
| --- | ---: | ---: | ---: |
wall time
warm-up, not counted
user CPU
system CPU
peak memory
| GPU scratch | - | - |  |
| recast nothing: no FP32 work was counted; see 'autocast doctor' |  |  |  |

**verdict**: none: fewer than 6 pairs prove nothing

\`\`\`text
\$ autocast compare -- ./marked
stdout        0 of 1 number differs
              1 line differs in more than numbers, first at stdout:2: '' / '| <b>*@nobody* \`x\`'
\`\`\`           0 of 1 number differs
\`\`\`"
equal 'its rows have the cells of its head' "$(grep '^|' out | tr -cd '|\n' | uniq)" '|||||'
echo 'gemm -> tf32' >'a|<i>_b'
equal 'names in its cells are no markup' \
    "$("$autocast" compare -n 1 --policy './a|<i>_b' --policy tf32 --markdown ./same 2>/dev/null | grep -E '^\| 1|verdict.*_b')" \
    '| 1 round | plain | a\|\<i\>\_b | tf32 |
**verdict**: a\|\<i\>\_b: none: fewer than 6 pairs prove nothing'

# ---- Several policies
stub several <<'END'
policy=plain
[ $recast = 0 ] || policy=$AUTOCAST_POLICY
echo $policy >>several.log
case $policy in
bf16) echo "loss 0.5"; exit 7 ;;
fp16) echo "loss 0.6"; echo 1 >fp16.out; sleep 0.3 ;;
*) echo "loss 0.5"; rm -f fp16.out; sleep 0.02 ;;
esac
END
: >several.log
equal 'a column and a verdict for each policy' "$(compare --policy tf32 --policy fp16 --files '*.out' ./several)" \
    "1 round       plain                 tf32                  fp16
/ plain       -                     N                     N
GPU scratch   -                     -                     -
recast        nothing: no FP32 work was counted; see 'autocast doctor'
stdout        tf32: 0 of 1 number differs
              fp16: 1 of 1 number differs, worst 0.17 (relative) at stdout:1:6: 0.5 / 0.6
fp16.out      fp16: only recast runs wrote it
[1]"
equal 'they take turns, forth and back' "$(tr '\n' ' ' <several.log)" 'plain tf32 fp16 fp16 tf32 plain '
"$autocast" compare -n 7 --policy tf32 --policy fp16 ./several >out 2>/dev/null
equal 'each has a verdict on its times' "$?,$(grep -c '^verdict  *tf32: ' out),$(grep -c '^verdict  *fp16: recast is slower: ' out)" 1,1,1
equal 'one that is the same is all right' "$(compare --policy tf32 --policy off ./several | tail -n 3)" \
    'stdout        tf32: 0 of 1 number differs
              off: 0 of 1 number differs
[0]'
equal 'one policy is one recast' "$(compare --policy tf32 ./several | sed -n '1p;$p')" \
    '1 pair        plain                 recast                recast / plain
[0]'
equal 'a text is called by its number, a file by its last part' \
    "$(echo 'gemm -> tf32' >own.policy; compare --policy 'gemm -> keep' --policy ./own.policy ./same | head -n 1)" \
    '1 round       plain                 policy 1              own.policy'
: >several.log
equal 'one that is rejected ends, the others go on' "$(compare --policy bf16 --policy tf32 ./several)" \
    "1 round       plain                 bf16                  tf32
/ plain       -                     -                     N
GPU scratch   -                     -                     -
recast        nothing: no FP32 work was counted; see 'autocast doctor'
recast        bf16: nothing; see 'autocast doctor'
stdout        tf32: 0 of 1 number differs
[1]"
equal 'without more runs' "$(tr '\n' ' ' <several.log)" 'plain bf16 tf32 tf32 plain '
equal 'its verdict says so' "$("$autocast" compare -n 1 --policy bf16 --policy tf32 ./several 2>/dev/null | grep bf16: | head -n 1)" \
    'verdict       bf16: the program rejects the library: status 7 in run 1 of 2, 0 in plain runs'
: >several.log
equal 'rejected by all ends all' "$("$autocast" compare --policy bf16 --policy bf16 --markdown ./several 2>/dev/null | grep -vE '^(```.*)?$'; tr '\n' ' ' <several.log)" \
    "**verdict**: bf16: the program rejects the library: status 7 in run 1 of 8, 0 in plain runs
**verdict**: bf16: the program rejects the library: status 7 in run 1 of 8, 0 in plain runs
\$ autocast compare --policy bf16 --policy bf16 -- ./several
recast        bf16: nothing; see 'autocast doctor'
recast        bf16: nothing; see 'autocast doctor'
plain bf16 bf16 "
equal 'what is compared names all of them' "$("$autocast" compare -n 1 --policy tf32 --policy off ./same 2>&1 >/dev/null)" \
    'autocast: compare --policy tf32 --policy off -- ./same: by 2 policies, 1 round of runs to warm up and 1 that count'
"$autocast" compare -n 1 --limit 1000000 --policy tf32 --policy fp16 --markdown ./several >out 2>/dev/null
equal 'several in markdown' "$?,$(sed -n '1,2p' out; grep '^|' out | tr -cd '|\n' | uniq; grep -c '^\*\*verdict\*\*: [tf][fp]' out)" \
    '1,| 1 round | plain | tf32 | fp16 |
| --- | ---: | ---: | ---: |
|||||
2'
if command -v python3 >/dev/null 2>&1; then
	"$autocast" compare -n 2 --limit 1000000 --json --policy tf32 --policy fp16 --policy bf16 --files '*.out' ./several >out 2>/dev/null
	equal 'several in JSON' "$?,$(python3 - out <<'END'
import json, sys
c = json.load(open(sys.argv[1]))
plain, tf32, fp16, bf16 = c["sides"]
print(c["status"], "ratio" in c, "outputs" in c, c["tol"],
    [s["name"] for s in c["sides"]], [s.get("policy") for s in c["sides"]],
    [s.get("status") for s in c["sides"]], [s.get("verdict") for s in c["sides"]],
    [len(s.get("wall_seconds", [])) for s in c["sides"]],
    fp16["ratio"] > tf32["ratio"], plain["warm_up_seconds"] > 0,
    [o["name"] for o in tf32["outputs"]], [o["is"] for o in fp16["outputs"]],
    bf16["exit_status"], bf16["recast_site_count"])
END
)" "1,1 False False 0.01 ['plain', 'tf32', 'fp16', 'bf16'] [None, 'tf32', 'fp16', 'bf16'] [None, 0, 1, 1] [None, 'none', 'none', 'rejected'] [2, 2, 2, 0] True True ['stdout'] ['compared', 'added'] 7 0"
else
	skip 'several in JSON' 'no python3'
fi

# ---- Comma-separated values
: >several.log
"$autocast" compare -n 2 --limit 1000000 --csv --policy 'gemm -> tf32, fp16' --policy fp16 --policy bf16 ./several >out 2>err
equal 'values: a row for each run that was made' "$?,$(sed -E 's/,[0-9.e-]+,[0-9.e-]+,[0-9.e-]+,[0-9.e+]+,,$/,T,T,T,B,,/' out)" \
    '1,pair,side,policy,exit_status,wall_seconds,user_seconds,system_seconds,peak_bytes,peak_scratch_bytes,energy_joules
0,plain,,0,T,T,T,B,,
0,policy 1,"gemm -> tf32, fp16",0,T,T,T,B,,
0,fp16,fp16,0,T,T,T,B,,
0,bf16,bf16,7,T,T,T,B,,
1,plain,,0,T,T,T,B,,
1,policy 1,"gemm -> tf32, fp16",0,T,T,T,B,,
1,fp16,fp16,0,T,T,T,B,,
2,plain,,0,T,T,T,B,,
2,policy 1,"gemm -> tf32, fp16",0,T,T,T,B,,
2,fp16,fp16,0,T,T,T,B,,'
equal 'values: as many rows as runs' "$(($(wc -l <out) - 1))" "$(wc -l <several.log)"
equal 'values: why the status is 1' "$(grep -v 'to warm up' err)" \
    'autocast: compare: policy 1: none: fewer than 6 pairs prove nothing
autocast: compare: fp16: none: fewer than 6 pairs prove nothing; 1 of 1 outputs differ
autocast: compare: bf16: the program rejects the library: status 7 in run 1 of 3, 0 in plain runs'
equal 'values: times of the pair that warms up' "$("$autocast" compare --csv -n 1 --policy fp16 ./several 2>/dev/null |
    awk -F, '$2 == "recast" && $5 > 0.3 { n++ } END { print n }')" 2
equal 'values: a full disk' "$({ AUTOCAST_NOTICE=off "$autocast" compare -n 1 --csv ./same >/dev/full; } 2>&1; echo "[$?]")" \
    'autocast: compare: none: fewer than 6 pairs prove nothing
autocast: cannot write the output: No space left on device
[125]'

# ---- What is compared, and how far it is
stub dying <<'END'
[ $recast = 1 ] || kill -SEGV $$
END
equal 'what is compared is said, in one line' \
    "$("$autocast" compare -n 1 --policy fp16 -e 'gemm m=3 -> keep' -- ./same 'a b' 2>&1 >/dev/null)" \
    "autocast: compare --policy fp16 -e 'gemm m=3 -> keep' -- ./same 'a b': by the policy fp16 (--policy names this profile), 1 pair of runs to warm up and 1 that count"
equal 'a policy that nobody chose has its name' \
    "$("$autocast" compare -n 1 ./same 2>&1 >/dev/null | grep -c 'by the policy amp (nobody chose a policy')" 1
equal 'who wants no lines has none' "$(AUTOCAST_NOTICE=off "$autocast" compare -n 1 ./same 2>&1 >/dev/null)" ''
# on_terminal TERM ARGUMENTS: what such a comparison writes there, a line each
# time that the cursor goes to the left.
on_terminal()
{
	TERM=$1 script -qec "'$autocast' compare -n 2 ${*:2} >/dev/null" /dev/null </dev/null |
	    tr '\r' '\n' | tr '\033' '^' | grep .
}
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	on_terminal xterm ./same >out
	equal 'a terminal shows how far it is' \
	    "$(sed -nE 's/^\^\[K([a-z]+.*) $/\1/; T; s/[0-9]+ s/N s/gp' out)" \
	    'warming up, N s
warming up, N s, about N s left
pair 1 of 2, N s, about N s left
pair 1 of 2, N s, about N s left
pair 2 of 2, N s, about N s left
pair 2 of 2, N s, about N s left'
	equal 'and in the end nothing of that' "$(tail -n 1 out)" '^[K'
	equal 'a terminal that cannot erase shows nothing' "$(on_terminal dumb ./same | grep -c '\[K')" 0
	equal 'nor one where no lines are wanted' "$(AUTOCAST_NOTICE=off on_terminal xterm ./same)" ''
	equal 'what goes wrong is said on a line of its own' \
	    "$(on_terminal xterm ./dying | grep -c '^^\[Kautocast: compare: the plain run 1 of 3 was ended by')" 1
else
	for what in 'a terminal shows how far it is' 'and in the end nothing of that' 'a terminal that cannot erase shows nothing' 'nor one where no lines are wanted' 'what goes wrong is said on a line of its own'; do
		skip "$what" 'no script'
	done
fi

# ---- Runs that fail
stub killed <<'END'
[ $recast = 0 ] || kill -SEGV $$
END
stub unhappy <<'END'
exit 7
END
stub failing <<'END'
exit $((7 * recast))
END
play 5
shown

# midway STATUS-RUN: ends so in that run, of all that it makes.
stub midway <<'END'
n=$(($(cat count 2>/dev/null) + 1))
echo $n >count
[ "$n" != "${1#*-}" ] || { kill -"${1%-*}" $$; exit "${1%-*}"; }
END
midway()
{
	rm -f count
	"$autocast" compare -n 2 ./midway "$1" 2>&1 | grep -v "$announced"
	echo "[${PIPESTATUS[0]}]"
}
equal 'a crash in the midst' "$(midway SEGV-5)" \
    'autocast: compare: the plain run 3 of 3 was ended by signal 11 (Segmentation fault)
[3]'
equal 'somebody kills it' "$(midway KILL-3)" \
    'autocast: compare: the recast run 2 of 3 was ended by signal 9 (Killed)
[3]'

# ---- Streams that are closed, full or broken
equal 'no standard output' "$("$autocast" compare -n 1 ./never 2>&1 >&-; echo "[$?]"; ls started 2>&1)" \
    "autocast: compare: standard output is closed; nothing was started
[125]
ls: cannot access 'started': No such file or directory"
equal 'no standard input, no standard error' \
    "$("$autocast" compare -n 1 ./reader <&- 2>&- | tail -n 1)" 'stdout        empty'
equal 'a full disk' "$({ AUTOCAST_NOTICE=off "$autocast" compare -n 1 ./same >/dev/full; } 2>&1; echo "[$?]")" \
    'autocast: cannot write the output: No space left on device
[125]'
stub loud <<'END'
head -c 1000000 /dev/zero
END
equal 'a reader that leaves' "$(AUTOCAST_NOTICE=off "$autocast" compare -n 1 --show ./loud | head -c 1 | wc -c; echo "${PIPESTATUS[0]}")" '1
141'
equal 'a program that fills the disk' "$(ulimit -f 4; compare ./loud 2>&1 | tail -n 1)" '[3]'

# ---- Interrupted
stub endless <<'END'
echo $$ >>pids
exec sleep 60
END
for signal in INT TERM; do
	rm -f pids
	env --default-signal=INT "$autocast" compare ./endless >out 2>&1 &
	pid=$!
	for _ in $(seq 6000); do
		[ -s pids ] && break
		sleep 0.01
	done
	kill -$signal $pid
	wait $pid
	equal "ended by SIG$signal" "$?,$(grep -v "$announced" out)" "$((128 + $(kill -l $signal))),"
	status=0
	kill -0 "$(cat pids)" 2>/dev/null && status=1
	ok "SIG$signal ends the program" $status
done

stub deep <<'END'
sh -c 'sh -c "echo \$\$ >>pids; exec sleep 60"; :'
:
END
rm -f pids
"$autocast" compare ./deep >out 2>&1 &
pid=$!
for _ in $(seq 6000); do
	[ -s pids ] && break
	sleep 0.01
done
kill -TERM $pid
wait $pid
status=0
kill -0 "$(cat pids)" 2>/dev/null && status=1
ok 'SIGTERM ends what shells of the program run' $status

# The leader of a session alone hears that the terminal is gone.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	rm -f pids
	script -qec "exec env --default-signal=HUP '$autocast' compare ./endless" /dev/null </dev/null >/dev/null 2>&1 &
	pid=$!
	for _ in $(seq 6000); do
		[ -s pids ] && break
		sleep 0.01
	done
	kill -KILL $pid
	wait $pid 2>/dev/null
	for _ in $(seq 1000); do
		[ -n "$(ls -A "$TMPDIR")" ] || break
		sleep 0.01
	done
	status=0
	kill -0 "$(cat pids)" 2>/dev/null && status=1
	ok 'a terminal that is gone ends the program' $status
else
	skip 'a terminal that is gone ends the program' 'no script'
fi

equal 'nothing is left behind' "$(ls -A "$TMPDIR")$(ls -A "$place/state" 2>/dev/null)" ''

# ---- On the emulated GPU
example=$build/examples/digits_mlp
data=$build/examples/digits.csv
if [ -f "$build/emulator/libcublas.so.13" ] && [ -x "$example" ] && [ -f "$data" ]; then
	"$autocast" compare -n 1 --emulate --policy tf32 "$example" --epochs 1 "$data" >out
	equal 'on the emulated GPU' "$?" 0
	equal 'the times are marked' "$(grep -c "^              on the emulated GPU: the CPU's time, not a GPU's$" out)" 1
	equal 'work is recast' "$(grep -c '^recast  *[1-9][0-9.]* % of the FP32 work' out)" 1
	equal 'scratch is shown' "$(grep -cE '^GPU scratch   -  +[0-9.]+ ' out)" 1
	equal 'the GPU time of the calls comes first' \
	    "$(sed -n '2s/[0-9.]* \([mu]*s\|x\)  */N s /g; 2s/[0-9.]*x \(faster\|slower\), /N, /p; 3p; 4s/ .*//p' out)" \
	    "GPU time      N s N s N, estimated for NVIDIA H200 (emulated)
              of 396 recast calls, without the others
wall"
	if command -v python3 >/dev/null 2>&1; then
		equal 'the GPU time in JSON' "$("$autocast" compare -n 1 --emulate --policy tf32 --json "$example" --epochs 1 "$data" 2>/dev/null |
		    python3 -c 'import json, sys; g = json.load(sys.stdin)["gpu_time"]; print(g["basis"], g["calls"], g["plain_us"] > g["recast_us"] > 0)')" 'predicted 396 True'
	else
		skip 'the GPU time in JSON' 'no python3'
	fi
	equal 'numbers are compared' "$(grep -cE '^stdout  *[0-9]+ of [0-9]+ numbers? differ' out)" 1
	rm -rf "$place/state"
	compare --emulate --policy tf32 "$example" --epochs 1 "$data" >out
	equal 'the last recast run is kept' \
	    "$(find "$place/state" -maxdepth 1 -name '*.stats' | wc -l),$("$autocast" report | grep -c '^  policy   tf32 \|^  gpu .*H200')" 1,2
	equal 'nothing half is' "$(find "$place/state" -name '.*')" ''
	rm -rf "$place/state"
	AUTOCAST_STATE=off compare --emulate --policy tf32 "$example" --epochs 1 "$data" >out
	equal 'none is where none is wanted' "$(tail -n 1 out),$(find "$place/state" -name "*stats*" 2>/dev/null | wc -l)" '[0],0'
	echo >"$place/state"
	equal 'that it cannot be kept is said' "$(compare --emulate --policy tf32 "$example" --epochs 1 "$data" |
	    grep -c "^autocast: compare: 'autocast report' will not find the recast run: ")" 1
	rm -f "$place/state"
	compare --emulate --policy tf32 --policy fp16 "$example" --epochs 1 "$data" >out
	equal 'GPU time and work of each policy' \
	    "$(sed -nE '/^(GPU time|recast)/s/[0-9.]+ ([mu]?s|%)/N \1/gp; 3p' out | sed 's/  */ /g')" \
	    'GPU time - N ms of N ms N ms of N ms estimated for NVIDIA H200 (emulated)
 of the recast calls of each, without the others
recast - N % N % of the FP32 work'
	equal 'a run and a stamp of each is kept' \
	    "$(find "$place/state" -maxdepth 1 -name '*.stats' | wc -l),$(find "$place/state/compared" -type f | wc -l)" 2,2
	rm -rf "$place/state"
	# It wants the digits of the plain run.
	stub strict <<END
'$example' --epochs 1 '$data' >numbers-\$recast || exit
cmp -s numbers-0 numbers-\$recast || exit 9
END
	"$autocast" compare --emulate --policy fp16 ./strict >out 2>/dev/null
	equal 'a rejection names the sites' "$?,$(sed 's/digits_mlp+[0-9a-f]*/CALLER/; s/ [0-9a-f]\{8\} / ID /' out)" \
	    '1,verdict       the program rejects the recast: status 9 in run 1 of 8, 0 in plain runs
recast        these sites, the largest first:
              ID gemm.nn 256x32x256 CALLER fp16, 55 recast calls, 31.1 % of the FP32 work
              ID gemm.nt 256x256x32 CALLER fp16, 44 recast calls, 24.9 % of the FP32 work
              ID gemm.tn 256x32x256 CALLER fp16, 44 recast calls, 24.9 % of the FP32 work
              ID gemm.nn 256x32x64 CALLER fp16, 55 recast calls, 7.8 % of the FP32 work
              ID gemm.nt 256x64x32 CALLER fp16, 44 recast calls, 6.2 % of the FP32 work
              and 14 more'
	equal 'but not those that were kept' "$("$autocast" compare --emulate --policy fp16 -e 'gemm k=256 -> keep' ./strict 2>/dev/null |
	    sed -n 's/digits_mlp+[0-9a-f]*/CALLER/; s/ [0-9a-f]\{8\} / ID /; 3p')" \
	    '              ID gemm.nt 256x256x32 CALLER fp16, 44 recast calls, 24.9 % of the FP32 work'
	equal 'the run that was rejected is kept' "$("$autocast" report | grep -c '^  policy   fp16 ')" 1
	if command -v python3 >/dev/null 2>&1; then
		"$autocast" compare --emulate --policy fp16 --json ./strict >out 2>/dev/null
		equal 'a rejection in JSON' "$?,$(python3 - out <<'END'
import json, sys
c = json.load(open(sys.argv[1]))
s = c["recast_sites"]
print(c["status"], c["verdict"], c["exit_status"], c["run"], len(s),
    c["recast_site_count"], len(s[0]["id"]), s[0]["rung"], s[0]["recast_calls"],
    round(s[0]["share"], 3))
END
)" '1,1 rejected 9 1 5 19 8 fp16 55 0.311'
	else
		skip 'a rejection in JSON' 'no python3'
	fi
else
	for what in 'on the emulated GPU' 'GPU time and work of each policy' 'a run and a stamp of each is kept' 'the times are marked' 'work is recast' 'scratch is shown' 'the last recast run is kept' 'nothing half is' 'none is where none is wanted' 'that it cannot be kept is said' 'the GPU time of the calls comes first' 'the GPU time in JSON' 'a rejection names the sites' 'but not those that were kept' 'the run that was rejected is kept' 'a rejection in JSON' 'numbers are compared'; do
		skip "$what" 'no emulated GPU, or no examples'
	done
fi
plan
