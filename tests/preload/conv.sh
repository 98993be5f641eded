#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Convolutions of cuDNN's older interface: what is recast, what never is, and
# what notices that FP16 does not fit.
. "$(dirname "$0")/preload.sh"
need_emulator
[ -e "$emulator/libcudnn.so.9" ] ||
    skip_all 'the emulated cuDNN was not built (cuDNN headers or oneDNN are missing)'
convolving=$clients/convolving
forced='conv.fprop -> fp16 profit=off guard=off;conv.dgrad -> fp16 profit=off guard=off;conv.wgrad -> fp16 profit=off guard=off'
# Keeps everything, but not for sure before it knows the sizes.
sized='conv cin=0 -> tf32;otherwise off'
guarded='conv.fprop -> fp16 profit=off;conv.dgrad -> fp16 profit=off;conv.wgrad -> fp16 profit=off'

# site EXPRESSION: of the first site of the last run, "s".
site()
{
	query "(lambda s: $1)(sites[0])"
}

# outputs POLICY WORDS: the distinct bits of all calls but the first.
outputs()
{
	under "$1" "$convolving" "${@:2}" | sed 1d | cut -d' ' -f2,3 | sort -u
}

# ---- Off is off, forced is FP16 through and through

for words in op=0 op=1 op=2 op=3 'op=0 groups=4' 'op=0 dilation=2 pad=2' \
    'op=1 stride=2' 'op=2 stride=2' 'op=0 nhwc=1' 'op=3 nhwc=1 relu=0' \
    'op=3 beta=0.5' 'op=0 space=3 h=6 c=8 k=8' 'op=0 flip=1' 'op=0 alpha=2' \
    'op=0 c=3 k=65 r=7 pad=3 stride=2' 'op=0 offset=1'; do
	bare "$convolving" $words calls=2 >"$work/bare"
	under off "$convolving" $words calls=2 >"$work/off"
	same "off: $words" "$work/bare" "$work/off"
	rm -rf "$AUTOCAST_STATE"
	under "$forced" "$convolving" $words calls=2 >"$work/forced"
	equal "recast: $words" 'fp16 2 ' "$(counts)"
	check "and the bits tell: $words" \
	    "$(cmp -s "$work/bare" "$work/forced" && echo 'they are the same')"
	# Terms that are each off by 2^-11 or so, independently: their sum by
	# that share of the root of their squares, a few times over.
	check "but not much: $words" "$(paste "$work/bare" "$work/forced" |
	    awk '{ d = ($4 - $9) / $5 } d > 0.004 || d < -0.004')"
done

# ---- Never

# kept WHAT REASON WORDS
kept()
{
	rm -rf "$AUTOCAST_STATE"
	bare "$convolving" calls=3 $3 >"$work/bare" 2>/dev/null
	under "$forced" "$convolving" calls=3 $3 >"$work/kept" 2>/dev/null
	same "$1: the program's bits" "$work/bare" "$work/kept"
	check "$1: $2" "$(counts | grep -q "$2" || counts)"
}
kept 'beta is not 0' unsupported 'op=0 beta=0.5'
kept 'beta is not 0, backward' unsupported 'op=2 beta=1'
kept 'the output is read, too' overlap 'op=3 beta=0.5 alias=1'
kept 'FMA_MATH' opted-out 'op=0 math=3'
kept 'alpha is 0' unsupported 'op=0 alpha=0'
rm -rf "$AUTOCAST_STATE"
bare "$convolving" rise=1 | sed 1,2d >"$work/bare"
under "$forced" "$convolving" rise=1 | sed 1,2d >"$work/kept"
same 'another alpha at each call: the program'\''s bits' "$work/bare" "$work/kept"
equal 'another alpha at each call: one for 1, one for another' 'fp16 2 unsupported:2 2' "$(counts
    ) $(site 's["course"]["plans"]')"
rm -rf "$AUTOCAST_STATE"
under "$forced" "$convolving" rise=1 alpha=0 >/dev/null
equal 'alpha is 0 at first: a site is not lost by it' 'fp16 2 unsupported:2' \
    "$(counts)"

# ---- What is asked of cuDNN

