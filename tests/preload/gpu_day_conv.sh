#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The convolutions of bench/gpu-day on the emulated GPU, where they measure
# nothing: every layer has every operation, layout and way, with errors against
# FP64; the limits are probed; and the gate sees what is slow, wrong or missing.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$emulator/libcudnn.so.9" ] ||
    skip_all 'the emulated cuDNN was not built (oneDNN or cuDNN headers are missing)'
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"
! grep -q __gcov "$library" || skip_all 'built for coverage'
day=$work/day

# Not fast, but soon compiled.
CFLAGS=-O0 CUDA_HOME=${CUDA_HOME:-} "$root/bench/gpu-day/run" -o "$day" \
    -b "$build" --quick --emulate conv >"$work/out" 2>&1
status=$?
[ -f "$day.work/built" ] ||
    skip_all "it does not compile here: $(cat "$work/out" "$day.work/logs/build")"
check 'all steps are done' "$(grep '^conv ' "$work/out" | grep -v ' done ')"
equal 'there are fourteen' 14 "$(grep -c '^conv ' "$work/out")"

# As torchvision has it: its 25557032 parameters without norms and classifier,
# 4.09 billion products per image.
equal 'the layers are those of ResNet-50' '23 53 23454912 4087136256' \
    "$(bare "$day.work/programs/conv" list | tr '\t' '\n' | awk -F = '
	$1 == "case" && !seen[$2]++ { layers++ }
	$1 == "times" { times = $2; all += times }
	$1 == "weights" { weights += times * $2 }
	$1 == "products" { products += times * $2 }
	END { printf "%d %d %d %.0f\n", layers, all, weights, products }')"

# table WHAT EXPRESSION: of conv.csv, in `rows`, it is empty.
table()
{
	check "$1" "$(python3 - "$day/conv.csv" <<EOS 2>&1
import csv, math, sys
lines = [l for l in open(sys.argv[1]) if l[0] != "#"]
rows = list(csv.DictReader(lines))
ways = "default fma conversion graph down graph-down fp16 amp".split()
found = $2
if found:
	print(found)
EOS
)"
}

table 'every layer, operation and layout has a line' \
    '{(l, o, f) for l in {r["layer"] for r in rows} for o in ("fprop", "dgrad", "wgrad") for f in ("nchw", "nhwc")} ^ {(r["layer"], r["op"], r["layout"]) for r in rows}'
table 'and one only' '[] if len(rows) == 18 else len(rows)'
table 'with the time of every way' \
    '[(r["layer"], w) for r in rows for w in ways if not float(r[w]) > 0]'
table 'its spread' \
    '[(r["layer"], w) for r in rows for w in ways if not 0 <= float(r[w + "_spread"]) < math.inf]'
table 'and its error, which is finite and small' \
    '[(r["layer"], w, r[w + "_error"]) for r in rows for w in ways if not 0 < float(r[w + "_error"]) < (1e-5 if w == "fma" else 1e-2)]'
table 'FP32 is told from ten bits' \
    '[r for r in rows if not float(r["fma_error"]) < 0.1 * float(r["down_error"])]'
table 'what the library made of each is there' \
    '[(r["op"], r["down_rung"], r["graph-down_rung"], r["fp16_rung"], r["amp_rung"]) for r in rows if r["down_rung"] != "fp16" or r["graph-down_rung"] != "fp16" or r["op"] == "fprop" and r["fp16_rung"] != "fp16" or not r["amp_rung"]]'
table 'layers occur' '[r for r in rows if int(r["times"]) < 1]'

gate()
{
	"${AWK:-awk}" -F , -f "$root/bench/gpu-day/conv_gate.awk" "$@"
}

equal 'it ends well' '0 convolutions: 3 layers, complete; emulated, so that times are not judged' \
    "$status $(tail -n 1 "$work/out")"
check 'the table is stamped' \
    "$(grep -q '^# emulated: not a measurement$' "$day/conv.csv" || echo no)"

# answers WHAT PYTHON: of results.json, the answers to each question, in `a`.
answers()
{
	check "$1" "$(python3 - "$day/results.json" <<EOS 2>&1
import json, sys
r = json.load(open(sys.argv[1]))
a = {q["id"]: q["answers"] for q in r["questions"]}
parts = {(o, w) for o in ("fprop", "dgrad", "wgrad") for w in ("default", "fma", "conversion", "down", "ours-amp")}
found = $2
if found:
	print(found)
EOS
)"
}

answers 'values of 1e5, beta=1 and capture are probed in all ways' \
    '[(i, x["part"]) for i in ("c1", "c2", "c3") for x in [{"part": p} for p in parts ^ {tuple(y["part"].split(", ")) for y in a[i]}]]'
answers 'FP16 shows where there is a value of 1e5, and nowhere else' \
    '[x for x in a["c1"] if x["verdict"].startswith("FP16") != x["part"].endswith("down")]'
