#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each call of NVIDIA's that a program, or we for it, make fails once: what the
# program sees, statuses and results, is what it sees without us, or what it sees
# without us where a call of its own fails. `make injected` has each call of each
# function fail under each policy; by default one of each function does, under one
# of the policies, and another one each day.
. "$(dirname "$0")/preload.sh"
need_emulator
client=$clients/injected_conv
[ -e "$client" ] || client=$clients/injected
AUTOCAST_EMU_COUNTERS=$work/counters
export AUTOCAST_EMU_COUNTERS
mkdir "$work/own"
day=$((10#$(date +%j)))
# Of a function with more calls than that, as many fail, evenly spread.
most=1
[ "${INJECTED:-}" != all ] || most=200

# seen WHERE RUN...: what the program says, and its status.
seen()
{
	"${@:2}" "$client" >"$1" 2>/dev/null
	echo "exit status $?" >>"$1"
}

# own FUNCTION: what the program says without us where that fails, once for each
# of its calls.
own()
{
	local n calls
	calls=$(sed -n "s/^$1 //p" "$work/bare-counters")
	for ((n = 1; n <= ${calls:-0}; n++)); do
		[ -e "$work/own/$1.$n" ] ||
		    AUTOCAST_EMU_FAIL=$1:$n seen "$work/own/$1.$n" bare
		echo "$work/own/$1.$n"
	done
}

# Once a product is queued that adds to what C held, there is no way back
# (doc/limits.md).
queued=' cuLaunchKernel cublasGemmEx '

# judge FUNCTION N: complains about $work/out.
judge()
{
	local file
	cmp -s "$work/out" "$work/right" && return
	for file in $(own "$1"); do
		cmp -s "$work/out" "$file" && return
	done
	diff "$work/right" "$work/out" | grep '^>' >"$work/other"
	if [[ $queued = *" $1 "* ]]; then
		grep -qv '^> sgemm-adds [0-9]: status 1[34]$' "$work/other" ||
		    return
	fi
	echo "call $2: $(tr '\n' ' ' <"$work/other")"
}

# fail POLICY FUNCTION CALLS: complaints.
fail()
{
	local n step=$((($3 + most - 1) / most))
	for ((n = 1 + day % step; n <= $3; n += step)); do
		AUTOCAST_EMU_FAIL=$2:$n seen "$work/out" under "$1"
		judge "$2" "$n"
	done
}

# inject NAME LEAST POLICY: at least so many calls are recast.
policies=0
inject()
{
	local function calls number=0
	policies=$((policies + 1))
	seen "$work/out" under "$3"
	same "$1: it says what it says without us" "$work/right" "$work/out"
	check "$1: calls are recast" "$([ "$(total totals.recast_calls)" -ge "$2" ] ||
	    total totals.recast_calls)"
	cp "$work/counters" "$work/all"
	while read -r function calls; do
		number=$((number + 1))
		if [ $most = 1 ] && [ $(((number + day + policies) % 6)) != 0 ]
		then
			continue
		fi
		check "$1: $function fails" "$(fail "$3" "$function" "$calls")"
	done < <(grep '^cu[a-zA-Z].* [1-9]' "$work/all")
}

seen "$work/right" bare
cp "$work/counters" "$work/bare-counters"
check 'without us all is right' "$(grep -v ': status 0, right$' "$work/right" |
    grep -vx 'exit status 0')"
inject default 0 amp
inject fp16 10 'gemm -> fp16 profit=off guard=on; conv -> fp16 profit=off'
inject fp16-unguarded 25 \
    'gemm -> fp16 profit=off guard=off; conv -> fp16 profit=off guard=off'
inject tf32-unguarded 15 \
    'gemm -> tf32 profit=off guard=off; conv -> tf32 profit=off guard=off'
inject strict 5 'gemm -> fp16 profit=off guard=strict'
plan