# more POLICY WORDS: the cuDNN functions that ten calls more call, beyond the
# program's own: NAME TIMES, for each of the ten.
more()
{
	local calls
	for calls in 3 13; do
		rm -rf "$AUTOCAST_STATE"
		AUTOCAST_EMU_COUNTERS=$work/bare$calls bare "$convolving" \
		    calls=$calls "${@:2}" >/dev/null
		AUTOCAST_EMU_COUNTERS=$work/ours$calls under "$1" "$convolving" \
		    calls=$calls "${@:2}" >/dev/null
	done
	awk '$1 ~ /^cudnn/ {
		sign = FILENAME ~ /13$/ ? 1 : -1
		of[$1] += (FILENAME ~ /bare/ ? -sign : sign) * $2
	}
	END {
		for (name in of)
			if (of[name])
				print name, of[name] / 10
	}' "$work"/{bare,ours}{3,13} | sort | paste -sd' '
}
getters='cudnnGetConvolutionGroupCount 1 cudnnGetConvolutionMathType 1'
getters="$getters cudnnGetConvolutionNdDescriptor 1 cudnnGetFilterNdDescriptor 1"
for op in 0 1 2 3; do
	equal "off: cuDNN is asked nothing, op=$op" '' "$(more off op=$op)"
	equal "off: and the calls are counted, op=$op" 'keep 0 rule:13' \
	    "$(counts)"
done
for op in 0 1 2; do
	equal "kept by size: six questions, op=$op" \
	    "$getters cudnnGetTensorNdDescriptor 2" "$(more "$sized" op=$op)"
done
equal 'off: one site for all that a place calls' 'sizes not read 8 0 0' "$(
    rm -rf "$AUTOCAST_STATE"
    under off "$convolving" calls=4 handles=2 >/dev/null
    site '"%s %d %d %d" % (s["shape"], s["calls"], s["m"], s["flops_per_call"])')"
id=$(site 's["id"]')
equal 'a line that fits no call brings the sizes back' 'rule n2 c32 14x14' "$(
    rm -rf "$AUTOCAST_STATE"
    under "$sized" "$convolving" >/dev/null 2>"$work/complaints"
    cat "$work/complaints"
    site 's["reason"] + " " + s["shape"][:12]')"
under off "$convolving" >/dev/null
check 'off: explain says that sizes are not known' "$("$build/autocast" explain \
    "$id" 2>&1 | grep -q 'were not read' || echo no)"

# Two shapes that are too long to be told in full.
rm -rf "$AUTOCAST_STATE"
for nhwc in 0 1; do
	under "$sized" "$convolving" calls=1 n=1 c=100000 k=100000 groups=100000 h=2 \
	    space=3 pad=10000 stride=30000 dilation=10000 nhwc=$nhwc >/dev/null
	site 's["id"] + s["shape"]'
done >"$work/long"
equal 'long shapes: two sites' 2 "$(sort -u "$work/long" | grep -c '#[0-9a-f]\{8\}$')"

# What cuDNN refuses is refused, call by call.
for words in "op=0 r=7 pad=3 algo="{0..7} "op=1 r=7 pad=3 algo="{0..5} \
    "op=2 r=7 pad=3 algo="{0..6} 'op=3 relu=0 algo=0' 'op=0 workspace=2' \
    'op=2 workspace=2' 'op=3 beta=1 small=1'; do
	equal "the statuses: $words" \
	    "$(bare "$convolving" calls=3 $words | cut -d' ' -f1,2)" \
	    "$(under "$forced" "$convolving" calls=3 $words | cut -d' ' -f1,2)"
done
rm -rf "$AUTOCAST_STATE"
under "${guarded//profit=off/profit=off workspace=1}" "$convolving" calls=3 \
    >/dev/null
equal 'no memory for a trial: not for good' 'fp16 0 probation:2,workspace:1' \
    "$(counts)"
NVIDIA_TF32_OVERRIDE=0 kept 'NVIDIA_TF32_OVERRIDE=0' opted-out op=0
AUTOCAST_EMU_FAIL=cudnnBackendExecute:1 kept 'cuDNN fails to run it' \
    'refused:1' 'op=0 calls=1'
AUTOCAST_EMU_FAIL=cudnnBackendFinalize:1 kept 'cuDNN fails to plan it' \
    'refused:3' 'op=0'
equal 'gradients want to be named' 'keep 0 no-rule:2' "$(
    rm -rf "$AUTOCAST_STATE"
    under 'conv.fprop -> fp16 profit=off guard=off' "$convolving" op=1 calls=2 \
	>/dev/null
    counts)"

# ---- On trial

