#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs of cuDNN 8: recast as those of 9 are, refused with that library's own
# statuses, and never served by another one that is loaded, too.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$emulator/libcudnn.so.8" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
convolving=$clients/convolving_8
forced='conv.fprop -> fp16 profit=off guard=off;conv.dgrad -> fp16 profit=off guard=off;conv.wgrad -> fp16 profit=off guard=off'
guarded='conv.fprop -> fp16 profit=off;conv.dgrad -> fp16 profit=off;conv.wgrad -> fp16 profit=off'

# both POLICY PROGRAM WORDS: without us and with, into $work/bare, $work/under.
both()
{
	rm -rf "$AUTOCAST_STATE"
	bare "${@:2}" >"$work/bare" 2>"$work/complaints"
	under "$@" >"$work/under" 2>"$work/complaints"
}

# ---- The emulated library is what it is called

if [ -n "$sanitizer" ]; then
	skip 'the emulated cuDNN 8' 'Python does not load libraries with sanitizers'
else
	equal 'the emulated cuDNN 8' '8907 2 b"CUDNN_STATUS_NOT_SUPPORTED"' "$(
	    bare python3 -c 'import ctypes
dnn = ctypes.CDLL("libcudnn.so.8")
dnn.cudnnGetErrorString.restype = ctypes.c_char_p
made = ctypes.c_void_p()
print(dnn.cudnnGetVersion(),   # and what 9.11 calls DEVICEPROP:
    dnn.cudnnBackendCreateDescriptor(38, ctypes.byref(made)),
    str(dnn.cudnnGetErrorString(9)).replace("'\''", "\""))')"
fi

# ---- The older interface

for op in 0 1 2 3; do
	both off "$convolving" op=$op
	equal "op=$op: computed" 4 "$(grep -c '^[1-4] 0 ' "$work/bare")"
	same "op=$op: off" "$work/bare" "$work/under"
	both "$forced" "$convolving" op=$op
	equal "op=$op: recast" 'fp16 4 ' "$(counts)"
	# As in conv.sh: a few times what rounding the terms makes of their sum.
	check "op=$op: near, and not the same" "$(paste "$work/bare" \
	    "$work/under" | awk '{ d = ($4 - $9) / $5 }
	    $3 == $8 || d > 0.004 || d < -0.004')"
	both "$guarded" "$convolving" op=$op
	equal "op=$op: on trial" 'fp16 1 probation:3' "$(counts)"
done
equal 'the report says of which library' cudnn-8.9 \
    "$(query 'report["processes"][0]["library"]')"

# refused STATUS WORDS: what the program is told of its two calls.
refused()
{
	both "$forced" "$convolving" calls=2 $2
	equal "refused: $2" "1 $1
2 $1" "$(cut -d' ' -f1,2 "$work/bare")"
	same "refused, under us, too: $2" "$work/bare" "$work/under"
}
refused 9 'r=7 pad=3 algo=3'
refused 9 'op=3 relu=0 algo=0'
refused 3 'algo=77'
refused 3 'op=1 algo=77'
refused 3 'op=2 workspace=2'
refused 3 'op=3 beta=1 small=1'

# failing WHAT FAULT STATUS: a call that fails in the program's own library.
failing()
{
	AUTOCAST_EMU_FAIL=$2 both "$forced" "$convolving" calls=1 algo=0 beta=1
	equal "$1" "1 $3" "$(cut -d' ' -f1,2 "$work/bare")"
	same "$1, under us, too" "$work/bare" "$work/under"
}
failing 'an internal error' cudnnConvolutionForward:1 4
failing 'out of memory' cudnnConvolutionForward:1:2 2

# ---- Graphs

client=$clients/graph_conv_8
for words in '' bias relu; do
	both off "$client" $words runs=5
	same "a graph, off: $words" "$work/bare" "$work/under"
	both "${forced%%;*}" "$client" $words runs=5
	equal "a graph, recast: $words" 'fp16 1 probation:4' "$(counts)"
	equal "a graph, whose plan is as it was: $words" \
	    'engine=67 notes=0x1 engine=67 notes=0x1' "$(cat "$work/bare" \
	    "$work/under" | cut -d' ' -f1,2 | paste -sd' ')"
	check "a graph, near: $words" "$(paste "$work/bare" "$work/under" |
	    awk '{ d = ($5 - $11) / $6 } !$6 || d > 2e-3 || d < -2e-3 || $4 == $10')"
done
AUTOCAST_EMU_FAIL=cudnnBackendFinalize:1 both "${forced%%;*}" "$client"
equal 'a graph, refused' 'cudnnBackendFinalize: 4' "$(cat "$work/bare")"
same 'a graph, refused, under us, too' "$work/bare" "$work/under"

# ---- Next to cuDNN 9

eight=$clients/convolving_8.so nine=$clients/convolving.so

# recast RULES FIRST SECOND: recast calls of the plugins of 8 and of 9, and how
# many outputs there are that FP32 would not have.
recast()
{
	both "$1" "$clients/two_cudnns" "$2" "$3"
	query '*(sum(s["recast_calls"] for s in sites
	    if s["caller"].startswith(of)) for of in ("convolving_8.so+", "convolving.so+"))'
	tr ' ' '\n' <"$work/under" | sed 1d | grep -vcFf "$work/fp32"
}
bare "$clients/convolving" calls=1 | cut -d' ' -f3 >"$work/fp32"
for order in "$eight $nine" "$nine $eight"; do
	of=$(basename "${order%% *}")
	{
	both off "$clients/two_cudnns" $order
	same "$of first, off" "$work/bare" "$work/under"
	equal "$of first, both compute" 1 "$(grep -c "^two_cudnns $(cat \
	    "$work/fp32") $(cat "$work/fp32")$" "$work/bare")"
	equal "$of first, both recast" '12 12
2' "$(recast "$forced" $order)"
	equal "$of first, a plan for each handle" '3 3' \
	    "$(query '*(s["course"]["plans"] for s in sites)')"
	equal "$of first, both on trial" '9 9' \
	    "$(recast "$guarded" $order | head -n 1)"
	equal "$of first, a rule for 8 alone" '12 0
1' "$(recast 'conv.fprop lib=cudnn-8* -> fp16 profit=off guard=off; otherwise off' $order)"
	equal "$of first, a rule for 9 alone" '0 12
1' "$(recast 'conv.fprop lib=cudnn-9* -> fp16 profit=off guard=off; otherwise off' $order)"
	}
done
plan
