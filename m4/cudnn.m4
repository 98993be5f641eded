dnl SPDX-License-Identifier: Apache-2.0
dnl AUTOCAST_CUDNN: have_cudnn, cudnn_version: cuDNN's headers, where CUDA's are.
AC_DEFUN([AUTOCAST_CUDNN], [
have_cudnn=no
CUDNN_CPPFLAGS=
AS_IF([test "$have_cuda" = yes], [
AC_MSG_CHECKING([for cuDNN headers])
autocast_cudnn_save=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <cudnn.h>
#if CUDNN_MAJOR < 9
#error older than cuDNN 9
#endif]], [])], [have_cudnn=yes
	CUDNN_CPPFLAGS=-DAC_HAVE_CUDNN])
AS_IF([test $have_cudnn = yes],
	[AC_COMPUTE_INT([cudnn_minor], [CUDNN_MINOR], [#include <cudnn.h>])
	cudnn_version=9.$cudnn_minor])
CPPFLAGS=$autocast_cudnn_save
AC_MSG_RESULT([${cudnn_version:-no}])])
AC_SUBST([have_cudnn])
AC_SUBST([CUDNN_CPPFLAGS])
AM_CONDITIONAL([HAVE_CUDNN], [test $have_cudnn = yes])])
