dnl SPDX-License-Identifier: Apache-2.0
dnl AUTOCAST_CUDA: the CUDA headers, and the libraries if they are there too.
dnl Sets have_cuda, cuda_where, cuda_version, CUDA_CPPFLAGS; have_cuda_libs,
dnl cuda_libs_where, CUDA_LDFLAGS, CUDA_LIBS. Stops if --with-cuda=DIR is not
dnl what is taken.

dnl One candidate: include folders that belong together, with colons between
dnl them; none: the folders in which the compiler looks anyway.
AC_DEFUN([AUTOCAST_CUDA_TRY], [
dnl cublas_api.h before 13.1 does not compile without CUBLASAPI.
autocast_cuda_flags=-DCUBLASAPI=
for autocast_cuda_dir in `AS_ECHO(["$1"]) | tr : ' '`; do
	dnl -isystem /usr/include would upset the compiler's own order.
	AS_IF([test "$autocast_cuda_dir" != /usr/include],
		[autocast_cuda_flags="$autocast_cuda_flags -isystem $autocast_cuda_dir"])
done
autocast_cuda_save=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $autocast_cuda_flags"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <cublas_api.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#if CUBLAS_VER_MAJOR < 13
#error older than CUDA 13
#endif]], [])], [
	dnl Where they were read: CPATH and CPPFLAGS come before -isystem.
	autocast_cuda_read=`$CC -E $CPPFLAGS conftest.$ac_ext 2>/dev/null | $SED -n \
		's,^# @<:@0-9@:>@* "\(.*\)/\(cublas_api\|cuda\|cuda_runtime_api\)\.h".*,\1,p'`
	have_cuda=yes
	AS_IF([test "$with_cuda" != search], [
	for autocast_cuda_dir in $autocast_cuda_read; do
		autocast_cuda_instead=$autocast_cuda_dir
		for autocast_cuda_ours in `AS_ECHO(["$1"]) | tr : ' '`; do
			test "$autocast_cuda_dir" -ef "$autocast_cuda_ours" &&
				autocast_cuda_instead=
		done
		AS_IF([test -n "$autocast_cuda_instead"], [have_cuda=no; break])
	done])
	AS_IF([test $have_cuda = yes], [
		set dummy $autocast_cuda_read
		cuda_where=$[2]
		CUDA_CPPFLAGS=$autocast_cuda_flags])])
CPPFLAGS=$autocast_cuda_save])

dnl autocast_cuda_tries: the candidates among $autocast_cuda_roots, where a
dnl toolkit may be, and $autocast_cuda_pip, pip's folders "nvidia".
AC_DEFUN([AUTOCAST_CUDA_CANDIDATES], [
autocast_cuda_tries=
for autocast_cuda_root in $autocast_cuda_roots; do
	for autocast_cuda_dir in "$autocast_cuda_root/include" "$autocast_cuda_root"; do
		AS_IF([test -f "$autocast_cuda_dir/cublas_api.h"],
			[autocast_cuda_tries="$autocast_cuda_tries $autocast_cuda_dir"])
	done
done
for autocast_cuda_root in $autocast_cuda_pip; do
	dnl CUDA 13: one folder for all packages but cuDNN; before: one for each.
	autocast_cuda_dirs=`ls -d "$autocast_cuda_root"/*/include 2>/dev/null`
	AS_IF([test -d "$autocast_cuda_root/cu13/include"],
		[autocast_cuda_dirs=`AS_ECHO(["$autocast_cuda_dirs"]) |
			grep -e /cu13/include -e /cudnn/include`])
	for autocast_cuda_dir in $autocast_cuda_dirs; do
		AS_IF([test -f "$autocast_cuda_dir/cublas_api.h"],
			[autocast_cuda_tries="$autocast_cuda_tries `AS_ECHO([$autocast_cuda_dirs]) | tr ' ' :`"])
	done
done])

