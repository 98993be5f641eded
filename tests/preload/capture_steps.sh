#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Captured training steps: twelve equal layers, warmed up, captured, replayed,
# cloned, made a child, captured again to update what was made of the first
# capture; and as XLA does it, which runs once and captures each product alone.
. "$(dirname "$0")/../trust/trust.sh"
need_emulator
case ${SANITIZERS:-} in
*thread*) skip_all 'minutes under TSan: race.sh has what it is to see of this' ;;
esac
mkdir -p "$AUTOCAST_STATE"
guarded='gemm -> fp16,tf32 profit=off guard=on'
conv='conv -> fp16 profit=off guard=on'
for program in steps steps_conv steps_lt; do
	[ ! -e "$clients/$program" ] ||
	    cp "$clients/$program" "$work/xla_$program"
done

# said WORD: what the last program printed for it.
said()
{
	sed -n "s/.*$1=\([^ ]*\).*/\1/p" <<<"$out"
}

# steps WHAT POLICY PROGRAM DOOR TEST MODE EXPECTED: as `recorded` has it, then how
# many updates held, and what was made in captures. Nothing is allocated there,
# loaded, waited for or asked of a heuristic.
steps()
{
	rm -f "$work/counters"
	find "$AUTOCAST_STATE" -mindepth 1 -maxdepth 1 ! -name rates \
	    -exec rm -rf {} +
	[ "$2" != default ] || calibrate_slower
	out=$(if [ "$2" = default ]; then
		export AUTOCAST_EMU_CLOCK=model AUTOCAST_EMU_RATES=$slower
	fi
	AUTOCAST_EMU_COUNTERS=$work/counters \
	    under "${2/#default/amp}" "$3" "$4" "$5" "$6" 2>&1)
	complaint=
	[ $? = 0 ] && [ -n "$(said replay)" ] || complaint="failed: $out"
	for name in complaints allocations_in_capture loads_in_capture \
	    syncs_in_capture; do
		grep -qx "$name 0" "$work/counters" ||
		    complaint="$complaint $(grep "^$name " "$work/counters")"
	done
	[ "$(said asked)" = 0 ] || complaint="$complaint heuristics: $(said asked)"
	result="$(recorded) $(said updated) $(said made)"
	[ "$result" = "$7" ] || complaint="$complaint $result, not $7"
	check "$1" "$complaint"
}

# native YES|NO TEST DOOR PROGRAM: whether the bits are those of the program alone.
native()
{
	bits=$(bare "$clients/$4" "$3" "$2" global)
	[ "${bits#*replay=}" = "$(said replay)" ] && is=yes || is=no
	equal "... whose bits are$([ "$1" = no ] && echo ' not') the original's" \
	    "$1" $is
}

for door in sgemm ex; do
	for mode in global thread relaxed; do
		steps "$door: two hundred replays have eager bits, $mode capture" \
		    "$guarded" "$clients/steps" $door replay $mode '69 12 0 -1 0'
	done
	native no replay $door steps
	for test in clone child relaunch second; do
		steps "$door: $test" "$guarded" "$clients/steps" $door $test \
		    global '69 12 0 -1 0'
	done
	steps "$door: three captures update the first" "$guarded" \
	    "$clients/steps" $door update global '153 48 0 3 0'
	steps "$door, forced" 'gemm -> fp16 profit=off guard=off' \
	    "$clients/steps" $door replay global '72 12 0 -1 0'
	steps "$door: as XLA does it: no casts" "$guarded" \
	    "$work/xla_steps" $door xla global '9 0 48 36 0'
	native yes xla $door steps
	steps "$door: as XLA does it, forced: no casts" \
	    'gemm -> fp16 profit=off guard=off' "$work/xla_steps" $door xla \
	    global '12 0 48 36 0'
	native yes xla $door steps
	steps "$door: as XLA does it, TF32 forced" \
	    'gemm -> tf32 profit=off guard=off' "$work/xla_steps" $door xla \
	    global '60 0 0 36 0'
	native no xla $door steps
done

