#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T41: whether gcc or clang builds it, with or without optimisation, the library
# binds alike: what must be a jump is one at -O0 too.
. "$(dirname "$0")/binding.sh"
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"
[ -f "$build/Makefile" ] || skip_all 'not configured'
unset MAKEFLAGS MFLAGS MAKELEVEL
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

# variable NAME...: what the Makefile makes of its variables.
variable()
{
	printf 'include Makefile\nbinding-print:\n\t@echo %s\n' \
	    "$(printf "\$(%s) " "$@")" |
	    make -s --no-print-directory -C "$build" -f - binding-print
}
# What is built here: shim/ and base/. The other archives and objects are the
# build's.
sources=$( (variable libautocast_so_SOURCES base_libbase_a_SOURCES
    variable libautocast_so_LDADD | tr ' ' '\n' | grep '^shim/.*\.o$' |
    sed 's,/lib[a-z]*_a-,/,; s/\.o$/.S/') | tr ' ' '\n' |
    grep '\.[cS]$' | sort -u)
archives=$(variable libautocast_so_LDADD | tr ' ' '\n' |
    grep '\.[ao]$' | grep -v '^base/\|^shim/' | sed "s,^,$build/,")
[ "$(wc -w <<<"$sources")" -gt 20 ] && [ -n "$archives" ] || exit 99

# A Makefile of one rule per file, without any of the build's own state.
rules()
{
	local file object objects=
	for file in $sources; do
		object=${file//\//-}.o
		objects="$objects $object"
		echo "$object:; \$(CC) \$(LEVEL) \$(NO_PATTERNS) -std=gnu11" \
		    "-D_GNU_SOURCE -DSYSCONFDIR='\"/etc\"' -I$root" \
		    "$CUDA_CPPFLAGS -fPIC -fvisibility=hidden -pthread" \
		    "-ftls-model=initial-exec -c -o \$@ $root/$file"
	done
	echo "libautocast.so: $objects; \$(CC) -shared -Wl,-z,now,-z,relro" \
	    "-Wl,-z,defs,-z,noexecstack,--as-needed -pthread -o \$@ $objects" \
	    "-Wl,--version-script=$root/shim/libautocast.map" $archives
}
rules >"$work/rules"

# build COMPILER LEVEL: $work/COMPILERLEVEL/libautocast.so
build()
{
	local no_patterns=
	[ "$1" != gcc ] || no_patterns=-fno-tree-loop-distribute-patterns
	mkdir "$work/$1$2"
	make -s -j"$jobs" -C "$work/$1$2" -f "$work/rules" CC="$1" LEVEL="$2" \
	    NO_PATTERNS="$no_patterns" libautocast.so
}

libraries=
for compiler in gcc clang; do
	for level in -O0 -O2; do
		if ! command -v $compiler >/dev/null; then
			skip "T41: $compiler $level" "$compiler is not installed"
			continue
		fi
		build $compiler $level >"$work/log" 2>&1
		equal "T41: $compiler $level builds" '0 ' "$? $(cat "$work/log")"
		libraries="$libraries $work/$compiler$level/libautocast.so"
	done
done

# The cases of reach.sh, named for the library that they are about.
LIBRARIES=$libraries "$BASH" "$here/reach.sh" >"$work/log" 2>&1
equal 'T41: all went through' "$(wc -w <<<"$libraries")" \
    "$(grep -c 'T6: ' "$work/log")"
while read -r line; do
	case $line in
	'# '*/libautocast.so) which=${line#\# } which=${which%/*} ;;
	'ok '*) check "T41: $which ${line#*- }" '' ;;
	'not ok '*) check "T41: $which ${line#*- }" 'see what follows' ;;
	1..*) ;;
	*) echo "$line" ;;
	esac
done <"$work/log"
plan
