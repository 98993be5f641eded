#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T1, T11, T12: NVIDIA's own libraries under the hooks, without a GPU: cuDNN,
# which looks its own names up, cuSOLVER, which calls cuBLAS, and python3, which
# opens cuBLAS for itself, answer as they do without, and are reached.
. "$(dirname "$0")/real.sh"

# ---- cuDNN -------------------------------------------------------------------
cudnn=$(soname libcudnn)
try_cudnn()
{
	{
	${CC:-cc} -isystem "$cuda_include" -D_GNU_SOURCE -O1 -o "$work/opened" \
	    "$here/convolution.c" -ldl || exit 99
	${CC:-cc} -isystem "$cuda_include" -D_GNU_SOURCE -O1 -DLINKED \
	    -o "$work/linked" "$here/convolution.c" "$cuda_lib/$cudnn" \
	    -Wl,-rpath-link,"$cuda_lib" -ldl || exit 99
	${CC:-cc} -D_GNU_SOURCE -O1 -shared -fPIC -o "$work/watch.so" \
	    "$here/watch.c" -ldl || exit 99
	}
	executions="cudnnBackendExecute 1
$(cat "$cuda_include"/cudnn*.h |
    grep -o 'cudnnBackend[A-Z][a-z]*CudaGraph\b' | sort -u | sed 's/$/ 1/')
cudnnConvolutionBackwardData 1
cudnnConvolutionBackwardFilter 1
cudnnConvolutionForward 1"
	for way in linked global local; do
		program=$work/opened
		[ $way != linked ] || program=$work/linked
		alone "$program" "$cudnn" $way >"$work/alone" 2>&1
		equal "T11: cuDNN, $way: it ends" 0 $?
		[ $way != local ] || check 'T11: cuDNN answers without a GPU' \
		    "$(grep -q '^cudnnCreate 1001 .*cudaGetDeviceCount' "$work/alone" &&
		        grep -qx 'output 32 64 28 28' "$work/alone" &&
		        grep -q '^cudnnConvolutionForward 2000 ' "$work/alone" ||
		        cat "$work/alone")"
		for policy in off 'gemm -> fp16 profit=off'; do
			with "$policy" "$program" "$cudnn" $way >"$work/with" 2>&1
			equal "T11: cuDNN, $way, does not recurse, '$policy'" 0 $?
			same "T11: cuDNN, $way, answers the same, '$policy'" \
			    "$work/alone" "$work/with"
			equal "T11: cuDNN, $way, is counted once, '$policy'" \
			    "$executions" "$(counts)"
		done
	done

	# What it asks for itself, it gets from its parts, unseen by us.
	for way in local global linked; do
		program=$work/opened
		[ $way != linked ] || program=$work/linked
		rm -f "$work/watched"
		preload=$preload:$work/watch.so WATCH=$work/watched \
		    with off "$program" "$cudnn" $way >"$work/with" 2>&1
		grep '^libcudnn' "$work/watched" >"$work/own"
		check "T11: cuDNN's own look-ups are its own, $way" \
		    "$([ "$(wc -l <"$work/own")" -ge 10 ] || cat "$work/watched"
		        grep -v ' libcudnn[^ ]*$' "$work/own")"
		check "T11: a wrapped name among them, $way" \
		    "$(grep -q '^libcudnn[^ ]* cudnnConvolutionForward libcudnn' \
		        "$work/own" || cat "$work/own")"
	done
	grep -q '^libautocast\.so cudnnConvolutionForward libcudnn' "$work/watched" ||
	    preload=$preload:$work/watch.so WATCH=$work/watched \
	        with off "$work/opened" "$cudnn" local >/dev/null 2>&1
	check 'control: a look-up of the program passes through us' \
	    "$(grep -q '^libautocast\.so cudnnConvolutionForward libcudnn' \
	        "$work/watched" || cat "$work/watched")"
}
if [ "$cudnn" = libcudnn.so.9 ] && [ -f "$cuda_include/cudnn.h" ]; then
	try_cudnn
else
	skip 'T11: cuDNN' "libcudnn.so.9 is not installed in $cuda_lib"
fi

