#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# steps.sh SECTION STEP -- one step: rows on stdout, the rest on stderr. Run by
# `run` under a limit, with what it measures built and these set:
#   DAY_ROOT      the source           DAY_BUILD  libautocast.so, autocast, tests
#   DAY_PROGRAMS  the measuring ones   DAY_WORK   a folder for what is left over
#   DAY_QUICK     -q, or nothing       DAY_LIMIT  seconds
#   DAY_LIBRARIES for LD_LIBRARY_PATH          DAY_OUT  the results
#   DAY_CLIENTS   programs of tests/preload    DAY_KEPT has reports/, calibration/
# A row is on stdout as soon as it is known: the limit may strike at any time.
set -u
step=$1.$2
. "$DAY_ROOT/bench/gpu-day/clients.sh"
. "$DAY_ROOT/bench/gpu-day/tools.sh"

# Of the limit, what a program may plan with.
budget=$((DAY_LIMIT * 9 / 10))

# measure PROGRAM ARGS...
measure()
{
	program=$1
	shift
	# shellcheck disable=SC2086
	LD_LIBRARY_PATH=$DAY_LIBRARIES "$DAY_PROGRAMS/$program" $DAY_QUICK \
	    -b "$budget" "$@"
}

# ours POLICY LABEL PROGRAM ARGS...: with the library preloaded. A site's first
# calls are its probation (shim/trial/trial.h), unless a rung is forced: they are left
# out of the times.
ours()
{
	warm=8 with=$1 label=$2 program=$3
	shift 3
	# 64 calls of probation, 80 more where two candidates are close.
	[ "$with" != amp ] || [ -n "$DAY_QUICK" ] || warm=160
	# shellcheck disable=SC2086
	LD_LIBRARY_PATH=$DAY_LIBRARIES preloaded "$with" "$label" \
	    "$DAY_PROGRAMS/$program" $DAY_QUICK -b "$budget" -w $warm "$@"
}

# preloaded POLICY LABEL COMMAND...: and what the library says of it afterwards.
preloaded()
{
	policy=$1 label=$2
	shift 2
	state=$DAY_WORK/state.$$
	LD_PRELOAD=$DAY_BUILD/libautocast.so AUTOCAST_POLICY=$policy \
	    AUTOCAST_NOTICE=off AUTOCAST_STATE=$state "$@"
	status=$?
	share=$(AUTOCAST_STATE=$state "$DAY_BUILD/autocast" report --json |
	    sed -n 's/.*"recast_share": *\([0-9.e+-]*\).*/\1/p' | head -n 1)
	printf 'row=recast\tway=%s\tshare=%s\n' "$label" "${share:-unknown}"
	sites "$label"
	AUTOCAST_STATE=$state "$DAY_BUILD/autocast" report \
	    >"$DAY_KEPT/reports/$step.$label" 2>&1
	rm -rf "$state"
	return $status
}

# sites LABEL: what became of each convolution of the last run.
sites()
{
	AUTOCAST_STATE=$state "$DAY_BUILD/autocast" report --json |
	    awk -v way="$1" '
	/^  "sites"/ { inside = 1 }
	inside && match($0, /^      "[a-z_]*": /) {
		name = substr($0, 8, RLENGTH - 10)
		value[name] = substr($0, RLENGTH + 1)
		gsub(/[",]/, "", value[name])
	}
	/^      "recast_calls"/ && value["operation"] ~ /^conv/ {
		printf "row=site\tway=%s\tsymbol=%s\toperation=%s\tshape=%s\trung=%s\treason=%s\tcalls=%s\trecast_calls=%s\n",
		    way, value["symbol"], value["operation"], value["shape"],
		    value["rung"], value["reason"], value["calls"],
		    value["recast_calls"]
	}'
}

# What cuDNN converts by itself, wherever it can.
down='conv.fprop,conv.dgrad,conv.wgrad -> fp16 profit=off guard=off'

# has_dnn ID...: whether there is the program; else these are not answered.
has_dnn()
{
	[ ! -x "$DAY_PROGRAMS/conv" ] || return 0
	for id; do
		printf 'row=item\tid=%s\tpart=-\tverdict=not measured\tnote=%s\n' \
		    "$id" 'no cuDNN headers'
	done
	return 1
}

# tap NAME COMMAND...: what it prints in TAP, as rows, line by line: no awk, whose
# input may be buffered.
tap()
{
	name=$1
	shift
	{
		LD_LIBRARY_PATH=$DAY_LIBRARIES "$@" 2>&1
		echo "exit status $?"
	} | while IFS= read -r line; do
		printf '%s\n' "$line" >&2
		case $line in
		'1..0'*) say skip "${line#*SKIP }" ;;
		'not ok'*) say FAIL "${line#*- }" ;;
		'ok '*'# SKIP'*) say skip "${line#*- }" ;;
		'ok '*) say pass "${line#*- }" ;;
		'Bail out'*) say FAIL "$line" ;;
		'exit status 0' | 'exit status 77') ;;
		'exit status '*) say FAIL "$line"; exit 1 ;;
		esac
	done
}

