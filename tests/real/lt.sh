#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Descriptors of NVIDIA's own cublasLt, which need no GPU: every attribute is
# read right, from those on the stack, short ones and long ones; where the
# attributes are stored is proven; and what is known of a call is what the
# library says of it, whatever was changed. LT_LIBRARIES: further ones to try.
. "$(dirname "$0")/real.sh"
need libcublasLt

for file in "$cuda_lib/$(soname libcublasLt)" ${LT_LIBRARIES:-}; do
	for name in test_lt_content test_lt_known_calls; do
		program=$build/tests/unit/shim/$name
		if [ ! -x "$program" ]; then
			skip "$name" 'it is not built'
			continue
		fi
		LT_LIBRARY=$file alone "$program" >"$work/out" 2>&1
		equal "$name: it ends" 0 $?
		grep '^# ' "$work/out"
		check "$name: on $file" "$(grep -E '^\[  (FAILED|ERROR|SKIP)|^not ok' \
		    "$work/out")"
		check "control: it was this library" \
		    "$(grep -q '^# cublasLt [0-9]' "$work/out" || echo no)"
	done
done

# Nothing of a descriptor is read that nobody wrote, or that is not its own. The
# loader has findings of its own.
program=$build/tests/unit/shim/test_lt_known_calls
if [ -x "$program" ] && command -v valgrind >/dev/null; then
	LT_ROUNDS=200 LT_LIBRARY=$cuda_lib/$(soname libcublasLt) alone \
	    valgrind -q --vgdb=no "$program" >"$work/out" 2>&1
	equal 'under valgrind: it ends' 0 $?
	check 'valgrind finds nothing' \
	    "$(grep -E '\((content|library|known_calls|proof|test_lt_known_calls)\.c:' \
	        "$work/out")"
else
	skip 'valgrind finds nothing' 'it or the test is not there'
fi

# Why descriptors are compared by masks (doc/decisions.md): whole ones differ by
# what was in memory before.
${CC:-cc} -isystem "$cuda_include" -o "$work/unwritten" "$here/unwritten.c" \
    "$cuda_lib/$(soname libcublasLt)" -Wl,-rpath-link,"$cuda_lib" ||
    exit 99
left=$(alone "$work/unwritten")
echo "# bytes of a descriptor that its Init leaves as they were: $left"
check 'a descriptor has bytes that nobody writes' \
    "$([ "${left%% *}" -gt 0 ] || echo "$left")"
plan
