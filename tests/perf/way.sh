#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which files a product enters, as doc/ways.md lists them, by the lines that
# callgrind counts. UPDATE_EXPECTED=1 writes the lists.
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
need_callgrind
build_caller
page=$root/doc/ways.md
files '*.c' '*.h' '*.def' >"$work/ours"

# entered COMMAND POLICY: what the last calls of many enter, a line per folder, as
# COMMAND counts it. A file's name is written once, at its first use; the line
# after calls= is what was called. The compiler writes names as BUILD/../NAME.
entered()
{
	policy=$2
	preload=$library:$work/libcuda.so.1 "$1" || exit 99
	cat "$work"/counts.[1-4] | awk '
	/^part: / { is_last = $2 == 4 }
	/^c?f[lie]=/ {
		match($0, /\([0-9]+\)/)
		id = substr($0, RSTART, RLENGTH)
		if (NF > 1)
			name[id] = $NF
		if (!/^c/)
			file = name[id]
	}
	/^[-+*0-9]/ && is_last && !is_called { seen[file] }
	{ is_called = /^calls=/ }
	END {
		for (file in seen)
			print file
	}' | sed -e 's,.*/\.\./,,' -e "s,^$root/,," | sort -u |
	    grep -xF -f "$work/ours" | awk -F/ '
	{ folder = $0; sub(/\/[^\/]*$/, "", folder) }
	folder != last { line = line "\n" folder ":"; width = length(folder) + 1 }
	{
		if (width + 1 + length($NF) > 80) {
			line = line "\n   "
			width = 3
		}
		line = line " " $NF
		width += 1 + length($NF)
		last = folder
	}
	END { print substr(line, 2) }'
}

products()
{
	counted product 400 1 product 1920 1 >/dev/null
}

# The same number of products of cublasLt.
lt_products()
{
	rm -f "$work"/counts*
	as_said valgrind --tool=callgrind --callgrind-out-file="$work/counts" \
	    --zero-before=window --dump-after=window "$work/lts" \
	    >"$work/valgrind" 2>&1
}

# listed NAME POLICY COMMAND: the block of the page behind the line
# `<!-- NAME -->`.
listed()
{
	entered "$3" "$2" >"$work/way"
	# Without -g nobody knows.
	[ -s "$work/way" ] || skip_all 'built without debug information'
	if [ -n "${UPDATE_EXPECTED:-}" ]; then
		awk -v name="<!-- $1 -->" -v way="$work/way" '
		fences && /^```$/ && !--fences { inside = 0 }
		!inside
		$0 == name { fences = 2 }
		fences == 1 && !inside {
			inside = 1
			while ((getline line < way) > 0)
				print line
		}' "$page" >"$work/page" && cp "$work/page" "$page"
	fi
	awk -v name="<!-- $1 -->" '
	fences && /^```$/ { fences--; next }
	fences == 1
	$0 == name { fences = 2 }' "$page" >"$work/listed"
	check "doc/ways.md lists the files that a product enters: $1" \
	    "$(diff "$work/listed" "$work/way")"
}
listed kept off products
listed recast 'gemm -> fp16 profit=off guard=on' products

cat >"$work/lts.c" <<'END'
#include <cublasLt.h>
#include <stdint.h>
#define AT(i) ((void *)((uintptr_t)(i) << 40))
#define SET(attribute, value) cublasLtMatmulDescSetAttribute(&operation, \
	CUBLASLT_MATMUL_DESC_##attribute, &(value), sizeof (value))
static cublasLtHandle_t handle;
static int failed;
__attribute__((noinline)) static void
window(long calls)
{
	const float one = 1, zero = 0;
	const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
	void *const bias = AT(4);
	cublasLtMatmulAlgo_t algorithm = { { 1 } };
	cublasLtMatmulDescOpaque_t operation;
	cublasLtMatrixLayoutOpaque_t layout;

	cublasLtMatmulDescInit(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
	cublasLtMatrixLayoutInit(&layout, CUDA_R_32F, 64, 64, 64);
	failed |= SET(EPILOGUE, epilogue) | SET(BIAS_POINTER, bias);
	for (; calls > 0; calls--)
		failed |= cublasLtMatmul(handle, &operation, &one, AT(1),
		    &layout, AT(2), &layout, &zero, AT(3), &layout, AT(3),
		    &layout, &algorithm, AT(5), 4096, NULL);
}
int
main(void)
{
	static const long calls[4] = { 1, 401, 1, 1921 };

	failed = cublasLtCreate(&handle);
	for (int i = 0; i < 4; i++)
		window(calls[i]);
	return failed;
}
END
echo 'libcublasLt.so.13 { global: cublasLt*; local: *; };' >"$work/lt.map"
shared libcublasLt.so.13 -I"$root" -Wl,-soname,libcublasLt.so.13 \
    -Wl,--version-script="$work/lt.map" "$stub/stub_cublaslt.c"
compiled lts "$work/lts.c" "$work/libcublasLt.so.13"
listed 'recast by cublasLt' 'gemm -> fp16 profit=off guard=on' lt_products
plan
