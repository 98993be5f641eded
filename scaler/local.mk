# SPDX-License-Identifier: Apache-2.0
# scaler/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += \
	api/README.md \
	include/README.md \
	scaler/README.md
# What programs call themselves: served by libautocast-api.so, and by
# libautocast.so, which comes first when it is preloaded.
include_HEADERS = \
	include/autocast.h \
	include/autocast_absent.h \
	include/autocast_dynamic.h \
	include/autocast_functions.h \
	include/autocast_scaler.h \
	include/autocast_scaler_dynamic.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = autocast.pc
noinst_LIBRARIES += api/libapi.a scaler/libscaler.a
api_libapi_a_SOURCES = \
	api/functions.c \
	api/region.c api/region.h \
	api/scaled.c api/scaled.h \
	api/status.c api/status.h \
	api/thread.c api/thread.h
scaler_libscaler_a_SOURCES = \
	scaler/core.c scaler/core.h \
	scaler/device.c \
	scaler/failure.c \
	scaler/group.c \
	scaler/norm.c \
	scaler/read.c \
	scaler/options.c \
	scaler/order.c \
	scaler/place.c \
	scaler/scaler.c scaler/scaler.h \
	scaler/settings.c \
	scaler/state_text.c scaler/state_text.h \
	scaler/step.c \
	scaler/tally.c \
	scaler/tensor.c \
	scaler/unscale.c \
	scaler/update.c
EXTRA_DIST += api/libautocast-api.map
PUBLIC_OBJECTS = $(api_libapi_a_OBJECTS) $(scaler_libscaler_a_OBJECTS)
PUBLIC_ARCHIVES = api/libapi.a scaler/libscaler.a
apidir = $(libdir)
api_PROGRAMS = libautocast-api.so.1
libautocast_api_so_1_SOURCES =
# Never unloaded: threads that end give their memory back to it.
libautocast_api_so_1_LDFLAGS = $(SHARED) -Wl,-soname,libautocast-api.so.1 \
	-Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/api/libautocast-api.map
libautocast_api_so_1_LDADD = $(PUBLIC_OBJECTS) kernels/libkernels.a \
	base/libbase.a
libautocast_api_so_1_DEPENDENCIES = $(libautocast_api_so_1_LDADD) \
	$(PUBLIC_ARCHIVES) api/libautocast-api.map
# The name that programs are linked by.
noinst_DATA = libautocast-api.so
libautocast-api.so: libautocast-api.so.1
	$(AM_V_GEN)rm -f $@ && $(LN_S) libautocast-api.so.1 $@
CLEANFILES += libautocast-api.so
