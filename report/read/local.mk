# SPDX-License-Identifier: Apache-2.0
# report/read/local.mk -- what the makefile knows of this folder.
report_libreport_a_SOURCES += \
	report/read/change.c \
	report/read/change.h \
	report/read/course.c \
	report/read/events.c \
	report/read/fields.c \
	report/read/fields.h \
	report/read/find.c \
	report/read/listing.c \
	report/read/listing.h \
	report/read/load.c \
	report/read/merge.c \
	report/read/parse.c \
	report/read/parse.h \
	report/read/ranks.c \
	report/read/ranks.h \
	report/read/read.c \
	report/read/read.h \
	report/read/rows.c \
	report/read/rows.h \
	report/read/saved.c \
	report/read/site.c \
	report/read/totals.c
