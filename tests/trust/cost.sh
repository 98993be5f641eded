#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What trust costs, by the modelled clock of an emulated GPU whose host needs 3 us
# for each call; ratios of runs that differ in their policy alone. COST=full: the
# larger products and more of all, for minutes, on a machine with nothing else to do:
# waits for the device are bounded in seconds of the CPU's.
. "$(dirname "$0")/trust.sh"
need_emulator
[ -z "${SANITIZERS:-}" ] || skip_all 'times only: minutes under a sanitizer'
cost=$build/tests/trust/cost
off='gemm -> fp16 guard=off'
guarded='gemm -> fp16'
shrink
calibrate 'NVIDIA H200 (emulated)' 90 \
    fp32=2.742e12 tf32=21.25e12 fp16=41.66e12 bf16=41.66e12 \
    bandwidth=0.6047e12 launch=2.5e-6 host-launch=3e-6
calibrate 'Tesla T4 (emulated)' 75 fp32=0.4271e12 \
    fp16=3.428e12 bandwidth=45e9 launch=2.5e-6 host-launch=3e-6

# took POLICY COST-ARGUMENT...: what cost prints, once for the same.
took()
{
	local name
	name=$work/took.$(echo "${AUTOCAST_EMU_MODEL:-} $*" | cksum | tr -d ' ')
	[ -s "$name" ] || under "$1" "$cost" "${@:2}" >"$name" 2>&1
	cat "$name"
}

# ratio OWED-OR-CHECK WHAT LEAST A B [WORD]: A / B, of the WORD-th number of each.
ratio()
{
	local found
	found=$(echo "$4
$5" | awk -v word="${6:-1}" '
		{ time[NR] = $word }
		END {
			ratio = 0
			if (time[2] > 0)
				ratio = time[1] / time[2]
			printf "%.4f", ratio
		}')
	echo "# $2: $found, at least $3"
	"$1" "$2" "$(awk -v found="$found" -v least="$3" 'BEGIN {
		if (!(found + 0 >= least))
			print "only " found
	}')"
}

# loop RATIO-CHECK M CALLS: a clean loop that never waits. Of 100
# calls of 2048^3 three are its own, at seven casts each, and the checks cost a tenth:
# 1 / (1.18 x 1.06) of no guard.
loop()
{
	local size
	size=$(sized "$2")
	ratio "$1" "$3 calls of $2^3: against no guard" 0.80 \
	    "$(took "$off" loop $size $size $size "$3")" \
	    "$(took "$guarded" loop $size $size $size "$3")"
}

# linear RATIO-CHECK M CALLS: the same with an epilogue.
linear()
{
	ratio "$1" "$3 calls of $2^3 and RELU_BIAS: against no guard" 0.80 \
	    "$(took "$off" linear "$(sized "$2")" "$3")" \
	    "$(took "$guarded" linear "$(sized "$2")" "$3")"
}

# varying CHECK MODEL M COUNT CALLS
varying()
{
	local m nk
	m=$(sized "$3")
	nk=$(sized 1024)
	export AUTOCAST_EMU_MODEL=$2
	ratio "$1" "$2, $5 calls of each size from $3 on: against off" 0.98 \
	    "$(took off sizes $m $nk $nk "$4" "$5" 1)" \
	    "$(took amp sizes $m $nk $nk "$4" "$5" 1)"
	unset AUTOCAST_EMU_MODEL
}

# ---- Loops

loop check 1024 100
loop check 2048 100
linear check 2048 50
[ "${COST:-}" != full ] || loop check 4096 300

# ---- Products that are checked, and those that go apart: the later ten of 20

for limit in 2048:0.893 4096:0.971; do
	size=$(sized "${limit%:*}")
	ratio check "checked, ${limit%:*}^3: against no guard" "${limit#*:}" \
	    "$(took "$off" loop "$size" "$size" "$size" 20)" \
	    "$(took "$guarded" loop "$size" "$size" "$size" 20)" 2
done
ratio check 'RELU_BIAS, 4096^3: against a product alone' 0.848 \
    "$(took "$guarded" loop "$size" "$size" "$size" 20)" \
    "$(took "$guarded" linear "$size" 20)" 2

# ---- The clock itself

# A checked cast takes what it took an H200 (bench/results/, ours-amp of 1024 and
# 2048), within the quarter that predictions have, too. Of 100 calls the later half.
for measured in 1024:40.5 2048:77.8; do
	size=$(sized "${measured%:*}")
	check "a checked cast of ${measured%:*}^3 takes ${measured#*:} us, within a quarter" \
	    "$(took 'gemm -> fp16 profit=off guard=on' loop "$size" "$size" "$size" 100 |
		awk -v us="${measured#*:}" '{ took = $2 / 50 / us }
		    END { if (!(took >= 0.75 && took <= 1.25)) print took }')"
