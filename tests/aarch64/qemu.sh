#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# qemu.sh -- the library on aarch64, built here by a cross compiler, and the
# binding tests on it, in qemu-user: the assembler in shim/ is another one.
# Landing pads and signed return addresses are enforced. Its statistics are read
# by this machine's `autocast`. There is no GPU in it, and no measure of time.
. "$(dirname "$0")/../preload/preload.sh"
CC=aarch64-linux-gnu-gcc
export CC
[ "${HAVE_CUDA:-}" != no ] || skip_all 'no CUDA headers'
[ "$(uname -m)" != aarch64 ] || skip_all 'tests/binding runs natively here'
for tool in $CC qemu-aarch64 python3; do
	command -v $tool >/dev/null || skip_all "no $tool"
done
AARCH64_PREFIX=$($CC -print-file-name=libc.so.6)
AARCH64_PREFIX=$(cd "$(dirname "$AARCH64_PREFIX")/.." && pwd)
export AARCH64_PREFIX
[ -e "$AARCH64_PREFIX/lib/ld-linux-aarch64.so.1" ] ||
    skip_all 'no C library for aarch64'
headers=$(sed -n 's/.*-isystem *\([^ ]*\).*/\1/p' <<<"${CUDA_CPPFLAGS:-}")
[ -n "$headers" ] || skip_all 'the CUDA headers are among this machine'\''s own'
unset MAKEFLAGS MFLAGS MAKELEVEL CUDA_HOME CUDA_PATH
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

# ---- Build, from a copy: the source folder may be configured itself
mkdir "$work/source" "$work/build"
# shellcheck disable=SC2046
tar -C "$root" -cf - --exclude='*.[oa]' --exclude='*.so*' --exclude=.deps \
    --exclude=.dirstamp configure configure.ac Makefile.am Makefile.in \
    aclocal.m4 autocast.pc.in build-aux m4 api base include kernels policy \
    report scaler shim \
    $(cd "$root" && find cmd emulator examples packaging tests -name local.mk) \
    tests/cases.awk tests/cases.in tests/cases.mk tests/longer.mk |
    tar -C "$work/source" -xf -
chmod -R u+w "$work/source"
(
	cd "$work/build" || exit
	../source/configure -q --host=aarch64-linux-gnu --with-cuda="$headers" \
	    CC=$CC CFLAGS='-O1 -mbranch-protection=standard' CPPFLAGS= LDFLAGS= &&
	    make -s -j"$jobs" libautocast-api.so.1 libautocast.so
) >"$work/log" 2>&1
status=$?
equal 'it builds' 0 $status
[ $status = 0 ] || { sed 's/^/# /' "$work/log"; plan; exit; }

mkdir "$work/bin"
ln -s "$(command -v aarch64-linux-gnu-size)" "$work/bin/size"
(
	cd "$work/build" && top_builddir=$work/build SANITIZERS='' \
	    PATH=$work/bin:$PATH sh "$root/tests/lint/elf.sh"
) >"$work/elf.log" 2>&1

# The C runtime's parts of a library may have no landing pads: without them the
# loader can enforce ours.
mv "$work/build/libautocast.so" "$work/plain.so"
flags=-Wl,-z,force-bti,--defsym=__dso_handle=ac_thunks
make -s -C "$work/build" libautocast.so LDFLAGS="-nostartfiles $flags" \
    >"$work/log" 2>&1
equal 'it links with landing pads enforced' 'AArch64 feature: BTI' \
    "$(readelf -n "$work/build/libautocast.so" | sed -n 's/.*Properties: //p')"
AARCH64_LIBRARY=$work/build/libautocast.so
export AARCH64_LIBRARY

# ---- The tests, all at once
tests='reach deepbind words providers stacking corners unloading'
mkdir "$work/tests" "$work/tests/binding"
ln -s "$root/shim" "$work"
ln -s "$root/tests/preload" "$root/tests/lint" "$work/tests"
ln -s "$root"/tests/binding/*.[chp]* "$work/tests/binding"
for test in $tests; do
	ln -s "$root/tests/binding/$test.sh" "$work/tests/binding"
done
ln -sf "$root"/tests/aarch64/* "$work/tests/binding"
# What stands for python3 may take as long to start as a case does to run.
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$work/bin/python3"
for test in entries $tests; do
	PATH=$work/bin:$PATH SANITIZERS='' HAVE_CUDA=yes \
	    top_srcdir=$root top_builddir=$build \
	    "$BASH" "$work/tests/binding/$test.sh" >"$work/$test.log" 2>&1 &
done
wait

# retell TEST: its cases as ours.
retell()
{
	local line name='' complaint='' finished="$1: stopped half-way"
	while read -r line; do
		case $line in
		'#'*|1..*|ok\ *|not\ ok\ *) ;;
		*) line="# $line" ;;
		esac
		case $line in
		'#'*) complaint="$complaint${complaint:+
}${line#\# }"; continue ;;
		esac
		[ -z "$name" ] || check "$name" "${complaint:-no reason}"
		name='' complaint=''
		case $line in
		1..*) finished='' ;;
		*ctypes*) skip "$1: ${line#*- }" 'python3 is of this machine' ;;
		*' # SKIP '*)
			line=${line#*- }
			skip "$1: ${line%% # SKIP*}" "${line#* # SKIP }" ;;
		'not ok '*) name="$1: ${line#*- }" ;;
		'ok '*) check "$1: ${line#*- }" '' ;;
		esac
	done <"$work/$1.log"
	[ -z "$finished" ] || check "$finished" "${complaint:-no output}"
}
for test in elf entries $tests; do
	retell "$test"
done
plan
