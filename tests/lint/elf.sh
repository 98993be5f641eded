#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# elf.sh -- what the preload asks of the program it is put into: libc alone,
# an old one, no executable stack, no text relocations, no constructor, and
# at most 64 bytes of initial-exec thread-local storage.
. "$(dirname "$0")/tap.sh"

library=$build/libautocast.so
[ -f "$library" ] || skip_all 'libautocast.so is not built'
command -v readelf >/dev/null 2>&1 || skip_all 'no readelf'
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"
dynamic=$(readelf -W -d "$library")
headers=$(readelf -W -l "$library")

check 'needs libc only' "$(echo "$dynamic" |
    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vx 'libc.so.6')"
check 'needs glibc 2.17 at most' "$(readelf -W -V "$library" |
    grep -oE 'GLIBC_[0-9.]+' | sort -uV | sed 's/GLIBC_//' |
    awk -F. '$1 > 2 || $2 > 17')"
check 'no text relocations' "$(echo "$dynamic" | grep TEXTREL)"
check 'no executable stack' "$(echo "$headers" | grep GNU_STACK | grep RWE)"
check 'bound at load time' "$(echo "$dynamic" | grep -q 'NOW' || echo lazy)"
check 'no name of its own' "$(echo "$dynamic" | grep -E 'SONAME|RPATH|RUNPATH')"
check 'thread-local storage of 64 bytes at most' "$(echo "$headers" |
    awk '$1 == "TLS" { print $6 }' | while read -r size; do
	[ $((size)) -le 64 ] || echo "$((size)) bytes"
    done)"
check 'thread-local storage is initial-exec' "$(readelf -W -r "$library" |
    grep -E 'DTPMOD|TLSDESC'; readelf -W --dyn-syms "$library" |
    grep __tls_get_addr)"
# The C runtime's own frame_dummy is one pointer; more is ours.
check 'no constructor of our own' "$(readelf -W -S "$library" |
    sed -n 's/.* \.init_array *INIT_ARRAY *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p' |
    grep -vx '000008')"
plan
