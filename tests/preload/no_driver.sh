#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T39: what a cast needs of the driver is not there: no libcuda.so.1 at all, one
# that refuses every call (as the stub of NVIDIA's toolkit does), one that does
# not take the kernels or cannot launch them. The program gets its FP32 result
# and the report says why nothing was recast.
. "$(dirname "$0")/preload.sh"
[ -n "${CUDA_CPPFLAGS:-}" ] || [ "${HAVE_CUDA:-}" = yes ] || skip_all 'no CUDA headers'

# A libcublas that returns at once, and a libcuda that refuses.
here=$root/tests/preload/stub
read -ra flags <<<"${CUDA_CPPFLAGS:-}"
mkdir "$work/none" "$work/stub"
${CC:-cc} "${flags[@]}" -O1 -shared -fPIC -fvisibility=hidden \
    -Wl,-soname,libcublas.so.13 -Wl,--version-script="$here/stub.map" \
    -o "$work/none/libcublas.so.13" "$here/stub_cublas.c" || exit 99
cp "$work/none/libcublas.so.13" "$work/stub/"
${CC:-cc} "${flags[@]}" -O1 -o "$work/calls" "$here/calls.c" \
    "$work/none/libcublas.so.13" || exit 99
sed -n 's/^DRIVER( *\([A-Za-z0-9_]*\), *"\{0,1\}\([A-Za-z0-9_]*\).*/\1 \2/p' \
    "$root/kernels/load/driver.def" | tr ' ' '\n' | grep '^cu[A-Z]' | sort -u |
    sed 's/.*/int &(void); int &(void) { return 34; }/' >"$work/refuses.c"
grep -q cuCtxGetCurrent "$work/refuses.c" || exit 99
${CC:-cc} -shared -fPIC -Wl,-soname,libcuda.so.1 \
    -o "$work/stub/libcuda.so.1" "$work/refuses.c" || exit 99

# kept FOLDER: how ten calls fared under fp16: status, calls, recast, reasons.
kept()
{
	rm -rf "$AUTOCAST_STATE"
	LD_LIBRARY_PATH=$1 AUTOCAST_POLICY=fp16 LD_PRELOAD=$preload \
	    "$work/calls" 10 >"$work/out" 2>"$work/err"
	echo "$? $(total totals.calls) $(total totals.recast_calls)" \
	    "$(kept_reasons no-context unsupported refused no-driver)"
}
for folder in none stub; do
	case $folder in none) what='no libcuda.so.1' ;; *) what='one that refuses' ;; esac
	found=$(kept "$work/$folder")
	equal "T39: $what: all calls are made as they were" '0 10 0' "${found% *}"
	check "T39: $what: and the report says why" \
	    "$([ "${found##* }" != 0 ] && [ -n "${found##* }" ] || echo "$found")"
	equal "T39: $what: nothing is said but that" '' \
	    "$(cat "$work/out"; grep -v 'autocast: ' "$work/err")"
done

[ -e "$emulator/libcublas.so.13" ] || { plan; exit; }
# Machine code that is not taken is made up for by the PTX.
if [ -e "$build/libautocast-recast.fatbin" ]; then
	for call in cuLibraryLoadData:1:209 cuLibraryGetKernel:2 cuFuncLoad:3; do
		rm -rf "$AUTOCAST_STATE"
		AUTOCAST_EMU_FAIL=$call under 'gemm -> fp16 profit=off guard=on' \
		    "$clients/gemm_client" sgemm n t 96 80 256 0 0 0 1 1 0.5 \
		    normal 1 - repeat=20 >"$work/out" 2>&1
		check "machine code, $call: recast by the PTX" \
		    "$([ "$(total totals.recast_calls)" -gt 10 ] || cat "$work/out")"
	done
else
	skip 'machine code that is not taken' 'it was built without ptxas'
fi
# From here on there is none.
cp "$library" "$work/libautocast.so" || exit 99
preload=${preload%"$library"}$work/libautocast.so
library=$work/libautocast.so
# refused CALL REASON RECAST: the kernels are not taken, or not launched.
refused()
{
	rm -rf "$AUTOCAST_STATE"
	line=$(AUTOCAST_EMU_FAIL=$1 under fp16 "$clients/gemm_client" sgemm n t 96 \
	    80 256 0 0 0 1 1 0.5 normal 1 - reference 2>&1)
	equal "T39: $1: an FP32 result" yes "$(awk -v line="$line" 'BEGIN {
	    n = split(line, word, /[ =]/)
	    for (i = 1; i < n; i++) if (word[i] == "err") err = word[i + 1]
	    print err != "" && err < 1e-6 && line ~ /status=0 / ? "yes" : line }')"
	equal "T39: $1: the report says why" "$2" "$(kept_reasons "$2")"
}
refused cuLibraryLoadData:1 unsupported
refused cuLibraryGetKernel:1 unsupported
refused cuFuncLoad:1 unsupported
refused cuLaunchKernel:1 refused

# What the compiler had to say is said once, in one line, whenever it compiled;
# and it is not asked again.
for call in cuLibraryLoadData cuFuncLoad; do
	line=$(AUTOCAST_EMU_FAIL=$call:1:218 AUTOCAST_LOG=info \
	    AUTOCAST_EMU_COUNTERS=$work/counters under \
	    'gemm -> fp16,tf32 profit=off guard=on' "$clients/gemm_client" \
	    sgemm n t 96 80 256 0 0 0 1 1 0.5 normal 1 - repeat=200 2>&1 |
	    grep 'did not take our kernels')
	equal "$call refuses: the reason, once" "autocast: the CUDA driver did \
not take our kernels (error 218: ptxas application ptx input, line 9; fatal : \
$call was told to fail ptxas fatal : Ptx assembly aborted due to errors): no \
recast in this context" "$line"
	equal "$call refuses: and nothing is tried again" "$call 1" \
	    "$(grep -E "^($call|cuLaunchKernel) [^0]" "$work/counters")"
done
plan
