#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# planted.sh -- what a comparison makes of planted times, joules and numbers. No
# clock of this machine has a part in it: the noise is drawn from a fixed seed.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
mkdir "$place/tmp" nvml old
export TMPDIR=$place/tmp PLANTED=$place/passed
library()
{
	${CC:-cc} -w -shared -fPIC -o "$1" "$here/planted.c" "${@:2}" 2>cc.log
}
library clock.so && library nvml/libnvidia-ml.so.1 -DNVML &&
    library old/libnvidia-ml.so.1 -DNVML -DOLD || skip_all 'no compiler'
# Whatever this machine has, it is not looked at.
mkdir no
touch no/libnvidia-ml.so.1
unset CUDA_VISIBLE_DEVICES
export LD_LIBRARY_PATH=$PWD/no AUTOCAST_NOTICE=off

# Takes a second by the planted clock, and $SLOWER microseconds more by a policy
# that is not $FAST, with noise as of 1 %: uniform over +- 17,321 us.
cat >work <<'END'
#!/bin/bash
read -r passed draw <"$PLANTED"
draw=$(((draw * 1103515245 + 12345) % 2147483648))
took=$((1000000 + (draw / 65536 % 34643 - 17321) * ${LOUD:-1}))
case $LD_PRELOAD in
*libautocast.so*) [ "$AUTOCAST_POLICY" = "${FAST:-none}" ] || took=$((took + SLOWER)) ;;
esac
echo $((passed + took)) $draw >"$PLANTED"
echo 'loss 0.5'
END
chmod +x work

# timed SEED SLOWER ARGUMENTS: compares on the planted clock.
timed()
{
	echo 1000000 "$1" >"$PLANTED"
	SLOWER=$2 LD_PRELOAD=$PWD/clock.so "$autocast" compare "${@:3}" ./work 2>&1
	echo "[$?]"
}

# verdicts SEED SLOWER ARGUMENTS: of such a comparison, and its status.
verdicts()
{
	timed "$@" | sed -n 's/^verdict  *//p; $p'
}

unproven='no difference is proven: between 1.8 % less and 1.5 % more wall time; about -n 9 would show one of 2 %'
equal 'equal programs' "$(verdicts 1 0)" "$unproven
[0]"
equal '2 % slower' "$(verdicts 1 20000)" 'recast is slower: 1.6 % more wall time (0.23 to 3.5 %), but that is not proven to be more than 0.25 %
[0]'
equal '2 % faster' "$(verdicts 1 -20000)" 'recast is faster: 2.4 % less wall time (0.53 to 3.8 %)
[0]'
equal '2 % slower by one policy of two' "$(FAST=tf32 verdicts 1 20000 --policy tf32 --policy fp16)" "tf32: no difference is proven: between 1 % less and 1.5 % more wall time; about -n 9 would show one of 2 %
fp16: recast is slower: 2 % more wall time (1.3 to 3.3 %), and that is more than 0.25 %
[1]"
equal 'more noise than any number of pairs withstands' "$(LOUD=20 verdicts 1 0)" 'no difference is proven: between 31.5 % less and 29.2 % more wall time; more than 200 pairs would show one of 2 %
[0]'
equal 'the number of pairs in JSON' "$(timed 1 0 --json | grep -o '"pairs_needed": [^,]*')" '"pairs_needed": 9'
equal 'too many of them' "$(LOUD=20 timed 1 0 --json | grep -o '"pairs_needed": [^,]*')" '"pairs_needed": null'

