# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# clients.sh -- sourced by steps.sh: programs that know nothing of this day, and
# users' packages.

# attempt COMMAND...: output in files; $status, 124 if it did not end in time.
attempt()
{
	timeout --foreground -k 2 "$patience" "$@" >"$files.out" 2>"$files.err"
	status=$?
	[ $status != 137 ] || status=124
}

# client PROGRAM WORDS...: alone, under off, under amp; what it expects must hold
# in each, which its exit status says.
client()
{
	words=$*
	if [ ! -x "$DAY_CLIENTS/$1" ]; then
		say skip "$words: not built"
		return
	fi
	program=$DAY_CLIENTS/$1
	# shellcheck disable=SC2046
	set -- $(echo "$*" | sed "s|@|$DAY_CLIENTS|g")
	shift
	AUTOCAST_STATE=$files.state
	AUTOCAST_NOTICE=off
	# With it cuBLAS promises equal bits on several streams, too.
	CUBLAS_WORKSPACE_CONFIG=:4096:8
	export AUTOCAST_STATE AUTOCAST_NOTICE CUBLAS_WORKSPACE_CONFIG
	LD_LIBRARY_PATH=$DAY_LIBRARIES
	export LD_LIBRARY_PATH
	begun=$(date +%s)
	attempt "$program" "$@"
	seconds=$(($(date +%s) - begun))
	if [ $status != 0 ]; then
		say skip "$words: alone, exit status $status: $(
		    tail -n 1 "$files.err")"
		return
	fi
	for policy in off amp; do
		attempt "$DAY_BUILD/autocast" run --policy $policy -- \
		    "$program" "$@"
		if [ $status = 0 ]; then
			say pass "$policy: $words"
		else
			judge "$program" "$@"
		fi
	done
}

# judge PROGRAM WORDS...: it was well alone, and is not with us. That is ours,
# unless there was too little time, or it is not always well alone, either: cuBLAS
# promises equal bits to one stream only.
judge()
{
	ours=$status
	cp "$files.err" "$files.said"
	if [ $ours = 124 ] && [ "$patience" -lt $((5 * (seconds + 1))) ]; then
		say skip "$policy: $words: not in $patience s; alone, $seconds s"
		return
	fi
	for turn in 2 3 4; do
		attempt "$@"
		[ $status = 0 ] || {
			say skip "$policy: $words: alone, too, exit status $status the $turn. time: $(
			    tail -n 1 "$files.err")"
			return
		}
	done
	say FAIL "$policy: $words: exit status $ours, alone 0"
	{
		echo "$policy: $words"
		head -c 4000 "$files.said"
	} >&2
	echo "$words" >>"$DAY_WORK/failed"
}

# clients PATTERN: the lines of clients.txt that it fits, several at a time.
clients()
{
	name=clients patience=$((DAY_LIMIT / 2)) most=20
	[ -z "$DAY_EMULATED" ] || most=60 # a CPU may have more to do
	[ "$patience" -lt $most ] || patience=$most
	at_a_time=$(getconf _NPROCESSORS_ONLN)
	[ "$at_a_time" -lt 8 ] || at_a_time=8
	for worker in $(seq "$at_a_time"); do
		grep "$1" "$DAY_ROOT/bench/gpu-day/clients.txt" |
		    awk -v n="$at_a_time" -v i="$worker" 'NR % n == i % n' |
		    while read -r _ words; do
			files=$DAY_WORK/client.$worker
			rm -rf "$files".*
			# shellcheck disable=SC2086
			client $words </dev/null
		done &
	done
	wait
	[ ! -s "$DAY_WORK/failed" ]
}

# python PACKAGE WORK WAY...: ours are policies; what matters most comes first.
python()
{
	package=$1 work=$2
	shift 2
	export XLA_PYTHON_CLIENT_PREALLOCATE=false PYTHONUNBUFFERED=1 \
	    PYTHONDONTWRITEBYTECODE=1
	command -v python3 >/dev/null && python3 -c "import $package" >&2 || {
		value "$package" 'not measured' '' 'not installed, or it does not start'
		return
	}
	failed=0
	for way; do
		# shellcheck disable=SC2086
		set -- python3 "$DAY_ROOT/bench/gpu-day/clients.py" $DAY_QUICK \
		    "$package" "$work"
		case $way in
		alone | torch-*) timeout --foreground -k 2 30 "$@" "$way" 10 || failed=1 ;;
		*) preloaded "$way" "$package-$way" timeout --foreground -k 2 30 "$@" \
			"ours-$way" 10 || failed=1 ;;
		esac
	done
	return $failed
}

wheel()
{
	python3 -c "import $1" 2>/dev/null || {
		printf 'row=item\tid=a6\tpart=%s\tverdict=not measured\tnote=%s\n' \
		    "$1" 'not installed'
		return
	}
	state=$DAY_WORK/state.$1
	LD_PRELOAD=$DAY_BUILD/libautocast.so AUTOCAST_POLICY=off \
	    AUTOCAST_NOTICE=off AUTOCAST_STATE=$state python3 -c "$2" >&2
	status=$?
	calls=$(AUTOCAST_STATE=$state "$DAY_BUILD/autocast" report --json |
	    sed -n 's/.*"calls": *\([0-9]*\).*/\1/p' | head -n 1)
	verdict=reached
	[ "${calls:-0}" -gt 0 ] || verdict='not reached'
	printf 'row=item\tid=a6\tpart=%s\tvalue=%s\tunit=calls\tverdict=%s\tnote=exit status %s\n' \
	    "$1" "${calls:-0}" "$verdict" $status
	rm -rf "$state"
}

wheels()
{
	if [ -n "$DAY_EMULATED" ]; then
		printf 'row=item\tid=a6\tpart=-\tverdict=not measured\tnote=%s\n' \
		    'Python packages need a GPU'
		return
	fi
	wheel torch 'import torch
a = torch.ones(512, 512, device="cuda"); (a @ a).sum().item()'
	wheel cupy 'import cupy
a = cupy.ones((512, 512), dtype="float32"); float((a @ a).sum())'
	wheel jax 'import jax
jax.config.update("jax_default_matmul_precision", "highest")
a = jax.numpy.ones((512, 512)); (a @ a).sum().block_until_ready()'
	wheel tensorflow 'import tensorflow as t
a = t.ones((512, 512)); float(t.reduce_sum(a @ a))'
}
