#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs with kernels of their own, which run by their PTX: each form that
# nvcc packs it in, what a GPU refuses and how it is said, and every profile.
. "$(dirname "$0")/preload.sh"
need_emulator
ptx=$root/tests/preload/programs/own_kernels.ptx
client=$clients/own_ptx
all='add reduce normalize count together ask share own train graph'
right=$(printf '%s: right\n' $all)

{
equal 'plain' "$right" "$(bare "$client" "$ptx" plain $all 2>"$work/err" ||
    cat "$work/err")"
for form in lz4 several zstd; do
	[ $form != zstd ] || ldconfig -p 2>/dev/null | grep -q 'libzstd\.so\.1 ' || {
		skip "$form" 'no libzstd.so.1'
		continue
	}
	equal "$form" 'add: right' "$(bare "$client" "$ptx" $form add 2>/dev/null)"
done
for profile in off tf32 fp16 bf16 amp; do
	rm -rf "$AUTOCAST_STATE"
	equal "under $profile" "$right" \
	    "$(under $profile "$client" "$ptx" plain $all 2>"$work/err" ||
	    cat "$work/err")"
done
}

equal 'what kernels print, in its place' 'before
0 of   -2: c-3.00|text  |%|1099511627776|ff|4000000000|-3
1 of   -2: c-3.00|text  |%|1099511627776|ff|4000000000|-3
say: right' "$(bare "$client" "$ptx" plain say 2>&1)"

# refused WHAT FORM STATUS WORDS: the status of a launch, and one line with it.
refused()
{
	equal "$1: the status" "beyond: status $3" \
	    "$(bare "$client" "$ptx" "$2" beyond 2>"$work/err")"
	check "$1: is said" "$(grep -q "kernel beyond: $4" "$work/err" ||
	    cat "$work/err")"
	equal "$1: once" 1 "$(grep -c . "$work/err")"
}
refused 'machine code only' sass 209 \
    'this program has machine code for sm_75, sm_86 only; the emulated GPU runs PTX\. Build it with -arch=sm_75 (which adds PTX) or -gencode arch=compute_75,code=compute_75, without -rdc=true, or bring a twin (AUTOCAST_EMU_TWINS)'
refused 'PTX of a newer GPU' newer 209 \
    'this program has PTX for compute_120 and newer; the emulated GPU is compute_90'
refused 'a damaged fat binary' damaged 200 "the program's device code is damaged"

# What a GPU notices ends the context, and says where.
noticed()
{
	equal "$1: the status" "$1: status $2" \
	    "$(bare "$client" "$ptx" plain "$1" 2>"$work/err")"
	check "$1: is said" "$(grep -q "kernel $1: $3" "$work/err" ||
	    cat "$work/err")"
}
noticed beyond 700 'outside: line [0-9]*, block 0,0,0 thread 0,0,0: address'
noticed crooked 716 'misaligned: line'
noticed stuck 702 'deadlock: line'
# What only waits ends soon; what may get somewhere when the bound says so.
AUTOCAST_EMU_ENDLESS=1e7
export AUTOCAST_EMU_ENDLESS
endless='instructions.*; it is taken for endless: AUTOCAST_EMU_ENDLESS=1e11 lets it run longer$'
noticed waits 702 "spin: line [0-9]*, block 0,0,0 thread .*: nothing has changed for [0-9]* $endless"
noticed counts 702 "spin: line [0-9]*, block 0,0,0 thread .*: 1[0-9]* $endless"
unset AUTOCAST_EMU_ENDLESS
for hidden in unset racing apart absent; do
	equal "$hidden: a GPU notices nothing" "$hidden: status 0" \
	    "$(bare "$client" "$ptx" plain $hidden 2>&1)"
done

# Checked: each error is found, by its kind, in the kernel that has it, and ends
# with status 3; right programs have none.
found()
{
	AUTOCAST_EMU_CHECK=1 bare "$client" "$ptx" plain "$1" >/dev/null 2>"$work/err"
	check "checked: $1" "$(grep -Eq "kernel $1: $2: line [0-9]+, block 0,0,0 thread [0-9]+,0,0: $3" \
	    "$work/err" && grep -Eq 'check: [1-9][0-9]* findings? in 1 launch' \
	    "$work/err" || cat "$work/err")"
}
found beyond outside 'address 0x[0-9a-f]*, 4 bytes, 0 bytes after the end of an allocation of 256 bytes'
found crooked misaligned 'address 0x[0-9a-f]*, 4 bytes'
found unset uninitialised 'shared byte 128 was never written'
found racing 'race (of warps|in a warp)' 'shared byte [0-9]*, .* after thread'
found apart 'divergent barrier' .
found absent 'source lane' 'lane [0-9]* does not take part'
found stuck deadlock '64 threads wait'
# The host has as long to end a wait as without checks: ten seconds of 4e9.
AUTOCAST_EMU_ENDLESS=2e8
export AUTOCAST_EMU_ENDLESS
start=$(date +%s%N)
found waits spin '.*nothing has changed for ([6-9][0-9]{6}|[0-9]{8,}) instructions'
check 'checked: waits: not before half a second' \
    "$([ $(($(date +%s%N) - start)) -ge 500000000 ] || echo early)"
unset AUTOCAST_EMU_ENDLESS
equal 'checked: right ones' "$right
none" "$(AUTOCAST_EMU_CHECK=1 bare "$client" "$ptx" plain $all 2>"$work/err"
    grep -q 'check: 0 findings in ' "$work/err" && echo none)"
if [ -z "${SANITIZERS:-}" ]; then
	checked()
	{
		"$build/autocast" run --emulate --check -- "$client" "$ptx" plain "$@" \
		    >/dev/null 2>"$work/err"
		echo $?
	}
	equal 'run --check: with an error' 3 "$(checked racing)"
	equal 'run --check: the program fails with one' 3 "$(checked beyond)"
	equal 'run --check: without' 0 "$(checked add reduce)"
	equal 'run --check: the status of the program' 2 "$(checked)"
	"$build/autocast" run --check -- true 2>"$work/err"
	equal 'run --check: needs the emulated GPU' \
	    '2 autocast: run: --check needs --emulate: the emulated GPU checks kernels' \
	    "$? $(cat "$work/err")"
fi
plan
