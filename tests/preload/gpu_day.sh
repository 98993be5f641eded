#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/gpu-day on the emulated GPU, where it measures nothing: it runs, says
# so, answers or excuses every question, goes on where it was, stays within its
# limits, keeps what it had when one strikes, has its results in few files that are
# whole at any time, and says nothing of the machine's folders.
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

# all_there: rows of results.md's tables whose cells are not the values of one
# object in results.json. A spread is worked out from two of them.
all_there()
{
	python3 - "$day" <<'EOS' 2>&1
import json, sys
objects = []
def words(value):
	yield str(value).strip()
	try:
		yield float(value)
	except (TypeError, ValueError):
		pass
def walk(x):
	if isinstance(x, dict):
		objects.append({w for v in x.values() for w in words(v)})
	for y in x.values() if isinstance(x, dict) else x if isinstance(x, list) else ():
		walk(y)
walk(json.load(open(sys.argv[1] + "/results.json")))
lines = open(sys.argv[1] + "/results.md").read().split("\n")
rows = 0
for line, after in zip(lines, lines[1:]):
	if not line.startswith("| ") or after.startswith("|---"):
		continue
	cells = [c.strip().removeprefix("emulated: ") for c in line.split("|")[1:-1]]
	cells = [c for c in cells if c and c != "-" and c[-2:] != " %"]
	rows += 1
	if not any(all(o & set(words(c)) or all(o & set(words(p)) for p in c.split(" x "))
	    for c in cells) for o in objects):
		print(line)
if rows < 50:
	print("only", rows, "rows")
EOS
}

state_of()
{
	cut -d' ' -f1 "$day.work/state/$1"
}

run_day questions overhead || skip_all "it does not compile here: $(cat "$work/out" "$day.work/logs/build")"
equal 'the goals are the last it says' '## Goals,gpu-day:' \
    "$(sed -n '/^## /p;$p' "$work/out" | cut -d' ' -f1,2 | sed 's/ [0-9]*$//' | paste -sd,)"
check 'all steps of a section are done' "$(grep -E '^(questions|overhead)' "$work/out" | grep -v ' done ')"
check 'every row of the text is in results.json' "$(all_there)"
equal 'four files hold everything' 'conv.csv rest.tar.gz results.json results.md' \
    "$(ls -A "$day" | tr '\n' ' ' | sed 's/ $//')"
check 'the archive has what the results are made of' "$(for name in rows/overhead.calls \
    state/overhead.cast reports/overhead.calls.ours-off machine; do
	tar xzOf "$day/rest.tar.gz" $name 2>/dev/null | grep -q . || echo "$name"
done
tar xzOf "$day/rest.tar.gz" logs/questions.launch 2>&1)"
# The lists of what to measure first: eleven questions and six; five of
# convolutions are another section's (gpu_day_conv.sh).
holds 'every question has its item' \
    '{*(f"n{i}" for i in range(1, 12)), *(f"a{i}" for i in range(1, 7)), *(f"c{i}" for i in range(1, 6))} ^ set(answers)'
lacks='"a6"'
[ -e "$emulator/libcudnn.so.9" ] || lacks="$lacks, \"n7\", \"a5\""
holds 'and an answer, but for what the emulated GPU lacks' \
    "[i for i in answers if i not in [$lacks, \"n9\", \"n10\"] and i[0] != 'c' and all(a['verdict'] == 'not measured' for a in answers[i])]"
holds 'which it says' \
    "[i for i in [$lacks] if [a['verdict'] for a in answers[i]] != ['not measured'] or not answers[i][0]['note']]"
holds 'what was not asked is not answered' \
    '[i for i in answers if i[0] == "c" or i in ("n9", "n10") if (answers[i][0]["verdict"] != "not measured" or "not-run" not in answers[i][0]["note"])]'
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