# say RESULT CASE
say()
{
	printf 'row=test\ttest=%s\tresult=%s\tcase=%s\n' "$name" "$1" \
	    "$(printf %s "$2" | tr '\t' ' ')"
}

# value NAME VALUE UNIT NOTE
value()
{
	printf 'row=value\tname=%s\tvalue=%s\tunit=%s\tnote=%s\n' "$@"
}

# Our kernels, compiled by the driver, then from its cache, which is empty at first
# (one that is disabled would not keep them). Without them there is nothing to
# measure: the reason is the visit's last word.
first_load()
{
	CUDA_CACHE_PATH=$DAY_WORK/cache
	export CUDA_CACHE_PATH
	mkdir -p "$CUDA_CACHE_PATH"
	AUTOCAST_LOG=info measure kernels load \
	    compiled 2>"$DAY_WORK/said"
	status=$?
	cat "$DAY_WORK/said" >&2
	if [ $status != 0 ]; then
		printf 'row=stop\treason=%s\n' "$({ sed -n 's/^autocast: //p' \
		    "$DAY_WORK/said"; tail -n 1 "$DAY_WORK/said"
		    echo "kernels load: exit status $status"; } | sed 1q |
		    tr '\t' ' ')"
		return 3
	fi
	measure kernels load 'from the cache'
}

# A run that counts exponents ends well, and counts them.
first_ranges()
{
	name=ranges
	AUTOCAST_STATE=$DAY_WORK/ranges
	export AUTOCAST_STATE
	AUTOCAST_NOTICE=off LD_LIBRARY_PATH=$DAY_LIBRARIES \
	    "$DAY_BUILD/autocast" run --ranges --policy fp16 -- \
	    "$DAY_PROGRAMS/gemm" $DAY_QUICK -e 256 >&2
	status=$?
	"$DAY_BUILD/autocast" report --ranges >"$DAY_KEPT/reports/$step" 2>&1
	if [ $status = 0 ]; then
		say pass 'a run with --ranges ends well'
	else
		say FAIL "a run with --ranges: exit status $status"
		return 1
	fi
}

# What the sweep's rounds have in common; errors are taken once.
all_sets='square tn nt gpt2 gpt2-gradients gpt2-bias gpt2-gelu 7b 7b-bias 7b-gelu attention-qk attention-pv odd skinny strided array huge'
# Whose time is the host's, in turns: it varies most.
small='64 96 127 128 192 256 384 512'
largest=8192
[ -z "$DAY_QUICK" ] || largest=256
errors=
case $2 in *-1) errors=-e ;; esac

# shellcheck disable=SC2086
case $1.$2 in
first.load) first_load ;;
first.cast) measure kernels cast ;;
first.product)
	measure gemm -W native,tf32,pure16,pure16-device -e $largest linear
	ours fp16 ours-fp16 gemm -l ours-fp16 -e $largest linear ;;
first.epilogues) measure epilogues ;;
first.host)
	measure calls host native
	ours 'gemm -> fp16 profit=off guard=off' recast calls host recast
	measure calls handle ;;
first.ranges) first_ranges ;;
first.clients) clients '^f' ;;
clients.run) clients '^-' ;;

python.torch)
	python torch products alone amp fp16 torch-autocast torch-tf32 tf32 off ;;
