#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/gpu-day on the emulated GPU, where it measures nothing: it runs, says
# so, answers or excuses every question, goes on where it was, stays within its
# limits, and says nothing of the machine's folders.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"
! grep -q __gcov "$library" || skip_all 'built for coverage'
day=$work/day

# run_day ARGS...: into $day, output in $work/out.
run_day()
{
	CUDA_HOME=${CUDA_HOME:-} "$root/bench/gpu-day/run" -o "$day" -b "$build" \
	    --quick --emulate "$@" >"$work/out" 2>&1
}

# holds WHAT PYTHON: of results.json, in `r`, an expression is empty.
holds()
{
	check "$1" "$(python3 - "$day/results.json" <<EOS 2>&1
import json, sys
r = json.load(open(sys.argv[1]))
answers = {q["id"]: q["answers"] for q in r["questions"]}
found = $2
if found:
	print(found)
EOS
)"
}

state_of()
{
	cut -d' ' -f1 "$day/state/$1"
}

run_day questions || skip_all "it does not compile here: $(cat "$work/out" "$day/logs/build")"
check 'all steps of a section are done' "$(grep '^questions' "$work/out" | grep -v ' done ')"
# The lists of what to measure first: eight questions and six; five of
# convolutions are another section's (gpu_day_conv.sh).
holds 'every question has its item' \
    '{*(f"n{i}" for i in range(1, 9)), *(f"a{i}" for i in range(1, 7)), *(f"c{i}" for i in range(1, 6))} ^ set(answers)'
lacks='"n8", "a6"'
[ -e "$emulator/libcudnn.so.9" ] || lacks="$lacks, \"n7\", \"a5\""
holds 'and an answer, but for what the emulated GPU lacks' \
    "[i for i in answers if i not in ($lacks) and i[0] != 'c' and all(a['verdict'] == 'not measured' for a in answers[i])]"
holds 'which it says' \
    "[i for i in ($lacks) if [a['verdict'] for a in answers[i]] != ['not measured'] or not answers[i][0]['note']]"
holds 'what was not asked is not answered' \
    '[i for i in answers if i[0] == "c" and (answers[i][0]["verdict"] != "not measured" or "not-run" not in answers[i][0]["note"])]'
holds 'every question has a rule' '[q["id"] for q in r["questions"] if len(q["rule"]) < 20]'
holds 'nothing passes for a measurement' \
    '[x for x in r["rows"] + r["goals"] + sum(answers.values(), []) if not x.get("emulated") and x.get("verdict") != "not measured"] + ([] if r["emulated"] and r["note"] == "emulated: not a measurement" else ["not stamped"])'
holds 'no goal is reached' '[g for g in r["goals"] if g["reached"] in ("yes", "no")]'
holds 'times have spreads and counts' \
    '[x for x in r["rows"] if x["row"] == "time" and not (x["low"] <= x["median"] <= x["high"] and x["samples"] >= 3 and x["calls"] >= 1)]'
holds 'the machine is described' \
    '[k for k in ("gpu", "driver", "cuda_driver", "cuda_runtime", "cublas", "date", "library") if not r["machine"].get(k)]'
check 'the text is stamped too' "$(sed -n 3p "$day/results.md" | grep -v '^\*\*Emulated: not a measurement')"
check 'under each heading' "$(grep '^## ' "$day/results.md" | grep -v 'emulated: not a measurement')"

run_day questions
check 'what is done is not done again' \
    "$(grep '^questions' "$work/out" | grep -v 'already done$')"
check 'nor is anything compiled' "$(grep compiling "$work/out")"

# A program that hangs, and says that it does.
mkfifo "$work/hangs"
printf '#!/bin/sh\necho $$ >"%s"\nexec sleep 300\n' "$work/hangs" >"$day/programs/calls"
chmod +x "$day/programs/calls"
run_day -t 1 overhead
equal 'a step that takes too long is ended' timeout "$(state_of overhead.calls)"
holds 'and said' '[s for s in r["steps"] if s["step"] == "calls" and s["state"] != "timeout"]'
equal 'the others are done' 'done done' "$(state_of overhead.cast) $(state_of overhead.sample)"

# hung SIGNAL: the day is sent one while the program hangs.
hung()
{
	"$root/bench/gpu-day/run" -o "$day" -b "$build" --quick --emulate \
	    overhead >"$work/out" 2>&1 &
	local pid=$! sleeper
	read -r sleeper <"$work/hangs"
	kill -"$1" $pid
	wait $pid 2>/dev/null
	kill "$sleeper" 2>/dev/null
}
hung TERM
holds 'a day that is ended says where' '[s for s in r["steps"] if s["step"] == "calls" and s["state"] != "interrupted"]'
hung KILL
run_day --report
holds 'and so does one that is killed' '[s for s in r["steps"] if s["step"] == "calls" and s["state"] != "interrupted"]'
rm "$day/programs/calls" "$day/built"
run_day overhead
equal 'it is done the next time' 'done' "$(state_of overhead.calls)"

check 'no folder of this machine is in the results' \
    "$(grep -nF -e "$work" -e "$root" -e "$build" -e "$HOME/" "$day/results.md" "$day/results.json")"
equal 'results of two kinds are kept apart' 1 \
    "$("$root/bench/gpu-day/run" -o "$day" -b "$build" questions >"$work/out" 2>&1; echo $?)"
equal 'an unknown section is refused' 1 "$(run_day nonsense; echo $?)"
plan
