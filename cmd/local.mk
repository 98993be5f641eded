# SPDX-License-Identifier: Apache-2.0
# cmd/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += \
	cmd/README.md \
	cmd/calibrate/README.md \
	cmd/compare/README.md \
	cmd/doctor/README.md \
	cmd/explain/README.md \
	cmd/gpu/README.md \
	cmd/report/README.md \
	cmd/run/README.md \
	cmd/tune/README.md \
	cmd/validate/README.md
bin_PROGRAMS += autocast
autocast_SOURCES = \
	cmd/arguments.c \
	cmd/command.h \
	cmd/completion.c \
	cmd/completion.h \
	cmd/completion_bash.c \
	cmd/completion_table.c \
	cmd/format.c \
	cmd/made.c \
	cmd/main.c \
	cmd/output.c \
	cmd/saved.c \
	cmd/say.c
include $(top_srcdir)/cmd/calibrate/local.mk
include $(top_srcdir)/cmd/compare/local.mk
include $(top_srcdir)/cmd/doctor/local.mk
include $(top_srcdir)/cmd/explain/local.mk
include $(top_srcdir)/cmd/gpu/local.mk
include $(top_srcdir)/cmd/report/local.mk
include $(top_srcdir)/cmd/run/local.mk
include $(top_srcdir)/cmd/tune/local.mk
include $(top_srcdir)/cmd/validate/local.mk
autocast_CPPFLAGS = $(AM_CPPFLAGS) -DAC_LIBDIR='"$(libdir)"' \
	-DAC_EMULATOR_DIR='"$(emulatordir)"'
autocast_LDADD = report/libreport.a policy/libpolicy.a policy/libprofiles.a \
	base/libbase.a -ldl -lm
# The catalogue's rows are data that `autocast explain --functions` prints.
EXTRA_DIST += shim/bind/entries.def
