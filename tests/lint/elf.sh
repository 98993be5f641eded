#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# elf.sh -- T2, T25: what the preload, and the library that programs link with,
# ask of the program they are in: libc alone, an old one, no executable stack, no
# text relocations, no constructor, at most 64 bytes of initial-exec thread-local
# storage, little room; and that the loader gives the preload the calls of
# programs that ask for a version.
. "$(dirname "$0")/tap.sh"

command -v readelf >/dev/null 2>&1 || skip_all 'no readelf'
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"

# gates LIBRARY KILOBYTES: what holds for both.
gates()
{
	library=$build/$1
	dynamic=$(readelf -W -d "$library")
	headers=$(readelf -W -l "$library")
	check "T25: $1 needs libc only" "$(echo "$dynamic" |
	    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vx 'libc.so.6')"
	check "T25: $1 needs glibc 2.17 at most" "$(readelf -W -V "$library" |
	    grep -oE 'GLIBC_[0-9.]+' | sort -uV | sed 's/GLIBC_//' |
	    awk -F. '$1 > 2 || $2 > 17')"
	check "T25: $1 has no text relocations" "$(echo "$dynamic" | grep TEXTREL)"
	check "T25: $1 has no executable stack" \
	    "$(echo "$headers" | grep GNU_STACK | grep RWE)"
	check "T25: thread-local storage of $1 is 64 bytes at most" \
	    "$(echo "$headers" | awk '$1 == "TLS" { print $6 }' |
	    while read -r size; do
		[ $((size)) -le 64 ] || echo "$((size)) bytes"
	    done)"
	check "T25: thread-local storage of $1 is initial-exec" \
	    "$(readelf -W -r "$library" | grep -E 'DTPMOD|TLSDESC'
	    readelf -W --dyn-syms "$library" | grep __tls_get_addr)"
	# The C runtime's own frame_dummy is one pointer; more is ours.
	check "T25: $1 has no constructor of our own" "$(readelf -W -S "$library" |
	    sed -n 's/.* \.init_array *INIT_ARRAY *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p' |
	    grep -vx '000008')"
	check "T25: nothing else of $1 runs at start or is chosen then" \
	    "$(echo "$dynamic" |
	    grep -E '\(PREINIT_ARRAY|\(AUDIT|\(DEPAUDIT|\(FILTER|\(AUXILIARY'
	    readelf -W -r "$library" | grep IRELATIV)"
	check "T25: no segment of $1 is both written and executed" \
	    "$(echo "$headers" | grep -E ' (RWE|R?WE) ')"
	# Not the file: where pages may have 64 KB, as on aarch64, much of it is
	# padding.
	if command -v size >/dev/null 2>&1; then
		bytes=$(size "$library" | awk 'NR == 2 { print $1 + $2 }')
		# A limit goes down with what it limits, and never up. It is
		# that of Debian 12's gcc for x86-64; others get a twentieth
		# more.
		if readelf -p .comment "$library" | grep -q 'GCC: (Debian 12' &&
		    readelf -h "$library" | grep -q 'Machine:.*X86-64'; then
			limit=$2
			check "T25: $1: not 16 KB less, or the limit goes down" \
			    "$([ "$bytes" -gt $(($2 - 16))000 ] || echo "$bytes: lower it")"
		else
			limit=$(($2 + $2 / 20))
			skip "T25: $1: not 16 KB less" 'another compiler or machine'
		fi
		check "T25: $1: $limit KB of code and data at most ($bytes bytes)" \
		    "$([ "$bytes" -le "$limit"000 ] || echo "$bytes")"
	else
		skip "T25: $1: $2 KB of code and data at most" 'no size'
		skip "T25: $1: not 16 KB less" 'no size'
	fi
}

[ -f "$build/libautocast-api.so.1" ] || skip_all 'libautocast-api.so is not built'
gates libautocast-api.so.1 105
check 'programs find libautocast-api.so by its version' "$(echo "$dynamic" |
    grep SONAME | grep -v '\[libautocast-api\.so\.1\]')"
check 'libautocast-api.so is not looked for in folders of its own' \
    "$(echo "$dynamic" | grep -E 'RPATH|RUNPATH')"

if [ ! -f "$build/libautocast.so" ]; then
	skip 'libautocast.so' 'it is not built'
	plan
	exit
fi
# 139 KB of it are PTX, packed.
gates libautocast.so 617
# At load time, every process would pay for every symbol that we import.
check 'T25: bound lazily' "$(echo "$dynamic" | grep 'NOW')"
check 'T25: no name of its own' "$(echo "$dynamic" | grep -E 'SONAME|RPATH|RUNPATH')"

# T2: in a named version node the loader would silently pass over a name, for a
# program that asks for NVIDIA's version of it.
exports=$(readelf -W --dyn-syms "$library" | awk '$7 != "UND" &&
    ($5 == "GLOBAL" || $5 == "WEAK") && $6 == "DEFAULT" &&
    $8 ~ /^(cublas|cudnn|cusolver|dlv?sym|dlopen|dlclose)/ { print $8 }')
check 'T2: NVIDIA'\''s names and the loader'\''s are exported' \
    "$(for name in cublasSgemm_v2 cublasGemmEx cusolverDnSgetrf dlclose; do
	echo "$exports" | grep -qx "$name\(@.*\)\?" || echo "$name"
    done)"
check 'T2: none of them has a version' "$(echo "$exports" | grep @)"
plan
