#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T31: a kept call at a known site allocates nothing, takes no lock, reads no
# environment and makes no system call, on two threads at once: each of these
# ends the program, which a control per hook proves.
. "$(dirname "$0")/../preload/preload.sh"
[ -f "$library" ] || skip_all 'libautocast.so is not built'
[ -z "$sanitizer" ] || skip_all "its runtime has a malloc of its own ($SANITIZERS)"
here=$root/tests/process/programs
stub=$root/tests/preload/stub

{
${CC:-cc} $CUDA_CPPFLAGS -O2 -shared -fPIC -fvisibility=hidden \
    -Wl,-soname,libcublas.so.13 -Wl,--version-script="$stub/stub.map" \
    -o "$work/libcublas.so.13" "$stub/stub_cublas.c" || exit 99
${CC:-cc} -D_GNU_SOURCE -O1 -fno-builtin -shared -fPIC -o "$work/libtrip.so" \
    "$here/trip.c" || exit 99
${CC:-cc} $CUDA_CPPFLAGS -D_GNU_SOURCE -O2 -fno-builtin -rdynamic -pthread \
    -Wl,--no-as-needed -o "$work/hot" "$here/hot.c" "$work/libcublas.so.13" \
    "$work/libtrip.so" -ldl || exit 99
}

# hot PRELOAD POLICY ARG: its status and what it said.
hot()
{
	LD_LIBRARY_PATH=$work LD_PRELOAD=$1 AUTOCAST_POLICY=$2 \
	    timeout 240 "$work/hot" "$3" >"$work/out" 2>&1
	echo "$? $(cat "$work/out")"
}

first=$(hot '' off calls)
case $first in
'3 '*) skip_all 'seccomp is not to be had here' ;;
esac
equal 'T31: the calls need nothing without the library' '0 hot: done' "$first"

# Each hook, when a library that is not ours trips it.
for name in malloc calloc realloc memalign free posix_memalign \
    pthread_mutex_lock pthread_mutex_trylock pthread_rwlock_rdlock \
    pthread_rwlock_wrlock pthread_spin_lock pthread_once dl_iterate_phdr \
    getenv secure_getenv; do
	equal "T31, control: $name aborts" "134 hot: $name" \
	    "$(hot "" off $name)"
done
for name in futex openat mmap; do
	case $(hot "" off $name) in
	'135 hot: system call '*) complaint= ;;
	*) complaint=$(cat "$work/out") ;;
	esac
	check "T31, control: $name aborts" "$complaint"
done
case $(hot "$preload" off cold) in
'134 '* | '135 '*) complaint= ;;
*) complaint=$(cat "$work/out") ;;
esac
check 'T31, control: a new site of ours aborts' "$complaint"

for policy in off amp 'gemm m>=1000 -> fp16' 'gemm -> fp16 profit=off' \
    'gemm caller=hot m>=1000 -> tf32; gemm n=64 -> keep'; do
	rm -rf "$AUTOCAST_STATE"
	equal "T31: known sites, two threads, '$policy'" '0 hot: done' \
	    "$(hot "$preload" "$policy" calls)"
	equal "T31: and every call was counted, '$policy'" 24000 \
	    "$(total totals.calls)"
done
plan
