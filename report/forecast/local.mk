# SPDX-License-Identifier: Apache-2.0
# report/forecast/local.mk -- what the makefile knows of this folder.
report_libreport_a_SOURCES += \
	report/forecast/as_forecast.c \
	report/forecast/as_ratios.c \
	report/forecast/as_values.c \
	report/forecast/forecast.h \
	report/forecast/sums.c
