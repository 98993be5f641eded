# SPDX-License-Identifier: Apache-2.0
# report/count/local.mk -- what the makefile knows of this folder.
report_libreport_a_SOURCES += \
	report/count/basis.c \
	report/count/count.c \
	report/count/course.c \
	report/count/live.c \
	report/count/live.h \
	report/count/notice.c \
	report/count/page.h \
	report/count/place.c \
	report/count/process.c \
	report/count/process.h \
	report/count/ranges.c \
	report/count/shard.c \
	report/count/stamp.c \
	report/count/stamp.h \
	report/count/words.c
