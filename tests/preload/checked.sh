#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every client program of tests/preload with the kernels that ship run by their
# PTX, and all that they do checked: none has a finding, and each program ends
# well. Sizes are small. kernels_ptx.sh compares bits.
. "$(dirname "$0")/preload.sh"
need_emulator
case ${SANITIZERS:-} in
*thread*) skip_all 'minutes under TSan: race.sh has what it is to see of this' ;;
esac

# Recast from the first call on; or from the fourth, with samples and posts, whose
# kernels take ten times as long.
conv=conv.fprop,conv.dgrad,conv.wgrad
cast="gemm -> fp16 profit=off guard=off; $conv -> fp16 profit=off guard=off"
guard="gemm -> fp16,tf32 profit=off guard=on; $conv -> fp16 profit=off"

# PROGRAM|POLICY|WORDS. @FILE is of the clients' folder, ^FILE of their sources', %FILE
# this test's own. POLICY none: as cast, and no kernel of ours or the program's runs.
rows='
ahead|cast|204
alternating|cast|single alternate 4
autotune|guard|tune %tuned n=1 c=8 k=8 h=8 rounds=2
bad_convolutions|guard|n=1 c=8 k=8 h=8
with_products|cast|n=1 c=8 k=8 h=8
bound|cast|32 2 4
capture_meanwhile|cast|settled
captured|cast|global 4
churn|cast|8
complex_products|none|2
contexts|cast|pair
convolving|guard|n=1 c=8 k=8 h=8
convolving_8|guard|n=1 c=8 k=8 h=8
corners|cast|depth
corpus_client|cast|sites 0 2 2
course|guard|good:5
crowd|cast|0 1 4
device_alpha|cast|
equal|cast|1 normal
factorise|cast|lu 200 32 1
freed_behind|cast|
grouped|cast|s calls=2 n,t,40,36,44,3,1,0,normal t,n,33,29,17,2,0.5,1,normal
gemm_client|guard|batched n n 37 41 29 0 0 0 3 1 0.5 normal 1 - repeat=5
graph_conv_8|guard|runs=5
graph_steps|guard|steps=8 layers=1
graphs|cast|global replay
held_stream|cast|grow
lane_order|cast|share
legacy|none|
linear_sgd|cast|plain
lt_bad|cast|
lt_matrix|cast|size=40x36x44 calls=6 bits=10 kind=fp32 order=tn batch=one scalars=host
lt_odd|cast|
lt_stack|cast|threads=2 rounds=30 sizes=1 bits=10 few
lt_torch|cast|calls=30 bits=10
lt_tune|cast|%tuned warm=1 reps=1 uses=6 bits=10
lt_xla|cast|tries=2 eager=6 replays=2 bits=10
many_streams|cast|20
no_context|cast|
own_kernel|cast|
own_ptx|cast|^own_kernels.ptx plain add reduce normalize count together
plugin_host|cast|@plugin.so
regions|cast|mul push=a,1,bf16 mul
reset_exit|cast|again
recurrent|none|
recurrent_8|none|
scaled|cast|step
scaler_ways|cast|streams
shapes|cast|5
sizes|cast|
steps|cast|sgemm zeros global
steps_conv|guard|conv zeros global
steps_lt|cast|lt zeros global
stream_each|cast|40 4
turning|cast|1 8
turning_lt|cast|1 8
two_cudnns|guard|@convolving_8.so @convolving.so
two_devices|cast|threads
two_threads|cast|shared 8
two_toolkits|cast|@plugin_12.so
two_toolkits_lt|cast|@plugin_lt_12.so
unread|cast|sync
user_workspace|cast|
zero_sizes|cast|
'

# Those that are not run, and why.
left='
bad_scalar: two thousand products, whatever its words say: a minute
lost: its own kernel is the fault that it shows, and lost.sh asks for that
injected injected_conv: half a minute each, of products that others here make, too
netlib_sgemm: 17,496 products, of arguments that others have, too
sensitive: products of 2^30 operations, which an interpreter takes minutes for
nvtx_tool: a part of a profiler; it launches nothing
in_region: preloaded next to the library; it launches nothing
closed_early short_threads survive: built for a stand-in for cuBLAS, without a device
'

# Programs and plugins that are built, and sources that are a program: a new one is
# run or has its reason.
names=$(awk '/^\[/ { inside = / tests\/preload\/programs / }
    inside && /^[a-z]/ { sub(/\.so$/, "", $1); print $1 }' "$root/tests/cases.in"
    grep -l '^main(' "$root"/tests/preload/programs/*.c | sed 's,.*/,,; s,\.c$,,')
known=$(cut -d'|' -f1 <<<"$rows"
    grep -o '@[a-z_0-9]*' <<<"$rows" | tr -d @
    sed -n 's/:.*//p' <<<"$left" | tr ' ' '\n')
equal 'each client is run here, or its reason is given' '' \
    "$(comm -23 <(sort -u <<<"$names") <(sort -u <<<"$known"))"
equal 'and no other is named' '' \
    "$(comm -13 <(sort -u <<<"$names") <(sort -u <<<"$known") | grep .)"

# run POLICY PROGRAM WORD...: its status, and what the check says of its processes,
# each once: launches that nothing was found in.
run()
{
	rm -rf "$AUTOCAST_STATE"
	AUTOCAST_EMU_KERNELS=ptx AUTOCAST_EMU_CHECK=1 \
	    AUTOCAST_EMU_MODEL=h200,t4 AUTOCAST_POLICY=$1 \
	    LD_LIBRARY_PATH=$build:$emulator LD_PRELOAD=$preload "${@:2}" \
	    >"$work/out" 2>"$work/err"
	echo "status $?$(sed -n 's/.*check: \([0-9]* finding\).* in [1-9].*/: \1s/p' \
	    "$work/err" | sort -u | tr -d '\n')"
}

while IFS='|' read -r program policy words; do
	[ -n "$program" ] || continue
	if [ ! -x "$clients/$program" ]; then
		skip "$program" 'not built: no emulated cuDNN or cublasLt'
		continue
	fi
	words=${words//@/$clients/}
	words=${words//^/$root/tests/preload/programs/}
	words=${words//%/$work/}
	expected='status 0: 0 findings'
	[ "$policy" != none ] || expected='status 0'
	rules=$cast
	[ "$policy" != guard ] || rules=$guard
	found=$(run "$rules" "$clients/$program" $words)
	equal "$program $policy" "$expected" "$found"
	[ "$found" = "$expected" ] || grep 'kernel \|roken' "$work/err" |
	    head -n 5 | sed 's/^/# /'
done <<<"$rows"
plan
