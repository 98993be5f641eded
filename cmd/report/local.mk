# SPDX-License-Identifier: Apache-2.0
# cmd/report/local.mk -- what the makefile knows of this folder.
autocast_SOURCES += \
	cmd/report/forecast.c \
	cmd/report/live.c \
	cmd/report/past.c \
	cmd/report/report.c \
	cmd/report/request.c \
	cmd/report/request.h