mkdir -p "$work/kit/bin" "$work/kit/include" "$work/kit/lib64" "$work/links"
touch "$work/kit/bin/nvcc" "$work/kit/include/cublas_v2.h" \
    "$work/kit/lib64/libcublas.so" "$work/kit/lib64/libcublasLt.so" \
    "$work/kit/lib64/libcudart.so"
chmod +x "$work/kit/bin/nvcc"
ln -s "$work/kit/bin/nvcc" "$work/links/nvcc"
equal 'CUDA is found where a link to nvcc leads' "$work/kit/lib64/libcublas.so" \
    "$(env -u CUDA_HOME -u CUDA_PATH PATH="$work/links:$PATH" sh -uc \
    '. "$1" && find_cuda && echo "$cublas"' sh "$root/bench/gpu-day/build.sh")"

# commit_of TEXT: what results of a tarball say that has it in its file.
commit_of()
{
	echo "$1" >"$work/kit/commit"
	sh -uc '. "$2" && here=$1 root=$1 && commit' sh "$work/kit" \
	    "$root/bench/gpu-day/report.sh"
}
equal 'results of a tarball are of its commit, or of none' '5fcdc23a,' \
    "$(commit_of 5fcdc23a),$(commit_of '$Format:%h$')"

run_day questions
check 'what is done is not done again' \
    "$(grep '^questions' "$work/out" | grep -v 'already done$')"
check 'nor is anything compiled' "$(grep compiling "$work/out")"

# First light: what a driver, its cuBLAS and our kernels do together, or the end.
AUTOCAST_EMU_FAIL=cuLibraryLoadData:1:3000 run_day first tests
equal 'kernels that are refused end the visit' '3 failed absent' \
    "$? $(state_of first.load) $(state_of tests.verified 2>/dev/null || echo absent)"
check 'with the reason, in the library'\''s words' \
    "$(tail -n 1 "$work/out" | grep -v '^gpu-day: stopped: .*driver.*kernels')"
check 'in the results, too' "$(grep -q '^\*\*Stopped:\*\* .*driver.*kernels' "$day/results.md" ||
    sed -n 1,30p "$day/results.md")"
holds 'in both' '[] if "kernels" in r.get("stopped", "") else list(r)'
# Time enough for products on a CPU that has more to do.
run_day -t 30 first clients
check 'what works goes on' "$(grep -E '^(first|clients)' "$work/out" | grep -v ' done ')"
holds 'nothing is stopped then' '[r["stopped"]] if "stopped" in r else []'
holds 'the first section has its numbers' '{"copy", "cast", "cublasCreate", "memory of a handle, used", "loading kernels, compiled"} - {x["name"] for x in r["rows"] if x["section"] == "first"}'
holds 'FP16 in both pointer modes next to ours' '{"native", "tf32", "pure16", "pure16-device", "ours-fp16"} ^ {x["way"] for x in r["rows"] if x["section"] == "first" and x["row"] == "time" and x["error"] > 0}'
# What an H100 answers, and so the emulated cublasLt.
holds 'what cublasLt makes of NaN and infinities' '{"RELU of NaN": "NaN", "RELU of inf": "inf", "GELU of 2": "tanh", "GELU of NaN": "NaN", "GELU of inf": "inf", "GELU of -inf": "NaN", "order of a mask\u0027s bits": "lowest first", "a mask\u0027s bit of NaN": "set", "a mask\u0027s bit of 0": "set", "DGELU at 2": "tanh", "DGELU at -inf": "NaN", "DRELU of NaN, its bit clear": "0"}.items() - {(a["part"], str(a["verdict"])) for a in answers["n9"]}'
holds 'which epilogues it has, by types' '[] if len(answers["n10"]) == 80 and {a["verdict"] for a in answers["n10"]} == {"both modes"} and {a["note"][-2:] for a in answers["n10"] if a["part"] == "FP32 RELU_BIAS"} == {" 0"} else answers["n10"]'
holds 'a layer by cublasLt in every way' '{"native", "tf32", "pure16", "pure16-device", "ours-fp16"} ^ {x["way"] for x in r["rows"] if x["section"] == "first" and x["row"] == "time" and x["form"] == "linear"}'
holds 'clients keep their promises, with us and without' '[x["name"] for x in r["rows"] if x["row"] == "test" and x["result"] != "pass" and "two_devices" not in x["case"] and "not built" not in x["case"]]'
holds 'there are many of them' '[] if 110 < len([x for x in r["rows"] if x["step"] == "run"]) else ["few"]'

