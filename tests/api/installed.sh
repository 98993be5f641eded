#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `make install` leaves is enough: pkg-config alone says how to build a C
# and a C++ program, and the manual's example, with nothing of the source tree.
. "$(dirname "$0")/../preload/preload.sh"
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"
[ -f "$build/Makefile" ] || skip_all 'not configured'
command -v pkg-config >/dev/null || skip_all 'no pkg-config'

cat >"$work/program.c" <<'END'
#include <autocast_scaler.h>

#include <stdio.h>

int
main(void)
{
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	autocast_scaler *scaler;
	double scale = 0;

	options.init_scale = 1024;
	if (autocast_scaler_create(&options, &scaler)
	    || autocast_scaler_get(scaler, &scale, NULL)
	    || autocast_region_push("program", 1, NULL)
	    || autocast_region_pop())
		return 1;
	autocast_scaler_destroy(scaler);
	printf("%g\n", scale);
	return 0;
}
END
cp "$work/program.c" "$work/program.cc"

make -s -C "$build" install DESTDIR="$work/root" MAKEFLAGS= >"$work/out" 2>&1
equal 'make install' 0 $?
pc=$(find "$work/root" -name autocast.pc)
if [ -z "$pc" ]; then
	check 'autocast.pc is installed' "$(cat "$work/out")"
	plan
	exit
fi
libraries=${pc%/pkgconfig/autocast.pc}
export PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_PATH=${pc%/*}
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1

check 'the name to link by leads to the library' \
    "$([ "$(readlink "$libraries/libautocast-api.so")" = libautocast-api.so.1 ] &&
	[ -f "$libraries/libautocast-api.so" ] || ls -l "$libraries")"
check 'pkg-config accepts it' "$(pkg-config --validate autocast 2>&1)"
check 'pkg-config asks for nothing but our folders and our library' \
    "$(pkg-config --cflags --libs autocast | tr ' ' '\n' | grep . |
	grep -vE "^-[IL]$work/root|^-lautocast-api\$")"

# builds NAME COMPILER ARGS...: in an empty folder, and runs it.
builds()
{
	mkdir -p "$work/empty"
	# shellcheck disable=SC2046
	check "$1: builds" "$(cd "$work/empty" && "${@:2}" -Wall -Wextra -Werror \
	    $(pkg-config --cflags autocast) -o "$work/$1" 2>&1 \
	    $(pkg-config --libs autocast))"
}

cd "$work" || exit 99
builds c ${CC:-cc} "$work/program.c"
equal 'c: runs' 1024 "$(LD_LIBRARY_PATH=$libraries "$work/c" 2>&1)"
if command -v c++ >/dev/null; then
	builds c++ c++ -std=c++11 "$work/program.cc"
	equal 'c++: runs' 1024 "$(LD_LIBRARY_PATH=$libraries "$work/c++" 2>&1)"
else
	skip 'c++: builds' 'no C++ compiler'
fi

# Examples of the manual that are whole files.
find "$work/root" -path '*/man3/*.3' | while read -r page; do
	awk '/^\.Ed/ { on = 0 } on; /^\.Bd -literal/ { on = 1; print "\f" }' "$page" |
	    sed 's/\\e/\\/g' |
	    awk -v to="$work/$(basename "$page")" \
		'/^\f/ { n++; next } { print > (to "." n ".c") }'
done
for example in "$work"/*.3.*.c; do
	grep -q '^#include <autocast' "$example" || continue
	name=${example##*/}
	# shellcheck disable=SC2046,SC2086
	check "$name compiles" "$(${CC:-cc} -std=c11 -Wall -Wextra -Werror \
	    $(pkg-config --cflags autocast) -c -o "$work/example.o" "$example" 2>&1)"
done
check 'there is an example' "$([ -f "$work/example.o" ] || echo none)"

prefix=$(sed -n 's/^prefix = //p' "$build/Makefile")

# Debian's packages share out what is installed: each file to one of them.
check 'each file is in one Debian package' \
    "$(find "$work/root" ! -type d | sed -e "s,^$work/root,," \
	-e "s,^$prefix,/usr," -e 's,^/usr/lib/,/usr/lib/machine/,' \
	-e 's,/doc/libautocast/,/doc/autocast/,' -e 's,^/,,' |
    while read -r file; do
	count=0
	while read -r pattern; do
		# shellcheck disable=SC2254
		case $file in $pattern|$pattern/*) count=$((count + 1)) ;; esac
	done < <(cat "$root"/debian/*.install)
	[ $count = 1 ] || echo "$file: in $count"
    done)"
check 'and each line of debian/*.install has one' \
    "$(cd "$work/root" && while read -r pattern; do
	# As it is without Debian's folder for the machine.
	place=$(sed -e 's,^usr/lib/[*]/,usr/lib/,' \
	    -e 's,doc/autocast$,doc/libautocast,' <<<"$pattern")
	compgen -G "${prefix#/}/${place#usr/}" >/dev/null ||
	    compgen -G "$place" >/dev/null || echo "$pattern"
    done < <(cat "$root"/debian/*.install))"

# The examples build where they were installed to, with the tree's own doubles
# of CUDA's libraries.
docs=$(dirname "$(find "$work/root" -path '*/doc/*/examples/Makefile')")
cp -R "$docs" "$work/examples"
emulator=$(find "$work/root" -path '*/emulator/libcublas.so.13' -printf '%h')
if [ -n "$emulator" ]; then
	check 'the examples build from what was installed' \
	    "$(env -u MAKEFLAGS -u MAKELEVEL make -s -C "$work/examples" \
	    CC="${CC:-cc}" LDFLAGS= \
	    CPPFLAGS="${CUDA_CPPFLAGS:-}" LT_LIBS="$emulator/libcublasLt.so.13" \
	    LIBS="$emulator/libcublas.so.13 $emulator/libcudart.so.13 \
	    -Wl,-rpath-link,$emulator" 2>&1)"
	check 'and run' "$("$(find "$work/root" -path '*/bin/autocast')" run \
	    --emulate -- "$work/examples/digits_mlp" --epochs 1 \
	    "$work/examples/digits.csv" 2>&1 | grep 'test accuracy' >/dev/null ||
	    echo 'no accuracy')"
else
	skip 'the examples build from what was installed' 'no emulated GPU here'
fi

# A tree that was moved: pkg-config finds headers and library from autocast.pc.
unset PKG_CONFIG_SYSROOT_DIR
mv "$work/root" "$work/moved"
PKG_CONFIG_PATH=$work/moved${PKG_CONFIG_PATH#"$work/root"}
libraries=$work/moved${libraries#"$work/root"}
builds moved.out ${CC:-cc} "$work/program.c"
equal 'moved: runs' 1024 "$(LD_LIBRARY_PATH=$libraries "$work/moved.out" 2>&1)"
mv "$work/moved" "$work/root"

make -s -C "$build" uninstall DESTDIR="$work/root" MAKEFLAGS= >"$work/out" 2>&1
check 'make uninstall leaves no file' "$(find "$work/root" ! -type d)"
check 'and no folder of ours' "$(find "$work/root" -name '*autocast*' |
    while read -r folder; do
	case $prefix/ in
	"${folder#"$work/root"}"/*) ;;
	*) echo "$folder" ;;
	esac
    done)"

# What is said where the loader does not look: only without DESTDIR.
check 'whoever installs is told what the loader lacks' \
    "$(sh "$root/packaging/after-install" "$work" | grep -F "rpath,$work" \
    >/dev/null || echo silence)"
plan
