#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T11-T13, T17, T20: NVIDIA's libraries among themselves. What they call of
# each other is left alone, several versions stay apart, and a rule reaches the
# caller that it names.
. "$(dirname "$0")/binding.sh"
cublas_stubs
gpu_stub
thirteen=$work/13/libcublas.so.13
compile linked "$here/linked.c" "$thirteen"
compile host "$here/host.c" -ldl
compile plugin13.so -shared -fPIC "$here/plugin.c" "$thirteen"
compile plugin12.so -shared -fPIC "$here/plugin.c" "$work/12/libcublas.so.12"
stub lt libcublasLt.so.13 stub_cublaslt.c
stub cudnn libcudnn_cnn.so.9 stub_cudnn.c '-DPART="libcudnn_cnn.so.9"'
stub cudnn libcudnn_adv.so.9 stub_cudnn.c '-DPART="libcudnn_adv.so.9"'
stub cudnn libcudnn.so.9 stub_cudnn.c -ldl
paths=$work/13:$work/12:$work/lt:$work/cudnn:$work/cusolver:$work
tf32='gemm -> tf32 profit=off guard=off'

# ---- T11, T12: a library that looks its own names up in its parts
compile cudnn_client "$here/cudnn_client.c" "$work/cudnn/libcudnn.so.9"
alike 'T11: libcudnn, its names in a part, dlsym' 1 "$work/host" now \
    libcudnn.so.9 cudnnConvolutionForward
equal 'T11: answered by the part, once each' \
    'libcudnn_cnn.so.9: cudnnConvolutionForward libcudnn.so.9: cudnnConvolutionForward cudnnConvolutionForward 5001 status 0' \
    "$(xargs <"$work/bound")"
alike 'T12: cublasLtMatmul looked up by a part is not ours' 1 \
    "$work/host" now libcudnn.so.9 cudnnBackendExecute
stub lt libcublasInner.so.13 inner.c -ldl
alike 'T12: a part of libcublas gets its own functions' 0 \
    "$work/host" now libcublasInner.so.13 cu_inside
alike 'T11, T12: linked' 2 "$work/cudnn_client"
if [ -n "${CUDA_HOME:-}" ] && [ -e "$CUDA_HOME/lib64/libcudnn.so.9" ]; then
	paths=$CUDA_HOME/lib64 alike 'T11: the real cuDNN, linked' \
	    2 \
	    "$work/cudnn_client"
	paths=$CUDA_HOME/lib64 alike 'T11: the real cuDNN, dlsym' 1 "$work/host" \
	    now libcudnn.so.9 cudnnBackendExecute
else
	skip 'T11: the real cuDNN' 'it is not installed'
fi

# ---- T13: a product that the provider makes of another
stub through libcublas.so.13 stub_cublas.c -DVERSION=13 -DTHROUGH_LT \
    "$work/lt/libcublasLt.so.13"
compile reach "$here/reach.c" -ldl
through=$work/through:$paths
paths=$through alike 'T13: Sgemm by way of cublasLtMatmul, linked' 1 "$work/linked"
paths=$through alike 'T13: Sgemm by way of cublasLtMatmul, dlsym' 1 \
    "$work/reach" handle libcublas.so.13
paths=$through says 'T13: recast, it is recast once' \
    'libcublas.so.13: cublasGemmEx libcublasLt.so.13: cublasLtMatmul linked 4200' \
    "$tf32" "$work/linked"
equal 'T13: and counted once' '1 1' "$(counted) $(total totals.recast_calls)"

# ---- T17: two versions
compile versions "$here/versions.c" -ldl
for order in '12 13' '13 12'; do
	alike "T17: versions $order in one process" 8 "$work/versions" $order
	bound "$tf32" "$work/versions" $order >"$work/recast" 2>&1
	equal "T17: versions $order, recast, status" 0 $?
	check "T17: versions $order, each by its own library" "$(
		sed -n 's/^\(linked\|by data\|by dlsym\) //p' "$work/recast" |
		    sort | uniq -c | xargs | grep -vx '3 1201 3 1301')"
	# The program's mistake is its own: what it called sees the handle,
	# once, and nothing else does.
	check "T17: versions $order, a handle of the other" "$(
		tail -n 6 "$work/recast" | sort | diff - <(sort <<END
handle of the other 1266
handle of the other 1366
libcublas.so.12: a handle that is not mine
libcublas.so.12: cublasSgemm_v2
libcublas.so.13: a handle that is not mine
libcublas.so.13: cublasSgemm_v2
END
		))"
done

