# SPDX-License-Identifier: Apache-2.0
# emulator/cudnn/local.mk -- what the makefile knows of this folder.
emulator_libcudnn_so_9_SOURCES += emulator/cudnn/cudnn_handle.c
