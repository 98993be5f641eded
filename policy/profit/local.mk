# SPDX-License-Identifier: Apache-2.0
# policy/profit/local.mk -- what the makefile knows of this folder.
policy_libpolicy_a_SOURCES += \
	policy/profit/calibration.c \
	policy/profit/calibration.h \
	policy/profit/calibration_save.c \
	policy/profit/parts.c \
	policy/profit/parts.h \
	policy/profit/profit.c \
	policy/profit/profit.h \
	policy/profit/rates.def \
	policy/profit/tiles.c \
	policy/profit/tiles.h
