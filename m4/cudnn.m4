dnl SPDX-License-Identifier: Apache-2.0
dnl AUTOCAST_CUDNN: have_cudnn, cudnn_version. The headers only, found where
dnl AUTOCAST_CUDA found CUDA's; without them convolutions are only counted.
dnl Before 9.8 graphs cannot be about a described device. The code is known by
dnl AC_HAVE_CUDNN among CUDA_CPPFLAGS.
AC_DEFUN([AUTOCAST_CUDNN], [
have_cudnn=no
cudnn_version=
AS_IF([test "$have_cuda" = yes], [
AC_MSG_CHECKING([for headers of cuDNN 9, 9.8 or later])
autocast_cudnn_save=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <cudnn.h>
#if CUDNN_MAJOR != 9 || CUDNN_MINOR < 8
#error not cuDNN 9, 9.8 or later
#endif]], [[return CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR < 0;]])], [have_cudnn=yes])
AC_MSG_RESULT([$have_cudnn])
AS_IF([test $have_cudnn = yes], [
AC_COMPUTE_INT([cudnn_major], [CUDNN_MAJOR], [#include <cudnn.h>])
AC_COMPUTE_INT([cudnn_minor], [CUDNN_MINOR], [#include <cudnn.h>])
cudnn_version=$cudnn_major.$cudnn_minor])
CPPFLAGS=$autocast_cudnn_save
AS_IF([test $have_cudnn = no],
	[AUTOCAST_LACKS([cudnn], [the headers of cuDNN, 9.8 or later, are missing: convolutions are only counted])])])
AS_IF([test $have_cudnn = yes], [CUDA_CPPFLAGS="$CUDA_CPPFLAGS -DAC_HAVE_CUDNN"])])
