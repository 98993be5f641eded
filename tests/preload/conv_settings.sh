#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Convolutions under the settings that few policies have: TF32 for programs that
# refused it, guard=strict, conv-workspace=advertise.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$emulator/libcudnn.so.9" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
convolving=$clients/convolving

# everywhere SETTINGS RUNG: a rule for each operation.
everywhere()
{
	printf '%s;' "conv.fprop -> $2 profit=off $1" \
	    "conv.dgrad -> $2 profit=off $1" "conv.wgrad -> $2 profit=off $1"
}

# run POLICY WORDS...: what convolving prints, with a new report.
run()
{
	rm -rf "$AUTOCAST_STATE"
	under "$1" "$convolving" "${@:2}"
}

# ---- TF32 for who refused it

refused=3 # CUDNN_FMA_MATH
for op in 0 1 2 3; do
	plain=$(bare "$convolving" op=$op calls=1 | cut -d' ' -f3)
	tf32=$(run "$(everywhere 'guard=off respect-opt-out=off' tf32)" op=$op \
	    math=$refused calls=2 | cut -d' ' -f2,3 | sort -u)
	equal "TF32, op=$op: as cuDNN's own" "0 $plain" "$tf32"
	equal "TF32, op=$op: counted" 'tf32 2 ' "$(counts)"
	check "TF32, op=$op: it is another result" "$(
	    bare "$convolving" op=$op math=$refused calls=1 | grep -e "$plain")"
done
equal 'TF32 under the guard: the first three calls are the original' \
    "$(bare "$convolving" math=$refused calls=3)" \
    "$(run "$(everywhere respect-opt-out=off tf32)" math=$refused calls=5 |
	head -n 3)"
equal 'TF32 under the guard: the others are not' 'tf32 2 probation:3' "$(counts)"
run "$(everywhere respect-opt-out=off tf32)" math=$refused calls=5 \
    scale=40000 >/dev/null
equal 'TF32 has FP32'\''s range' 'tf32 2 probation:3' "$(counts)"
run "$(everywhere guard=off tf32)" math=$refused calls=2 >/dev/null
equal 'TF32, and the program'\''s refusal counts' 'keep 0 opted-out:2' "$(counts)"
run "$(everywhere 'guard=off respect-opt-out=off' tf32)" calls=2 >/dev/null
equal 'TF32, which cuDNN takes by itself' 'keep 0 no-profit:2' "$(counts)"
run 'conv.fprop -> fp16,tf32 profit=off guard=on respect-opt-out=off' \
    math=$refused calls=3 >/dev/null
equal 'both rungs: a plan each' 2 "$(query '*{s["course"]["plans"]
    for s in sites if s["course"]["plans"]}')"
NVIDIA_TF32_OVERRIDE=0 run "$(everywhere 'guard=off respect-opt-out=off' tf32)" \
    math=$refused calls=2 >/dev/null
equal 'TF32, which the environment forbids' 'keep 0 opted-out:2' "$(counts)"
AUTOCAST_EMU_MODEL=t4 run "$(everywhere 'guard=off respect-opt-out=off' tf32)" \
    math=$refused calls=2 >/dev/null
equal 'TF32 where there is none' 'keep 0 unsupported:2' "$(counts)"

# ---- Samples are not enough

for op in 0 1 2 3; do
	equal "strict, op=$op: the program's bits" \
	    "$(bare "$convolving" op=$op calls=6)" \
	    "$(run "$(everywhere guard=strict fp16)" op=$op calls=6)"
	equal "strict, op=$op: counted" 'keep 0 guard:6' "$(counts)"
done

# ---- Who asks is told

# A convolution that needs less by itself than its FP16 plan.
own=$(everywhere 'guard=off respect-opt-out=off' fp16)
advertise=$(everywhere 'guard=off respect-opt-out=off conv-workspace=advertise' \
    fp16)
small="math=$refused n=8"
for op in 0 1 2; do
	run "$own" $small op=$op >"$work/own"
	check "own, op=$op: of ours" \
	    "$(query 'report["totals"]["peak_scratch_bytes"] >= 219152' |
		grep -vx True)"
	run "$advertise" $small op=$op >"$work/advertise"
	same "advertise, op=$op: the bits" "$work/own" "$work/advertise"
	equal "advertise, op=$op: of the program's" 0 \
	    "$(total totals.peak_scratch_bytes)"
	equal "advertise, op=$op: no site of its own" 'fp16 4 ' "$(counts)"
done

# told POLICY: what cuDNN says.
told()
{
	run "$1" $small bytes=1 calls=0
}
equal 'advertise: what the plan needs' '219152 bytes' "$(told "$advertise")"
# plans_for QUESTIONS: descriptors finalized for so many of them.
plans_for()
{
	AUTOCAST_EMU_COUNTERS=$work/counters run "$advertise" $small calls=0 \
	    bytes="$1" >/dev/null
	sed -n 's/^cudnnBackendFinalize //p' "$work/counters"
}
first=$(plans_for 1)
check 'advertise: control: a plan is made for it' \
    "$([ "${first:-0}" -gt 0 ] || echo "$first")"
equal 'advertise: one, however often it is asked' "$first" "$(plans_for 50)"
equal 'own: what cuDNN says' '77824 bytes' "$(told "$own")"
equal 'advertise, but kept: what cuDNN says' '77824 bytes' \
    "$(told 'conv -> keep conv-workspace=advertise')"
equal 'advertise, but refused: what cuDNN says' '77824 bytes' \
    "$(AUTOCAST_EMU_FAIL=cudnnBackendFinalize:1 told "$advertise")"
equal 'advertise, and cuDNN'\''s is more' '278528 bytes' \
    "$(run "$advertise" n=8 bytes=1 calls=0)"
plan
