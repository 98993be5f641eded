dnl SPDX-License-Identifier: Apache-2.0
dnl AUTOCAST_CUDA: the CUDA headers, and the libraries if they are there too.
dnl Sets have_cuda, cuda_where, cuda_version, CUDA_CPPFLAGS; have_cuda_libs,
dnl cuda_libs_where, CUDA_LIBS. Stops with one line if the headers are missing.

dnl One candidate: one or more include folders that belong together.
AC_DEFUN([AUTOCAST_CUDA_TRY], [
dnl cublas_api.h before 13.1 does not compile without CUBLASAPI.
autocast_cuda_flags=-DCUBLASAPI=
for autocast_cuda_dir in $1; do
	dnl -isystem /usr/include would upset the compiler's own order.
	AS_IF([test "$autocast_cuda_dir" != /usr/include],
		[autocast_cuda_flags="$autocast_cuda_flags -isystem $autocast_cuda_dir"])
done
autocast_cuda_save=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $autocast_cuda_flags"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cublas_api.h>
#if CUBLAS_VER_MAJOR < 13
#error older than CUDA 13
#endif]], [])],
	[have_cuda=yes
	set dummy $1
	cuda_where=$[2]
	CUDA_CPPFLAGS=$autocast_cuda_flags])
CPPFLAGS=$autocast_cuda_save])

AC_DEFUN([AUTOCAST_CUDA], [
have_cuda=no
have_cuda_libs=no
CUDA_CPPFLAGS=
CUDA_LIBS=
AS_IF([test "$with_cuda" != no], [
AC_MSG_CHECKING([for CUDA headers])
autocast_cuda_here=`cd "$srcdir" && pwd`
dnl From the most to the least explicit; the first one that compiles is taken.
AS_CASE([$with_cuda], [search|yes], [autocast_cuda_roots="$CUDA_HOME $CUDA_PATH
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
for autocast_cuda_root in $autocast_cuda_roots; do
	for autocast_cuda_try in "$autocast_cuda_root/include" "$autocast_cuda_root"; do
		AS_IF([test $have_cuda = no && test -f "$autocast_cuda_try/cublas_api.h"],
			[AUTOCAST_CUDA_TRY([$autocast_cuda_try])])
	done
	test $have_cuda = yes && break
done
for autocast_cuda_root in $autocast_cuda_pip; do
	test $have_cuda = yes && break
	dnl CUDA 13: one folder for all packages; before: one for each.
	AS_IF([test -d "$autocast_cuda_root/cu13/include"],
		[AUTOCAST_CUDA_TRY(["$autocast_cuda_root/cu13/include"])],
		[AUTOCAST_CUDA_TRY([`ls -d "$autocast_cuda_root"/*/include 2>/dev/null`])])
done
AC_MSG_RESULT([${cuda_where:-no}])
AS_IF([test $have_cuda = no], [AC_MSG_ERROR([no CUDA 13 headers found: install NVIDIA's cuda-cudart-dev and libcublas-dev, or "pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl nvidia-cublas" (each ==13.0.*), or pass --with-cuda=DIR (--with-cuda=no: the policy tools only)])])
autocast_cuda_save=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
AC_COMPUTE_INT([cuda_major], [CUBLAS_VER_MAJOR], [#include <cublas_api.h>])
AC_COMPUTE_INT([cuda_minor], [CUBLAS_VER_MINOR], [#include <cublas_api.h>])
CPPFLAGS=$autocast_cuda_save
cuda_version=$cuda_major.$cuda_minor
AUTOCAST_CUDA_LIBRARIES])
AC_SUBST([CUDA_CPPFLAGS])
AC_SUBST([CUDA_LIBS])])

dnl NVIDIA's own libraries, to link the examples with; never the product.
AC_DEFUN([AUTOCAST_CUDA_LIBRARIES], [
AC_MSG_CHECKING([for the CUDA libraries])
autocast_cuda_root=`dirname "$cuda_where"`
autocast_cuda_ldflags=$LDFLAGS
autocast_cuda_libs=$LIBS
for autocast_cuda_dir in '' "$autocast_cuda_root/lib64" "$autocast_cuda_root/lib"; do
	LDFLAGS="$autocast_cuda_ldflags ${autocast_cuda_dir:+-L$autocast_cuda_dir -Wl,-rpath-link,$autocast_cuda_dir}"
	LIBS="-lcublas -lcudart $autocast_cuda_libs"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[
char cublasSgemm_v2(void);
char cudaMalloc(void);]], [[return cublasSgemm_v2() + cudaMalloc();]])],
		[have_cuda_libs=yes
		cuda_libs_where=$autocast_cuda_dir
		CUDA_LIBS="${autocast_cuda_dir:+-L$autocast_cuda_dir -Wl,-rpath-link,$autocast_cuda_dir} -lcublas -lcudart"
		break])
done
LDFLAGS=$autocast_cuda_ldflags
LIBS=$autocast_cuda_libs
AS_IF([test $have_cuda_libs = yes],
	[AC_MSG_RESULT([${cuda_libs_where:-yes}])], [AC_MSG_RESULT([no])])])
