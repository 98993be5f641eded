#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# NVIDIA's own cuDNN without a GPU: descriptors of recurrent networks say what
# was set, and wrong calls are answered, with the library as without, whatever
# reaches cuDNN; and the emulated cuDNN answers as the real one.
. "$(dirname "$0")/cudnn.sh"
driver=$emulator/libcuda.so.1
forced='rnn -> fp16 guard=off'
client rnn_descriptor "$cuda_lib/$cudnn"
program=$work/linked_rnn_descriptor
${CC:-cc} -isystem "$cuda_include" -D_GNU_SOURCE -O1 -w -DBEHIND -shared -fPIC \
    -o "$work/behind.so" "$here/rnn_descriptor.c" || exit 99

alone "$program" >"$work/alone"
equal 'it ends' 0 $?
check 'control: answers of every kind' "$(
    for answer in 'set 0 get 0' 'set 2000 get 0' 'set 3000 get 0' \
	'fresh: get 1001: 77' 'set 2000 get 2000: 77'; do
	grep -q "$answer" "$work/alone" || echo "no '$answer'"
    done)"
for policy in off amp "$forced"; do
	with "$policy" "$program" >"$work/with"
	same "the same without a GPU, '$policy'" "$work/alone" "$work/with"
done

if [ -e "$driver" ]; then
	with off "$program" "$driver" >"$work/with"
	same 'the same where there seems to be one, off' "$work/alone" \
	    "$work/with"
	preload=$preload:$work/behind.so with "$forced" "$program" "$driver" \
	    >"$work/with" 2>"$work/reached"
	same 'the same where there seems to be one, FP16' "$work/alone" \
	    "$work/with"
else
	skip 'the same where there seems to be one' 'no driver is emulated'
fi
if [ -e "$driver" ] && nm -D --defined-only "$library" |
    grep -q ' T cudnnSetRNNDescriptor_v8$'; then
	recast=$(query 'sum(s["recast_calls"] for s in sites)')
	reached=$(grep -c '^reached 2: 0, has 2$' "$work/reached")
	# Some of it the program sets so by itself.
	preload=$preload:$work/behind.so with off "$program" 2>&1 >/dev/null |
	    grep '^reached 2: 0' >"$work/own"
	equal 'and yet what may be converted is' \
	    "$recast $((recast + $(wc -l <"$work/own")))" \
	    "$recast $reached"
	check 'which is most of it' "$([ "$recast" -gt 200 ] || echo "$recast")"
else
	skip 'and yet what may be converted is' \
	    'no driver is emulated, or built without the headers of cuDNN'
fi

if [ -e "$emulator/libcudnn.so.9" ]; then
	bare "$program" >"$work/emulated"
	check 'the emulated one answers the same' \
	    "$(diff "$work/alone" "$work/emulated" | head -n 20)"
else
	skip 'the emulated one answers the same' 'it was not built'
fi
plan
