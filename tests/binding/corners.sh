#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T14, T15, T22, T26, T37: signals, constructors, weak references, the library
# opened late, and namespaces that a preload is not in.
. "$(dirname "$0")/binding.sh"
cublas_stubs
thirteen=$work/13/libcublas.so.13
compile host "$here/host.c" -ldl

compile jump "$here/jump.c" "$thirteen"
if [ -n "$sanitizer" ]; then
	skip 'T14: siglongjmp() out of a call' \
	    'the sanitizer knows nothing of the frames that were left'
else
	alike 'T14: siglongjmp() out of a call' 2 "$work/jump"
	equal 'T14: it was left, and the next one is a call like any other' \
	    'jumped out after it 1300' "$(grep -v : "$work/bound" |
	    grep -v '^status' | xargs)"
fi

# The thread of a constructor runs while the loader holds its lock: who waits
# for that, waits for ever.
limit=20
compile at_load.so -shared -fPIC -pthread -DAT_LOAD "$here/plugin.c" "$thirteen"
compile linked_at_load -pthread -DAT_LOAD "$here/plugin.c" "$here/linked.c" \
    "$thirteen"
for mode in now lazy; do
	alike "T15: a thread in a constructor, dlopen $mode" 2 \
	    "$work/host" $mode "$work/at_load.so" multiply
done
alike 'T15: a thread in the program'\''s constructor' 3 \
    "$work/linked_at_load" 2
equal 'T15: it multiplied' 1 "$(grep -c '^at load 1300' "$work/bound")"

limit=60
# Defined by the preload, as everywhere it is loaded; there is nothing behind.
compile weak "$here/weak.c"
LD_LIBRARY_PATH=$paths "$work/weak" >"$work/alone"
equal 'T22: without the library the names are not there' '0 ' \
    "$? $(cat "$work/alone")"
says 'T22: no provider: not initialised' \
    'create 1 product 1 lt 1 cudnn 1001' off "$work/weak"
says 'T22: nor under a policy that recasts' \
    'create 1 product 1 lt 1 cudnn 1001' fp16 "$work/weak"

compile plugin.so -shared -fPIC "$here/plugin.c" "$thirteen"
compile late "$here/late.c" -ldl
if [ -n "${SANITIZERS:-}" ]; then
	skip 'T26: opened by a running program' \
	    'a sanitizer must be there from the start'
else
	# late SCOPE CALLS
	late()
	{
		rm -rf "$AUTOCAST_STATE"
		LD_LIBRARY_PATH=$paths AUTOCAST_POLICY=off "$work/late" "$1" \
		    "$library" "$work/plugin.so" >"$work/bound" 2>&1
		equal "T26: opened $1 by a running program" \
		    '0 libcublas.so.13: cublasSgemm_v2 plugin 1300 libcublas.so.13: cublasSgemm_v2 entry 1300' \
		    "$? $(xargs <"$work/bound")"
		equal "T26: opened $1, each call counted at most once" "$2" "$(counted)"
	}
	late local 1
	late global 2
	late last 1
fi

if [ -n "$sanitizer" ]; then
	skip 'T37: another namespace' 'a sanitizer cannot be there twice'
else
	alike 'T37: another namespace: runs, and is missed' 0 "$work/host" \
	    namespace "$work/plugin.so" multiply multiply_by_data
	equal 'T37: it did multiply' 2 \
	    "$(grep -c '^libcublas.so.13: cublasSgemm_v2' "$work/bound")"
fi
plan
