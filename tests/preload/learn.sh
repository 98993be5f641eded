#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# learn=on: each call is the program's own, whatever the program does and whatever
# fails; at some calls each rung runs next to it, into scratch. What is measured there
# is how far the rung is off and how long it takes when it serves.
. "$(dirname "$0")/../trust/trust.sh"
need_emulator
client=$clients/gemm_client
rungs='fp16 tf32 bf16x3 fp16x3'
setting='profit=off learn=on'
learning="gemm -> ${rungs// /,} $setting"
export AUTOCAST_EMU_COUNTERS=$work/counters

# ---- The program's own

# judged: how many calls were measured, over all rungs.
judged()
{
	query 'sum(s["course"]["judged"] for s in sites)'
}

# complained FILE: how often the emulated GPU did.
complained()
{
	grep -c 'emulated GPU: ' "$1"
}

# broken STATUS: what is wrong with the last run, whose output is $work/under.
broken()
{
	[ "$status" = "$1" ] || echo "status $1, not $status"
	cmp "$work/bare" "$work/under" 2>&1
	grep -m 1 BROKEN "$work/under"
	[ "$(complained "$work/bare.err")" = "$(complained "$work/under.err")" ] ||
	    grep -m 3 'emulated GPU: ' "$work/under.err"
	[ "$(total totals.recast_calls)" = 0 ] ||
	    echo "$(total totals.recast_calls) calls were recast"
	awk '/_in_capture/ && $2 { print }' "$work/counters"
}

# own LEAST POLICY PROGRAM ARGS...: it prints and returns what it does alone; so many
# calls are measured at least, or none; -: as many as had run before its end.
own()
{
	local complaint
	rm -rf "$AUTOCAST_STATE"
	bare "$clients/$3" "${@:4}" >"$work/bare" 2>"$work/bare.err"
	status=$?
	under "$2" "$clients/$3" "${@:4}" >"$work/under" 2>"$work/under.err"
	complaint=$(broken $?)
	[ "$1" = - ] || complaint=$complaint$(judged | awk -v least="$1" \
	    '$1 < least || (least == 0 && $1) { print "measured: " $1 }')
	[ "$2" = "$learning" ] || set -- "$@" "under ${2#"$learning "}"
	check "${*:3}" "$complaint"
}

# each POLICY: for lines of a number, a program and its arguments.
each()
{
	local line
	while read -r line; do
		own ${line%% *} "$1" ${line#* }
	done
}

for form in $(bare "$client" forms); do
	batch=1
	case $form in
	*batched* | *strided* | *grouped*) batch=3 ;;
	esac
	least=6
	own $least "$learning" gemm_client "$form" n t 33 29 1100 37 31 1111 $batch \
	    0.5 2 normal 1 - repeat=4 gap=7
	own $least "$learning" gemm_client "$form" t n 33 29 17 0 0 0 $batch 1 0 normal \
	    2 - repeat=4 nan-c stream
	case $form in
	grouped*) least=0 ;; # its scalars lie on the host
	esac
	own $least "$learning" gemm_client "$form" c n 64 29 17 0 0 0 $batch -1 1 \
	    uniform 3 - repeat=4 device-scalars
	own 0 "$learning" gemm_client "$form" n n 9 8 7 0 0 0 $batch 0 0.5 nan 3 -
done
# Sizes that are none and a pitch that is too short: the code is the same for all.
for form in sgemm strided64 batchedex; do
	for size in '0 5 5 8 8 8' '5 0 5 8 8 8' '5 5 0 8 8 8' '-1 5 5 8 8 8' \
	    '5 5 -2 8 8 8' '9 8 7 3 7 9'; do
		own 0 "$learning" gemm_client "$form" n n $size 2 1 0.5 normal 3 -
	done
done

