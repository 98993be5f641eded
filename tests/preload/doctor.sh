#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# doctor.sh -- why nothing happens, one small real program per cause: what
# autocast doctor says, its exit status, and that its last line helps.
. "$(dirname "$0")/../binding/binding.sh"
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
autocast=$build/autocast
cublas_stubs
gpu_stub
thirteen=$work/13/libcublas.so.13
compile linked "$here/linked.c" "$thirteen"
compile reach "$here/reach.c" -ldl
compile host "$here/host.c" -ldl
compile plugin.so -shared -fPIC "$here/plugin.c" "$thirteen"
compile foreign.so -shared -fPIC "$here/foreign.c" -ldl
compile foreign_dlsym.so -shared -fPIC "$here/foreign_dlsym.c" -ldl
cd "$work" || exit 99
export LD_LIBRARY_PATH=$paths AUTOCAST_LOG=off
unset AUTOCAST_POLICY AUTOCAST_RULES LD_PRELOAD

# doctor ARGS...: its words in $said, what the program printed in $work/err.
doctor()
{
	[ "$1" = --pid ] || rm -rf "$AUTOCAST_STATE"
	said=$(LD_PRELOAD=$gpu timeout $limit "$autocast" doctor "$@" \
	    2>"$work/err" </dev/null)
	status=$?
	said=$(sed "s,$work,WORK,g; s,$build,BUILD,g" <<<"$said")
}

# finds NAME STATUS SENTENCE COMMAND ARGS...: the exit status, part of what is
# said, and the last line.
finds()
{
	local complaint=
	doctor "${@:5}"
	[ "$status" = "$2" ] || complaint="status $status, not $2"
	grep -qF -- "$3" <<<"$said" || complaint="$complaint; nothing of: $3"
	[ "$(tail -n 1 <<<"$said" | sed -E 's/explain [0-9a-f]{8}$/explain ID/')" = "$4" ] ||
	    complaint="$complaint; the last line is not: $4"
	check "$1" "${complaint:+$complaint
$said
$(cat "$work/err")}"
}

# helps NAME CALLS: the last line, typed into a shell, counts so many calls, or
# "CALLS RECAST".
helps()
{
	local command found
	command=$(tail -n 1 <<<"$said" | sed "s,WORK,$work,g; s,BUILD,$build,g")
	rm -rf "$AUTOCAST_STATE"
	LD_PRELOAD=$gpu timeout $limit bash -c "$command" >"$work/out" 2>&1
	found=$(counted)
	[ "$found" = "$2" ] || found="$found $(total totals.recast_calls)"
	equal "$1: its command helps" "$2" "$found"
}

run='BUILD/autocast run'

# ---- Reached
finds 'recast' 0 '2 products, 2 recast (tf32)' 'BUILD/autocast report' \
    --policy tf32 -- ./linked 2
equal 'the program speaks for itself, and first' \
    'linked 1301, libcublas.so.13: cublasGemmEx' \
    "$(head -n 1 <<<"$said"), $(head -n 1 "$work/err")"
finds 'recast by a look-up' 0 'libcublas from WORK/13/libcublas.so.13: 1 product, 1 recast' \
    'BUILD/autocast report' --policy tf32 -- ./reach handle libcublas.so.13
finds 'too small' 1 '(too-small): fewer than 2^24 operations' \
    'BUILD/autocast explain ID' -- ./linked 1 'a b'
equal 'too small: that is no problem' 'note,more about it:' \
    "$(echo "$said" | sed -n 's/^\([a-z]*\) .*too-small.*/\1/p'),$(echo "$said" | tail -n 2 | head -n 1)"
finds 'the policy is off' 1 "the policy 'off' keeps everything" \
    "$run --policy amp -- ./linked" --policy off -- ./linked
finds 'a rule that keeps' 1 'the rule is -e:1' \
    "$run -e 'gemm -> tf32 profit=off' -e 'gemm m<=8 -> keep' -- ./linked" \
    -e 'gemm m<=8 -> keep' -- ./linked
NVIDIA_TF32_OVERRIDE=0 finds 'NVIDIA_TF32_OVERRIDE=0' 1 'NVIDIA_TF32_OVERRIDE=0 is set' \
    "env -u NVIDIA_TF32_OVERRIDE $run --policy tf32 -- ./linked" --policy tf32 -- ./linked
helps 'NVIDIA_TF32_OVERRIDE=0' '1 1'
CUBLAS_BATCH_INVARIANCE_FLAGS=1 finds 'batch invariance' 1 'CUBLAS_BATCH_INVARIANCE_FLAGS=1 is set' \
    "env -u CUBLAS_BATCH_INVARIANCE_FLAGS $run --policy tf32 -- ./linked" --policy tf32 -- ./linked