# Libraries without DT_GNU_HASH, and a program that takes the function's address
# by an entry of its own: whose version they want is found all the same.
compile several "$here/several.c" -ldl
compile sysv12.so -shared -fPIC -Wl,--hash-style=sysv "$here/plugin.c" \
    "$work/12/libcublas.so.12"
compile sysv13.so -shared -fPIC -Wl,--hash-style=sysv "$here/plugin.c" "$thirteen"
alike 'T17: callers with DT_HASH only' 4 "$work/several" \
    "$work/sysv12.so" "$work/sysv13.so"
stub sysv libcublas.so.13 stub_cublas.c -DVERSION=13 -Wl,--hash-style=sysv
paths=$work/sysv alike 'T17: a provider with DT_HASH only' 1 "$work/linked"
compile fixed -no-pie -fno-pic "$here/fixed.c" "$thirteen"
after=$work/12/libcublas.so.12 \
    alike 'T17: a program at a fixed address, its own entry hashed' 2 \
    "$work/fixed"

# A plugin with a cuBLAS of its own keeps it, and keeps it to itself.
compile copy.so -shared -fPIC "$here/copy.c" "$here/plugin.c"
compile libother.so -shared -fPIC -Wl,-soname,libother.so "$here/copy.c"
compile other.so -shared -fPIC "$here/plugin.c" "$work/libother.so"
alike 'T17: a copy before libcublas' 4 "$work/several" \
    "$work/copy.so" "$work/plugin13.so"
alike 'T17: a copy after libcublas' 4 "$work/several" \
    "$work/plugin13.so" "$work/copy.so"
alike "T17: somebody else's cuBLAS between two" 6 "$work/several" \
    "$work/plugin12.so" "$work/other.so" "$work/plugin13.so"

# More of them than the library tells apart: the others are left as they are.
stub release libcublas.so.13 stub_cublas.c -DVERSION=13 -DRELEASE=1
compile many "$here/many.c" -ldl
slots=$(sed -n 's/^enum { AC_THUNK_SLOTS = \([0-9]*\).*/\1/p' "$root/shim/bind/thunk.h")
many=()
while [ ${#many[@]} -lt $((${slots:-0} + 2)) ]; do
	for folder in 13 release; do
		mkdir "$work/many${#many[@]}"
		cp "$work/$folder/libcublas.so.13" "$work/many${#many[@]}"
		many+=("$work/many${#many[@]}/libcublas.so.13")
	done
done
alike "T17: ${#many[@]} libraries at once, $slots of them counted" "$slots" \
    "$work/many" "${many[@]}"

# ---- T20: who calls
stub cusolver libcusolver.so.12 stub_cusolver.c -pthread "$thirteen"
solve=("$work/host" now libcusolver.so.12)
# caller WHAT POLICY STATUS REASON PROGRAM ARGS...
caller()
{
	bound "$2" "${@:5}" >"$work/bound" 2>&1
	equal "T20: $1" "$3 $4" "$(sed -n 's/^[a-zA-Z]* \([0-9]*\)$/\1/p' \
	    "$work/bound" | xargs) $(query '",".join(sorted({r for s in sites
	    for r, n in s["kept_calls"].items() if n}))' 2>&1)"
}
caller 'the program' "$tf32" 1301 '' "$work/linked"
caller 'the program, kept by name' "gemm caller=linked -> keep; $tf32" \
    1300 rule "$work/linked"
caller 'the program, recast by name' 'gemm caller=linked -> tf32 profit=off guard=off' \
    1301 '' "$work/linked"
caller 'a plugin by name' \
    'gemm caller=plugin13.so -> keep; gemm caller=plugin12.so -> tf32 profit=off guard=off' \
    1300 rule "$work/host" now plugin13.so multiply
for function in cusolverDnSgetrf cusolverDnSpotrf; do
	caller "libcusolver is kept, $function" "$tf32" 1300 internal-caller \
	    "${solve[@]}" $function
	caller "unless a rule names it, $function" \
	    'gemm caller=libcusolver* -> tf32 profit=off guard=off' 1301 '' \
	    "${solve[@]}" $function
	caller "a rule that excludes another does not, $function" \
	    'gemm caller!=libcudnn* -> tf32 profit=off guard=off' 1300 internal-caller \
	    "${solve[@]}" $function
done
if [ "${SANITIZERS:-}" = thread ]; then
	skip 'T20: ctypes calls by libffi' 'python3 does not survive TSan'
elif command -v python3 >/dev/null; then
	caller 'ctypes calls by libffi' \
	    'gemm caller=libffi.so* -> tf32 profit=off guard=off' 1301 '' python3 \
	    "$here/ctypes_client.py" libcublas.so.13
else
	skip 'T20: ctypes calls by libffi' 'python3 is not installed'
fi
plan
