# SPDX-License-Identifier: Apache-2.0
# shim/graph/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/graph/address_map.c \
	shim/graph/address_map.h \
	shim/graph/cudnn_backend.c \
	shim/graph/cudnn_execute.c \
	shim/graph/pack.c \
	shim/graph/pack.h \
	shim/graph/plan.c \
	shim/graph/plan.h \
	shim/graph/shadow.c \
	shim/graph/shadow.h \
	shim/graph/shadow_graph.c \
	shim/graph/shadow_note.c \
	shim/graph/shadow_note.h \
	shim/graph/shadow_pool.c \
	shim/graph/stored.c \
	shim/graph/stored.h