dnl Say what is wrong with --with-cuda=DIR, and stop.
AC_DEFUN([AUTOCAST_CUDA_REFUSE], [
autocast_cuda_file=
for autocast_cuda_dir in `AS_ECHO(["$autocast_cuda_tries"]) | tr : ' '`; do
	AS_IF([test -z "$autocast_cuda_file" && test -f "$autocast_cuda_dir/cublas_api.h"],
		[autocast_cuda_file=$autocast_cuda_dir/cublas_api.h])
done
AS_IF([test -z "$autocast_cuda_file"],
	[AC_MSG_ERROR([--with-cuda=$with_cuda: no CUDA headers there: cublas_api.h is neither in $with_cuda/include nor in $with_cuda nor in $with_cuda/nvidia/*/include])])
autocast_cuda_major=`$SED -n 's/^#define CUBLAS_VER_MAJOR *//p' "$autocast_cuda_file"`
AS_IF([test "${autocast_cuda_major:-13}" -lt 13],
	[AC_MSG_ERROR([--with-cuda=$with_cuda: $autocast_cuda_file is of CUDA $autocast_cuda_major, and CUDA 13 or later is needed])],
	[test -n "$autocast_cuda_instead"],
	[AC_MSG_ERROR([--with-cuda=$with_cuda: the compiler takes headers in $autocast_cuda_instead instead (look for them in CPATH and CPPFLAGS, or for cuda.h and cuda_runtime_api.h that are missing in $with_cuda)])],
	[AC_MSG_ERROR([--with-cuda=$with_cuda: the headers next to $autocast_cuda_file do not compile: see config.log])])])

AC_DEFUN([AUTOCAST_CUDA], [
have_cuda=no
have_cuda_libs=no
CUDA_CPPFLAGS=
CUDA_LDFLAGS=
CUDA_LIBS=
AS_IF([test "$with_cuda" != no], [
AC_MSG_CHECKING([for CUDA headers])
autocast_cuda_here=`cd "$srcdir" && pwd`
dnl From the most to the least explicit; the first one that compiles is taken.
AS_CASE([$with_cuda], [search|yes], [with_cuda=search
	autocast_cuda_roots="$CUDA_HOME $CUDA_PATH
	/usr/local/cuda `ls -d /usr/local/cuda-* 2>/dev/null | sort -rV`
	/opt/cuda /usr/lib/cuda /usr $autocast_cuda_here/.cuda"
	dnl pip's layout, in every place where pip puts packages.
	autocast_cuda_pip=`ls -d "$VIRTUAL_ENV"/lib/python3*/site-packages/nvidia \
		"$HOME"/.local/lib/python3*/site-packages/nvidia \
		/usr/local/lib/python3*/dist-packages/nvidia \
		/usr/local/lib/python3*/site-packages/nvidia \
		/usr/lib/python3*/site-packages/nvidia 2>/dev/null
	python3 -c 'import sysconfig; print(sysconfig.get_path("purelib") + "/nvidia")' 2>/dev/null`],
	[autocast_cuda_roots=$with_cuda; autocast_cuda_pip=$with_cuda/nvidia])
AUTOCAST_CUDA_CANDIDATES
AS_IF([test "$with_cuda" = search], [autocast_cuda_tries="$autocast_cuda_tries :"])
for autocast_cuda_try in $autocast_cuda_tries; do
	AUTOCAST_CUDA_TRY([$autocast_cuda_try])
	test $have_cuda = yes && break
done
AC_MSG_RESULT([${cuda_where:-no}])
AS_IF([test $have_cuda = yes], [
	autocast_cuda_save=$CPPFLAGS
	CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
	AC_COMPUTE_INT([cuda_major], [CUBLAS_VER_MAJOR], [#include <cublas_api.h>])
	AC_COMPUTE_INT([cuda_minor], [CUBLAS_VER_MINOR], [#include <cublas_api.h>])
	CPPFLAGS=$autocast_cuda_save
	cuda_version=$cuda_major.$cuda_minor
	AUTOCAST_CUDA_LIBRARIES],
	[test "$with_cuda" != search], [AUTOCAST_CUDA_REFUSE],
	[AUTOCAST_LACKS([cuda],
		[CUDA 13's headers are missing (NVIDIA's cuda-cudart-dev and libcublas-dev; or, in a virtual environment, "pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl nvidia-cublas", each ==13.0.*)])])],
	[AUTOCAST_LACKS([emulator], [no CUDA headers are wanted (--with-cuda=no)])])
AC_SUBST([cuda_where])
AC_SUBST([CUDA_CPPFLAGS])
AC_SUBST([CUDA_LDFLAGS])
AC_SUBST([CUDA_LIBS])])

dnl NVIDIA's own libraries, to link the examples with; never the product.
AC_DEFUN([AUTOCAST_CUDA_LIBRARIES], [
AC_MSG_CHECKING([for the CUDA libraries])
autocast_cuda_root=`dirname "$cuda_where"`
autocast_cuda_ldflags=$LDFLAGS
autocast_cuda_libs=$LIBS
for autocast_cuda_dir in "$autocast_cuda_root/lib64" "$autocast_cuda_root/lib" ''; do
	LDFLAGS="$autocast_cuda_ldflags ${autocast_cuda_dir:+-L$autocast_cuda_dir -Wl,-rpath-link,$autocast_cuda_dir}"
	LIBS="-lcublas -lcudart $autocast_cuda_libs"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[
char cublasSgemm_v2(void);
char cudaMalloc(void);]], [[return cublasSgemm_v2() + cudaMalloc();]])],
		[have_cuda_libs=yes
		cuda_libs_where=$autocast_cuda_dir
		CUDA_LDFLAGS="${autocast_cuda_dir:+-L$autocast_cuda_dir -Wl,-rpath-link,$autocast_cuda_dir}"
		CUDA_LIBS="-lcublas -lcudart"
		break])
done
LDFLAGS=$autocast_cuda_ldflags
LIBS=$autocast_cuda_libs
AS_IF([test $have_cuda_libs = yes],
	[AC_MSG_RESULT([${cuda_libs_where:-yes}])], [AC_MSG_RESULT([no])])])
