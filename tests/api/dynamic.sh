#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# AUTOCAST_DYNAMIC: without the library each call answers as the library's
# disabled scaler does; libraries of other ages are told apart by their table.
# No GPU, no driver.
. "$(dirname "$0")/../preload/preload.sh"
here=$root/tests/api
sanitize=${SANITIZERS:+-fsanitize=$SANITIZERS}

# compile NAME ARGS...
compile()
{
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 \
	    $sanitize -I"$root/include" -o "$work/$1" "${@:2}" || exit 99
}

# answers NAME PRELOAD PROGRAM: without the line that only the library can say.
answers()
{
	env ${2:+"LD_PRELOAD=$2"} "$work/$3" >"$work/$1" 2>"$work/$1.err"
	equal "$1: status" 0 $?
	check "$1: says nothing else" "$(cat "$work/$1.err")"
	grep -v '^computes' "$work/$1" >"$work/$1.answers"
}

compile linked "$here/disabled.c" -L"$build" -lautocast-api -ldl \
    -Wl,-rpath,"$build"
compile dynamic -DAUTOCAST_DYNAMIC "$here/disabled.c" -ldl
answers library "$sanitizer" linked
answers absent "$sanitizer" dynamic
check 'without the library as with a disabled scaler of the library' \
    "$(diff "$work/library.answers" "$work/absent.answers")"
equal 'what has to be computed is not' \
    "computes: norm 23, clip 23, axpy 23; last error ''" \
    "$(grep '^computes' "$work/absent")"
if [ -f "$library" ]; then
	answers preloaded "$preload" dynamic
	check 'with the preload as with the library' \
	    "$(diff "$work/library" "$work/preloaded")"
fi

# Opened late, when there is no driver in the process either.
if [ -e "$build/emulator/libcuda.so.1" ]; then
	compile late "$here/late.c" -ldl
	equal 'opened by the program' 'no error: ' "$(LD_PRELOAD=$sanitizer \
	    LD_LIBRARY_PATH=$build/emulator \
	    "$work/late" "$build/libautocast-api.so.1")"
else
	skip 'opened by the program' 'no emulated driver was built'
fi

# Files in C and C++ in one program, which share what was found. Nothing here is
# of this build.
sanitize=
if ! command -v c++ >/dev/null; then
	skip 'libraries of other ages' 'no C++ compiler'
	plan
	exit
fi
compile ages.o -DAUTOCAST_DYNAMIC -c "$here/ages.c"
c++ -std=c++11 -Wall -Wextra -Werror -DAUTOCAST_DYNAMIC -I"$root/include" \
    -o "$work/ages" "$here/ages.cc" "$work/ages.o" -ldl -pthread || exit 99

# aged AGE NAME EXPECTED
aged()
{
	compile "age$1.so" -shared -fPIC -DAGE="$1" "$here/older.c"
	equal "$2" "$3" \
	    "$(LD_PRELOAD=$work/age$1.so "$work/ages")"
}

equal 'none' 'found once
push 0, pop 0
create 0, disabled, group 0, update 0
the library is older than the header' "$("$work/ages")"
aged 1 'one with regions only' 'found once
push 21, pop 0
create 0, disabled, group 0, update 0
the library is older than the header'
aged 2 'one that only creates' 'found once
push 21, pop 17
create 20, the library'\''s, group 22, update 22
the library is older than the header'
aged 3 'a newer one' 'found once
push 21, pop 17
create 20, the library'\''s'
aged 4 'one that is too new' 'found once
push 0, pop 0
create 0, disabled, group 0, update 0
the library is older than the header'
plan
