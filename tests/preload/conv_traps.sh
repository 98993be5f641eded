#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What lies in wait for whoever stands between a program and cuDNN
# (doc/design.md D9): calls that fail, with whatever status, outputs that are
# not written yet, captures.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$emulator/libcudnn.so.9" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
convolving=$clients/convolving
client=$build/examples/graph_conv
forced='conv.fprop -> fp16 profit=off guard=off;conv.dgrad -> fp16 profit=off guard=off;conv.wgrad -> fp16 profit=off guard=off'
guarded='conv.fprop -> fp16 profit=off;conv.dgrad -> fp16 profit=off;conv.wgrad -> fp16 profit=off'
AUTOCAST_EMU_COUNTERS=$work/counters
export AUTOCAST_EMU_COUNTERS
small='n=1 c=8 k=8 h=8'

# convolve POLICY WORDS: into $work/out, with a report of its own.
convolve()
{
	rm -rf "$AUTOCAST_STATE" "$work/counters"
	under "$1" "$convolving" $small $2 >"$work/out" 2>"$work/err"
}

# bits WORDS: without us, and recast.
bits()
{
	bare "$convolving" $small calls=1 $1 | cut -d' ' -f3
}
recast_bits()
{
	convolve "$forced" "calls=1 $1"
	cut -d' ' -f3 "$work/out"
}
original=$(bits op=0) recast=$(recast_bits op=0)
check 'control: recast bits are others' \
    "$([ "$original" != "$recast" ] || echo "$recast")"

# ---- Whatever status a call has, it is told as it is -------------------------

# Statuses of cuDNN 8 and of 9; a call fails at most four times.
statuses='1:2:3:4 5:6:7:8 9:10:11:12 13:14:15:16 1001:2000:2003:2007
3000:3007:4000:4003 5000:5001:5003:5004'
ops='0:cudnnConvolutionForward 1:cudnnConvolutionBackwardData
2:cudnnConvolutionBackwardFilter 3:cudnnConvolutionBiasActivationForward'

# failures CALL STATUSES: the first calls fail with these.
failures()
{
	n=0
	for status in ${2//:/ }; do
		n=$((n + 1))
		printf '%s:%d:%d,' "$1" $n "$status"
	done
}

for four in $statuses; do
	AUTOCAST_EMU_FAIL=$(failures cudnnConvolutionForward "$four") \
	    convolve "$forced" 'calls=5 beta=0.5'
	equal "kept, the original fails: $four" "$four:0" \
	    "$(cut -d' ' -f2 "$work/out" | paste -sd:)"
	AUTOCAST_EMU_FAIL=$(failures cudnnBackendExecute "$four") \
	    convolve "$forced" 'handles=5 calls=1'
	equal "the plan fails: the original runs: $four" \
	    "$(printf "0 $original\n%.0s" 1 2 3 4)
0 $recast" "$(cut -d' ' -f2,3 "$work/out")"
	equal "that is counted: $four" 'fp16 1 refused:4' "$(counts)"
	AUTOCAST_EMU_FAIL=$(failures cudnnBackendExecute "$four")$(
	    failures cudnnConvolutionForward "${four#*:}") \
	    convolve "$forced" calls=4
	equal "both fail: $four" "${four#*:}:0" \
	    "$(cut -d' ' -f2 "$work/out" | paste -sd:)"
	AUTOCAST_EMU_FAIL=cudnnBackendExecute:1:${four%%:*} \
	    under "$forced" "$client" relu >"$work/out" 2>/dev/null
	check "a program's own plan fails: ${four%%:*}" "$(grep -q \
	    " workspace=.*cudnnBackendExecute: ${four%%:*}\$" "$work/out" ||
	    cat "$work/out")"
done

# Whatever fails on the way to a plan: the convolution is made, by the original
# or by the plan, and no call of ours is a wrong one.
# fails_anywhere CALL STEP
fails_anywhere()
{
	convolve "$forced" calls=1
	last=$(counter "$1") bad=
	for ((n = 1; n <= last; n += $2)); do
		AUTOCAST_EMU_FAIL=$1:$n:3000 convolve "$forced" calls=2
		case $(cut -d' ' -f1-3 "$work/out" | paste -sd' ') in
		"1 0 $original 2 0 $original" | "1 0 $recast 2 0 $recast" | \
		    "1 0 $original 2 0 $recast") ;;
		*) bad="$bad $n: $(cat "$work/out" "$work/err")" ;;
		esac
		[ "$(counter complaints)" = 0 ] || bad="$bad $n: complaints"
	done
	check "any of $last $1 fails" "$bad"
}
fails_anywhere cudnnBackendFinalize 3
fails_anywhere cudnnBackendCreateDescriptor 5
fails_anywhere cudnnBackendSetAttribute 13
fails_anywhere cudnnBackendGetAttribute 5

# ---- The program's output is not touched before its time ---------------------

