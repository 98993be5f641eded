dnl SPDX-License-Identifier: Apache-2.0
dnl AUTOCAST_PTXAS: CUDA's own compiler of PTX, and for which GPUs the kernels
dnl are compiled by it, KERNEL_TARGETS; the driver does it otherwise. Not for
dnl tests with sanitizers.
AC_DEFUN([AUTOCAST_PTXAS], [
AC_PATH_PROG([PTXAS], [ptxas], [], [$PATH:/usr/local/cuda/bin])
AC_PATH_PROG([FATBINARY], [fatbinary], [], [$PATH:/usr/local/cuda/bin])
KERNEL_TARGETS=
AS_IF([test "$have_cuda" = yes && test -n "$PTXAS" && test -n "$FATBINARY" && test -z "$SAN_CFLAGS"], [
	AC_MSG_CHECKING([which GPUs $PTXAS compiles for])
	printf '.version 6.0\n.target sm_70\n.address_size 64\n' >conftest.ptx
	for autocast_target in 80 90 100 120; do
		"$PTXAS" -arch=sm_$autocast_target -o conftest.cubin conftest.ptx \
			>&AS_MESSAGE_LOG_FD 2>&1 &&
			KERNEL_TARGETS="$KERNEL_TARGETS $autocast_target"
	done
	rm -f conftest.ptx conftest.cubin
	AC_MSG_RESULT([${KERNEL_TARGETS:-none}])])
AC_SUBST([KERNEL_TARGETS])])
