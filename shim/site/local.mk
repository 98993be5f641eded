# SPDX-License-Identifier: Apache-2.0
# shim/site/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/site/describe.c \
	shim/site/describe.h \
	shim/site/site.c \
	shim/site/site.h \
	shim/site/sites.c \
	shim/site/sites.h
