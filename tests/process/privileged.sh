#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A set-uid program that is linked to the library: who calls it must not steer
# it by the environment, and it trusts no policy that others can write.
. "$(dirname "$0")/../preload/preload.sh"
[ -f "$library" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all "built with sanitizers ($SANITIZERS)"
[ "$(id -u)" = 0 ] || skip_all 'needs root to make a set-uid program'
as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
as_nobody true 2>/dev/null || skip_all 'setpriv does not work here'
stub=$root/tests/preload/stub
chmod 755 "$work"
cd "$work" || exit 99
# Where nobody may look, a build folder for one.
install -m 755 "$library" "$work/libautocast.so" || exit 99

{
${CC:-cc} $CUDA_CPPFLAGS -O2 -shared -fPIC -fvisibility=hidden \
    -Wl,-soname,libcublas.so.13 -Wl,--version-script="$stub/stub.map" \
    -o libcublas.so.13 "$stub/stub_cublas.c" || exit 99
# A path in DT_NEEDED and in DT_RPATH holds for a set-uid program too.
${CC:-cc} $CUDA_CPPFLAGS -O2 -o plain "$stub/calls.c" -Wl,--no-as-needed \
    "$work/libautocast.so" "$work/libcublas.so.13" \
    -Wl,--disable-new-dtags,-rpath,"$work" || exit 99
}
cp plain setuid
chmod 4755 setuid
mkdir -m 1777 home state xdg config config/autocast
echo 'gemm -> fp61' >config/autocast/policy

# run PROGRAM VARIABLE=VALUE...: as somebody else; status and what it said.
run()
{
	_program=$1
	shift
	as_nobody env -u AUTOCAST_STATE HOME="$work/home" \
	    XDG_STATE_HOME="$work/xdg" "$@" "$work/$_program" 3 >out 2>&1
	echo "$? $(cat out)"
}
printf '#include <sys/auxv.h>\nint main(void) { return !getauxval(AT_SECURE); }\n' >secure.c
${CC:-cc} -o secure secure.c && chmod 4755 secure || exit 99
as_nobody "$work/secure" || skip_all 'set-uid does not work here'

# Control: the same program without the bit does as the environment says.
case $(run plain AUTOCAST_POLICY='gemm -> fp61' AUTOCAST_STRICT=1) in
'2 '*fp61*) complaint= ;;
*) complaint=$(cat out) ;;
esac
check 'control: unprivileged, the environment is heeded' "$complaint"
run plain AUTOCAST_STATE="$work/state" AUTOCAST_POLICY=off >/dev/null
check 'control: and its statistics are kept' \
    "$(ls state/*.stats >/dev/null 2>&1 || echo none)"
rm -rf state/* xdg/* home/.[a-z]*

equal 'set-uid: AUTOCAST_POLICY and AUTOCAST_STRICT are not heeded' '0 ' \
    "$(run setuid AUTOCAST_POLICY='gemm -> fp61' AUTOCAST_STRICT=1)"
equal 'set-uid: AUTOCAST_RULES is not heeded' '0 ' \
    "$(run setuid AUTOCAST_RULES='gemm -> fp61' AUTOCAST_STRICT=1)"
equal 'set-uid: no policy of the caller'\''s is read' '0 ' \
    "$(run setuid XDG_CONFIG_HOME="$work/config" AUTOCAST_STRICT=1)"
equal 'set-uid: AUTOCAST_LOG is not heeded' '0 ' \
    "$(run setuid AUTOCAST_LOG=debug AUTOCAST_POLICY=fp16)"
run setuid AUTOCAST_STATE="$work/state" AUTOCAST_POLICY=off >/dev/null
run setuid AUTOCAST_STATE=relative >/dev/null
check 'set-uid: no file is made where the caller says' \
    "$(find state xdg home relative -mindepth 1 2>/dev/null)"

# The system's policy, read by the product's own code with a system of ours.
cat >load.c <<'END'
#include "policy/policy.h"
#include "base/text.h"
#include <stdio.h>

int
main(void)
{
	static char said[4096];
	struct ac_text text;
	struct ac_policy_problems problems = { .text = &text };
	struct ac_policy_origin origin;

	ac_text_init(&text, said, sizeof said);
	printf("%s\n", ac_policy_load(NULL, "", &problems, &origin)
	    ? "loaded" : "refused");
	printf("from %s\n", origin.name);
	fputs(said, stderr);
	return 0;
}
END
mkdir -p etc/autocast
${CC:-cc} -D_GNU_SOURCE -I"$root" -DSYSCONFDIR="\"$work/etc\"" -o load load.c \
    "$root/policy/language/load.c" "$build/policy/libpolicy.a" \
    "$build/policy/libprofiles.a" "$build/base/libbase.a" || exit 99
cp load load-setuid
chmod 4755 load-setuid

# system_policy PROGRAM: what becomes of etc/autocast/policy.
system_policy()
{
	as_nobody env -i "$work/$1" >out 2>err
	echo "$(head -n 1 out) $(wc -l <err)"
}
echo 'gemm -> fp16' >etc/autocast/policy
equal 'set-uid: the system'\''s own policy is read' 'loaded 0' \
    "$(system_policy load-setuid)"
check 'control: it is that file' "$(grep -qx "from $work/etc/autocast/policy" out ||
    cat out)"
# Refused, or passed over for another, with one message.
passed_over()
{
	_found=$(system_policy load-setuid)
	{ [ "${_found#refused }" != "$_found" ] ||
	    ! grep -qx "from $work/etc/autocast/policy" out; } &&
	    [ "${_found#* }" = 1 ] || cat out err
}
chmod 666 etc/autocast/policy
equal 'unprivileged: one that everybody may write is the reader'\''s affair' \
    'loaded 0' "$(system_policy load)"
check 'set-uid: not one that everybody may write' "$(passed_over)"
chmod 644 etc/autocast/policy
chown 65533 etc/autocast/policy
check 'set-uid: not one of another user' "$(passed_over)"
plan