helps 'batch invariance' '1 1'
finds 'a policy with errors' 1 'the policy has errors' \
    "$run --policy 'gemm -> fp61' -- true" --policy 'gemm -> fp61' -- ./linked
equal 'which are shown' 1 "$(grep -c "did you mean 'fp16'" "$work/err" | sed 's/[1-9].*/1/')"
echo 'gemm ->' >bad.policy
finds 'a policy file with errors' 1 'the policy has errors' \
    'BUILD/autocast policy check bad.policy' --policy bad.policy -- ./linked
keep_gpu=$gpu gpu=
finds 'no driver' 1 'no GPU answered' \
    "$([ -e "$emulator/libcublas.so.13" ] && echo "$run --policy tf32 --emulate -- ./linked" || echo nvidia-smi)" \
    --policy tf32 -- ./linked
gpu=$keep_gpu

compile kept -I"$here" -xc - -xnone "$thirteen" <<'END'
#include "client.h"
#include <string.h>
int main(int argc, char **argv)
{
	static float room[64];
	const float one = 1;
	cublasHandle_t handle = (cublasHandle_t)room;
	if (argc < 2)
		return 1;
	if (strcmp(argv[1], "stranger") && cublasCreate_v2(&handle))
		return 1;
	if (!strcmp(argv[1], "pedantic"))
		cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
	if (strcmp(argv[1], "half"))
		return !MULTIPLY(cublasSgemm_v2, handle);
	return !cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one,
	    room, CUDA_R_16F, 8, room, CUDA_R_16F, 8, &one, room, CUDA_R_16F, 8,
	    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}
END
finds 'pedantic' 1 '(pedantic)' \
    "$run --policy tf32 -e 'set respect-opt-out=off' -- ./kept pedantic" \
    --policy tf32 -- ./kept pedantic
helps 'pedantic' '1 1'
doctor --policy tf32 -- ./kept half
equal 'half precision' "1 problem  1 call kept (type): the operands are not all FP32 BUILD/autocast explain $(query 'sites[0]["id"]')" \
    "$status $(sed '1q' <<<"$said") $(tail -n 1 <<<"$said")"
finds 'a handle from nowhere' 1 'no cuBLAS handle was seen being created' \
    "$run --policy tf32 -e 'set deepbind=on' -- ./kept stranger" \
    --policy tf32 -- ./kept stranger

# ---- Not all of it, or nothing
compile handle -xc - -xnone "$thirteen" <<'END'
#include <cublas_api.h>
int main(void)
{
	cublasHandle_t handle;
	return cublasCreate_v2(&handle) || cublasDestroy_v2(handle);
}
END
finds 'loaded, but nothing called' 2 'no function that autocast knows was called' \
    'BUILD/autocast explain --functions' -- ./handle
finds 'neither library' 2 'neither cuBLAS nor cuDNN was loaded' \
    'LD_DEBUG=files ./reach 2>&1 | grep -e cublas -e cudnn' -- ./reach
finds 'T8: DEEPBIND' 2 '1 dlopen() call with RTLD_DEEPBIND' \
    "$run -e 'set deepbind=on' -- ./host deep WORK/plugin.so multiply" \
    -- ./host deep "$work/plugin.so" multiply
helps 'T8: DEEPBIND' 1
finds 'T8: DEEPBIND taken away' 1 '1 product, 0 recast' \
    'BUILD/autocast explain ID' \
    -e 'set deepbind=on' -- ./host deep "$work/plugin.so" multiply
equal 'and no longer spoken of' 0 "$(grep -c RTLD_DEEPBIND <<<"$said")"
finds 'T37: dlmopen' 2 'WORK/13/libcublas.so.13 was opened by dlmopen()' 'grep -rn dlmopen .' \
    -- ./host namespace "$work/plugin.so" multiply
first='LD_PRELOAD=$0:$LD_PRELOAD exec "$@"'
finds 'T9: hook of dlsym() before us' 2 'WORK/foreign_dlsym.so comes before libautocast.so' \
    "LD_PRELOAD=WORK/foreign_dlsym.so $run -- ./reach handle libcublas.so.13" \
    -- sh -c "$first" "$work/foreign_dlsym.so" ./reach handle libcublas.so.13
helps 'T9: hook of dlsym() before us' 1
finds 'T9: interposer before us' 0 'foreign.so takes over the same functions, before us; both run' \
    'BUILD/autocast report' --policy tf32 -- sh -c "$first" "$work/foreign.so" ./linked
