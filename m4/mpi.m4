dnl SPDX-License-Identifier: Apache-2.0
dnl AUTOCAST_MPI: have_mpi=yes|no, MPI_CPPFLAGS, MPI_LIBS: Open MPI, for the
dnl example that trains in several processes. Asked of its mpicc, which itself
dnl is not used. What runs the example is mpirun.
AC_DEFUN([AUTOCAST_MPI], [
have_mpi=no
MPI_CPPFLAGS=
MPI_LIBS=
AC_CHECK_PROGS([MPICC], [mpicc], [no])
AC_CHECK_PROGS([MPIRUN], [mpirun], [no])
AS_IF([test "$MPICC" != no], [
	MPI_CPPFLAGS=`$MPICC --showme:compile 2>/dev/null | $SED 's/-I */-isystem /g'`
	MPI_LIBS=`$MPICC --showme:link 2>/dev/null`])
autocast_mpi_cppflags=$CPPFLAGS
autocast_mpi_libs=$LIBS
CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
LIBS="$MPI_LIBS $LIBS"
AC_MSG_CHECKING([for Open MPI])
AS_IF([test -n "$MPI_LIBS" && test "$MPIRUN" != no], [AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#ifndef OPEN_MPI
#error another MPI
#endif]], [[
return MPI_Init(0, 0);]])], [have_mpi=yes])])
CPPFLAGS=$autocast_mpi_cppflags
LIBS=$autocast_mpi_libs
AC_MSG_RESULT([$have_mpi])
AS_IF([test $have_mpi = no],
	[AUTOCAST_LACKS([ranks], [Open MPI is missing], [libopenmpi-dev openmpi-bin])])
AC_SUBST([MPI_CPPFLAGS])
AC_SUBST([MPI_LIBS])])