done

# ---- Data that are recomputed whole

# Two to three of 1,000 calls are cast, and take three originals each.
for model in h200 a100 rtx4090 t4; do
	export AUTOCAST_EMU_MODEL=$model
	ratio check "$model, 1000 calls of bad data of 1024^3: against off" 0.97 \
	    "$(took off bad "$(sized 1024)" 1000)" \
	    "$(took amp bad "$(sized 1024)" 1000)"
	unset AUTOCAST_EMU_MODEL
done

# ---- Sizes that vary

count=30
[ "${COST:-}" != full ] || count=200
for model in h200 t4; do
	# The least that pays, by the clock of each, which knows no tiles.
	least=512
	[ $model = t4 ] || least=1536
	varying check $model $least $count 1
	varying check $model $least $count 5
	varying check $model 2048 $count 1
done

# ---- Attention, on GPUs that are faster than they are listed

for model in rtx4090 t4; do
	case $model in t4) calibrate_as_listed 'Tesla T4' ;;
	*) calibrate_as_listed 'NVIDIA GeForce RTX 4090' ;; esac
	export AUTOCAST_EMU_MODEL=$model
	for calls in 4 16; do
		ratio check "$model, $calls calls of attention: against off" 0.98 \
		    "$(took off attention 16 "$(sized 2048)" "$(sized 64)" $calls)" \
		    "$(took amp attention 16 "$(sized 2048)" "$(sized 64)" $calls)"
	done
	unset AUTOCAST_EMU_MODEL
done

# ---- What gains nothing: sums of few terms, which casts make apart, and small ones

export AUTOCAST_STATE=$work/built-in # no calibration
shrunk=$AUTOCAST_EMU_RATES
unset AUTOCAST_EMU_RATES
while read -r model mode m n k calls; do
	export AUTOCAST_EMU_MODEL=$model
	ratio check "$model, $calls calls of $m x $n x $k, $mode: against off" 0.98 \
	    "$(took off $mode $m $n $k $calls)" "$(took amp $mode $m $n $k $calls)"
done <<'END'
h200 sum 2048 2048 256 12
h200 sum 4096 2048 128 12
h200 sum 4096 2048 128 150
h200 sum 1024 1024 1024 12
a100 sum 4096 2048 128 12
t4 sum 2048 2048 64 12
rtx4090 sum 2048 2048 256 12
h200 loop 512 512 512 150
h200 loop 640 640 640 150
END
# Without a guard there are no times, and what is predicted decides.
AUTOCAST_EMU_MODEL=h200
ratio check '12 calls of 4096 x 2048 x 128, sum, without a guard: against off' 0.98 \
    "$(took off sum 4096 2048 128 12)" "$(took "$off" sum 4096 2048 128 12)"
# The same place without beta gains.
ratio check '12 calls of 4096 x 2048 x 128, loop: against off' 1.02 \
    "$(took off loop 4096 2048 128 12)" "$(took amp loop 4096 2048 128 12)"
unset AUTOCAST_EMU_MODEL
export AUTOCAST_EMU_RATES=$shrunk

# ---- 100,000 sites: 100 MB
# A process grows by a megabyte at a time, 262 bytes of each of 4,000 sizes.

bytes=$(took amp once 4000)
echo "# a size that is met once takes $bytes bytes"
check 'of sizes that are met once 100,000 take 100 MB' \
    "$([ "$bytes" -gt 300 ] && [ "$bytes" -le 1262 ] || echo "$bytes")"

# ---- A new size after 100,000 others: 5 us, at three instructions a nanosecond

. "$root/bench/measure.sh" # it uses some names for something else
missing=$(what_is_missing)
command -v valgrind >/dev/null || missing='valgrind is not installed'
if [ -n "$missing" ]; then
	skip 'a new size after 100,000 others' "$missing"
else
	build_caller
	preload=$library:$work/libcuda.so.1
	policy=off figures _ plain -- new 33000 1 new 300 1
	policy=amp figures _ size -- new 33000 1 new 300 1
	echo "# instructions of one more size: $size, $plain under off"
	check 'a new size after 100,000 others takes at most 5 us more' \
	    "$([ $((size - plain)) -le 15000 ] || echo "$((size - plain)) instructions")"
fi
plan
