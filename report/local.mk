# SPDX-License-Identifier: Apache-2.0
# report/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += \
	report/README.md \
	report/callers/README.md \
	report/count/README.md \
	report/forecast/README.md \
	report/html/README.md \
	report/read/README.md \
	report/write/README.md
# The counting half ends up in the library, the reading half in the program.
noinst_LIBRARIES += report/libreport.a
report_libreport_a_SOURCES = \
	report/course.def \
	report/event.h \
	report/past.h \
	report/scaled.h \
	report/totals.h \
	report/report.h
include $(top_srcdir)/report/callers/local.mk
include $(top_srcdir)/report/count/local.mk
include $(top_srcdir)/report/forecast/local.mk
include $(top_srcdir)/report/html/local.mk
include $(top_srcdir)/report/read/local.mk
include $(top_srcdir)/report/write/local.mk
