#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whatever the table of rates says, trials bring every site to the fastest of
# what is allowed, by the modelled clock of the emulated GPU. Wrong are the GPU
# (AUTOCAST_EMU_RATES against the built-in table), or what somebody measured (a
# file of rates), by up to 20 times in arithmetic and memory.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -z "${SANITIZERS:-}" ] ||
    skip_all '20000 calls'
AUTOCAST_EMU_CLOCK=model
AUTOCAST_EMU_SUMS=once # the same data at each call
export AUTOCAST_EMU_CLOCK AUTOCAST_EMU_SUMS
# The first calls, and 80 until the times are read, where a cast is predicted to be
# faster.
calls=400

# rates FOLDER NAME=FACTOR...: a file of rates for the emulated H200, these off
# the built-in ones. Its name is what a run without one would look for.
rates()
{
	mkdir -p "$1/rates"
	awk -v said="${*:2}" 'BEGIN {
		value["fp32"] = 52e12; value["tf32"] = 403e12
		value["fp16"] = value["bf16"] = 790e12
		value["bandwidth"] = 4.3e12
		value["launch"] = 2.5e-6; value["host-launch"] = 3e-6
		print "version = 1\ngpu = NVIDIA H200 (emulated)\nsm = 90"
		print "driver = 13000\nlibrary = '"$library_name"'"
		print "date = 2026-11-21"
		count = split(said, one, " ")
		for (i = 1; i <= count; i++) {
			split(one[i], half, "=")
			value[half[1]] *= half[2]
		}
		for (name in value)
			print name " = " value[name] " of 9 spread 0.01"
	}' >"$1/rates/$file_name"
}

AUTOCAST_STATE=$work/first under tf32 "$clients/shapes" 1 >/dev/null
library_name=$(AUTOCAST_STATE=$work/first query 'report["processes"][0]["library"]')
file_name=NVIDIA_H200__emulated_-13000-$library_name

# race CASE EMULATED MEASURED...: leaves the times of every choice in files.
race()
{
	folder=$work/$1
	mkdir -p "$folder"
	[ $# = 2 ] || rates "$folder/state" "${@:3}"
	(
		AUTOCAST_STATE=$folder/state AUTOCAST_EMU_RATES=$2
		export AUTOCAST_STATE AUTOCAST_EMU_RATES
		for rung in keep fp16; do
			under "gemm -> $rung profit=off guard=off" \
			    "$clients/shapes" 4 >"$folder/$rung"
		done
		under 'gemm -> fp16' "$clients/shapes" $calls \
		    >"$folder/chosen" 2>"$folder/err"
		"$build/autocast" report -v >"$folder/report"
		"$build/autocast" report --json >"$folder/json"
	)
}

# judge WHAT CASE [SITES]: no site is slower than 0.98x of its best choice, but for
# those that are no candidates.
judge()
{
	folder=$work/$2
	check "$1" "$(cat "$folder/err"
	paste "$folder"/{keep,fp16,chosen} | awk -v winners="$work/winners" \
	    -v none=" ${*:3} " '{
		best = $2; name = "keep"
		if ($4 < best) { best = $4; name = "fp16" }
		print name >>winners
		if (!(best >= 0.98 * $6) && !index(none, " " $1 " "))
			print $1 ": " $6 " us, not " best " (" name ")"
	}
	END { if (NR != 12) print NR " sites" }')"
}

# A cast takes as long as ten launches: where they are taken for 20 times as long as
# they are, it is estimated at less than a quarter of the speed.
launches=(launch=0.06 host-launch=0.06)
race table '' &
race fp32 fp32=20 &
wait
# Where FP32 is, 64 and up to 1728 more (shim/trial/variants.c, RARELY). What is
# predicted to be four times slower is no candidate.
calls=2000
race tensor fp32=0.05,launch=0.05 "${launches[@]}" &
race slow16 launch=0.05,fp32=0.1 fp16=0.08 bandwidth=0.25 "${launches[@]}" &
wait
race fast32 launch=0.05,fp32=0.2 fp32=19 "${launches[@]}"
judge 'a GPU as the table says' table
judge 'FP32 is 20 times faster: nothing gains' fp32
judge 'FP32 is 20 times slower' tensor 16x2048x256 2048x16x256
judge 'measured: FP16 12 and bandwidth 4 times too slow' slow16
judge 'measured: FP32 19 times too fast' fast32
for rung in keep fp16; do
	check "somewhere $rung is best" "$([ "$(grep -c $rung "$work/winners")" -ge 3 ] ||
	    sort "$work/winners" | uniq -c)"
