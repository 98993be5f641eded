# SPDX-License-Identifier: Apache-2.0
# shim/conv/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/conv/conv.c \
	shim/conv/conv.h \
	shim/conv/conv_call.c \
	shim/conv/conv_call.h \
	shim/conv/conv_plan.c \
	shim/conv/conv_plan.h \
	shim/conv/conv_sample.c \
	shim/conv/conv_site.c \
	shim/conv/conv_site.h \
	shim/conv/conv_ways.c \
	shim/conv/conv_ways.h \
	shim/conv/cudnn_conv.c \
	shim/conv/cudnn_handle.c \
	shim/conv/cudnn_size.c \
	shim/conv/descriptors.c \
	shim/conv/descriptors.h \
	shim/conv/engine.c \
	shim/conv/engine.h \
	shim/conv/builder.c \
	shim/conv/builder.h \
	shim/conv/engine_graph.c
