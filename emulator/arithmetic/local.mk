# SPDX-License-Identifier: Apache-2.0
# emulator/arithmetic/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += \
	emulator/arithmetic/README.md \
	emulator/arithmetic/blocks.h