keep_gpu=$gpu gpu=$gpu:$work/foreign.so
finds 'T9: interposer after us' 0 'foreign.so takes over the same functions, after us; both run' \
    'BUILD/autocast report' --policy tf32 -- ./linked
gpu=$keep_gpu
compile tracing.so -shared -fPIC "$here/foreign.c" -Wl,--no-as-needed "$thirteen" -ldl
compile traced "$here/linked.c" "$work/tracing.so" -Wl,-rpath-link,"$work/13" "$thirteen"
finds 'an interposer that the program is linked to' 0 \
    'WORK/tracing.so takes over the same functions, after us; both run' \
    'BUILD/autocast report' --policy tf32 -- ./traced
compile swallow.so -shared -fPIC -xc - <<'END'
int cublasSgemm_v2(void) { return 0; }
END
finds 'an interposer that passes nothing on' 2 'and passes nothing on' \
    "LD_PRELOAD=WORK/swallow.so $run -- ./linked" \
    -- sh -c "$first" "$work/swallow.so" ./linked

# ---- cuBLAS inside
compile inside "$here/linked.c" -xc "$here/stub_cublas.c" -DVERSION=13
finds 'cuBLAS in the program' 2 "WORK/inside defines cuBLAS's functions itself" \
    'nvcc -cudart shared -o inside *.cu -lcublas -lcublasLt' -- ./inside
finds 'cuBLAS in a program that another one starts' 2 "WORK/inside defines cuBLAS's functions itself" \
    'readelf -d WORK/inside' -- sh -c './inside; true'
echo '{ global: multiply*; local: *; };' >inside.map
compile inside.so -shared -fPIC "$here/plugin.c" "$here/stub_cublas.c" -DVERSION=13 \
    -Wl,--version-script="$work/inside.map"
finds 'cuBLAS in a plugin' 2 "WORK/inside.so defines cuBLAS's functions itself" \
    'readelf -d WORK/inside.so' \
    -- ./host now "$work/inside.so" multiply
compile marked -s -xc - <<'END'
#include <stdio.h>
int main(void) { return puts("CUBLAS_LOGDEST_DBG") + puts("CUBLAS_WORKSPACE_CONFIG") == 0; }
END
finds 'cuBLAS in a stripped program' 2 'WORK/marked has cuBLAS linked in' \
    'nvcc -cudart shared -o marked *.cu -lcublas -lcublasLt' -- ./marked
if ${CC:-cc} -static -o launcher -xc - 2>/dev/null <<'END'
#include <unistd.h>
int main(int argc, char **argv) { return argc > 1 ? execvp(argv[1], argv + 1) : 0; }
END
then
	finds 'T23: a static program' 2 'WORK/launcher is statically linked' \
	    'nvcc -cudart shared -o launcher *.cu -lcublas -lcublasLt' -- "$work/launcher"
	finds 'a static launcher' 0 'what it starts is not' \
	    'LD_PRELOAD=$(BUILD/autocast policy where --library) WORK/launcher ./linked' \
	    --policy tf32 -- "$work/launcher" ./linked
else
	skip 'T23: a static program' 'cannot link statically'
fi

# ---- Ours is not there
finds 'env -i' 2 '(env -i, sudo, a container, a wrapper) took' \
    "env -i LD_LIBRARY_PATH=WORK/13 BUILD/autocast run -- ./linked 'a b'" \
    -- env -i "LD_LIBRARY_PATH=$work/13" ./linked 'a b'
finds 'children are followed' 0 '2 products, 2 recast (tf32)' 'BUILD/autocast report' \
    --policy tf32 -- sh -c './linked & wait; exec ./linked'
finds 'a violent end' 0 'ended by signal 9 (Killed); what it did until then counts' \
    'BUILD/autocast report' --policy tf32 -- sh -c './linked; kill -KILL $$'
AUTOCAST_STATE=off finds 'without statistics of the user'\''s' 0 '1 recast (tf32)' \
    'BUILD/autocast report' --policy tf32 -- ./linked
"$autocast" doctor -- ./linked >/dev/null 2>&1 &
pid=$!
wait $pid
equal 'no folder is left' '' "$(find /tmp -maxdepth 1 -name "autocast-doctor-$pid-*")"

