# SPDX-License-Identifier: Apache-2.0
# report/count/local.mk -- what the makefile knows of this folder.
report_libreport_a_SOURCES += \
	report/count/file.h \
	report/count/file.c \
	report/count/count.c \
	report/count/parallel.c \
	report/count/parallel.h \
	report/count/keep.c \
	report/count/live.c \
	report/count/live.h \
	report/count/module.c \
	report/count/notice.c \
	report/count/place.c \
	report/count/process.c \
	report/count/process.h \
	report/count/prune.c \
	report/count/ranges.c \
	report/count/shard.c \
	report/count/stamp.c \
	report/count/stamp.h \
	report/count/tell.c