done

# predicted CASE: of the largest one's original, in ns.
predicted()
{
	python3 -c 'import json, sys
print(*{round(1000 * s["course"]["keep_predicted_us"]) for s in json.load(
    open(sys.argv[1]))["sites"] if s["k"] == 256 and s["m"] == s["n"]})' "$work/$1/json"
}
equal 'the table is believed where nobody measured' 6917 "$(predicted table)"
equal 'and what was measured where somebody did' 992 "$(predicted fast32)"

# What gains nothing is left alone, down to accuracy: the same bits as before.
equal 'where nothing gains, every site ends as it was' 12 \
    "$(python3 -c 'import json, sys
sites = json.load(open(sys.argv[1]))["sites"]
print(sum(s["rung"] == "keep" and s["reason"] == "no-profit" for s in sites))' \
	"$work/fp32/json")"
# The table alone would have doubted them.
equal 'sites that the table called doubtful are among the gains' yes \
    "$(python3 -c 'import json, sys
sites = json.load(open(sys.argv[1]))["sites"]
print("yes" if any(s["rung"] == "fp16" and s["recast_calls"] > 50 and
    s["course"]["recast_predicted_us"] > s["course"]["keep_predicted_us"]
    for s in sites) else "no")' "$work/tensor/json")"

# Measured gains are shown, and as what they are.
check 'the report says whose times they are' \
    "$(grep -q "times  *estimated by the emulated GPU's model, not measured" \
    "$work/tensor/report" || cat "$work/tensor/report")"
check 'and what was gained' "$(grep -q '^  gain .* of device time' \
    "$work/tensor/report" || cat "$work/tensor/report")"
check 'with both times for what is recast' "$(python3 -c 'import json, sys
for s in json.load(open(sys.argv[1]))["sites"]:
    c = s["course"]
    if s["recast_calls"] > 50 and not (c["timed"] and c["keep_us"] > 0 and
        c["recast_us"] > 0):
        print(s["m"], s["n"], s["k"], s["rung"], c)' "$work/tensor/json")"

# A file of rates that is nonsense, or another GPU's: one line, and the run is
# as without it.
export AUTOCAST_EMU_RATES=launch=0.05
AUTOCAST_STATE=$work/none under 'gemm -> fp16' "$clients/shapes" 3 >"$work/none.out"
damaged()
{
	rm -rf "$work/damaged"
	rates "$work/damaged"
	sed -i "$2" "$work/damaged/rates/$file_name"
	AUTOCAST_STATE=$work/damaged under 'gemm -> fp16' \
	    "$clients/shapes" 3 >"$work/out" 2>"$work/err"
	equal "$1: the run goes on" 0 $?
	same "$1: as without it" "$work/none.out" "$work/out"
	equal "$1: one message" 1 "$(grep -c 'rates in .* are not used: ' "$work/err")"
	equal "$1: and nothing else" 1 "$(wc -l <"$work/err")"
}
damaged 'nonsense' '1,$s/.*/\x00\xffnonsense/'
damaged 'an empty file' '1,$d'
damaged 'another GPU' 's/^gpu = .*/gpu = NVIDIA T4/'
damaged 'another driver' 's/^driver = .*/driver = 12040/'
damaged 'a rate 21 times off' 's/^fp32 = [^ ]*/fp32 = 1.1e15/'
damaged 'a rate that is not a number' 's/^fp32 = [^ ]*/fp32 = nan/'
damaged 'a version to come' 's/^version = .*/version = 2/'
rm -rf "$work/good"
rates "$work/good"
AUTOCAST_STATE=$work/good under 'gemm -> fp16' "$clients/shapes" 3 \
    >"$work/out" 2>"$work/err"
equal 'a good one is no news' '' "$(cat "$work/err")"

# reproducible=on goes by the table: nothing is timed, whatever the clock says.
chosen()
{
	rm -rf "$AUTOCAST_STATE"
	AUTOCAST_EMU_RATES=$1 under 'gemm -> fp16,tf32 reproducible=on' \
	    "$clients/shapes" $calls >/dev/null
	query '*sorted((s["m"], s["n"], s["k"], s["rung"], s["recast_calls"],
	    s["course"]["timed"] if s["course"] else 0) for s in sites)'
}
chosen fp32=20 >"$work/fast"
chosen tf32=20,fp16=0.05 >"$work/slow"
same 'reproducible=on: two clocks, one choice' "$work/fast" "$work/slow"
equal 'which no clock was asked for' none "$(total clock)"
plan