equal 'the first three calls are the original' "$(bare "$convolving" calls=3)" \
    "$(under "$guarded" "$convolving" calls=3)"
for op in 0 1 2 3; do
	rm -rf "$AUTOCAST_STATE"
	equal "the fourth is not, op=$op" "$(outputs "$forced" calls=6 op=$op)" \
	    "$(under "$guarded" "$convolving" calls=6 op=$op | sed 1,3d |
		cut -d' ' -f2,3 | sort -u)"
	equal "that is counted, op=$op" 'fp16 3 probation:3' "$(counts)"
	check "its error is known, op=$op" "$(site '
	    "" if 1e-5 < s["course"]["error"] < 8e-4 else s["course"]')"
done
rm -rf "$AUTOCAST_STATE"
equal 'outputs near the end of FP16: not even once' \
    "$(bare "$convolving" calls=6 scale=40000 | cut -d' ' -f2,3)" \
    "$(under "$guarded" "$convolving" calls=6 scale=40000 | cut -d' ' -f2,3)"
equal 'and why is told' large "$(query '*sorted({s["course"]["finding"]
    for s in sites} - {"none"})')"

# ---- Whose memory

rm -rf "$AUTOCAST_STATE"
under "$forced" "$convolving" workspace=100000000 >/dev/null
check 'the program'\''s workspace, if it is enough' \
    "$(total totals.peak_scratch_bytes | grep -vx 0)"
rm -rf "$AUTOCAST_STATE"
equal 'ours, if it is not' "$(outputs "$forced")" "$(outputs "$forced" algo=0)"
check 'and that is counted' \
    "$(query 'report["totals"]["peak_scratch_bytes"] > 100000' | grep -vx True)"
rm -rf "$AUTOCAST_STATE"
equal 'nor if it begins where no allocation does' "$(outputs "$forced")" \
    "$(outputs "$forced" workspace=100000000 crooked=16)"
check 'and that is counted, too' \
    "$(query 'report["totals"]["peak_scratch_bytes"] > 50000' | grep -vx True)"
check 'what plans cost is in the report' "$(site '
    "" if s["course"]["plans"] == 1 and s["course"]["workspace_bytes"] == 68624
    else s["course"]')"
equal 'a graph: the same bits' \
    "$(outputs "$forced" capture=1 | sort -u | wc -l | tr -d ' ')" 1

rm -rf "$AUTOCAST_STATE"
under "gemm -> fp16 profit=off guard=off;$forced" "$clients/with_products" \
    algo=0 calls=3
equal 'ours, with products on as many streams as have lanes' \
    'fp16 16  fp16 3 ' "$(counts)"

# ---- A failure of a moment

rm -rf "$AUTOCAST_STATE"
AUTOCAST_EMU_FAIL=cudnnBackendGetAttribute:1 under "$forced" "$convolving" \
    handles=3 calls=2 >/dev/null
equal 'cuDNN does not answer once: a handle'\''s affair' 'fp16 4 refused:2' \
    "$(counts)"

# ---- Handles, threads

rm -rf "$AUTOCAST_STATE"
equal 'handle after handle' 1 "$(under "$forced" "$convolving" handles=5 |
    cut -d' ' -f3 | sort -u | wc -l)"
equal 'a plan each' 5 "$(site 's["course"]["plans"]')"
rm -rf "$AUTOCAST_STATE"
equal 'eight threads' "$(outputs "$forced" | cut -d' ' -f2)" "$(
    under "$forced" "$convolving" threads=8 | sort -u)"
equal 'a plan each, too' 8 "$(site 's["course"]["plans"]')"

# ---- What doctor says

rm -rf "$AUTOCAST_STATE"
equal 'too small: what doctor says to type slows nothing down' 'explain' \
    "$("$build/autocast" doctor --emulate -- "$convolving" n=1 c=8 k=8 h=6 \
    calls=30 2>/dev/null | sed -nE '$s/.* (explain) [0-9a-f]{8}$/\1/p')"
rm -rf "$AUTOCAST_STATE"
equal 'CUDNN_FMA_MATH: doctor blames no variable' \
    "the program itself, -e 'set respect-opt-out=off'" "$(
    "$build/autocast" doctor --emulate -- "$convolving" math=3 2>/dev/null |
    grep -oE "the program itself|-e 'set resp[^']*'" | paste -sd, |
    sed 's/,/, /')"
plan
