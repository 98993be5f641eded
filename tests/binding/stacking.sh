#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T9, T10, T36: other people's interposers before and after the library, and
# the library preloaded twice: each runs once, in the loader's order.
. "$(dirname "$0")/binding.sh"
cublas_stubs
thirteen=$work/13/libcublas.so.13
compile linked "$here/linked.c" "$thirteen"
compile reach "$here/reach.c" -ldl
compile foreign.so -shared -fPIC "$here/foreign.c" -ldl
compile foreign_dlsym.so -shared -fPIC "$here/foreign_dlsym.c" -ldl

foreign_hooks()
{
	before='' after=$work/foreign_dlsym.so
	alike 'T9: hook of dlsym() after us' 1 "$work/reach" handle libcublas.so.13
	equal 'T9: it ran once' 1 "$(grep -c '^foreign_dlsym.so' "$work/bound")"
	alike 'T9: hook of dlsym() after us, linked' 1 "$work/linked"
	# It asks for the C library's dlsym by version, and so passes us by: a limit.
	# What is caught some other way is caught, and the report names the hook.
	before=$work/foreign_dlsym.so after=
	alike 'T9: hook of dlsym() before us: passes us by' 0 \
	    "$work/reach" handle libcublas.so.13
	equal 'T9: it ran once' 1 "$(grep -c '^foreign_dlsym.so' "$work/bound")"
	alike 'T9: hook of dlsym() before us, linked' 1 "$work/linked"
	for form in --json ''; do
		"$build/autocast" report $form >"$work/report" 2>&1
		check "T9: autocast report $form names the hook" \
		    "$(grep -q 'foreign_dlsym\.so' "$work/report" || cat "$work/report")"
	done
	before=''
}

for place in before after; do
	before='' after=''
	declare "$place=$work/foreign.so"
	alike "T9: interposer $place us, linked" 2 "$work/linked" 2
	equal 'T9: each ran once, in this order' \
	    'foreign.so: cublasSgemm_v2 libcublas.so.13: cublasSgemm_v2 linked 1300' \
	    "$(sed -n 1,3p "$work/bound" | xargs)"
	alike "T9: interposer $place us, dlsym(RTLD_DEFAULT)" 1 \
	    "$work/reach" default libcublas.so.13
	# A look-up in one library is no business of an interposer's.
	alike "T10: interposer $place us, dlsym(handle)" 1 \
	    "$work/reach" handle libcublas.so.13
	check 'T10: it was not entered' "$(grep '^foreign.so' "$work/bound")"
done

# Who implements the same functions is not NVIDIA, by whatever names.
compile libother.so -shared -fPIC -Wl,-soname,libother.so -DVERSION=13 \
    "$here/stub_cublas.c"
before='' after=''
paths=$work alike 'T10: dlsym(handle) of a library that is not NVIDIA'\''s' 0 \
    "$work/reach" handle libother.so

# A hook that is C code does not survive the sanitizer's first look-up.
if [ -z "$sanitizer" ]; then
	foreign_hooks
else
	skip 'T9: hooks of dlsym()' "built with sanitizers ($SANITIZERS)"
fi

ln -s "$library" "$work/again.so"
twice=$library alike 'T36: preloaded twice' 2 "$work/linked" 2
twice=$work/again.so alike 'T36: by two paths' 2 "$work/linked" 2
if ln "$library" "$work/hard.so" 2>/dev/null; then
	twice=$work/hard.so alike 'T36: by two names' 2 "$work/linked" 2
	twice=$work/hard.so alike 'T36: by two names, dlsym' 1 \
	    "$work/reach" handle libcublas.so.13
else
	skip 'T36: by two names' 'no hard link across file systems'
fi
LD_LIBRARY_PATH=$paths "$work/linked" >"$work/alone" 2>/dev/null
LD_LIBRARY_PATH=$paths LD_PRELOAD=$work/missing.so "$work/linked" \
    >"$work/bound" 2>/dev/null
equal 'T36: the program runs when the preload is missing' 0 $?
same 'T36: as it does without' "$work/alone" "$work/bound"
plan
