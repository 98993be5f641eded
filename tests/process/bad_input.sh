#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the environment may name instead of a policy or a directory: each is
# refused or passed over, said at most once, and the program does what it does.
. "$(dirname "$0")/../preload/preload.sh"
[ -f "$library" ] || skip_all 'libautocast.so is not built'
stub=$root/tests/preload/stub
chmod 755 "$work"

{
${CC:-cc} $CUDA_CPPFLAGS -O2 -shared -fPIC -fvisibility=hidden \
    -Wl,-soname,libcublas.so.13 -Wl,--version-script="$stub/stub.map" \
    -o "$work/libcublas.so.13" "$stub/stub_cublas.c" || exit 99
${CC:-cc} $CUDA_CPPFLAGS -O2 -o "$work/calls" "$stub/calls.c" \
    "$work/libcublas.so.13" || exit 99
}

# harmless NAME MESSAGES ENV...: three calls with those variables: status 0,
# nothing on stdout, as many messages on stderr (the line that is quoted under
# one begins with a blank), and in time.
harmless()
{
	_name=$1
	_messages=$2
	shift 2
	env LD_LIBRARY_PATH="$work" LD_PRELOAD="$preload" "$@" \
	    timeout 240 "$work/calls" 3 >"$work/out" 2>"$work/err" </dev/null
	_status=$?
	equal "$_name: status" 0 $_status
	check "$_name: nothing on stdout" "$(cat "$work/out")"
	equal "$_name: messages" "$_messages" "$(grep -vc '^ ' "$work/err")"
}

# ---- AUTOCAST_POLICY ---------------------------------------------------------
cd "$work" || exit 99
mkfifo fifo
mkdir dir
ln -s loop loop
truncate -s 8E huge 2>/dev/null || truncate -s 1T huge
head -c 2097152 /dev/zero >zeros
head -c 4096 /dev/urandom | tr -d '\n' >noise
{ printf 'gemm -> fp16\n'; printf '\0\377\n'; } >binary
long=$(printf 'long/%.0s' $(seq 1500))
# One line names what is wrong with what; one says what follows from it.
for value in fifo dir loop huge zeros noise binary missing "$long" \
    /dev/zero /dev/full /dev/urandom /proc/self/mem; do
	[ -e "$value" ] || case $value in /*) continue ;; esac
	case $value in /*) path=$value ;; *) path=$work/$value ;; esac
	harmless "AUTOCAST_POLICY=${value:0:20}" 2 AUTOCAST_POLICY="$path"
	check "AUTOCAST_POLICY=${value:0:20}: says which and what follows" \
	    "$(grep -qF "${path:0:100}" "$work/err" &&
	        grep -q 'recasting is off; "autocast policy show" shows' "$work/err" || cat "$work/err")"
done
# The same behind an include.
for value in "$work/fifo" "$work/dir" "$work/huge" /dev/zero "$work/missing"; do
	echo "include \"$value\"" >including
	harmless "include ${value##*/}" 2 AUTOCAST_POLICY="$work/including"
done
echo "include \"$work/including\"" >including
harmless 'include itself' 2 AUTOCAST_POLICY="$work/including"
harmless 'AUTOCAST_POLICY=/dev/null' 0 AUTOCAST_POLICY=/dev/null
harmless 'a policy and rules that are both wrong' 3 \
    AUTOCAST_POLICY='gemm -> fp61' AUTOCAST_RULES='germ -> keep'

# A terminal is not read: what was typed is the program's.
if ! command -v script >/dev/null 2>&1; then
	skip 'AUTOCAST_POLICY=/dev/tty' 'script(1) is not installed'
elif ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	skip 'AUTOCAST_POLICY=/dev/tty' 'there are no pseudo-terminals'
else
	cat >type.sh <<'END'
LD_PRELOAD=$wanted AUTOCAST_POLICY=/dev/tty ./calls 3
echo "calls $?"
read -r line
echo "typed $line"
END
	printf 'first\nsecond\n' | wanted=$preload LD_LIBRARY_PATH=$work \
	    timeout 240 script -qec "$BASH type.sh" /dev/null >"$work/out" 2>&1
	check 'AUTOCAST_POLICY=/dev/tty: refused, and nothing is read from it' \
	    "$(grep -q 'calls 0' "$work/out" && grep -q 'typed first' "$work/out" &&
	        grep -q '/dev/tty: is not a regular file' "$work/out" ||
	        cat "$work/out")"
fi