# Products of cublasLt with what follows them: the fifth by one algorithm is the
# first that may be recast.
for mode in global thread relaxed; do
	steps "cublasLt: two hundred replays have eager bits, $mode capture" \
	    "$guarded" "$clients/steps_lt" lt replay $mode '68 12 0 -1 0'
	native no replay lt steps_lt
	steps "cublasLt: first met in a $mode capture: kept" "$guarded" \
	    "$clients/steps_lt" lt first $mode '0 0 9 -1 0'
	native yes first lt steps_lt
done
for test in clone child relaunch second; do
	steps "cublasLt: $test" "$guarded" "$clients/steps_lt" lt $test \
	    global '68 12 0 -1 0'
done
steps 'cublasLt: three captures update the first' "$guarded" \
    "$clients/steps_lt" lt update global '152 48 0 3 0'
steps 'cublasLt, forced' 'gemm -> fp16 profit=off guard=off' \
    "$clients/steps_lt" lt replay global '68 12 0 -1 0'
steps 'cublasLt: as XLA does it: no casts' "$guarded" \
    "$work/xla_steps_lt" lt xla global '8 0 48 36 0'
native yes xla lt steps_lt
steps 'cublasLt: as XLA does it, forced: no casts' \
    'gemm -> fp16 profit=off guard=off' "$work/xla_steps_lt" lt xla global \
    '8 0 48 36 0'
native yes xla lt steps_lt
steps 'cublasLt: as XLA does it, TF32 forced' \
    'gemm -> tf32 profit=off guard=off' "$work/xla_steps_lt" lt xla global \
    '56 48 0 36 0'
native no xla lt steps_lt

# A program that captures for ever takes no more memory than one that does so
# four times: what graphs leave is used again. Without eager calls in between,
# too, if each graph is destroyed before the next capture.
again()
{
	steps "$1: three updates" "$2" "$clients/$3" "$4" update global "$5"
	few=$(query 'report["totals"]["peak_scratch_bytes"]')
	steps "$1: 70 updates" "$2" "$clients/$3" "$4" updates global "$6"
	equal '... in as much memory' "$few" \
	    "$(query 'report["totals"]["peak_scratch_bytes"]')"
	steps "$1: 70 graphs, nothing in between" "$2" "$clients/$3" "$4" \
	    again global "$7"
	equal '... which were all heard of' "$(total totals.recast_products)" \
	    "$(total totals.judged)"
}
again sgemm "$guarded" steps sgemm '153 48 0 3 0' '1761 852 0 70 0' \
    '897 840 0 -1 0'
again cublasLt "$guarded" steps_lt lt '152 48 0 3 0' '1760 852 0 70 0' \
    '896 840 0 -1 0'

# Two executables of one graph at once: casts share their buffers, as libautocast(7)
# says; what the library converts has none.
steps 'two executables, one after the other' "$guarded" "$clients/steps" sgemm \
    second global '69 12 0 -1 0'
"$build/autocast" report -v >"$work/report"
check 'the report warns of casts' "$(grep -q \
    'graphs  *12 calls recorded; two executables of one graph must not run' \
    "$work/report" || cat "$work/report")"
if [ -e "$clients/steps_conv" ]; then
	for mode in global thread relaxed; do
		steps "cuDNN: replays have eager bits, $mode capture" "$conv" \
		    "$clients/steps_conv" conv replay $mode '69 12 0 -1 12'
	done
	native no replay conv steps_conv
	for test in clone child relaunch second; do
		steps "cuDNN: $test" "$conv" "$clients/steps_conv" conv $test \
		    global '69 12 0 -1 12'
	done
	steps 'cuDNN: three captures update the first' "$conv" \
	    "$clients/steps_conv" conv update global '153 48 0 3 48'
	steps 'cuDNN: as XLA does it' "$conv" "$work/xla_steps_conv" conv xla \
	    global '57 48 0 36 48'
	native no xla conv steps_conv
	steps 'cuDNN: as XLA does it, a bad layer: kept' "$conv" \
	    "$work/xla_steps_conv" conv bad global '9 0 0 36 0'
	native yes bad conv steps_conv
fi
plan
