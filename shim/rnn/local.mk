# SPDX-License-Identifier: Apache-2.0
# shim/rnn/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/rnn/cudnn_rnn.c \
	shim/rnn/rnn_site.c \
	shim/rnn/rnn_site.h