# ---- AUTOCAST_STATE ----------------------------------------------------------
echo precious >file
ln -s nowhere dangling
ln -s file to-file
mkdir kept
ln -s kept to-dir
for value in file fifo loop dangling to-file zeros/below "$long" /dev/null \
    /dev/zero /proc /proc/self/fd; do
	case $value in /*) path=$value ;; *) path=$work/$value ;; esac
	harmless "AUTOCAST_STATE=${value:0:20}" 1 AUTOCAST_STATE="$path" \
	    AUTOCAST_POLICY=off
	check "AUTOCAST_STATE=${value:0:20}: says which" \
	    "$(grep -qF "${path:0:100}" "$work/err" || cat "$work/err")"
done
# What nobody asked for by name is not worth a word to a program's user.
harmless 'a home that is none' 0 AUTOCAST_STATE='' XDG_STATE_HOME='' \
    HOME=/dev/null AUTOCAST_POLICY=off
harmless 'AUTOCAST_STATE=off' 0 AUTOCAST_STATE=off AUTOCAST_POLICY=off
check 'AUTOCAST_STATE: nothing was written through a link' \
    "$([ "$(cat file)" = precious ] && [ ! -e nowhere ] || ls -l)"
harmless 'AUTOCAST_STATE: a relative one' 0 AUTOCAST_STATE=relative AUTOCAST_POLICY=off
check 'AUTOCAST_STATE: files are for their owner only' \
    "$(find relative ! -perm -u+r -o -perm /077)"

harmless 'AUTOCAST_STATE: a link to a directory' 0 AUTOCAST_STATE="$work/to-dir" \
    AUTOCAST_POLICY=off
check 'AUTOCAST_STATE: which is followed' "$(ls kept/*.stats >/dev/null 2>&1 || ls -l)"

# No room: the limit on file sizes would kill who ignores it.
(
	ulimit -f 1
	LD_LIBRARY_PATH=$work LD_PRELOAD=$preload AUTOCAST_POLICY=off \
	    AUTOCAST_STATE=$work/small "$work/calls" 3 >"$work/out" 2>&1
	echo $? >"$work/status"
) 2>/dev/null
equal 'AUTOCAST_STATE: a limit on file sizes is respected, and named' '0 1' \
    "$(cat "$work/status") $(grep -c 'AUTOCAST_STATE=' "$work/out")"

# A file that is exchanged while it is used: not followed, not written.
cat >swap.c <<'END'
#include <cublas_api.h>
#include <stdio.h>

int
main(void)
{
	static float A[1], B[1], C[1];
	const float one = 1;
	cublasHandle_t handle;
	int failed = cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS;

	for (int m = 1; m < 3000; m++) {
		failed |= cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, 64,
		    64, &one, A, m, B, 64, &one, C, m) != CUBLAS_STATUS_SUCCESS;
		if (m == 1) {
			puts("called");
			fflush(stdout);
			getchar();
		}
	}
	return failed;
}
END
${CC:-cc} $CUDA_CPPFLAGS -O2 -o swap swap.c "$work/libcublas.so.13" || exit 99
for to in "$work/file" "$work/fifo" /dev/null "$work/dir"; do
	rm -rf exchanged
	coproc LD_LIBRARY_PATH=$work LD_PRELOAD=$preload AUTOCAST_POLICY=off \
	    AUTOCAST_STATE=$work/exchanged timeout 240 "$work/swap" 2>"$work/err"
	pid=$COPROC_PID
	exec {to_program}>&"${COPROC[1]}"
	read -r -u "${COPROC[0]}" word
	for stats in exchanged/*.stats; do
		ln -sf "$to" "$stats"
	done
	echo go >&"$to_program"
	exec {to_program}>&-
	wait "$pid"
	equal "statistics exchanged for a link to ${to##*/}" \
	    "called 0 precious " "$word $? $(cat file) $(cat "$work/err")"
done
check 'nothing was made in the directory linked to' "$(ls dir)"

# ---- Another user's ----------------------------------------------------------
as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
if [ "$(id -u)" != 0 ] || ! as_nobody true 2>/dev/null; then
	skip 'a directory that may not be written' 'needs root to be somebody else'
	skip 'a policy that may not be read' 'needs root to be somebody else'
	plan
	exit
fi
# Who is somebody else may not come as far as the build folder.
cp "$library" "$work/libautocast.so"
chmod 755 "$work/libautocast.so"
preload=${sanitizer:+$sanitizer:}$work/libautocast.so
mkdir closed
chmod 755 closed
printf 'gemm -> fp16\n' >secret
chmod 600 secret
as_nobody env LD_LIBRARY_PATH="$work" LD_PRELOAD="$preload" AUTOCAST_POLICY=off \
    AUTOCAST_STATE="$work/closed/below" "$work/calls" 3 >"$work/out" 2>&1
equal 'a directory that may not be written' '0 1' "$? $(wc -l <"$work/out")"
check 'and nothing was made in it' "$(ls closed)"
as_nobody env LD_LIBRARY_PATH="$work" LD_PRELOAD="$preload" \
    AUTOCAST_POLICY="$work/secret" AUTOCAST_STATE=off "$work/calls" 3 >"$work/out" 2>&1
equal 'a policy that may not be read' '0 2' "$? $(wc -l <"$work/out")"
check 'and none of it is shown' "$(grep fp16 "$work/out")"
plan
