dnl SPDX-License-Identifier: Apache-2.0
dnl AUTOCAST_LACKS(PART, SENTENCE, [DEBIAN-PACKAGES]): PART is left out because
dnl of what SENTENCE says. Sets lacks_PART for the summary, and adds a row to
dnl $lacks, "PART|PACKAGES|SENTENCE", from which quickstart knows what to install.
AC_DEFUN([AUTOCAST_LACKS], [
lacks_$1='m4_bpatsubst([$2], ['], ['\\''])[]m4_ifval([$3], [ (Debian: $3)])'
lacks="${lacks}$1|$3|$lacks_$1
"])

dnl AUTOCAST_LACKS_WRITE: $lacks becomes config.missing in the build folder.
AC_DEFUN([AUTOCAST_LACKS_WRITE], [
AS_ECHO_N(["$lacks"]) >config.missing])
