#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T16: programs of ASan, TSan, UBSan and under valgrind, whose runtimes look
# names up before anything is bound: they run, and their calls are caught,
# whichever of the runtime and the library is preloaded first.
. "$(dirname "$0")/../preload/preload.sh"
[ -f "$library" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all "the library is to be a plain one, not $SANITIZERS"
here=$root/tests/process/programs
stub=$root/tests/preload/stub
calls=4

${CC:-cc} $CUDA_CPPFLAGS -O2 -shared -fPIC -fvisibility=hidden \
    -Wl,-soname,libcublas.so.13 -Wl,--version-script="$stub/stub.map" \
    -o "$work/libcublas.so.13" "$stub/stub_cublas.c" || exit 99

# What the runtimes are told: leaks are not ours, ours may come first, and what
# they find ends the program.
ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:exitcode=66
TSAN_OPTIONS=exitcode=66
UBSAN_OPTIONS=halt_on_error=1:exitcode=66
export ASAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS

# caught NAME PRELOAD COMMAND...: rc 0, silent, and every call counted.
caught()
{
	_name=$1
	_preload=$2
	shift 2
	rm -rf "$AUTOCAST_STATE"
	env LD_LIBRARY_PATH="$work" AUTOCAST_POLICY=off LD_PRELOAD="$_preload" \
	    timeout 240 "$@" >"$work/out" 2>&1
	_status=$?
	_counted=$(total totals.calls 2>/dev/null)
	check "T16: $_name" "$([ "$_status $_counted" = "0 $calls" ] || {
		echo "status $_status, $_counted of $calls calls counted"
		head -n 12 "$work/out"
	})"
}

# program COMPILER FLAGS...: one that runs without the library.
program()
{
	"$@" $CUDA_CPPFLAGS -D_GNU_SOURCE -g -O1 -o "$work/program" \
	    "$here/first_dlsym.c" "$work/libcublas.so.13" -ldl \
	    >"$work/log" 2>&1 &&
	    { LD_LIBRARY_PATH=$work timeout 240 "$work/program" >"$work/log" 2>&1; } 2>/dev/null
}

# runtime COMPILER NAME: its shared library, nothing if there is none. clang
# would also find gcc's.
runtime()
{
	for _file in "libclang_rt.$2-$(uname -m).so" \
	    "libclang_rt.$2_standalone-$(uname -m).so" "lib$2.so"; do
		_path=$("$1" -print-file-name="$_file")
		case $_path in /*) [ -e "$_path" ] && echo "$_path" && return ;; esac
	done
}

compilers=${CC:-cc}
for other in gcc clang; do
	command -v $other >/dev/null && case " $compilers " in
	*" $other "*) ;;
	*) compilers="$compilers $other" ;;
	esac
done
for compiler in $compilers; do
	for kind in address:asan thread:tsan undefined:ubsan; do
		word=${kind%:*}
		case $compiler in
		*clang*) inside='' shared=-shared-libsan ;;
		*) inside=-static-lib${kind#*:} shared='' ;;
		esac
		if program "$compiler" -fsanitize=$word $inside; then
			caught "$compiler, $word, its runtime inside" "$library" \
			    "$work/program"
		else
			skip "T16: $compiler, $word, its runtime inside" \
			    "$(head -n 1 "$work/log" | tr -d '#')"
		fi
		library_of=$(runtime "$compiler" "${kind#*:}")
		# clang finds its own by a path that only it knows.
		if [ -n "$library_of" ] && program "$compiler" -fsanitize=$word \
		    $shared -Wl,-rpath,"$(dirname "$library_of")"; then
			caught "$compiler, $word, its runtime first" \
			    "$library_of:$library" "$work/program"
			caught "$compiler, $word, its runtime second" \
			    "$library:$library_of" "$work/program"
			caught "$compiler, $word, its runtime linked" "$library" \
			    "$work/program"
		else
			skip "T16: $compiler, $word, its runtime a library" \
			    'it does not run without ours'
		fi
	done
done

# Programs that are not instrumented, with a runtime preloaded all the same.
program "${CC:-cc}" || exit 99
for name in asan ubsan tsan; do
	library_of=$(runtime "${CC:-cc}" $name)
	if [ -n "$library_of" ] && env LD_PRELOAD="$library_of" \
	    LD_LIBRARY_PATH="$work" "$work/program" >"$work/log" 2>&1; then
		caught "a plain program, lib$name first" "$library_of:$library" \
		    "$work/program"
		caught "a plain program, lib$name second" "$library:$library_of" \
		    "$work/program"
	else
		skip "T16: a plain program, lib$name" 'it does not run without ours'
	fi
done
if command -v valgrind >/dev/null; then
	caught 'valgrind' "$library" valgrind -q --error-exitcode=66 \
	    "$work/program"
	check 'T16: valgrind has nothing to say' "$(grep '^==' "$work/out")"
else
	skip 'T16: valgrind' 'valgrind is not installed'
fi

# Control: a program that is not caught is seen.
caught=$(caught control "$library" env -u LD_PRELOAD "$work/program")
check 'T16, control: without the library nothing is counted' \
    "$(grep -q '^not ok' <<<"$caught" || echo "$caught")"
plan
