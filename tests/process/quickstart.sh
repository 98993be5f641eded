#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a bare machine lacks is found by configure, said in a sentence, and
# installed by quickstart; what turns up later is seen by the next quickstart;
# a folder that nothing can be preloaded from is refused before anything else.
# configure is the real one, on a machine that hides parts; then quickstart has
# stand-ins for configure, make and apt-get that write down how they are called.
. "$(dirname "$0")/../lint/tap.sh"
[ -x "$root/configure" ] || skip_all 'there is no ./configure'
[ ! -f "$root/config.status" ] || skip_all 'configured in the source tree'
[ "${HAVE_CUDA:-yes}" = yes ] || skip_all 'configured without CUDA headers'
work=$(mktemp -d "${TMPDIR:-/tmp}/autocast-test.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
unset CONFIGURE_ARGS CPATH LIBRARY_PATH MAKEFLAGS MFLAGS MAKELEVEL

# says WHAT FILE SENTENCE...: the case passes if FILE has every SENTENCE.
says()
{
	local what=$1 file=$2 sentence lost=
	shift 2
	for sentence; do
		grep -qF -e "$sentence" "$file" || lost=yes
	done
	check "$what" "${lost:+$(printf 'expected: %s\n' "$@"; tail -n 30 "$file")}"
}

# ---- configure ---------------------------------------------------------------
# A header of netlib's, and a compiler that links with none of our libraries.
mkdir "$work/netlib" "$work/build" "$work/cuda12" "$work/cuda13" "$work/a blank"
echo 'void cblas_sgemm(void);' >"$work/netlib/cblas.h"
echo '#define CUBLAS_VER_MAJOR 12' >"$work/cuda12/cublas_api.h"
echo '#define CUBLAS_VER_MAJOR 13' >"$work/cuda13/cublas_api.h"
cat >"$work/cc" <<EOF
#!/bin/sh
case " \$* " in *openblas* | *-ldnnl* | *-lcmocka*) exit 1 ;; esac
exec ${CC:-cc} "\$@"
EOF
chmod 755 "$work/cc"

# configure ARGUMENTS...: creates no makefile.
configure()
{
	(cd "$work/build" && rm -f config.missing && CPATH=$work/netlib MPICC=no \
	    "$root/configure" --cache-file="$work/cache" --no-create \
	    CC="$work/cc" "$@") >"$work/out" 2>&1
}

# Where this build's own CUDA headers are, if not where every compiler looks.
cuda=$(sed -n 's/^[^ ]* -isystem \([^ ]*\).*/\1/p' <<<"${CUDA_CPPFLAGS:-}")
configure ${cuda:+"--with-cuda=$cuda/"}
equal '--with-cuda=DIR, the right one, is taken' 0 $?
says 'a header of netlib does not pass for OpenBLAS' "$work/out" \
    'left out: OpenBLAS is missing' '(Debian: libopenblas-dev)'
says 'warnings are not errors unless asked for' "$work/out" \
    'warnings are errors no'
cp "$work/build/config.missing" "$work/rows"
equal "configure's rows name what to install" 'convolutions libdnnl-dev
emulator libopenblas-dev
ranks libopenmpi-dev openmpi-bin
unit libcmocka-dev' "$(awk -F'|' '$2 { print $1, $2 }' "$work/rows" | sort)"

configure --with-cuda="$work/nope"
equal '--with-cuda=DIR that is not there fails' 1 $?
says '... and says where it looked' "$work/out" \
    "--with-cuda=$work/nope: no CUDA headers there: cublas_api.h is neither in $work/nope/include nor in $work/nope nor"
configure --with-cuda="$work/cuda12"
equal '--with-cuda=DIR of CUDA 12 fails' 1 $?
says '... and says which it found' "$work/out" \
    "$work/cuda12/cublas_api.h is of CUDA 12, and CUDA 13 or later is needed"
# cuda.h may be somewhere else on this machine.
configure --with-cuda="$work/cuda13"
equal '--with-cuda=DIR without cuda.h fails' 1 $?
says '... and says so' "$work/out" "configure: error: --with-cuda=$work/cuda13: "
check 'a wrong DIR is no invitation to fetch headers' \
    "$(grep '^cuda|' "$work/build/config.missing" 2>/dev/null)"

