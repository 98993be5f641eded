#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T1, T3-T7: however a program comes by cublasSgemm_v2, its call is counted once
# and answered as without the library; and the loader's own answers, texts
# included, are as they were. compilers.sh has other LIBRARIES go through this.
. "$(dirname "$0")/binding.sh"
cublas_stubs
thirteen=$work/13/libcublas.so.13

# ---- Programs
compile linked "$here/linked.c" "$thirteen"
compile linked-noplt -fno-plt -Wl,-z,now "$here/linked.c" "$thirteen"
compile plugin.so -shared -fPIC "$here/plugin.c" "$thirteen"
compile plugin-noplt.so -shared -fPIC -fno-plt "$here/plugin.c" "$thirteen"
compile host "$here/host.c" -ldl
compile reach "$here/reach.c" -ldl
compile lookup "$here/lookup.c" -ldl
compile own -rdynamic "$here/own.c" -ldl
mkdir -p "$work/unversioned" "$work/opener/found"
compile unversioned/libcublas.so.13 -shared -fPIC \
    -Wl,-soname,libcublas.so.13 -DVERSION=13 "$here/stub_cublas.c"
echo 'WHO_1 { global: who_versioned; };' >"$work/who.map"
compile libanswering.so -shared -fPIC -DANSWERS -Wl,-soname,libanswering.so \
    -Wl,--version-script="$work/who.map" "$here/who.c"
compile libasking.so -shared -fPIC -Wl,-soname,libasking.so "$here/who.c"
compile asking "$here/asking.c" -Wl,--no-as-needed "$work/libasking.so" \
    "$work/libanswering.so"
compile opener/found/libneighbour.so -shared -fPIC -x c /dev/null
compile opener/libopener.so -shared -fPIC -Wl,-rpath,"\$ORIGIN/found" \
    -Wl,--enable-new-dtags "$here/opener.c"
wrapped=$(${CC:-cc} -E -P -x c -DCUBLAS_VERSION=999999 \
    '-DWRAPPED(kind,symbol,provider)=symbol' "$root/shim/bind/entries.def")
for name in $wrapped; do
	echo "$name: NULL, undefined symbol: $name"
done >"$work/absent"

# ---- Cases
calls()
{
	alike 'T1: linked' 3 "$work/linked" 3
	alike 'T1: linked, -fno-plt -z now' 3 "$work/linked-noplt" 3
	alike 'T1: dlopen(RTLD_LOCAL), dlsym' 1 "$work/reach" handle \
	    libcublas.so.13
	alike 'T1: dlsym(RTLD_DEFAULT)' 1 "$work/reach" default libcublas.so.13
	alike 'T1: dlvsym' 1 "$work/reach" handle libcublas.so.13 libcublas.so.13
	alike 'T1: dlvsym(RTLD_DEFAULT)' 1 "$work/reach" default \
	    libcublas.so.13 libcublas.so.13
	for mode in now lazy; do
		for plugin in plugin.so plugin-noplt.so; do
			alike "T1: $plugin, $mode, by call and by data" 2 \
			    "$work/host" $mode "$work/$plugin" multiply \
			    multiply_by_data
		done
	done
}

# Without a GPU the real library gives no handle, and says so at each call.
real_calls()
{
	local paths=$1
	alike 'T1: the real libcublas, linked' 1 "$work/linked"
	alike 'T1: the real libcublas, dlsym' 1 "$work/reach" handle \
	    libcublas.so.13
	alike 'T1: the real libcublas, plugin' 2 "$work/host" now \
	    "$work/plugin.so" multiply multiply_by_data
}

look_ups()
{
	bound off "$work/lookup" absent $wrapped >"$work/found" 2>&1
	# The loader's text names the object that asked: the program or us.
	check "T3: $(wc -w <<<"$wrapped") names are not there without their libraries" \
	    "$(sed 's/NULL, .*: undefined/NULL, undefined/' "$work/found" |
	    diff "$work/absent" -)"
	alike 'T4: answers and errors' 0 "$work/lookup" libcublas.so.13
	equal 'T4: no error after a good answer' 'found, no error' \
	    "$(sed -n 's/^right: //p' "$work/bound")"
	equal 'T7: dlvsym, right and wrong version' 'found NULL' \
	    "$(sed -n 's/^\(right\|wrong\) version: \([a-zA-Z]*\),.*/\2/p' \
	    "$work/bound" | xargs)"
	paths=$work/unversioned alike 'T7: dlvsym, a library without versions' \
	    0 "$work/lookup" libcublas.so.13
	paths=$work/unversioned alike 'T7: dlsym, a library without versions' \
	    1 "$work/reach" handle libcublas.so.13
	alike 'T3: what the program itself defines is found' 0 "$work/own"
	alike 'T3: before what is loaded' 0 "$work/own" libcublas.so.13
	paths=$work alike 'T5: RTLD_NEXT is the caller'\''s next' 0 "$work/asking"
	equal 'T5: dlsym, dlvsym' 'who 42 43' "$(head -n 1 "$work/bound")"
	if [ -n "$sanitizer" ]; then
		skip 'T6: dlopen() through the caller'\''s run path' \
		    'the sanitizer calls dlopen() from its own frame'
	else
		alike 'T6: dlopen() through the caller'\''s run path' 0 \
		    "$work/host" now "$work/opener/libopener.so" open_neighbour
	fi
}

for library in ${LIBRARIES:-$library}; do
	[ -z "${LIBRARIES:-}" ] || echo "# ${library#"${library%/*/*}"/}"
	calls
	look_ups
done
[ -z "${LIBRARIES:-}" ] || {
	plan
	exit
}
if [ "${SANITIZERS:-}" = thread ]; then
	skip 'T1: ctypes' 'python3 does not survive TSan'
elif command -v python3 >/dev/null; then
	alike 'T1: ctypes' 1 python3 "$here/ctypes_client.py" libcublas.so.13
else
	skip 'T1: ctypes' 'python3 is not installed'
fi
if [ -n "${CUDA_HOME:-}" ] && [ -e "$CUDA_HOME/lib64/libcublas.so.13" ]; then
	real_calls "$CUDA_HOME/lib64"
else
	skip 'T1: the real libcublas' 'it is not installed'
fi
plan
