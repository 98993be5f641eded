# SPDX-License-Identifier: Apache-2.0
# emulator/nvml/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += emulator/nvml/README.md
emulator_PROGRAMS += emulator/libnvidia-ml.so.1
nodist_emulator_libnvidia_ml_so_1_SOURCES = emulator/names/nvml-stubs.c
emulator_libnvidia_ml_so_1_SOURCES = \
	emulator/nvml/nvml.c
emulator_libnvidia_ml_so_1_LDFLAGS = $(SHARED) \
	-Wl,-soname,libnvidia-ml.so.1 \
	-Wl,--version-script=emulator/names/nvml.map
emulator_libnvidia_ml_so_1_LDADD = emulator/libcuda.so.1
emulator_libnvidia_ml_so_1_DEPENDENCIES = emulator/libcuda.so.1 \
	emulator/names/nvml.map