# Numbers that are none, scalars of any kind, sizes of any kind, matrices that meet.
each "$learning" <<'END'
12 gemm_client sgemm n t 64 64 700 0 0 0 1 1 0 inf 1 - repeat=4
12 gemm_client sgemm n t 64 64 700 0 0 0 1 1 0 nan 1 - repeat=4 nan-c
12 gemm_client sgemm n t 64 64 700 0 0 0 1 1 1 nonfinite 1 - repeat=4 device-scalars
12 gemm_client sgemm n t 64 64 1700 0 0 0 1 1e38 0.5 normal1e6 1 - repeat=4
12 gemm_client sgemm n t 64 64 70 0 0 0 1 nan 0.5 normal 1 - repeat=4
12 gemm_client sgemm n t 64 64 70 0 0 0 1 1 nan normal 1 - repeat=4
8 gemm_client sgemm n t 8 8 60000 0 0 0 1 1 0 normal 1 - repeat=2
12 gemm_client sgemm n t 1 1 1 0 0 0 1 1 0.5 normal 1 - repeat=4
12 gemm_client sgemm n t 1 1000 3 0 0 0 1 1 0.5 zeros 1 - repeat=4
0 gemm_client sgemm n n 64 64 64 0 0 0 1 1 0.5 normal 1 - repeat=4 alias=ac
0 gemm_client sgemm n n 64 64 64 0 0 0 1 1 0.5 normal 1 - repeat=4 alias=bc
12 gemm_client sgemm n t 64 64 64 0 0 0 1 1 0.5 normal 1 - repeat=4 alias=ab
12 gemm_client strided n t 64 64 64 0 0 0 5 1 0.5 normal 1 - repeat=4 stride-a=0
12 gemm_client sgemm n t 64 64 64 0 0 0 1 1 0 normal 1 - repeat=4 workspace=1048576
12 gemm_client gemmex n t 64 64 64 0 0 0 1 1 0 normal 1 - repeat=4 compute=32f-fast-16f
12 gemm_client gemmex n t 64 64 64 0 0 0 1 1 0 normal 1 - repeat=4 math=tf32
0 gemm_client sgemm n t 64 64 64 0 0 0 1 1 0 normal 1 - repeat=4 math=pedantic
0 corners batch-overlap
0 corners b-overlap
0 corners misaligned
0 corners overflow
0 corners impossible
4 corners submatrix
4 corners mode
17 zero_sizes
0 legacy
END

# cublasLt; graphs, none of whose calls is measured; threads, streams, contexts; data
# that turn; scalars that change; the end in many ways.
each "$learning" <<'END'
171 lt_matrix kind=fp32 order=tn calls=8
24 lt_matrix kind=fp32 order=row-d calls=8
171 lt_matrix kind=fp32 order=nn
51 lt_torch calls=8
10 lt_odd
0 lt_stack threads=4 rounds=8
17 lt_stack few threads=4 rounds=24 sizes=1
4 lt_xla threads
17 lt_bad
0 captured global 0
4 captured thread 1
6 captured relaxed 4
0 steps sgemm first global
6 steps ex replay thread
6 steps sgemm update global
4 steps sgemm xla relaxed
6 steps_lt lt replay global
17 graphs global replay
17 graphs thread changed
17 graphs global fork
17 graphs relaxed destroyed
17 graphs global graphs
12 graphs global many
12 capture_meanwhile first
12 capture_meanwhile settled
17 two_threads shared 8
17 two_threads own 40
17 crowd 0 3 10
6 many_streams 48
12 turning 1 90
12 turning 4 80
12 turning_lt 1 90
8 alternating single alternate 20
6 alternating arrays alternate 12
8 device_alpha
8 contexts pair
8 contexts turns
8 contexts again
0 contexts stream
4 contexts handle
6 user_workspace
8 no_context
12 freed_behind
4 held_stream grow
4 held_stream other
4 lane_order share
12 stream_each 300 1
12 stream_each 300 100
6 sizes
17 equal 0 normal
12 course good:3 cancelling:3 graded:4
8 course own device beta good:20
6 course good:5 reset good:5
6 course good:5 fork good:5
12 factorise lu 200 64 8
12 factorise cholesky 200 64 8
12 linear_sgd
10 regions mul push=a,1,-,0 mul mul pop thread both=1,0
- unread exit
12 unread reset
6 reset_exit return
6 reset_exit exit
- lost trap 0 5
4 lost trap 5 20
4 lost address 1 5
END
each "$learning" <<'END'
6 reset_exit destroy
6 reset_exit late
6 reset_exit again
- reset_exit quick
END
own 12 "$learning" plugin_host "$clients/plugin.so" twice
for mode in one sizes threads migrate reuse stream elsewhere far foreign; do
	AUTOCAST_EMU_MODEL=h200,t4 own 2 "$learning" two_devices $mode