# Clients and tools that are not here, then doubles of them: of packages whose
# every name does whatever it is asked, and of tools that say what NVIDIA's do.
if ! python3 -c 'import torch' 2>/dev/null && ! command -v ncu >/dev/null; then
	run_day python profile
	holds 'what is not installed is said' '{"torch", "cupy", "jax", "ncu", "compute-sanitizer"} ^ {x["name"] for x in r["rows"] if x["section"] in ("python", "profile") and x["value"] == "not measured"}'
	rm -f "$day.work"/state/python.* "$day.work"/state/profile.*
fi
mkdir "$work/doubles"
for name in torch numpy cupy jax; do
	cat >"$work/doubles/$name.py" <<'EOS'
class Any:
	def __init__(self, *arguments, **words):
		pass
	def same(self, *arguments, **words):
		return self
	__call__ = __getitem__ = __matmul__ = __rmatmul__ = __add__ = __sub__ = same
	__truediv__ = __enter__ = same
	def __getattr__(self, name):
		if name.startswith("__"):
			raise AttributeError(name)
		return self
	def __exit__(self, *error):
		return False
	def __iter__(self):
		return iter(())
	def __float__(self):
		return 1e-4
any_one = Any()
__version__ = "0"
def __getattr__(name):
	if name.startswith("__"):
		raise AttributeError(name)
	return any_one
EOS
done
cat >"$work/doubles/ncu" <<'EOS'
#!/bin/sh
echo '==PROF== Connected'
echo '"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"'
echo '"0","ac_verified_cast(ac_verified)","GPU Speed Of Light Throughput","DRAM Throughput","%","1,081.5"'
EOS
cat >"$work/doubles/compute-sanitizer" <<'EOS'
#!/bin/sh
tool=$2
shift 6
case $tool,$1 in
*,sh) LD_PRELOAD=of-the-tool.so "$1" "$2" "$3" "$4" env | grep LD_PRELOAD ;;
racecheck,*) echo '=========     at ac_verified_cast+0x120' ;;
esac
case $tool in
memcheck) echo '========= ERROR SUMMARY: 0 errors' ;;
racecheck) echo '========= Host Frame: ac_launch in libautocast.so'
	echo '========= RACECHECK SUMMARY: 2 hazards'
	exit 9 ;;
initcheck) echo '========= Error: Target application ended early' ;;
esac
EOS
chmod +x "$work/doubles/ncu" "$work/doubles/compute-sanitizer"
PYTHONPATH=$work/doubles PATH=$work/doubles:$PATH run_day python profile
holds 'three packages, their operations, in all ways' '[] if {(x["case"].split()[0], x["way"]) for x in r["rows"] if x["section"] == "python" and x["row"] == "time"} >= {(p, w) for p in ("torch", "cupy", "jax") for w in ("alone", "ours-off", "ours-fp16", "ours-amp")} | {("torch", w) for w in ("ours-tf32", "torch-tf32", "torch-autocast")} else ["missing"]'
holds 'matmul, Linear, a stack, steps' '{"matmul", "Linear", "MLP", "Layers", "GPT-2"} ^ {x["case"].split()[1] for x in r["rows"] if x["section"] == "python" and x["row"] == "time" and x["case"].startswith("torch")}'
holds 'a report of each' '{"python.torch.torch-amp", "python.gpt2.torch-amp", "python.jax.jax-fp16"} - set(__import__("os").listdir(sys.argv[1][:-len("/results.json")] + ".work/reports"))'
holds 'counters of the cast' '[] if [x["value"] for x in r["rows"] if x["name"] == "ac_verified_cast: DRAM Throughput"] == [1081.5] else ["none"]'
holds 'what a sanitizer finds in our kernels and in others, and where it saw nothing' '{("memcheck", "kernels", "pass"), ("memcheck", "client", "pass"), ("racecheck", "kernels", "FAIL"), ("racecheck", "client", "skip"), ("initcheck", "kernels", "skip"), ("initcheck", "client", "skip")} ^ {(x["test"], x["case"].split(":")[0], x["result"]) for x in r["rows"] if x["section"] == "profile" and x["row"] == "test"}'
check 'what it preloads stays preloaded' \
    "$(grep -q '^LD_PRELOAD=.*libautocast.so:of-the-tool.so' "$day.work/logs/profile.memcheck" ||
    cat "$day.work/logs/profile.memcheck")"
