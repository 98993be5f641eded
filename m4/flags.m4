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

dnl AUTOCAST_ADD_FLAGS(FLAGS): CFLAGS gets those that the compiler takes without
dnl a word.
AC_DEFUN([AUTOCAST_ADD_FLAGS], [
AC_MSG_CHECKING([which of $1 $CC takes])
autocast_flag_save=$CFLAGS
for autocast_flag in $1; do
	CFLAGS="$autocast_flag_save -Werror $autocast_flag"
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM([@%:@include <string.h>], [])],
		[autocast_flag_save="$autocast_flag_save $autocast_flag"])
done
CFLAGS=$autocast_flag_save
AC_MSG_RESULT([$CFLAGS])])
