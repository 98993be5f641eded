#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Graphs of convolutions on NVIDIA's own cuDNN, described for devices that are
# not there: with the library, engines that down-convert come first where they
# may, unseen, and everything else is as without.
. "$(dirname "$0")/cudnn.sh"
for name in conv_graph conv_frontend; do
	client $name
done
need_device

ask()
{
	"$work/conv_graph" "$local_cudnn" "$devices/$1.json" "${@:2}" 2>&1
}
export -f ask
export work local_cudnn devices

# ---- the same with as without ------------------------------------------------
# A question a line; the whole list is one process.
kept='mode=FALLBACK ask=256 plans=3
type=half plans=2
type=half op=wgrad plans=2
type=double compute=double plans=2
type=half compute=half plans=1
type=bfloat16 plans=1
op=matmul plans=2
op=matmul type=half plans=2
beta=1 plans=2
beta=0.5 op=wgrad plans=2
dynamic=1 plans=1
fusion=relu plans=1
c=0
n=-1
filter=99
groups=7
alignment=3
ask=0
ask=-1'
questions=$(tr '\n' '/' <<<"$kept" | sed 's,/$,,; s,/, / ,g')
for device in sm90 sm75; do
	# shellcheck disable=SC2086
	alone bash -c 'ask "$@"' ask $device $questions >"$work/alone"
	equal "$device: kept kinds: it ends" 0 $?
	check "control: $device: there are answers" \
	    "$([ "$(grep -c 'plan=0 ' "$work/alone")" -ge 10 ] ||
	        cat "$work/alone")"
	for policy in off "$all_fp16"; do
		# shellcheck disable=SC2086
		with "$policy" bash -c 'ask "$@"' ask $device $questions \
		    >"$work/with"
		check "$device: kept kinds, '$policy'" \
		    "$(diff "$work/alone" "$work/with" | head -n 20)"
	done
done

eligible='plans=2 / layout=nhwc plans=2 / op=dgrad plans=2 /
op=wgrad plans=2 / mode=B plans=2 / mode=INSTANT plans=2 /
fusion=bias plans=2 / fusion=bias-relu plans=2 /
fusion=add-bias-relu plans=2 / groups=32 plans=2 / dilation=2 pad=2 plans=2 /
stride=2 plans=2 / c=3 filter=7 pad=3 stride=2 plans=2 / c=65 k=63 plans=2 /
spatial=3 n=2 c=64 k=64 plans=2 / spatial=1 plans=2 / alpha=2 plans=2 /
ask=1 / ask=2 / ask=3 plans=1 / alignment=4 plans=2 / repeat=5 plans=1 /
pad=0 post=2 plans=2 / op=dgrad pad=2 post=1 layout=nhwc plans=2'
# shellcheck disable=SC2086
alone bash -c 'ask "$@"' ask sm90 $eligible >"$work/eligible"
equal 'eligible kinds: it ends' 0 $?
questions=$(grep -o / <<<"$eligible" | wc -l)
equal 'control: every graph is answered' $((questions + 1)) \
    "$(grep -c '^graph=1 heuristic=1 configs=[1-9]' "$work/eligible")"
equal 'control: none of them down-converts' '' \
    "$(grep -E ' notes=0x[237abef] ' "$work/eligible")"
for policy in off 'conv.fprop -> tf32' \
    'conv.fprop,conv.dgrad,conv.wgrad -> fp16 guard=on profit=off'; do
	# shellcheck disable=SC2086
	with "$policy" bash -c 'ask "$@"' ask sm90 $eligible >"$work/with"
	check "eligible kinds are left alone, '$policy'" \
	    "$(diff "$work/eligible" "$work/with" | head -n 20)"
done
for device in sm75 sm80 sm90 sm100; do
	alone "$work/conv_frontend" "$local_cudnn" "$devices/$device.json" \
	    >"$work/$device.frontend" 2>&1
	equal "$device: a frontend finds a plan" 1 \
	    "$(grep -c '^engine=' "$work/$device.frontend")"
done

if ! recasts_graphs; then
	skip 'graphs are recast' 'built without the headers of cuDNN'
	plan
	exit
fi

# ---- down-converting engines come first --------------------------------------
# shellcheck disable=SC2086
with "$all_fp16" bash -c 'ask "$@"' ask sm90 $eligible >"$work/with"
equal 'eligible kinds: it ends, recast' 0 $?
equal 'no note tells' '' "$(grep -E ' notes=0x[237abef] |array=0:[0-9]+:([0-9,]*,)?1[ ,]' "$work/with")"

