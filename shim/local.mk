# SPDX-License-Identifier: Apache-2.0
# shim/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += \
	shim/README.md \
	shim/bind/README.md \
	shim/conv/README.md \
	shim/device/README.md \
	shim/gemm/README.md \
	shim/graph/README.md \
	shim/lt/README.md \
	shim/process/README.md \
	shim/scaling/README.md \
	shim/site/README.md \
	shim/start/README.md \
	shim/trial/README.md
# The preload: unversioned, without a SONAME, never on a link line: in a folder
# of its own.
EXTRA_DIST += shim/libautocast.map
if HAVE_CUDA
preloaddir = $(pkglibdir)
preload_PROGRAMS = libautocast.so
libautocast_so_SOURCES =
include $(top_srcdir)/shim/bind/local.mk
include $(top_srcdir)/shim/device/local.mk
include $(top_srcdir)/shim/gemm/local.mk
include $(top_srcdir)/shim/lt/local.mk
include $(top_srcdir)/shim/process/local.mk
include $(top_srcdir)/shim/scaling/local.mk
include $(top_srcdir)/shim/site/local.mk
include $(top_srcdir)/shim/start/local.mk
include $(top_srcdir)/shim/trial/local.mk
if HAVE_CUDNN
include $(top_srcdir)/shim/conv/local.mk
include $(top_srcdir)/shim/graph/local.mk
endif
# marker.c and marker.S: the object of each carries its target's name, which
# automake does for targets with flags of their own.
libautocast_so_CPPFLAGS = $(AM_CPPFLAGS)
noinst_LIBRARIES += shim/libhooks.a
shim_libhooks_a_SOURCES = shim/bind/loader_hooks.S shim/bind/marker.S
shim_libhooks_a_CPPFLAGS = $(AM_CPPFLAGS)
# Bound lazily: a process that calls nothing must not pay for what we import.
# Nor for a search per function that we call ourselves.
libautocast_so_LDFLAGS = $(SHARED) -Wl,-z,lazy -Wl,-Bsymbolic-functions \
	-Wl,--version-script=$(srcdir)/shim/libautocast.map
# The assembler's entries as objects: nothing refers to them.
libautocast_so_LDADD = $(shim_libhooks_a_OBJECTS) $(PUBLIC_OBJECTS) \
	report/libreport.a policy/libpolicy.a policy/libprofiles.a \
	kernels/libkernels.a base/libbase.a
libautocast_so_DEPENDENCIES = $(libautocast_so_LDADD) $(PUBLIC_ARCHIVES) \
	shim/libautocast.map
endif
