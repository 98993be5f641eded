dnl SPDX-License-Identifier: Apache-2.0
dnl AUTOCAST_FLAG(FLAG, VARIABLE): VARIABLE is FLAG if the compiler takes
dnl it without a word, else empty.
AC_DEFUN([AUTOCAST_FLAG], [
AC_MSG_CHECKING([whether $CC takes $1])
autocast_flag_save=$CFLAGS
CFLAGS="$CFLAGS -Werror $1"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
	[AC_MSG_RESULT([yes]); $2='$1'], [AC_MSG_RESULT([no]); $2=])
CFLAGS=$autocast_flag_save
AC_SUBST([$2])])
