# SPDX-License-Identifier: Apache-2.0
# shim/bind/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/bind/catalogue.c \
	shim/bind/catalogue.h \
	shim/bind/entries.def \
	shim/bind/loader_hooks.c \
	shim/bind/loader_hooks.h \
	shim/bind/marker.c \
	shim/bind/marker.h \
	shim/bind/provider.c \
	shim/bind/provider.h \
	shim/bind/solver.c \
	shim/bind/solver.h \
	shim/bind/thunk.c \
	shim/bind/thunk.h \
	shim/bind/trampoline.c \
	shim/bind/trampoline.h \
	shim/bind/wrapper.h