done
for seed in 1 2 3; do
	export AUTOCAST_EMU_JITTER=$seed
	own 17 "$learning" two_threads shared 20
	own 6 "$learning" many_streams 40
	own 17 "$learning" graphs global graphs
	unset AUTOCAST_EMU_JITTER
done
# Where the original fails, C is as it was.
for form in sgemm strided; do
	call=cublasSgemmStridedBatched
	[ $form = strided ] || call=cublasSgemm_v2
	AUTOCAST_EMU_FAIL=$call:0:13 own 1 "gemm -> fp16 tactic=cast $setting" gemm_client \
	    $form n t 64 64 70 0 0 0 1 1 0 normal 1 -
done
# Until an algorithm is chosen nothing runs next to what the program times, so that it
# chooses the same one.
export AUTOCAST_EMU_CLOCK=model
bare "$clients/lt_tune" "$work/tuned" warm=1 reps=3 uses=20 >"$work/bare"
mv "$work/tuned" "$work/tuned.bare"
rm -rf "$AUTOCAST_STATE"
under "$learning" "$clients/lt_tune" "$work/tuned" warm=1 reps=3 uses=20 >"$work/under"
same 'as TunableOp: the same file' "$work/tuned.bare" "$work/tuned"
same 'as TunableOp: the same times and results on the way to it, and after it' \
    <(sed '/winner=/s/ ns=[0-9]*//' "$work/bare") \
    <(sed '/winner=/s/ ns=[0-9]*//' "$work/under")
check 'as TunableOp: calls of the winner are measured' "$(judged | awk '$1 < 12')"
unset AUTOCAST_EMU_CLOCK
case ${SANITIZERS:-} in
'')
	own 12 "$learning" bad_scalar 1 1
	own 12 "$learning" bad_scalar 4 4
	;;
esac
# A stream that is destroyed right behind its product; the rest is memory.
under "$learning" "$clients/churn" 300 >"$work/out" 2>&1
equal 'churn 300' other=0 "$(awk '{ print $1; exit }' "$work/out")"

# ---- Convolutions: by name, FP16 is for gradients, too
convs=
for operation in fprop dgrad wgrad; do
	convs="${convs}conv.$operation -> fp16,tf32 $setting conv-workspace=advertise;"
