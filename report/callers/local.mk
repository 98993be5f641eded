# SPDX-License-Identifier: Apache-2.0
# report/callers/local.mk -- what the makefile knows of this folder.
report_libreport_a_SOURCES += \
	report/callers/functions.c \
	report/callers/functions.h \
	report/callers/lines.c \
	report/callers/tool.c