answers 'beta=1 adds' '[x for x in a["c2"] if not x["verdict"].startswith("finite")]'
answers 'what is captured gives the same bits' \
    '[x for x in a["c3"] if not x["note"].endswith("; the bits of a direct call")]'
answers 'layouts are compared' \
    '{f"{o} {f}{g}" for o in ("fprop", "dgrad", "wgrad") for f in ("nchw", "nhwc") for g in ("", ", graph")} ^ {x["part"] for x in a["c4"]}'
answers 'the emulated device is not described' \
    '[x for x in a["c5"] if x["verdict"] != "not measured"]'
check 'nor is there a file of it' "$(ls "$day/device.json" 2>/dev/null)"
answers 'nothing passes for a measurement' \
    '[x for x in r["rows"] + r["goals"] + [y for i in a if i[0] == "c" for y in a[i]] if not x.get("emulated")]'
answers 'the gate is a goal' \
    '[] if [g["reached"] for g in r["goals"] if g["goal"].startswith("least of all convolutions")] == ["emulated"] else r["goals"]'
check 'and the text has the table' \
    "$(sed -n '/^## Convolutions/,/^## Other/p' "$day/results.md" | grep -c '^| [0-9]' | grep -v '^18$')"

# ---- The gate, on made-up times

# made AWK: two layers, as AWK changes each line: of default (d), fma (f), down
# (w) and amp (a) a field is the time, the one two further the error.
made()
{
	{
		echo '# layers 2'
		grep '^layer,' "$day/conv.csv"
		for layer in one two; do
			for op in fprop dgrad wgrad; do
				for layout in nchw nhwc; do
					echo "$layer,$op,$layout,-,1,98,0.01,3e-4,200,0.01,1e-7,none,none,none,98,0.01,3e-4,90,0.01,3e-4,fp16,90,0.01,3e-4,fp16,90,0.01,3e-4,fp16,98,0.01,3e-4,tf32"
				done
			done
		done
	} | awk -F , -v OFS=, -v d=6 -v f=9 -v w=18 -v a=30 \
	    "/^(#|layer)/ { print; next } $1 { print }"
}

# judged WHAT STATUS LINE AWK
judged()
{
	made "$4" >"$work/made.csv"
	gate "$work/made.csv" >"$work/said"
	equal "gate: $1" "$2 $3" "$? $(head -n 1 "$work/said")"
}
two_dgrad='$1 == "two" && $2 == "dgrad" && $3 == "nhwc"'
judged 'as fast as the default' 0 'convolutions: 2 layers, none below 0.98, the least 1.000' ''
judged 'at 0.98' 0 'convolutions: 2 layers, none below 0.98, the least 0.980' \
    "$two_dgrad { \$a = 100 }"
judged 'one layer at 0.97' 1 'below: two dgrad nhwc: 0.970 of its default under amp (tf32)' \
    "$two_dgrad { \$d = 97; \$a = 100 }"
judged 'one layer at 0.979' 1 'below: two dgrad nhwc: 0.979 of its default under amp (tf32)' \
    "$two_dgrad { \$d = 97.9; \$a = 100 }"
judged 'inaccurate' 1 "inaccurate: two dgrad nhwc: error 5e-3, the default's 3e-4" \
    "$two_dgrad { \$(a + 2) = \"5e-3\" }"
judged 'as inaccurate as the default' 0 'convolutions: 2 layers, none below 0.98, the least 1.000' \
    "$two_dgrad { \$(d + 2) = \$(a + 2) = \"5e-3\" }"
judged 'a line is missing' 2 'incomplete: two dgrad nhwc: no line' "$two_dgrad { next }"
judged 'a layer is missing' 2 'incomplete: layers: 1 of 2' '$1 == "two" { next }'
judged 'a line is there twice' 2 'incomplete: two dgrad nhwc: twice' "$two_dgrad { print }"
judged 'no time' 2 'incomplete: two dgrad nhwc: no time of amp' "$two_dgrad { \$a = \"\" }"
judged 'no time, of what cuDNN has always' 2 'incomplete: two dgrad nhwc: no time of default' \
    "$two_dgrad { \$d = \"none\" }"
judged 'not offered' 0 'not offered by cuDNN: 1' "$two_dgrad { \$d = \$a = \"none\" }"
judged 'no error' 2 'incomplete: two dgrad nhwc: no finite error of fma' "$two_dgrad { \$(f + 2) = \"\" }"
judged 'an infinite error' 2 'incomplete: two dgrad nhwc: no finite error of down' \
    "$two_dgrad { \$(w + 2) = \"inf\" }"
judged 'not a number' 2 'incomplete: two dgrad nhwc: no finite error of amp' \
    "$two_dgrad { \$(a + 2) = \"nan\" }"
judged 'nothing' 2 'incomplete: layers: 0 of 2' '{ next }'

made "$two_dgrad { \$d = 97; \$a = 100 }" >"$work/made.csv"
equal 'such a goal is not reached' 'reached=no' \
    "$(gate -v rows=1 "$work/made.csv" | tr '\t' '\n' | grep '^reached')"
plan
