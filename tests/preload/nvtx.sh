#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranges of NVTX: where a profiler asks for them each recast call is one, which has
# its rung and its site in its name; what is kept has none. Without a profiler
# nothing is loaded, and one that is no good changes nothing.
. "$(dirname "$0")/preload.sh"
need_emulator
command -v python3 >/dev/null 2>&1 || skip_all 'no python3'
tool=$clients/nvtx_tool.so
[ -e "$tool" ] || skip_all 'no nvtx_tool.so'
every='gemm -> fp16 profit=off'
export NVTX_TOOL_OUT=$work/ranges

# ranged POLICY PROGRAM ARGS...: what it says goes to $work/under.
ranged()
{
	rm -rf "$AUTOCAST_STATE" "$work/ranges"
	NVTX_INJECTION64_PATH=${injected-$tool} under "$1" "$clients/$2" "${@:3}" \
	    >"$work/under" 2>"$work/err"
	touch "$work/ranges"
}

# as_counted RUNG: ranges of each site are as many as calls that were recast.
as_counted()
{
	query '*sorted("%d %s site=%s" % (s["recast_calls"], s["rung"], s["id"])
	    for s in sites if s["recast_calls"])' | xargs -n 3 | sort >"$work/counted"
	sed -n 's/.*push autocast //p' "$work/ranges" | sort | uniq -c |
	    xargs -n 3 | sort | diff - "$work/counted"
	awk '$2 == "push" { n++ } $2 == "pop" { n-- } /broken/ { print }
	    END { if (n) print n " do not end" }' "$work/ranges"
}

# each LEAST POLICY PROGRAM ARGS...
each()
{
	ranged "${@:2}"
	check "${*:3}" "$(as_counted)$(awk -v least="$1" '$2 == "push" { n++ }
	    END { if (n < least) print n + 0 " ranges" }' "$work/ranges")"
}
each 7 "$every" gemm_client sgemm n t 64 48 32 0 0 0 1 1 0 normal 1 - repeat=10
each 10 'gemm -> tf32 profit=off guard=off' gemm_client strided n t 64 48 32 0 0 0 3 1 \
    0 normal 1 - repeat=10
each 10 'gemm -> bf16x3 profit=off own=0' gemm_client batched n t 64 48 32 0 0 0 3 1 0 \
    normal 1 - repeat=10
each 1 "$every" lt_torch calls=8
each 4 "$every" graphs global replay
if [ -e "$emulator/libcudnn.so.9" ]; then
	each 5 'conv -> fp16 profit=off' convolving op=0 calls=20
else
	skip 'convolutions' 'the emulated cuDNN was not built'
fi
# Threads may find no room for a cast: such a call had its range.
ranged "$every" two_threads own 40
check 'two threads' "$(awk '$2 == "push" { n++; m += $1 == 0 } $2 == "pop" { n-- }
    END { if (n || m < 40) print n, m }' "$work/ranges")"
ranged off gemm_client sgemm n t 64 48 32 0 0 0 1 1 0 normal 1 -
equal 'nothing is loaded where nothing is recast' '' "$(cat "$work/ranges")"

# same_without WHAT: the program says what it says without a profiler, and nothing
# is complained of.
product=(gemm_client sgemm n t 64 48 32 0 0 0 1 1 0 normal 1 - repeat=10)
injected='' ranged "$every" "${product[@]}"
cp "$work/under" "$work/alone"
cp "$work/err" "$work/alone.err"
same_without()
{
	same "$1" "$work/alone" "$work/under"
	same "$1: nothing is said" "$work/alone.err" "$work/err"
	equal "$1: recast as before" 7 "$(query 'sites[0]["recast_calls"]')"
}
ranged "$every" "${product[@]}"
same_without 'a profiler'
NVTX_TOOL_REFUSES=1 ranged "$every" "${product[@]}"
same_without 'one that refuses'
equal 'it is asked once' '0 loaded' "$(cat "$work/ranges")"
injected=$work/none.so ranged "$every" "${product[@]}"
same_without 'one that is not there'
injected=$emulator/libcuda.so.1 ranged "$every" "${product[@]}"
same_without 'a library that is none'
plan
