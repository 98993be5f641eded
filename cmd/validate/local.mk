# SPDX-License-Identifier: Apache-2.0
# cmd/validate/local.mk -- what the makefile knows of this folder.
autocast_SOURCES += \
	cmd/validate/validate.c \
	cmd/validate/validate.h \
	cmd/validate/validate_say.c \
	cmd/validate/validate_trace.c