check 'as many notes are written as are counted, however they are asked for' \
    "$(sed -n 's/.* count=0:\([0-9]*\) .* array=0:\([0-9]*\)[: ].* written=\([0-9]*\).*/\1 \2 \3 &/p' \
        "$work/with" | awk '$1 != $2 || $1 != $3 { print } END { if (!NR) print "none" }')"

# Per question: how many configurations were asked for at most are told of, the
# first is another one, the plan is made and is of the engine that it says, and
# the first native ones follow in their order.
python3 - "$work/eligible" "$work/with" "$work/wrong" <<'END'
import re, sys
def questions(path):
    found = []
    for line in open(path):
        if line.startswith('graph='):
            found.append([int(line.rpartition('=')[2]), []])
        else:
            found[-1][1].append(re.sub(r'^\d+ ', '', line.strip()))
    return found
plain = lambda line: re.sub(r' plan=.*', '', line)
key = lambda line: re.match(r'engine=\S+ knobs\S*', line).group(0)
wrong = []
for i, (a, b) in enumerate(zip(questions(sys.argv[1]), questions(sys.argv[2]))):
    asked = {17: 1, 18: 2, 19: 3}.get(i, 256)
    native = {key(line) for line in a[1]}
    extra = next((n for n, line in enumerate(b[1]) if key(line) in native),
                 len(b[1]))
    if not 1 <= extra or b[0] != min(a[0] + extra, asked) or \
       [plain(l) for l in b[1][extra:]] != [plain(l) for l in a[1][:len(b[1]) - extra]]:
        wrong.append('%d: %d of ours, %d then %d' % (i, extra, a[0], b[0]))
    for line in b[1]:
        plan = re.search(r'engine=(\d+) .* plan=(\d+)(?: .* json=(\d+))?$', line)
        if plan and (plan[2] != '0' or plan[1] != plan[3]):
            wrong.append('%d: %s' % (i, line))
open(sys.argv[3], 'w').write('\n'.join(wrong))
END
check 'ours come first, then the native ones, no more than asked for' \
    "$(cat "$work/wrong")"

# Example: 32 x 256 x 28 x 28 with 256 filters of 3 x 3: copies in FP16.
bytes=$(sed -n '2s/.* workspace=\([0-9]*\) .*/\1/p' "$work/with")
check 'the workspace holds copies of x, w and y in FP16, not in FP32' \
    "$([ "$bytes" -ge $((2 * (2 * 32 * 256 * 28 * 28 + 256 * 256 * 9))) ] &&
        [ "$bytes" -lt $((4 * (2 * 32 * 256 * 28 * 28 + 256 * 256 * 9))) ] ||
        sed -n 2p "$work/with")"

# ---- a frontend that drops what down-converts --------------------------------
for device in sm75 sm80 sm90; do
	with "$all_fp16" "$work/conv_frontend" "$local_cudnn" \
	    "$devices/$device.json" >"$work/with" 2>&1
	check "$device: a frontend gets the down-converting engine" \
	    "$(! cmp -s "$work/with" "$work/$device.frontend" &&
	        grep -q '^engine=\([0-9]*\) json=\1 notes=0x1 ' "$work/with" ||
	        cat "$work/with")"
done
with "$all_fp16" "$work/conv_frontend" "$local_cudnn" "$devices/sm100.json" \
    >"$work/with" 2>&1
same 'sm100: a frontend gets its own' "$work/sm100.frontend" "$work/with"
alone "$work/conv_frontend" "$local_cudnn" "$devices/sm90.json" strict=1 |
    sed 's/dropped=.*//' >"$work/alone" 2>&1
with "$all_fp16" "$work/conv_frontend" "$local_cudnn" "$devices/sm90.json" \
    strict=1 2>&1 | sed 's/dropped=.*//' >"$work/with"
same 'a frontend without Tensor Cores gets its own' "$work/alone" "$work/with"
NVIDIA_TF32_OVERRIDE=0 alone "$work/conv_frontend" "$local_cudnn" \
    "$devices/sm90.json" >"$work/alone" 2>&1
NVIDIA_TF32_OVERRIDE=0 with "$all_fp16" "$work/conv_frontend" "$local_cudnn" \
    "$devices/sm90.json" >"$work/with" 2>&1
same 'NVIDIA_TF32_OVERRIDE=0: a frontend gets its own' "$work/alone" "$work/with"
plan