python.layers) python torch layers alone amp fp16 torch-autocast torch-tf32 off ;;
python.gpt2) python torch gpt2 alone amp torch-autocast torch-tf32 fp16 ;;
python.cupy) python cupy products alone amp fp16 off ;;
python.jax) python jax products alone amp fp16 off ;;

profile.counters) counters ;;
profile.*) sanitized "$2" ;;

tests.verified) tap verified "$DAY_PROGRAMS/verified_gpu" $DAY_QUICK ;;
tests.scaler) tap scaler "$DAY_PROGRAMS/scaler_gpu" $DAY_QUICK ;;
tests.smoke) tap smoke env builddir="$DAY_BUILD" sh "$DAY_ROOT/tests/gpu/smoke.sh" $DAY_QUICK ;;
tests.numerics) tap numerics env builddir="$DAY_BUILD" sh "$DAY_ROOT/tests/gpu/numerics.sh" $DAY_QUICK ;;

questions.accumulate) measure numbers accumulate ;;
questions.rounding) measure numbers rounding ;;
questions.ranges) measure numbers ranges ;;
questions.override)
	measure numbers override
	NVIDIA_TF32_OVERRIDE=1 measure numbers override ;;
questions.rates) measure gemm -W native,tf32,pure16 rates ;;
questions.launch) measure kernels launch ;;
questions.chunks) measure chains chunks ;;
questions.split) measure chains split ;;
questions.odd) measure chains odd ;;
questions.fast16)
	measure gemm -W tf32,fast16f,fast16bf,pure16 -e 128 2048 4096 8192
	ours fp16 ours-fp16 gemm -l ours-fp16 -e 128 2048 4096 8192 ;;
questions.crossover)
	measure gemm -W native,tf32 crossover
	ours fp16 ours-fp16 gemm -l ours-fp16 crossover ;;
questions.splitk) measure lt ;;
questions.conv) ! has_dnn n7 a5 || measure conv questions ;;
questions.wheels) wheels ;;

sweep.plain-1)
	measure gemm -W native,tf32,fast16f,pure16,pure16-device $errors \
	    $all_sets ;;
sweep.plain-*) measure gemm $all_sets ;;
sweep.small)
	for _ in 1 2 3 4; do
		measure gemm $small
		ours amp ours-amp gemm -l ours-amp $small
	done ;;
sweep.parts)
	for rung in fp16x2 fp16x3 bf16x3 bf16x6; do
		short=
		[ $rung != fp16x2 ] || short=-s
		ours "gemm -> $rung profit=off" "ours-$rung" gemm \
		    -l "ours-$rung" $short -e 2048 4096 $largest huge || exit
	done ;;
sweep.override-*)
	NVIDIA_TF32_OVERRIDE=1 measure gemm -l override $errors $all_sets ;;
sweep.*-*) ours "${2%-*}" "ours-${2%-*}" gemm -l "ours-${2%-*}" $errors \
	$all_sets ;;

conv.device) ! has_dnn c5 || measure conv -o "$DAY_OUT/device.json" device ;;
conv.probe) ! has_dnn c1 c2 c3 || measure conv probe ;;
conv.probe-down) ! has_dnn || ours "$down" down conv -l down probe ;;
conv.probe-amp) ! has_dnn || ours amp ours-amp conv -l ours-amp probe ;;
conv.layers-plain-1) ! has_dnn c4 || measure conv -a -g -e layers ;;
conv.layers-plain-2) ! has_dnn || measure conv -a -g layers ;;
conv.layers-plain-*) ! has_dnn || measure conv -g layers ;;
conv.layers-down-*)
	! has_dnn || ours "$down" down conv -g -l down $errors layers ;;
conv.layers-*)
	way=${2#layers-}
	way=${way%-*}
	! has_dnn || ours "$way" "ours-$way" conv -l "ours-$way" $errors layers ;;

overhead.cast) measure kernels casts ;;
overhead.calibrate) calibrate ;;
overhead.check) measure kernels check ;;
overhead.calls)
	for _ in 1 2 3; do
		measure calls native
		ours off ours-off calls ours-off
		ours 'gemm -> keep' ours-keep calls ours-keep
	done ;;
*)
	echo "steps.sh: no step $1 $2" >&2
	exit 2 ;;
esac
