#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# catalogue.sh -- the rows against what the installed libcublas exports: a new
# FP32-capable product must become a row before it reaches a user.
. "$(dirname "$0")/tap.sh"

for library in "${CUBLAS_LIBRARY:-}" "${CUDA_HOME:-/nowhere}/lib64/libcublas.so.13" \
    $(ldconfig -p 2>/dev/null | sed -n 's/.*libcublas\.so\.13 .*=> //p'); do
	[ -f "$library" ] && break
done
[ -f "$library" ] || skip_all 'no libcublas.so.13 is installed'
case $(readlink -f "$library") in "$build"/*) skip_all 'only our own libcublas' ;; esac

exports=$(nm -D --defined-only "$library" | sed -n 's/.* T \([A-Za-z0-9_]*\).*/\1/p' | sort -u)
[ "$(echo "$exports" | wc -l)" -gt 100 ] || skip_all "$library exports next to nothing"
# rows_of LIBRARY: the rows that name it as their provider; products and calls
# on vectors are libcublas's.
rows_of()
{
	sed -n "s/^\(GEMM\|GROUP\|TRIANGLE\|VECTOR\)(\(.*\))/\1(\2\"libcublas.so\")/
	    s/^[A-Z]*(.*\b\(cu[a-z]*[A-Z][A-Za-z0-9_]*\),.*\"$1\".*/\1/p" \
	    "$root/shim/bind/entries.def" | sort -u
}
rows=$(rows_of libcublas.so)

# FP32 or complex FP32 products, and Ex forms whose types may be FP32; not
# Xt (multi-GPU, v1 style), which only the marker row cublasXtSgemm stands for.
# Symmetric and triangular ones, but for those of the first API.
products=$(echo "$exports" |
    grep -E '^cublas((S|C)?[gG]emm(3m)?(Ex)?(Grouped)?(Strided)?(Batched)?(Ex)?(_v2)?|S(sy(mm|rk|r2k)|trmm)_v2|Ssyrkx)(_64)?$' |
    grep -vE 'cublasGemmEx_v[0-9]')
check "every FP32-capable product of $library is a row" \
    "$(for symbol in $products; do
	echo "$rows" | grep -qx "$symbol" || echo "$symbol"
    done)"
check "every row is exported by $library" \
    "$(for symbol in $rows; do
	echo "$exports" | grep -qx "$symbol" || echo "$symbol"
    done)"
for name in libcublasLt libcudnn libcusolver; do
	other=$(find "$(dirname "$library")/" -name "$name.so.*" | head -n 1)
	what="every row of $name is exported by it"
	if [ -n "$other" ]; then
		exports=$(nm -D --defined-only "$other" | sed -n 's/.* T \([A-Za-z0-9_]*\).*/\1/p')
		[ $name != libcudnn ] ||
		    check 'every pass of a recurrent network is a row' \
			"$(for symbol in $(echo "$exports" |
			    grep -E '^cudnnRNN(Forward|Backward)'); do
				rows_of "$name.so" | grep -qx "$symbol" ||
				    echo "$symbol"
			    done)"
		check "$what" "$(for symbol in $(rows_of "$name.so"); do
			echo "$exports" | grep -qx "$symbol" || echo "$symbol"
		    done; [ -n "$(rows_of "$name.so")" ] || echo 'no row at all')"
	else
		skip "$what" "$name is not installed"
	fi
done
plan
