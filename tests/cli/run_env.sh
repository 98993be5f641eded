#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_env.sh -- what the program is told, and in which order things are
# preloaded.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
library=$(readlink -f "$build/libautocast.so")

# told VARIABLE ARGUMENTS...: the variable in a program run so.
told()
{
	local variable=$1

	shift
	"$autocast" run "$@" printenv "$variable" 2>/dev/null
}

echo 'gemm -> tf32' >my.policy
equal 'a profile by name' "$(told AUTOCAST_POLICY --policy fp16)" fp16
equal 'a policy text' "$(told AUTOCAST_POLICY --policy 'gemm -> tf32')" 'gemm -> tf32'
equal 'a file, made absolute' "$(told AUTOCAST_POLICY --policy my.policy)" "$PWD/my.policy"
equal 'a file with =' "$(told AUTOCAST_POLICY --policy=./my.policy)" "$PWD/my.policy"
equal 'the last --policy wins' "$(told AUTOCAST_POLICY --policy fp16 --policy tf32)" tf32
equal '--policy before AUTOCAST_POLICY' "$(AUTOCAST_POLICY=fp16 told AUTOCAST_POLICY --policy tf32)" tf32
equal 'AUTOCAST_POLICY, made absolute' "$(AUTOCAST_POLICY=my.policy told AUTOCAST_POLICY)" "$PWD/my.policy"
equal 'no policy, no variable' "$(told AUTOCAST_POLICY)" ''
equal 'rules, in order' "$(told AUTOCAST_RULES -e 'gemm m=1 -> keep' -e'gemm -> tf32')" 'gemm m=1 -> keep
gemm -> tf32'
equal '-e replaces AUTOCAST_RULES' "$(AUTOCAST_RULES='gemm -> keep' told AUTOCAST_RULES -e 'gemm -> tf32')" 'gemm -> tf32'
equal 'AUTOCAST_RULES is kept' "$(AUTOCAST_RULES='gemm -> keep' told AUTOCAST_RULES)" 'gemm -> keep'
AUTOCAST_RULES='gem' told X >/dev/null
equal 'a bad AUTOCAST_RULES is refused' $? 2
equal 'and named' "$(AUTOCAST_RULES='gem' "$autocast" run true 2>&1 | head -n 1 | cut -d: -f1-3)" AUTOCAST_RULES:1:1
equal 'the state directory, made absolute' "$(AUTOCAST_STATE=here told AUTOCAST_STATE)" "$PWD/here"
equal 'no state stays off' "$(AUTOCAST_STATE=off told AUTOCAST_STATE)" off
one=$(told AUTOCAST_RUN)
equal 'each run has a token' "$([ -n "$one" ] && [ "$one" != "$(told AUTOCAST_RUN)" ]; echo $?)" 0
equal 'a token of its own inside another run' "$([ "$(AUTOCAST_RUN=outer told AUTOCAST_RUN)" != outer ]; echo $?)" 0
equal 'the rest of the environment' "$(MINE='a b' told MINE)" 'a b'

equal 'LD_PRELOAD alone' "$(told LD_PRELOAD)" "$library"
equal 'before what is there' "$(LD_PRELOAD=/x/liba.so:/x/libb.so told LD_PRELOAD)" "$library:/x/liba.so:/x/libb.so"
equal 'spaces separate too' "$(LD_PRELOAD='/x/liba.so /x/libb.so' told LD_PRELOAD)" "$library:/x/liba.so:/x/libb.so"
equal 'never twice' "$(LD_PRELOAD="/x/liba.so:$library:/old/libautocast.so" told LD_PRELOAD)" "$library:/x/liba.so"
for name in libasan.so.8 libtsan.so.2 libubsan.so.1 liblsan.so.0 libclang_rt.asan-x86_64.so; do
	equal "behind $name" "$(LD_PRELOAD=/x/liba.so:/x/$name told LD_PRELOAD)" \
	    "/x/$name:$library:/x/liba.so"
done
equal 'a name that only looks like ours' "$(LD_PRELOAD=/x/mylibautocast.so told LD_PRELOAD)" "$library:/x/mylibautocast.so"

# A program that needs a sanitizer runtime is given it first.
if echo 'int main(void) { return 0; }' | compile libasan.so.99 -shared -Wl,-soname,libasan.so.99 &&
    echo '#include <stdio.h>
#include <stdlib.h>
int main(void) { puts(getenv("LD_PRELOAD")); return 0; }' |
    compile sanitized -Wl,--no-as-needed ./libasan.so.99 -Wl,-rpath,"$PWD"; then
	equal 'a program with a sanitizer' "$("$autocast" run ./sanitized 2>/dev/null)" "libasan.so.99:$library"
else
	skip 'a program with a sanitizer' 'cannot compile'
fi

# A path that LD_PRELOAD cannot hold.
mkdir 'with space'
cp "$autocast" "$build/libautocast.so" 'with space'
'with space/autocast' run true 2>err
equal 'a library that cannot be listed' "$?,$(normal <err)" \
    '125,autocast: cannot preload PLACE/here/with space/libautocast.so: its path holds a space or a colon; install autocast elsewhere'

# Variables that are none of ours, and those that a site's modules set.
equal 'a misspelt variable' "$(AUTOCAST_POLCY=off AUTOCAST_ROOT=/x AUTOCAST_DIR=/x \
    "$autocast" run true 2>&1 | grep variable)" \
    'autocast: there is no variable AUTOCAST_POLCY; did you mean AUTOCAST_POLICY?'
equal 'one that nobody knows' "$(AUTOCAST_TOL=1 AUTOCAST_PRECISION=fp16 \
    "$autocast" run true 2>&1 | grep variable | sort)" \
    'autocast: there is no variable AUTOCAST_PRECISION; type: autocast run --list-env
autocast: there is no variable AUTOCAST_TOL; type: autocast run --list-env'
equal 'and a quiet log' "$(AUTOCAST_POLCY=off AUTOCAST_LOG=error "$autocast" run true 2>&1 | grep variable)" ''

equal 'no notice, as people say it' "$(for off in off no 0 false; do
    AUTOCAST_NOTICE=$off "$autocast" run true 2>&1; done)" ''
equal 'nor on nor off' "$(AUTOCAST_NOTICE=never "$autocast" run true 2>&1 | grep NOTICE)" \
    'autocast: AUTOCAST_NOTICE=never is neither on nor off: on is taken'

# Options of ours that the program gets.
behind()
{
	"$autocast" run "$@" 2>&1 | grep -c 'stands behind the program'
}
equal 'options behind the program' "$(behind true --policy fp16),$(
    behind true 1 --emulate),$(behind true -e 'gemm -> keep')" 1,1,1
equal 'options of its own' "$(behind true --policy adam),$(behind true -e 5),$(
    behind env autocast run --emulate)" 0,0,0

# The table of variables.
for variable in $(sed -n 's/^ENV([^"]*"\([A-Z0-9_]*\)".*/\1/p' "$here/../../base/env.def"); do
	"$autocast" run --list-env | grep -q "^$variable  *[^ ]"
	ok "--list-env knows $variable" $?
done
plan
