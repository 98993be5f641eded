#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# monopolies.sh -- what only one place may do. A line that does it elsewhere
# is in the wrong room.
. "$(dirname "$0")/tap.sh"

text=$(mktemp -d) || exit 99
trap 'rm -rf "$text"' EXIT
for room in $rooms; do
	files "$room/*.c" "$room/*.h" "$room/*.def" "$room/*.cu"
done | while read -r file; do
	mkdir -p "$text/$(dirname "$file")"
	code "$file" >"$text/$file"
done

# only WHAT PATTERN OWNERS: PATTERN is found in no other file.
only()
{
	check "$1" "$(cd "$text" && grep -rnE "$2" . | sed 's,^\./,,' |
	    grep -vE "^($3)")"
}

only 'symbols are looked up in base/elf.c, kernels/load/driver.c, cmd/gpu/, shim/ and by programs only' \
    '\b(dlv?sym|dlopen)[ ]*\(' 'base/elf\.c|kernels/load/driver\.c|emulator/driver/twins\.c|emulator/driver/image/zstd\.c|cmd/gpu/|shim/|include/autocast_dynamic\.h'
only 'the environment is read in base/env.c only' \
    'getenv[ ]*\(|\benviron\b' 'base/env\.c|cmd/'
only 'device code is in kernels/ only' '<<<|\.visible|__global__' 'kernels/'
only 'cuBLAS and cuDNN types are in shim/ and emulator/ only' \
    '\b(cublas|cudnn)[A-Za-z]*_t\b' 'shim/|emulator/'
only 'CUDA headers are included in shim/ and emulator/ only' \
    'include[ ]*<(cu|nv|driver_types|library_types|vector_types)' \
    'shim/|emulator/'
only 'stderr is written in base/log.c and cmd/, and given to tools, only' \
    '\bstderr\b|STDERR_FILENO|\bperror[ ]*\(' \
    'base/log\.c|cmd/|report/callers/tool\.c'
only 'the scale grows in scaler/ only' '\bgrowth' 'scaler/|include/'
only 'numbers are read in policy/ and base/text.c only' \
    '\b(strto[a-z]+|ato[ifl]+|sscanf)[ ]*\(' 'policy/|base/text\.c'
only 'hashes are made in base/table.c and where doc/decisions.md says why' \
    '0x(9E3779B97F4A7C15|D6E8FEB86659FD93)' \
    'base/table\.c|shim/bind/provider\.c|shim/graph/shadow\.c|shim/graph/address_map\.h|shim/conv/conv_site\.c|shim/lt/known_calls\.h|shim/site/site\.h|shim/trial/|kernels/|emulator/'
only 'nothing but cmd/ prints on stdout, and what kernels and tools print' \
    '\bstdout\b|STDOUT_FILENO|[^a-z_](printf|puts|putchar)[ ]*\(' \
    'cmd/|emulator/driver/print\.c|report/callers/tool\.c'
plan