done
has_convs=$([ ! -e "$emulator/libcudnn.so.9" ] || echo 1)
[ -n "$has_convs" ] || skip 'convolutions' 'the emulated cuDNN was not built'
# Of graphs, as they may be tuned, the first four calls of a plan are not measured;
# of none those that are recorded.
rows=$(cat <<'END'
3 convolving op=0 calls=20 bytes=2
3 convolving op=1 calls=20 nhwc=1 bytes=2
3 convolving op=2 calls=5 bytes=2
3 convolving op=3 calls=5 relu=0
2 convolving op=3 calls=2 beta=0.5 nhwc=1
3 convolving op=0 calls=5 groups=4 stride=2
3 convolving op=2 calls=5 space=3 h=6 c=8 k=8
3 convolving op=0 calls=5 alpha=2 flip=1
0 convolving op=0 calls=5 workspace=16
3 convolving op=1 calls=5 crooked=4
0 convolving op=0 calls=0 before=1 capture=1
1 convolving op=0 calls=1 capture=1
3 convolving op=0 calls=5 capture=2
3 convolving op=0 calls=5 handles=3
3 convolving op=0 calls=5 fork=2
3 convolving op=0 calls=40 threads=3
3 convolving op=0 calls=40 threads=3 shared=1
3 convolving op=0 calls=3 streams=8
3 convolving op=0 calls=5 meanwhile=1
3 convolving op=0 calls=4 leave=5
0 convolving op=0 calls=5 scale=nan
3 convolving op=0 calls=5 scale=1e30
0 convolving op=0 calls=5 scale=0
0 convolving op=0 calls=5 beta=0.5
0 convolving op=0 calls=5 alpha=0
0 convolving op=3 calls=5 alias=1 beta=0.5
15 graph_steps steps=20
0 graph_steps steps=3
15 graph_steps steps=8 capture=1 fusion=add-bias-relu
3 bad_convolutions
END
)
# A T4 has no TF32.
for model in ${has_convs:+h200 t4}; do
	export AUTOCAST_EMU_MODEL=$model
	[ $model = h200 ] || rows=$(grep -E 'bytes=|steps=20|capture=2' <<<"$rows")
	each "$convs" <<<"$rows"
	# Who asks how much memory a call needs is told what cuDNN says.
	own 3 "${convs//$setting/$setting respect-opt-out=off}" convolving math=3 n=8 \
	    bytes=1
	# What PyTorch tunes by its clock is as it was.
	AUTOCAST_EMU_CLOCK=model own 12 "$convs" graph_steps steps=20 benchmark=1
	each "* -> fp16,tf32,bf16 $setting guard=strict" <<'END'
0 convolving op=0 calls=20
0 graph_steps steps=20
END
	unset AUTOCAST_EMU_MODEL
done
[ -z "$has_convs" ] || own 9 "* -> fp16,tf32 $setting" with_products op=0

# ---- What nothing is measured of

# `*` names complex products, too.
for guard in on off strict; do
	each "* -> fp16,tf32,bf16 $setting guard=$guard" <<'END'
0 complex_products 10
END
	check '... next to which nothing runs' "$(grep cuLaunchKernel "$work/counters")"
done

# ---- With other settings

for more in guard=off guard=strict reproducible=on own=0 tactic=cast respect-opt-out=off \
    'guard=off reproducible=on'; do
	each "$learning $more" <<'END'
12 course good:3 fork good:5
9 gemm_client sgemm n t 64 64 700 0 0 0 1 1 0.5 normal 1 - repeat=40
25 lt_torch calls=8
17 crowd 0 3 10
END
done
for more in tactic=library 'guard=off tactic=library'; do
	each "$learning $more" <<'END'
6 course good:3 fork good:5
6 gemm_client sgemm n t 64 64 700 0 0 0 1 1 0.5 normal 1 - repeat=40
12 lt_torch calls=8
8 crowd 0 3 10
END
done
each "$learning workspace=1Ki" <<'END'
0 gemm_client sgemm n t 64 64 700 0 0 0 1 1 0.5 normal 1 - repeat=40
0 lt_torch calls=8
0 graphs global replay
0 crowd 0 3 10
END
AUTOCAST_EMU_MEMORY=$((60 << 20)) own 0 "$learning workspace=16Mi" gemm_client sgemm n \
    t 96 80 256 0 0 0 1 1 0 normal 1 - repeat=10 stream
AUTOCAST_EMU_FAIL=cuMemHostRegister:0:801,cuMemHostAlloc:0:801 own 0 "$learning" \
    unread sync
AUTOCAST_EMU_FAIL=cuMemHostRegister:0:801 own 8 "$learning" gemm_client sgemm n t 96 \
    80 256 0 0 0 1 1 0 normal 1 - repeat=40
AUTOCAST_EMU_FAIL=cuMemPoolCreate:0:801 own 8 "$learning" crowd 0 3 4

# ---- Each function fails once; another call of it each day