check 'the text has all that, too' "$(all_there)"
cp -r "$day" "$work/visit"
CUDA_HOME=${CUDA_HOME:-} "$root/bench/gpu-day/run" -o "$work/visit" -b "$build" \
    --quick --emulate -w "$work/new" overhead >"$work/out" 2>&1
check 'another visit goes on from the files alone' \
    "$(grep '^overhead' "$work/out" | grep -v 'already done$'; grep -c '^overhead' "$work/out" | grep -v '^4$')"

# Programs that fail with us, alone, alone now and then, and take too long; the
# others are not there. And a driver's cache, which holds what it compiled.
mv "$day.work/programs/clients" "$work/clients"
mkdir "$day.work/programs/clients"
double()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$day.work/programs/$1"
	chmod +x "$day.work/programs/$1"
}
double clients/zero_sizes '[ -z "$LD_PRELOAD" ] || exit 1'
double clients/sizes 'exit 3'
double clients/legacy 'echo . >>"$DAY_WORK/times"; [ "$(wc -l <"$DAY_WORK/times")" = 1 ]'
double clients/user_workspace '[ -z "$LD_PRELOAD" ] || exec sleep 20'
mv "$day.work/programs/kernels" "$work/kernels"
double kernels 'cache=${CUDA_CACHE_PATH:-$HOME/.nv}/module ms=900
[ ! -f "$cache" ] || ms=9
[ "${CUDA_CACHE_DISABLE:-0}" = 1 ] || { mkdir -p "${cache%/*}" && : >"$cache"; }
for label; do :; done
printf "row=value\tname=loading kernels, %s\tvalue=%s\tunit=ms\tnote=-\n" "$label" $ms'
rm -f "$day.work/state/first.load" "$day.work/state/clients.run"
HOME=$work/home run_day -t 1 first clients
equal 'a client that fails is ours if it does not without us, and had time' \
    'FAIL zero_sizes,skip legacy,skip sizes,skip user_workspace' "$(
    grep -v 'not built' "$day.work/rows/clients.run" |
    sed 's/.*result=\([a-zA-Z]*\).*case=\(off: \|amp: \)*\([a-z_]*\).*/\1 \3/' |
    sort -u | tr '\n' ',' | sed 's/,$//')"
equal 'the time from the cache is that' '900 9' "$(sed -n \
    's/.*name=loading.*value=\([0-9]*\).*/\1/p' "$day.work/rows/first.load" | tr '\n' ' ' | sed 's/ $//')"
rm -r "$day.work/programs/clients"
mv "$work/clients" "$work/kernels" "$day.work/programs"

# A program that hangs, and says that it does.
mkfifo "$work/hangs"
printf '#!/bin/sh\necho $$ >"%s"\nexec sleep 300\n' "$work/hangs" >"$day.work/programs/calls"
chmod +x "$day.work/programs/calls"
rm -f "$day.work"/state/overhead.*
run_day -t 1 overhead
equal 'a step that takes too long is ended' timeout "$(state_of overhead.calls)"
holds 'and said' '[s for s in r["steps"] if s["step"] == "calls" and s["state"] != "timeout"]'
equal 'the others are done' 'done done' "$(state_of overhead.cast) $(state_of overhead.check)"

