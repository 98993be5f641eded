# SPDX-License-Identifier: Apache-2.0
# emulator/shared/local.mk -- what the makefile knows of this folder.
EMULATOR_SHARED = \
	emulator/shared/handle.c \
	emulator/shared/handle.h \
	emulator/shared/round.h
EMULATOR_TOOLKIT_12 = emulator/shared/toolkit_12.c emulator/shared/toolkit.h
EMULATOR_TOOLKIT_13 = emulator/shared/toolkit_13.c emulator/shared/toolkit.h