# ---- Joules
# drawn WANTED ARGUMENTS: what matches, in a comparison where NVML is there.
drawn()
{
	LD_LIBRARY_PATH=${NVML:-$PWD/nvml} timed 1 20000 "${@:2}" | grep -oE -- "$1"
}
joules='^GPU energy .*'
equal 'joules of both GPUs' "$(drawn "$joules")" 'GPU energy    109.9 J +- 0.56       111.4 J +- 0.98       1.016 (1.002 to 1.035)'
equal 'of the first' "$(CUDA_VISIBLE_DEVICES=0 drawn "$joules")" 'GPU energy    99.89 J +- 0.51       101.3 J +- 0.89       1.016 (1.002 to 1.035)'
equal 'of the second, by its UUID' "$(CUDA_VISIBLE_DEVICES=GPU-second drawn "$joules")" 'GPU energy    9.989 J +- 0.052      10.13 J +- 0.089      1.016 (1.002 to 1.035)'
equal 'by several policies' "$(FAST=tf32 drawn "$joules" -n 1 --policy tf32 --policy fp16)" 'GPU energy    108.7 J               111.5 J               112.2 J'
equal 'in markdown' "$(drawn '^. GPU energy .*' --markdown)" '| GPU energy | 109.9 J +- 0.56 | 111.4 J +- 0.98 | 1.016 (1.002 to 1.035) |'
# in_json ARGUMENTS: what JSON says of it.
in_json()
{
	drawn '.*' --json -n 2 | tr -s ' \n' ' ' |
	    grep -oE '"energy_(unknown": "[^"]*"|joules": \{[^}]*\})'
}
equal 'in JSON' "$(in_json)" '"energy_joules": { "plain": [ 110.022, 111.51 ], "recast": [ 111.407, 110.913 ] }'
# none: no row; why, in JSON.
none()
{
	drawn "$joules"
	in_json
}
unknown()
{
	printf '"energy_unknown": "%s"\n"energy_joules": { "plain": [ null, null ], "recast": [ null, null ] }\n' "$1"
}
equal 'no NVML' "$(NVML=$PWD/no none)" "$(unknown 'libnvidia-ml.so.1 cannot be loaded')"
equal 'one without the counter' "$(NVML=$PWD/old none)" "$(unknown 'libnvidia-ml.so.1 is too old')"
equal 'one that refuses' "$(STUB=no-init none)" "$(unknown 'nvmlInit: error 9')"
equal 'no GPU' "$(STUB=none none)" "$(unknown 'there is no GPU')"
equal 'a GPU that does not count' "$(STUB=not-counted none)" "$(unknown 'nvmlDeviceGetTotalEnergyConsumption: error 3')"
equal 'a driver that starts again' "$(STUB=again drawn "$joules")" ''
equal 'a GPU that is not there' "$(CUDA_VISIBLE_DEVICES=0,2 none)" "$(unknown 'nvmlDeviceGetHandleByIndex: error 2')"
equal 'a name of none' "$(CUDA_VISIBLE_DEVICES=GPU-third none)" "$(unknown 'CUDA_VISIBLE_DEVICES names no GPU: error 6')"
equal 'none is visible' "$(CUDA_VISIBLE_DEVICES='' none)" "$(unknown 'CUDA_VISIBLE_DEVICES names no GPU: error 6')"
equal 'a part of one' "$(CUDA_VISIBLE_DEVICES=MIG-1 none)" "$(unknown 'a part of a GPU (MIG) has no counter of its own')"
# ---- Numbers
# Writes a table of text, one of commas and an array of FP32 with one number in
# each, in row 124 of 231, that is 1e-3 off.
cat >writes <<'END'
#!/bin/bash
one='1.000' word='\0\0\200\77'
case $LD_PRELOAD in *libautocast.so*) one='1.001' word='\305\40\200\77' ;; esac
for i in $(seq 231); do echo "row 0.5 $i.25 1.000 1e-3 7"; done | sed "124s/1.000/$one/" >out.txt
sed 's/ /,/g' out.txt >out.csv
for i in $(seq 231); do
	[ "$i" = 124 ] && printf "$word" || printf '\0\0\200\77'
done >out.f32
END
chmod +x writes
# found ARGUMENTS: what such a comparison finds, and its status.
found()
{
	"$autocast" compare -n 1 --limit 1000000 --files 'out.*' "$@" ./writes >out
	local status=$?
	sed -n '/^out/p' out
	echo "[$status]"
}
there='1 of 1,155 numbers differs, worst 0.001 (relative) at'
equal '1e-3 in text, commas and bytes' "$(found)" "out.csv       $there out.csv:124:16: 1.000 / 1.001
out.f32       binary, 2 of 924 bytes differ, first byte 493
out.txt       $there out.txt:124:16: 1.000 / 1.001
[1]"
equal '1e-3 in FP32' "$(found --binary fp32)" "out.csv       $there out.csv:124:16: 1.000 / 1.001
out.f32       1 of 231 numbers differs, worst 0.001 (relative) at out.f32, byte 493: 1 / 1.00100005
out.txt       $there out.txt:124:16: 1.000 / 1.001
[0]"
equal 'that is too much' "$(found --binary fp32 --tol 9e-4 | tail -n 1)" '[1]'
found --binary fp32 --json >/dev/null
equal 'in JSON, too' "$(tr -s ' \n' ' ' <out | grep -oE '"name": "out.f32".*"name": "out.txt"')" \
    '"name": "out.f32", "is": "compared", "differs": false, "bytes": 924, "differing_bytes": 0, "first_byte": 0, "unstable": false, "numbers": 231, "unstable_numbers": 0, "differing_numbers": 1, "beyond_tol": 0, "worst": { "difference": 9.99047636e-4, "byte": 493, "plain": "1", "recast": "1.00100005" }, "lines": 0, "unstable_lines": 0, "differing_lines": 0 }, { "name": "out.txt"'
cat >grows <<'END'
#!/bin/bash
printf '\0\0\200\77\0\0\200\77' >out.f32
case $LD_PRELOAD in *libautocast.so*) printf '\0\0\200\77' >>out.f32 ;; esac
END
chmod +x grows
equal 'a longer array' "$("$autocast" compare -n 1 --files out.f32 --binary fp32 ./grows | tail -n 1)" \
    'out.f32       0 of 2 numbers differ; it differs from byte 9 to its end'
equal 'another type' "$(found --binary fp16 2>&1)" 'autocast: compare: --binary fp16: what are the numbers of binary files? fp32 or fp64
[2]'
plan
