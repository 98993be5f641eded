#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The lists of emulator/names/ are what NVIDIA's own libraries export: the same
# names, or, for another release than the list's, all of those or more.
. "$(dirname "$0")/real.sh"
names=$root/emulator/names

# compare LIST FILE: the library has the names of the list, or one of both has
# some more.
compare()
{
	nm -D --defined-only "$2" | awk 'NF == 3 && $2 != "A" { print $3 }' |
	    sed 's/@@/@/' | grep '^_*cu' | grep -v '^cudbg' |
	    LC_ALL=C sort -u >"$work/has"
	sed '/^#/d' "$names/$1" >"$work/list"
	LC_ALL=C comm -23 "$work/list" "$work/has" >"$work/fewer"
	LC_ALL=C comm -13 "$work/list" "$work/has" >"$work/more"
	check "$1 and $(basename "$2"): one has all names of the other" \
	    "$([ -s "$work/has" ] || echo 'no names'
	    [ ! -s "$work/fewer" ] || [ ! -s "$work/more" ] ||
	        diff "$work/list" "$work/has" | head -n 20)"
	echo "# $1 ($(sed -n 's/^# //p' "$names/$1")): this library lacks" \
	    "$(wc -l <"$work/fewer") of its names and has" \
	    "$(wc -l <"$work/more") others"
}

for library in cublas cublasLt cudart cudnn; do
	for file in "$cuda_lib/lib$library".so.[0-9]*; do
		list=${library,,}.$(sed 's/.*\.so\.\([0-9]*\).*/\1/' <<<"$file")
		if [ -f "$names/$list" ]; then
			compare "$list" "$file"
		else
			skip "the names of lib$library" "no list $list"
		fi
	done
done
# The driver's list joins two releases, so one of them lacks some.
libcuda=${LIBCUDA_DIR:-$build/libcuda}/libcuda.so.1
if [ -f "$libcuda" ]; then
	compare cuda "$libcuda"
else
	skip 'the names of the driver' "there is no $libcuda: make fetch-libcuda"
fi
plan
