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
plan
