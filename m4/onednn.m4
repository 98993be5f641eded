dnl SPDX-License-Identifier: Apache-2.0
dnl AUTOCAST_ONEDNN: have_onednn, DNNL_LIBS: what the emulated cuDNN computes
dnl convolutions with.
AC_DEFUN([AUTOCAST_ONEDNN], [
have_onednn=no
DNNL_LIBS=-ldnnl
autocast_dnnl_libs=$LIBS
LIBS="$DNNL_LIBS $LIBS"
AC_MSG_CHECKING([for oneDNN 2 or 3])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <dnnl.h>
#if DNNL_VERSION_MAJOR < 2 || DNNL_VERSION_MAJOR > 3
#error "emulator/cudnn/conv/cudnn_conv_onednn.c knows 2 and 3"
#endif]], [[
dnnl_engine_t engine;
return dnnl_engine_create(&engine, dnnl_cpu, 0);]])], [have_onednn=yes])
LIBS=$autocast_dnnl_libs
AC_MSG_RESULT([$have_onednn])
AS_IF([test $have_onednn = no],
	[AUTOCAST_LACKS([convolutions], [oneDNN is missing], [libdnnl-dev])])
AC_SUBST([DNNL_LIBS])])