# fake NAME SCRIPT: instead of a program of the day.
fake()
{
	mv "$day.work/programs/$1" "$work/real"
	printf '#!/bin/sh\n%s\n' "$2" >"$day.work/programs/$1"
	chmod +x "$day.work/programs/$1"
}

fake verified_gpu 'echo "ok 1 - one"; echo "ok 2 - two"; exec sleep 300'
fake clients/gemm_client '[ "$1" = forms ] || echo . >>"$DAY_WORK/calls"
[ "$1" = forms ] || [ "$(wc -l <"$DAY_WORK/calls")" -lt 9 ] || exec sleep 300
echo status=0 classes=0 padding=ok inputs=ok err=2e-4'
rm -f "$day.work"/state/overhead.*
run_day -t 1 tests overhead
check 'a section that hangs leaves the next its share' \
    "$(grep '^overhead' "$work/out" | grep 'left out')"
equal 'when the limit strikes, what a test said stands' \
    "timeout one two | one two | 2 cases" "$(state_of tests.verified) $(
    sed -n 's/.*result=pass.*case=//p' "$day.work/rows/tests.verified" | tr '\n' ' ')| $(
    sed -n 's/^ok . - //p' "$day.work/logs/tests.verified" | tr '\n' ' ')| $(
    sed -n 's/^| verified | pass | \(.*\) |$/\1/p' "$day/results.md")"
equal 'that of many at once, too' 'timeout yes' "$(state_of tests.numerics) $(
    grep -q 'result=pass' "$day.work/rows/tests.numerics" && echo yes)"
check 'results.json is whole' "$(python3 -m json.tool "$day/results.json" 2>&1 >/dev/null)"
mv "$work/real" "$day.work/programs/clients/gemm_client"

# hung SIGNAL: the day is sent one while the program hangs.
hung()
{
	"$root/bench/gpu-day/run" -o "$day" -b "$build" --quick --emulate \
	    overhead >"$work/out" 2>&1 &
	local pid=$! sleeper
	read -r sleeper <"$work/hangs"
	[ -z "${2:-}" ] || "$2"
	kill -"$1" $pid
	wait $pid 2>/dev/null
	kill "$sleeper" 2>/dev/null
}
# seen: what the results say of the step while it runs, within ten seconds.
seen()
{
	for _ in $(seq 100); do
		running=$(python3 - "$day/results.json" <<'EOS'
import json, sys
print(*[s["state"] for s in json.load(open(sys.argv[1]))["steps"] if s["step"] == "calls"])
EOS
)
		[ "$running" != running ] || break
		sleep 0.1
	done
	files=$(ls -A "$day" | wc -l)
}
DAY_REFRESH=1 hung TERM seen
equal 'the results are written while a step runs' running "$running"
check 'in six files at most' "$([ "$files" -le 6 ] || echo "$files")"
holds 'a day that is ended says where' '[s for s in r["steps"] if s["step"] == "calls" and s["state"] != "interrupted"]'
hung KILL
run_day --report
holds 'and so does one that is killed' '[s for s in r["steps"] if s["step"] == "calls" and s["state"] != "interrupted"]'
rm "$day.work/programs/calls" "$day.work/built"
run_day overhead
equal 'it is done the next time' 'done' "$(state_of overhead.calls)"

check 'no folder of this machine is in the results' \
    "$(grep -nF -e "$work" -e "$root" -e "$build" -e "$HOME/" "$day/results.md" "$day/results.json")"
equal 'results of two kinds are kept apart' 1 \
    "$("$root/bench/gpu-day/run" -o "$day" -b "$build" questions >"$work/out" 2>&1; echo $?)"
equal 'an unknown section is refused' 1 "$(run_day nonsense; echo $?)"
plan
