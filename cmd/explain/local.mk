# SPDX-License-Identifier: Apache-2.0
# cmd/explain/local.mk -- what the makefile knows of this folder.
autocast_SOURCES += \
	cmd/explain/catalogue.c \
	cmd/explain/explain.c \
	cmd/explain/explain.h \
	cmd/explain/explain_site.c \
	cmd/explain/explain_vector.c \
	cmd/explain/operation.c \
	cmd/explain/operation_conv.c \
	cmd/explain/operation_epilogue.c \
	cmd/explain/policy.c
