dnl SPDX-License-Identifier: Apache-2.0
dnl AUTOCAST_OPENBLAS: have_openblas, BLAS_LIBS, blas_kind. The archive is
dnl preferred: its symbols stay inside the emulator, and its question for the
dnl number of threads is answered there (emulator/cublas/cublas_blas.c). A
dnl distribution has --with-openblas=shared: four emulated libraries would have a
dnl copy each. No header is asked for: netlib's has the same name.
AC_DEFUN([AUTOCAST_OPENBLAS], [
have_openblas=no
blas_kind=
BLAS_LIBS=
autocast_blas_libs=$LIBS
autocast_blas_cflags=$CFLAGS
AC_MSG_CHECKING([for OpenBLAS])
for autocast_blas_try in '-l:libopenblas.a' '-l:libopenblas.a -lgfortran' -lopenblas; do
	AS_CASE([$with_openblas$autocast_blas_try], [shared*.a*], [continue],
		[*.a*],
		[autocast_blas_try="-Wl,--wrap=openblas_num_threads_env $autocast_blas_try"
		autocast_blas_this=hidden],
		[autocast_blas_this=shared])
	LIBS="$autocast_blas_try -lm $autocast_blas_libs"
	CFLAGS="$autocast_blas_cflags -fPIC -shared -pthread -Wl,-z,defs"
	AC_LINK_IFELSE([AC_LANG_SOURCE([[
void cblas_sgemm(void);
void cblas_dgemm(void);
void openblas_set_num_threads(int count);
int __wrap_openblas_num_threads_env(void) { return 1; }
void use(void)
{
	openblas_set_num_threads(1);
	cblas_sgemm();
	cblas_dgemm();
}]])], [have_openblas=yes
		blas_kind=$autocast_blas_this
		BLAS_LIBS=$autocast_blas_try
		break])
done
CFLAGS=$autocast_blas_cflags
LIBS=$autocast_blas_libs
AC_MSG_RESULT([$have_openblas${blas_kind:+, $blas_kind}])
AS_IF([test $have_openblas = no && test "$with_cuda" != no], [AUTOCAST_LACKS([emulator],
	[OpenBLAS is missing; no other BLAS will do], [libopenblas-dev])])
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
AS_IF([test $have_cmocka = no],
	[AUTOCAST_LACKS([unit], [cmocka is missing], [libcmocka-dev])])
AC_SUBST([CMOCKA_LIBS])])
