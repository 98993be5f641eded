#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T17: a program of CUDA 13 with a plugin of CUDA 12, both emulated: each call
# goes to its own cuBLAS, recast or not, and the policy can tell them apart.
. "$(dirname "$0")/preload.sh"
need_emulator
plugin=$clients/plugin_12.so

for policy in off tf32 fp16; do
	for how in stays again; do
		rm -rf "$AUTOCAST_STATE"
		out=$(under $policy "$clients/two_toolkits" "$plugin" $how 2>&1)
		equal "T17: $how, $policy" \
		    "0 $([ $policy = off ] && echo 0 || echo 9) of 9" \
		    "$? $(total totals.recast_calls) of $(total totals.calls)${out##two_toolkits*}"
	done
done
for how in stays again; do
	bare "$clients/two_toolkits" "$plugin" $how >"$work/bare" 2>&1
	under off "$clients/two_toolkits" "$plugin" $how >"$work/under" 2>&1
	same "T17: $how, the same bits under off" "$work/bare" "$work/under"
done

# recast RULES: recast calls of the program (m = 64) and of the plugin (m = 80).
recast()
{
	rm -rf "$AUTOCAST_STATE"
	under "$1" "$clients/two_toolkits" "$plugin" >/dev/null 2>&1
	query '*(sum(s["recast_calls"] for s in sites if s["m"] == m) for m in (64, 80))'
}
equal 'T17: a rule for 12 alone' '0 6' \
    "$(recast 'gemm lib=cublas-12* -> fp16 profit=off guard=off; otherwise off')"
equal 'T17: a rule for 13 alone' '3 0' \
    "$(recast 'gemm lib=cublas-13* -> fp16 profit=off guard=off; otherwise off')"

# The same by cublasLt 13 and 12. Of each the first four calls are kept; none is
# again when the plugin comes back, wherever its libraries are mapped then. Where
# the loader maps the plugin itself elsewhere, its calls are new ones.
lt=$clients/two_toolkits_lt
if [ ! -e "$lt" ]; then
	skip 'by cublasLt' 'the program was not built'
	plan
	exit
fi
plugin=$clients/plugin_lt_12.so
lt()
{
	rm -rf "$AUTOCAST_STATE"
	out=$(under "$1" "$lt" "$plugin" "${2:-stays}" 2>&1)
	status=$?
	equal "T17, cublasLt: ${2:-stays}, $1" "0 two_toolkits" "$status ${out%% *}"
}
native=$(bare "$lt" "$plugin" stays)
for policy in off tf32 fp16; do
	lt $policy
	equal "... recast" "$([ $policy = off ] && echo 0 || echo 9) of 17" \
	    "$(total totals.recast_calls) of $(total totals.calls)"
	[ $policy = off ] || check '... and not the same bits' \
	    "$([ "$out" != "$native" ] || echo "$out")"
	lt $policy again
	[ $policy != off ] || equal '... the bits' "$native" "$out"
	lt $policy moved
	equal "... as before" "$([ $policy = off ] && echo 0 ||
	    echo $((17 - 4 * ${out##* }))) of 25" \
	    "$(total totals.recast_calls) of $(total totals.calls)"
done
for version in 12 13; do
	lt "gemm lib=cublas*-$version* -> fp16 profit=off guard=off; otherwise off"
	equal '... a rule for it alone' \
	    "$([ $version = 12 ] && echo '0 6' || echo '3 0')" "$(query \
	    '*(sum(s["recast_calls"] for s in sites if s["m"] == m) for m in (64, 80))')"
done
plan