# ---- The emulated GPU
if [ -e "$emulator/libcublas.so.13" ]; then
	gpu=
	LD_LIBRARY_PATH='' finds 'a GPU that lacks the rung' 1 'T4 (emulated) has FP16 only' \
	    "$run --emulate=t4 --policy fp16 -- ./linked" \
	    --emulate=t4 --policy tf32 -- ./linked
	compile rpath.so -shared -fPIC "$here/plugin.c" "$thirteen" \
	    -Wl,--disable-new-dtags,-rpath,"$work/13"
	LD_LIBRARY_PATH='' finds 'T38: DT_RPATH under --emulate' 2 \
	    'WORK/13/libcublas.so.13 was loaded in spite of --emulate' \
	    "LD_PRELOAD=BUILD/emulator/libcuda.so.1:BUILD/emulator/libcudart.so.13:BUILD/emulator/libcublas.so.13 $run --policy tf32 --emulate -- ./host now WORK/rpath.so multiply" \
	    --policy tf32 --emulate -- ./host now "$work/rpath.so" multiply
	helps 'T38: DT_RPATH under --emulate' 1
	gpu=$keep_gpu
else
	skip 'a GPU that lacks the rung' 'the emulated GPU was not built'
	skip 'T38: DT_RPATH under --emulate' 'the emulated GPU was not built'
fi

# ---- A running process
compile waiting -I"$here" -xc - -xnone "$thirteen" <<'END'
#include "client.h"
#include <unistd.h>
int main(int argc, char **argv)
{
	cublasHandle_t handle;
	char c;
	if (cublasCreate_v2(&handle))
		return 1;
	if (argc > 1)
		print_status(argv[1], MULTIPLY(cublasSgemm_v2, handle));
	write(1, "ready\n", 6);
	return read(0, &c, 1) < 0;
}
END
mkfifo hold
# started ENVIRONMENT... PROGRAM ARGS...: in the background, until it is ready.
started()
{
	: >ready
	env "$@" <hold >ready 2>"$work/err" &
	pid=$!
	exec 3>hold
	until grep -q ready ready || ! kill -0 $pid 2>/dev/null; do :; done
}
ended()
{
	exec 3>&-
	wait $pid
}

# watched NAME SENTENCE COMMAND: what is found of process $pid.
watched()
{
	finds "$1" "$2" "$3" "$(sed "s,PID,$pid,g" <<<"$4")" --pid $pid
}
started LD_PRELOAD="$library:$gpu" AUTOCAST_POLICY=tf32 ./waiting once
watched '--pid: recast' 0 '1 product, 1 recast (tf32)' 'BUILD/autocast report'
ended
started LD_PRELOAD="$library:$gpu" AUTOCAST_POLICY=off ./waiting 'a b'
watched '--pid: kept' 1 "the policy 'off' keeps everything" \
    "$run --policy amp -- ./waiting 'a b'"
ended
started LD_PRELOAD="$library:$gpu" ./waiting
watched '--pid: no call yet' 2 'no function that autocast knows was called' \
    'BUILD/autocast explain --functions'
ended
started ./waiting once
watched '--pid: not preloaded' 2 'its environment has no LD_PRELOAD' \
    "$run -- ./waiting once"
ended
started LD_PRELOAD="$library" sh -c 'echo ready; read x'
watched '--pid: neither library' 2 'neither cuBLAS nor cuDNN was loaded' \
    'grep -i -e cublas -e cudnn /proc/PID/maps'
ended
started LD_PRELOAD="$work/swallow.so:$library" ./waiting once
watched '--pid: an interposer before us' 2 'WORK/swallow.so takes over the same functions, before us' \
    "LD_PRELOAD=WORK/swallow.so $run -- ./waiting once"
ended
started LD_PRELOAD="$library:$work/swallow.so:$gpu" AUTOCAST_POLICY=tf32 ./waiting once
watched '--pid: an interposer after us' 0 'WORK/swallow.so takes over the same functions, after us; both run' \
    'BUILD/autocast report'
ended

# What a process did not survive to tell is seen while it runs: here it waits
# until the doctor has read some more, which takes several looks.
watch_one()
{
	: >ready
	"$autocast" doctor -- env -i "LD_LIBRARY_PATH=$work/13" \
	    sh -c './waiting once; :' <hold >ready 2>"$work/err" &
	pid=$!
	exec 3>hold
	until grep -q ready ready || ! kill -0 $pid 2>/dev/null; do :; done
	reads=$(sed -n 's/^syscr: //p' /proc/$pid/io)
	enough=$((reads + 6 * (64 + $(find /proc -maxdepth 1 -name '[0-9]*' | wc -l))))
	SECONDS=0
	until [ "$(sed -n 's/^syscr: //p' /proc/$pid/io)" -gt $enough ] ||
	    [ $SECONDS -gt $limit ]; do :; done
	exec 3>&-
	wait $pid
}
if [ -r /proc/self/io ]; then
	watch_one
	equal 'seen while it ran' '2 1' "$? $(grep -c 'waiting (process .*) runs without libautocast.so' ready)"
else
	skip 'seen while it ran' 'no /proc/self/io'
fi
plan
