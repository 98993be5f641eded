#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh -- the program's own exit status, and one line for each program that
# cannot be run or preloaded.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'

# ---- Mistakes on the command line; nothing is started
echo 'gemm -> fp61' >bad.policy
play 36
AUTOCAST_POLICY=fp61 show run sh -c 'echo started'

# ---- Programs that cannot be run
mkdir folder
echo 'echo text' >text
chmod +x text
: >empty
chmod +x empty
echo '#!/bin/sh' >plain
: >train.py
: >job.sh
printf '#!' >shebang
printf '#!/no/such/interpreter\n' >orphan
printf '#!/usr/bin/env no-such-program\n' >orphan2
printf '#!./loop\n' >loop
printf '#!/bin/sh\r\n' >windows
printf '\177ELF' >stub
head -c 300 "$(readlink -f /bin/true)" >part
chmod +x shebang orphan orphan2 windows loop stub part
mkfifo pipe
play 19

# ---- The exit status is the program's own; it is told that nothing was seen
pretend_driver
play 6
printf '#!/bin/sh\necho script "$@"; exit 5\n' >script
printf '#!%s/script x\n' "$PWD" >script2
printf '#!/usr/bin/env -S A=1 sh\necho through env; exit 6\n' >script3
chmod +x script script2 script3
play 2
shown
"$autocast" run ./script2 y >out 2>/dev/null
equal 'a script run by a script' "$?,$(cat out)" "5,script x ./script2 y"
for death in TERM:143 KILL:137 SEGV:139; do
	("$autocast" run sh -c "ulimit -c 0; kill -${death%:*} \$\$"; exit $?) 2>/dev/null
	equal "death by SIG${death%:*}" $? "${death#*:}"
done
bash -c '"$0" run sh -c "kill -KILL \$\$"; exit 0' "$autocast" 2>err
equal 'a shell sees the signal' "$(grep -c "Killed.* run " err)" 1
(ulimit -c unlimited; "$autocast" run sh -c 'ulimit -c 0; kill -ABRT $$'; exit $?) 2>/dev/null
equal 'death by SIGABRT leaves no core of ours' "$?,$(ls core* 2>/dev/null)" '134,'
equal 'standard input is the program'\''s' \
    "$(echo hello | "$autocast" run cat)" hello
cp "$(readlink -f /bin/true)" 'a b'
"$autocast" run './a b'
equal 'a name with a space' $? 0

# ---- Programs that nothing can be preloaded into
refused()
{
	local name=$1 wanted=$2 said

	shift 2
	said=$("$autocast" run "$@" 2>&1)
	equal "$name" "$?: $(printf '%s' "$said" | normal)" \
	    "126: autocast: $wanted"
}

if echo 'void _start(void) { for (;;) ; }' |
    compile static -nostdlib -static -ffreestanding -fno-stack-protector -fno-pie -no-pie; then
	refused 'static' './static is statically linked: no library can be preloaded; link it dynamically' ./static
	printf '#!%s/static\n' "$PWD" >by-static
	chmod +x by-static
	refused 'script of a static program' 'PLACE/here/static, needed for ./by-static is statically linked: no library can be preloaded; link it dynamically' ./by-static
else
	skip 'static' 'cannot link statically'
	skip 'script of a static program' 'cannot link statically'
fi
if echo 'int main(void) { return 0; }' |
    compile musl -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1; then
	refused 'musl' './musl is linked against musl; autocast needs glibc programs' ./musl
else
	skip 'musl' 'no compiler'
fi
cp "$(readlink -f /bin/true)" foreign
printf '\010' | dd of=foreign bs=1 seek=18 conv=notrunc 2>/dev/null # e_machine: MIPS
refused 'another machine' './foreign is for another machine than autocast' ./foreign
cp "$(readlink -f /bin/true)" narrow
printf '\001' | dd of=narrow bs=1 seek=4 conv=notrunc 2>/dev/null # 32 bits
refused 'another word size' './narrow is for another machine than autocast' ./narrow
if [ "$(id -u)" = 0 ]; then
	for bits in u+s:set-uid g+s:set-gid; do
		cp "$(readlink -f /bin/true)" other
		chown 65534:65534 other
		chmod "${bits%:*}" other
		refused "${bits#*:}" "./other is ${bits#*:}: the loader preloads nothing into it; run a copy without that" ./other
	done
else
	su=$(command -v su)
	refused 'set-uid' "$su is set-uid: the loader preloads nothing into it; run a copy without that" su
	skip 'set-gid' 'not root'
fi

# Every prefix of a program's headers (test_elf_facts turns its bytes over).
cp "$(readlink -f /bin/true)" whole
bad=
for size in $(seq 0 61 780); do
	head -c "$size" whole >broken
	chmod +x broken
	"$autocast" run ./broken >/dev/null 2>&1
	status=$?
	[ $status -eq 126 ] || bad="$bad $size:$status"
done
equal 'programs cut within their headers are refused' "$bad" ''
plan