for place in 'a blank' a:colon; do
	mkdir -p "$work/$place"
	(cd "$work/$place" && "$root/configure") >"$work/out" 2>&1
	equal "configure refuses the folder '$place'" 1 $?
	says '... and says why' "$work/out" 'a path with a blank or a colon in it'
	check '... before it looks for a compiler' "$(grep -i 'for gcc' "$work/out")"
done
configure --prefix="$work/a blank"
equal 'configure refuses such a prefix' 1 $?
says '... and says why' "$work/out" 'choose another --prefix'

# ---- quickstart --------------------------------------------------------------
# A tree with stand-ins. $machine has a file for each package that is installed,
# $archive one for each that can be; $calls has a line for each call.
mkdir "$work/tree" "$work/bin" "$work/lib" "$work/machine" "$work/archive"
calls=$work/calls machine=$work/machine archive=$work/archive
sed -i '/^cuda/d; /^cudnn|/d' "$work/rows"
cp "$root/quickstart" "$work/tree/quickstart"
chmod 755 "$work/tree/quickstart"
cat >"$work/tree/configure" <<EOF
#!/bin/sh
echo configure "\$@" >>"$calls"
[ "\$1" != -q ] || shift
while IFS='|' read -r part packages sentence; do
	for package in \${packages:-headers}; do
		[ -e "$machine/\$package" ] ||
			{ echo "\$part|\$packages|\$sentence"; break; }
	done