# ---- cuSOLVER ----------------------------------------------------------------
cusolver=$(soname libcusolver)
try_cusolver()
{
	cat >"$work/solver.c" <<'END'
#include <stdio.h>
int cusolverDnCreate(void **handle);
int cusolverGetVersion(int *version);

int
main(void)
{
	void *handle = NULL;
	int version = 0;
	const int created = cusolverDnCreate(&handle);
	const int known = cusolverGetVersion(&version);

	printf("%d %s %d %d\n", created, handle ? "set" : "unset", known, version);
	return 0;
}
END
	${CC:-cc} -o "$work/solver" "$work/solver.c" "$cuda_lib/$cusolver" \
	    -Wl,-rpath-link,"$cuda_lib" || exit 99
	alone "$work/solver" >"$work/alone" 2>&1
	equal 'cuSOLVER: it ends' 0 $?
	with off "$work/solver" >"$work/with" 2>&1
	same 'cuSOLVER answers the same' "$work/alone" "$work/with"

	# Where its calls of cuBLAS lead, every one bound at start.
	LD_BIND_NOW=1 LD_DEBUG=bindings LD_DEBUG_OUTPUT=$work/bound \
	    with off "$work/solver" >/dev/null 2>&1
	cat "$work"/bound.* | sed -n \
	    "s,.*binding file [^ ]*/$cusolver \[0\] to \([^ ]*\) .*symbol .\(cublas[A-Za-z0-9_]*\)' .*,\2 \1,p" |
	    sort -u >"$work/bindings"
	wrapped=$(nm -D --defined-only "$library" | sed -n 's/.* T //p')
	check 'T1: cuSOLVER calls the wrapped functions of cuBLAS by us' \
	    "$(grep -q "^cublasSgemm_v2 " "$work/bindings" || cat "$work/bindings"
	    while read -r name file; do
		if grep -qx "$name" <<<"$wrapped"; then
			[ "$file" -ef "$library" ] || echo "$name: $file"
		else
			case $file in */libcublas*) ;; *) echo "$name: $file" ;; esac
		fi
	    done <"$work/bindings")"
}
if [ -n "$cusolver" ]; then
	try_cusolver
else
	skip 'T1: cuSOLVER' "it is not installed in $cuda_lib"
fi

# ---- python3 -----------------------------------------------------------------
cat >"$work/by_ctypes.py" <<'END'
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
one = ctypes.c_float(1)
size = [ctypes.c_int(n) for n in (0, 1, 8, 8, 8)]
data = (ctypes.c_float * 64)(*range(64))
print(library.cublasSgemm_v2(None, *size, ctypes.byref(one), data, 8, data, 8,
                             ctypes.byref(one), data, 8))
print(library.cublasSgemm_v2(None, *size, None, None, 8, None, 8, None, None, 8))
print(list(data) == list(range(64)))
version = ctypes.c_int()
print(library.cublasGetVersion_v2(None, ctypes.byref(version)), version.value)
try:
    library.cublasNoSuchFunction
except AttributeError as error:
    print(str(error).rpartition('/')[2])
END
cublas=$(soname libcublas)
if ! command -v python3 >/dev/null; then
	skip 'T1: python3 ctypes' 'python3 is not installed'
elif [ -z "$cublas" ]; then
	skip 'T1: python3 ctypes' "libcublas is not installed in $cuda_lib"
else
	alone python3 "$work/by_ctypes.py" "$cublas" >"$work/alone" 2>&1
	equal 'T1: python3 ctypes: it ends' 0 $?
	equal 'T1: python3 ctypes: both products are refused' '1 1' \
	    "$(head -n 2 "$work/alone" | tr '\n' ' ' | sed 's/ $//')"
	for policy in off 'gemm -> fp16 profit=off'; do
		with "$policy" python3 "$work/by_ctypes.py" "$cublas" >"$work/with" 2>&1
		same "T1: python3 ctypes answers the same, '$policy'" \
		    "$work/alone" "$work/with"
		equal "T1: python3 ctypes is reached, '$policy'" \
		    'cublasSgemm_v2 2' "$(counts)"
	done
fi
plan
