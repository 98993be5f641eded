# SPDX-License-Identifier: Apache-2.0
# report/html/local.mk -- what the makefile knows of this folder.
report_libreport_a_SOURCES += \
	report/html/as_html.c \
	report/html/embed.S \
	report/html/errors.c \
	report/html/events.c \
	report/html/exponents.c \
	report/html/head.c \
	report/html/html.c \
	report/html/html.h \
	report/html/roofline.c \
	report/html/sites.c \
	report/html/svg.c \
	report/html/times.c \
	report/html/totals.c \
	report/html/why.c
html_texts = report/html/page.css report/html/page.js
report/html/embed.$(OBJEXT): $(html_texts)
EXTRA_DIST += $(html_texts)