client=$clients/injected_conv
[ -e "$client" ] || client=$clients/injected
day=$((10#$(date +%j)))
products=$learning
learning="$learning;conv -> fp16,tf32 $setting"

# seen WHERE RUN...: what the program says, and its status.
seen()
{
	"${@:2}" "$client" >"$1" 2>/dev/null
	echo "exit status $?" >>"$1"
}

# injected FUNCTION CALLS OWN: it says what it says alone, or alone where one of its
# own calls fails.
injected()
{
	local n=$((1 + day % $2))
	AUTOCAST_EMU_FAIL=$1:$n seen "$work/out" under "$learning"
	cmp -s "$work/out" "$work/right" && return
	for ((own = 1; own <= $3; own++)); do
		AUTOCAST_EMU_FAIL=$1:$own seen "$work/alone" bare
		cmp -s "$work/out" "$work/alone" && return
	done
	echo "call $n: $(diff "$work/right" "$work/out" | grep -m 3 '^>' | xargs)"
}
seen "$work/right" bare
cp "$work/counters" "$work/bare-counters"
rm -rf "$AUTOCAST_STATE"
seen "$work/out" under "$learning"
same 'products by every function, and a convolution' "$work/right" "$work/out"
check '... are measured' "$(judged | awk '$1 < 40')"
cp "$work/counters" "$work/all"
while read -r function calls; do
	check "$function fails" "$(injected "$function" "$calls" \
	    "$(awk -v f="$function" '$1 == f { n = $2 } END { print n + 0 }' \
	    "$work/bare-counters")")"
done < <(grep '^cu[a-zA-Z].* [1-9]' "$work/all")
client=$clients/gemm_client
learning=$products

# ---- Which calls are measured

# each_judged CALLS: of each rung, for one site with so many.
each_judged()
{
	rm -rf "$AUTOCAST_STATE"
	under "$learning" "$client" sgemm n t 16 16 16 0 0 0 1 1 0 normal 1 - \
	    repeat="$1" >/dev/null 2>&1
	query '*(s["course"]["judged"] for s in sites)'
}
equal 'of one call' '1 1 1 1' "$(each_judged 1)"
equal 'of three calls' '3 3 3 3' "$(each_judged 3)"
# Four small casts are predicted to take as long as some 13 originals.
equal 'of 100 calls' '3 3 3 3' "$(each_judged 100)"
check 'of 2000 calls' "$(each_judged 2000 | awk '
    $1 < 4 || $1 > 2000 / 16 / 4 || $1 != $2 || $1 != $3 || $1 != $4')"

# Also if it resets the device before anybody heard of it, or leaves by _exit().
for way in reset destroy; do
	rm -rf "$AUTOCAST_STATE"
	under "$learning" "$clients/unread" $way
	equal "its end: $way" '3 3 3 3' "$(query '*(s["course"]["judged"] for s in sites)')"
done

# ---- Errors: those of products that the rung alone makes

AUTOCAST_EMU_SUMS=exact
export AUTOCAST_EMU_SUMS

# measured ARGS...: RUNG=ERROR... of three calls.
measured()
{
	rm -rf "$AUTOCAST_STATE"
	under "$learning" "$client" "$@" repeat=3 >/dev/null 2>&1
	query '*("%s=%g" % (s["rung"], s["course"]["error"]) for s in sites)'
}

# forced RUNG ARGS...: a line of the client, nothing mended.
forced()
{
	rm -rf "$AUTOCAST_STATE"
	under "gemm -> $1 profit=off guard=off" "$client" "${@:2}" reference 2>&1
}

# errors WHAT LEAST MOST ARGS...: of each rung, as a part of the true one.
errors()
{
	local found rung complaint=
	found=$(measured "${@:4}")
	for rung in $rungs; do
		complaint=$complaint$(awk -v rung="$rung" -v least="$2" -v most="$3" \
		    -v found="$(field "$found" "$rung")" \
		    -v err="$(field "$(forced "$rung" "${@:4}")" err)" 'BEGIN {
			if (!(found >= err * least && found <= err * most && err > 0))
				printf "%s: %g, not %g. ", rung, found, err
		    }')
	done
	check "errors: $1" "$complaint"
}
for data in normal uniform uniform01 weights relu softmax channels rows30 gradients1e-8 \
    loguniform loguniform-a k30 1e-30x1e30 zero-rows bf16-b batch60; do
	errors $data 0.77 1.3 sgemm n t 160 120 300 0 0 0 1 1 0 $data 1 -
done
for data in normal relu channels; do
	errors "$data, beta" 0.77 1.3 sgemm t n 160 120 300 0 0 0 1 1 0.7 $data 1 -
done
errors 'normal, long' 0.77 1.3 sgemm n n 160 120 2100 0 0 0 1 1 0 normal 1 -
errors 'normal, a batch' 0.77 1.3 strided n n 60 90 300 0 0 0 3 1 0 normal 1 -
# Errors of few numbers, or all to one side, are eight draws: doc/accuracy.md.
errors heavytail1e-6 0.77 1.5 sgemm n t 160 120 300 0 0 0 1 1 0 heavytail1e-6 1 -
errors 'uniform01, long' 0.77 1.5 sgemm n t 64 48 4096 0 0 0 1 1 0 uniform01 1 -
# Lines that the rung would have recomputed have no part in its error; calls that it
# would have, whole, are counted.
measured sgemm n t 160 120 300 0 0 0 1 1 0 rows45 1 - >/dev/null
equal 'calls that would be recomputed whole' 'bf16x3=0 fp16=3 fp16x3=3 tf32=0' "$(query \
    '*sorted("%s=%d" % (s["rung"], s["course"]["mended_calls"]) for s in sites)')"

# conv_errors WORDS...: as errors, of convolutions; those without TF32 or FP16 are
# a T4's.
conv_errors()
{
	local rung complaint='' found err policy=${convs//$setting/$setting respect-opt-out=off}
	AUTOCAST_EMU_MODEL=t4 bare "$clients/convolving" math=3 calls=1 dump=1 "$@" \
	    >"$work/bare"
	rm -rf "$AUTOCAST_STATE"
	under "$policy" "$clients/convolving" math=3 calls=3 "$@" >/dev/null
	found=$(query '*("%s=%g" % (s["rung"], s["course"]["error"]) for s in sites)')
	for rung in fp16 tf32; do
		rm -rf "$AUTOCAST_STATE"
		policy=${convs//fp16,tf32/$rung}
		under "${policy//learn=on/guard=off respect-opt-out=off}" \
		    "$clients/convolving" math=3 calls=1 dump=1 "$@" >"$work/under"
		err=$(paste "$work/bare" "$work/under" | awk '$1 == "=" {
			d += ($2 - $4) ^ 2; s += $2 ^ 2 } END { print sqrt(d / s) }')
		complaint=$complaint$(awk -v rung="$rung" -v err="$err" \
		    -v found="$(field "$found" "$rung")" 'BEGIN {
			if (!(found >= err / 1.5 && found <= err * 1.5 && err > 1e-5))
				printf "%s: %g, not %g. ", rung, found, err
		    }')
	done
	check "errors: a convolution, $*" "$complaint"
}
while read -r words; do
	[ -z "$has_convs" ] || conv_errors $words
done <<'END'
op=0
op=0 nhwc=1 stride=2 r=5
op=0 groups=4 dilation=2
op=0 cancel=1e-3
op=0 cancel=0.1
op=0 c=3 k=65 r=7 pad=3 stride=2
op=0 space=3 h=6 c=8 k=8
op=1
op=1 stride=2 nhwc=1
op=2
op=2 n=8 h=28 k=16
op=2 scale=100
op=3
op=3 relu=0 beta=0.5
END

# ---- Times: those of the rung where it serves

shrink # 3/8 of the size in each direction, by a GPU that is slower by as much
calibrate 'NVIDIA H200 (emulated)' 90 \
    fp32=2.742e12 tf32=21.25e12 fp16=41.66e12 bf16=41.66e12 \
    bandwidth=0.6047e12 launch=2.5e-6 host-launch=3e-6
cost=$build/tests/trust/cost

# took POLICY ARGS...: in microseconds.
took()
{
	find "$AUTOCAST_STATE" -name '*.stats' -delete
	under "$1" "$cost" "${@:2}" 2>/dev/null
}

# times N: of products of N^3, of each rung and of the original.
times()
{
	local n off found rung complaint=
	n=$(sized "$1")
	off=$(took off loop "$n" "$n" "$n" 100 | awk '{ print $2 / 50 }')
	took "$learning" loop "$n" "$n" "$n" 100 >/dev/null
	found=$(query '*("%s=%g keep-%s=%g" % (s["rung"], s["course"]["recast_us"],
	    s["rung"], s["course"]["keep_us"]) for s in sites)')
	for rung in $rungs; do
		complaint=$complaint$(awk -v rung="$rung" -v off="$off" \
		    -v keep="$(field "$found" "keep-$rung")" \
		    -v us="$(field "$found" "$rung")" \
		    -v served="$(took "gemm -> $rung profit=off" loop "$n" "$n" "$n" \
		    100 | awk '{ print $2 / 50 }')" 'BEGIN {
			if (!(us >= served / 1.5 && us <= served * 1.5))
				printf "%s: %g, not %g. ", rung, us, served
			if (!(keep >= off / 1.1 && keep <= off * 1.1))
				printf "%s: original %g, not %g. ", rung, keep, off
		    }')
	done
	check "times of $1^3" "$complaint"
}
if [ -n "${SANITIZERS:-}" ]; then
	skip 'times' 'minutes under a sanitizer'
	plan
	exit
fi
for n in 512 1024 2048; do
	times $n
done

# more N CALLS: how much longer so many calls take.
more()
{
	local n off
	n=$(sized "$1")
	off=$(took off loop "$n" "$n" "$n" "$2" | awk '{ print $1 }')
	took "$learning" loop "$n" "$n" "$n" "$2" | awk -v off="$off" \
	    '{ printf "%.3f\n", $1 / off }'
}
# The first three calls are measured whatever they are; four rungs of 2048^3 take as
# long as an original. Where none is predicted to come near it, nothing is.
learning=${learning/ profit=off/}
for row in '512 200' '1024 200' '1024 1000' '2048 40' '2048 200'; do
	found=$(more $row)
	check "${row#* } calls of ${row% *}^3 take at most 1.10 times as long: $found" \
	    "$(awk -v calls="$(judged)" -v size="${row% *}" '!($1 <= 1.1) ||
	        (size > 512 ? !($1 > 1 && calls >= 3) : calls) { print; print calls }' \
	    <<<"$found")"
done

# conv_took POLICY WORDS...: so many microseconds are all of a T4's calls.
conv_took()
{
	find "$AUTOCAST_STATE" -name '*.stats' -delete
	AUTOCAST_EMU_MODEL=t4 under "$1" "$clients/convolving" took=1 "${@:2}" 2>/dev/null
}
unset AUTOCAST_EMU_RATES
convs=${convs// profit=off/}
for op in ${has_convs:+0 2}; do
	words="op=$op n=3 h=28 calls=100"
	off=$(conv_took off $words)
	served=$(conv_took "${convs//learn=on/profit=off guard=off}" $words)
	found=$(conv_took "$convs" $words)
	check "convolutions, $words: at most 1.10 times as long" "$(awk -v off="$off" \
	    -v found="$found" 'BEGIN {
		if (!(found > off && found <= 1.1 * off))
			print found, "instead of", off }')"
	check "convolutions, $words: times" "$(query '*(s["course"][t] for s in sites
	    for t in ("keep_us", "recast_us"))' | awk -v off="$off" -v served="$served" '
	    !($1 >= off / 110 && $1 <= off / 90 && $2 >= served / 150 &&
	        $2 <= served / 75) { print $0, off / 100, served / 100 }')"
done
plan
