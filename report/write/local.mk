# SPDX-License-Identifier: Apache-2.0
# report/write/local.mk -- what the makefile knows of this folder.
report_libreport_a_SOURCES += \
	report/write/rank_lines.c \
	report/write/table.c \
	report/write/page.c \
	report/write/page.h \
	report/write/run.c \
	report/write/words.c \
	report/write/checked.c \
	report/write/site_lines.c \
	report/write/as_change.c \
	report/write/as_csv.c \
	report/write/csv.c \
	report/write/csv.h \
	report/write/as_list.c \
	report/write/as_json.c \
	report/write/as_ranges.c \
	report/write/as_summary.c \
	report/write/as_text.c \
	report/write/as_live.c \
	report/write/json.c \
	report/write/json.h
