# SPDX-License-Identifier: Apache-2.0
# policy/profiles/local.mk -- what the makefile knows of this folder.
policy_libpolicy_a_SOURCES += \
	policy/profiles/profiles.h