for row in $ops; do
	op=${row%%:*}
	AUTOCAST_EMU_FAIL=${row#*:}:1:5000 convolve "$guarded" \
	    "calls=2 before=1 op=$op"
	equal "on trial, the original fails: op=$op" "0 5000 0" \
	    "$(cut -d' ' -f2 "$work/out" | paste -sd' ')"
	equal "and its output is as it was: op=$op" \
	    "$(sed -n '1s/^0 //p' "$work/out" | cut -d' ' -f2)" \
	    "$(sed -n '2s/^1 //p' "$work/out" | cut -d' ' -f2)"
	check "the trial had been run: op=$op" "$(query '"" if all(
	    s["course"]["plans"] == 1 for s in sites) else sites')"
done

# ---- Numbers that FP16 has not -----------------------------------------------

# demoted FINDING WORDS: not even once, and why.
demoted()
{
	bare "$convolving" $small calls=6 $2 >"$work/bare"
	convolve "$guarded" "calls=6 $2"
	same "$2: the program's bits" "$work/bare" "$work/out"
	equal "$2: why" "$1" "$(query '"".join({s["course"]["finding"]
	    for s in sites} - {"none"})')"
}
for op in 0 1 2 3; do
	demoted large "op=$op scale=1e6"
	# A bias of ordinary size hides what is lost, and rightly.
	[ $op = 3 ] || demoted error "op=$op scale=1e-7"
done

# ---- NVIDIA's own libraries --------------------------------------------------

# caller NAME RULES: what becomes of the calls of a library of that name.
caller()
{
	mkdir -p "$work/lib"
	cp "$clients/convolving.so" "$work/lib/$1"
	rm -rf "$AUTOCAST_STATE"
	under "$2" "$clients/plugin_host" "$work/lib/$1" >"$work/out" 2>&1 ||
	    cat "$work/out"
	counts
}
equal 'a plugin' 'fp16 20 ' "$(caller libplugin.so.9 "$forced")"
equal 'calls that cuDNN makes of itself' 'keep 0 internal-caller:20' \
    "$(caller libcudnn_adv.so.9 "$forced")"
equal 'calls that cuDNN makes of itself, which are meant' 'fp16 20 ' \
    "$(caller libcudnn_adv.so.9 'conv caller=libcudnn* -> fp16 profit=off guard=off')"

# ---- Captures ----------------------------------------------------------------

# recorded WHAT POLICY WORDS GRAPH COUNTS: nothing is allocated, loaded, waited
# for or asked of cuDNN while a graph is recorded.
recorded()
{
	convolve "$2" "$3"
	complaint=
	for name in complaints allocations_in_capture loads_in_capture \
	    syncs_in_capture; do
		[ "$(counter $name)" = 0 ] ||
		    complaint="$complaint $name: $(counter $name)"
	done
	check "recorded, $1: nothing that is forbidden" "$complaint"
	equal "recorded, $1: what" "graph 0 $4" "$(grep graph "$work/out")"
	equal "recorded, $1: counted" "$5" "$(counts)"
}
# A variant pack is made; neither graphs nor plans.
is_recast="$recast asked=0 made=1" is_kept="$original asked=0 made=0"
recorded 'after a call' "$forced" 'calls=1 capture=1' "$is_recast" 'fp16 2 '
recorded 'after a call, in our memory' "$forced" 'calls=1 algo=0 capture=1' \
    "$is_recast" 'fp16 2 '
recorded 'after a trial' "$guarded" 'calls=4 capture=1 warm=1' "$is_recast" \
    'fp16 2 probation:3'
recorded 'after a trial of data that never varied' "$guarded" \
    'calls=4 capture=1' "$is_kept" 'fp16 1 capture:1,probation:3'
recorded 'at the first call' "$forced" 'calls=0 capture=1' "$is_kept" \
    'fp16 0 capture:1'
recorded 'at the first call, on trial' "$guarded" 'calls=0 capture=1' \
    "$is_kept" 'fp16 0 capture:1'
AUTOCAST_EMU_FAIL=cudnnBackendExecute:1 recorded 'a plan that failed once' \
    "$forced" 'calls=3 capture=1' "$is_kept" 'fp16 0 refused:4'
recorded 'a plan that never ran' "${forced//guard=off/guard=off workspace=1}" \
    'calls=1 algo=0 capture=1' "$is_kept" 'fp16 0 capture:1,workspace:1'
is_kept="$(bits 'op=0 flip=1') asked=0 made=0"
recorded 'after a call, another one' "$forced" 'calls=1 capture=2' "$is_kept" \
    'fp16 1 capture:1'
recorded 'after trials, another one' "$guarded" 'calls=4 capture=2 warm=1' \
    "$is_kept" 'fp16 1 capture:1,probation:3'
for policy in "$forced" "$guarded"; do
	convolve "$policy" 'meanwhile=1 calls=4'
	equal "during a capture: ${policy:0:40}" "$recast" "$(cat "$work/out")"
	equal 'during a capture: nothing that is forbidden' '0 0' \
	    "$(counter complaints) $(counter allocations_in_capture)"
done
plan
