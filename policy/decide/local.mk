# SPDX-License-Identifier: Apache-2.0
# policy/decide/local.mk -- what the makefile knows of this folder.
policy_libpolicy_a_SOURCES += \
	policy/decide/range.h \
	policy/decide/range.c \
	policy/decide/cover.c \
	policy/decide/decide.c \
	policy/decide/explain.c \
	policy/decide/match.c \
	policy/decide/region.c \
	policy/decide/rungs.c \
	policy/decide/scaling.c
