# SPDX-License-Identifier: Apache-2.0
# tests/binding/local.mk -- what the makefile knows of this folder.
# They compile their programs and the libraries of NVIDIA's shape themselves.
binding_tests = \
	tests/binding/compilers.sh \
	tests/binding/corners.sh \
	tests/binding/deepbind.sh \
	tests/binding/emulated.sh \
	tests/binding/forking.sh \
	tests/binding/providers.sh \
	tests/binding/reach.sh \
	tests/binding/stacking.sh \
	tests/binding/unloading.sh \
	tests/binding/words.sh
if HAVE_CUDA
TESTS += $(binding_tests)
endif
EXTRA_DIST += $(binding_tests) \
	tests/binding/asking.c \
	tests/binding/binding.sh \
	tests/binding/client.h \
	tests/binding/copy.c \
	tests/binding/ctypes_client.py \
	tests/binding/cudnn_client.c \
	tests/binding/deepbind.c \
	tests/binding/fixed.c \
	tests/binding/foreign.c \
	tests/binding/forking.c \
	tests/binding/foreign_dlsym.c \
	tests/binding/host.c \
	tests/binding/inner.c \
	tests/binding/jump.c \
	tests/binding/late.c \
	tests/binding/linked.c \
	tests/binding/lookup.c \
	tests/binding/many.c \
	tests/binding/opener.c \
	tests/binding/own.c \
	tests/binding/plugin.c \
	tests/binding/reach.c \
	tests/binding/strangers.c \
	tests/binding/several.c \
	tests/binding/stub.h \
	tests/binding/stub_cublas.c \
	tests/binding/stub_cublaslt.c \
	tests/binding/stub_cudnn.c \
	tests/binding/stub_cusolver.c \
	tests/binding/stub_driver.c \
	tests/binding/stub_words.c \
	tests/binding/swap.c \
	tests/binding/versions.c \
	tests/binding/weak.c \
	tests/binding/who.c \
	tests/binding/wide.c \
	tests/binding/words.c \
	tests/binding/words.h