done <"$work/rows" >config.missing
! grep -q '^cuda|' config.missing || exit 1
echo "abs_top_builddir = \$PWD" >Makefile
echo 'echo "' "\$*" '"' >config.status
chmod 755 config.status
EOF
# Every program of this machine but these, and some it may not have.
(IFS=:; for folder in $PATH; do ln -s "$folder"/* "$work/bin"; done) 2>/dev/null
for tool in apt-get sudo make cc gcc python3; do rm -f "$work/bin/$tool"; done
for tool in autoconf automake c++ git mandoc strace valgrind; do
	[ -e "$work/bin/$tool" ] || ln -s /bin/true "$work/bin/$tool"
done
cat >"$work/bin/make" <<EOF
#!/bin/sh
for target; do :; done
case \$target in check*) echo "make \$target" ;; *) echo make ;; esac >>"$calls"
exit \${made:-3}
EOF
cat >"$work/apt-get" <<EOF
#!/bin/sh
echo apt-get "\$@" >>"$calls"
[ "\$1" = install ] || exit 0
for package; do
	case \$package in -* | install) continue ;; esac
	[ -e "$archive/\$package" ] || exit 100
done
for package; do
	case \$package in -* | install) continue ;; esac
	echo >"$machine/\$package"
done
EOF
printf '#!/bin/sh\necho python3 "$@" >>"%s"\n' "$calls" >"$work/bin/python3"
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
# ccache would look for the compiler in PATH.
printf '#!/bin/sh\nPATH="%s"\nexec %s "$@"\n' "$PATH" "${CC:-cc}" >"$work/bin/cc"
unset CC
chmod 755 "$work/tree/configure" "$work/apt-get" "$work"/bin/{make,sudo,cc,python3}

# quickstart WORD...: its status, in words; make's 3 means that it came so far.
quickstart()
{
	local status
	: >"$calls"
	PATH=$work/bin LIBRARY_PATH=$work/lib "$work/tree/quickstart" "$@" \
	    >"$work/out" 2>&1
	status=$?
	[ $status = 3 ] && echo builds || echo "stops, $status"
}
count()
{
	grep -c "^$1" "$calls"
}

emulator=$(sed -n 's/^emulator|[^|]*|//p' "$work/rows")
equal 'no OpenBLAS, no apt-get: quickstart stops' 'stops, 1' "$(quickstart run)"
says '... and says what to install' "$work/out" \
    "quickstart: there is no emulated GPU: $emulator"
equal '... before it builds' 0 "$(count make)"
cp "$work/rows" "$work/rows.kept"
echo "cuda||CUDA's headers are missing" >>"$work/rows"
equal "nor CUDA's headers: quickstart stops" 'stops, 1' "$(quickstart run)"
equal '... before it fetches them' 0 "$(count python3)"
mv "$work/rows.kept" "$work/rows"
: >"$machine/headers"

ln -s "$work/apt-get" "$work/bin/apt-get"
equal 'OpenBLAS cannot be installed: quickstart stops' 'stops, 1' \
    "$(quickstart run)"
says '... and says what to install' "$work/out" \
    "quickstart: there is no emulated GPU: $emulator"

: >"$archive/libopenblas-dev"
equal 'OpenBLAS can be installed: it builds, without oneDNN' builds \
    "$(quickstart run)"
says '... which it says is left out' "$work/out" 'left out: oneDNN is missing'
equal '... and has configured twice' 2 "$(count configure)"
check '... and installed nothing that only tests want' \
    "$(grep -e cmocka -e openmpi "$calls")"
equal 'the second time it builds' builds "$(quickstart run)"
equal '... and neither configures nor installs' make "$(cat "$calls")"

: >"$machine/libdnnl-dev"
: >"$work/lib/libdnnl.so"
equal 'oneDNN turns up: it builds' builds "$(quickstart run)"
equal '... after configuring again' 'configure -q
make' "$(cat "$calls")"
equal 'and the next time it builds' builds "$(quickstart run)"
equal '... only' make "$(cat "$calls")"

equal 'tests without cmocka: quickstart stops' 'stops, 1' "$(quickstart test)"
says '... and says what to install' "$work/out" \
    'there are no unit tests: cmocka is missing (Debian: libcmocka-dev)'
: >"$archive/libcmocka-dev"
equal 'tests with cmocka, without Open MPI: it builds' builds \
    "$(quickstart test)"
says '... and says what is left out' "$work/out" 'left out: Open MPI is missing'
equal 'the second time it builds' builds "$(quickstart test)"
equal '... only' make "$(cat "$calls")"
equal 'the demonstration does not mind' builds "$(quickstart run)"
equal '... and only builds' make "$(cat "$calls")"
for package in libopenmpi-dev openmpi-bin; do : >"$archive/$package"; done
: >"$work/lib/new"
equal 'Open MPI can be had: it builds' builds "$(quickstart test)"
equal '... with it' 2 "$(cd "$machine" && printf '%s\n' *openmpi* | wc -l)"

for words in 'test check-daily' 'test all check'; do
	made=0 quickstart ${words% *} >/dev/null
	equal "quickstart ${words% *} tests by make ${words##* }" "make
make ${words##* }" "$(cat "$calls")"
done
equal 'quickstart test some: no such thing' 'stops, 2' "$(quickstart test some)"

export CONFIGURE_ARGS='--enable-werror --enable-asan'
equal 'CONFIGURE_ARGS reach configure' builds "$(quickstart test)"
says '... as they are' "$calls" 'configure -q --enable-werror --enable-asan'
equal '... once' builds "$(quickstart test)"
equal '... until they change' make "$(cat "$calls")"
unset CONFIGURE_ARGS
equal 'without them the folder stays as it is' builds "$(quickstart test)"
equal '... and only builds' make "$(cat "$calls")"
rm "$work/tree/build/config.missing"
equal 'even if it must be configured again' builds "$(quickstart test)"
says '... with the same arguments' "$calls" \
    'configure -q --enable-werror --enable-asan'

for place in 'a blank' a:colon "a'quote"; do
	mkdir -p "$work/$place"
	cp -r "$work/tree" "$work/$place"
	: >"$calls"
	PATH=$work/bin "$work/$place/tree/quickstart" run >"$work/out" 2>&1
	equal "quickstart refuses the folder '$place'" 1 $?
	says '... and says why' "$work/out" \
	    'no library can be preloaded from a path with a blank or a colon in it'
	check '... before it starts anything' "$(cat "$calls")"
done
ln -s "$work/a blank/tree" "$work/link"
PATH=$work/bin "$work/link/quickstart" run >"$work/out" 2>&1
equal 'a link without a blank to such a folder does not help' 1 $?
plan
