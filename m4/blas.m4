dnl SPDX-License-Identifier: Apache-2.0
dnl AUTOCAST_OPENBLAS: have_openblas, BLAS_CPPFLAGS, BLAS_LIBS.
AC_DEFUN([AUTOCAST_OPENBLAS], [
have_openblas=no
BLAS_CPPFLAGS=
BLAS_LIBS=-lopenblas
autocast_blas_cppflags=$CPPFLAGS
autocast_blas_libs=$LIBS
AC_MSG_CHECKING([for OpenBLAS])
for autocast_blas_dir in '' /usr/include/openblas /usr/include/openblas-pthread; do
	BLAS_CPPFLAGS=${autocast_blas_dir:+-isystem $autocast_blas_dir}
	CPPFLAGS="$autocast_blas_cppflags $BLAS_CPPFLAGS"
	LIBS="$BLAS_LIBS $autocast_blas_libs"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <cblas.h>]],
		[[openblas_set_num_threads(1);
		cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, 0, 0, 0,
		    1, 0, 1, 0, 1, 0, 0, 1);]])], [have_openblas=yes; break])
done
CPPFLAGS=$autocast_blas_cppflags
LIBS=$autocast_blas_libs
AC_MSG_RESULT([$have_openblas])
AC_SUBST([BLAS_CPPFLAGS])
AC_SUBST([BLAS_LIBS])])

dnl AUTOCAST_CMOCKA: have_cmocka, CMOCKA_LIBS.
AC_DEFUN([AUTOCAST_CMOCKA], [
have_cmocka=no
CMOCKA_LIBS=-lcmocka
autocast_cmocka_libs=$LIBS
LIBS="$CMOCKA_LIBS $LIBS"
AC_MSG_CHECKING([for cmocka])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>]], [[cmocka_set_message_output(CM_OUTPUT_TAP);]])],
	[have_cmocka=yes])
LIBS=$autocast_cmocka_libs
AC_MSG_RESULT([$have_cmocka])
AC_SUBST([CMOCKA_LIBS])])
