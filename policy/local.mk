# SPDX-License-Identifier: Apache-2.0
# policy/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += \
	policy/README.md \
	policy/decide/README.md \
	policy/language/README.md \
	policy/profiles/README.md \
	policy/profit/README.md
noinst_LIBRARIES += policy/libpolicy.a policy/libprofiles.a
policy_libpolicy_a_SOURCES = \
	policy/words.def \
	policy/op.h \
	policy/op.c \
	policy/guard.c \
	policy/guard.h \
	policy/policy.h \
	policy/slips.c
include $(top_srcdir)/policy/decide/local.mk
include $(top_srcdir)/policy/language/local.mk
include $(top_srcdir)/policy/profiles/local.mk
include $(top_srcdir)/policy/profit/local.mk
policy_profiles = \
	policy/profiles/accurate.policy \
	policy/profiles/amp.policy \
	policy/profiles/bf16.policy \
	policy/profiles/fp16.policy \
	policy/profiles/off.policy \
	policy/profiles/tf32.policy
policy_libpolicy_a_CPPFLAGS = $(AM_CPPFLAGS) -DSYSCONFDIR='"$(sysconfdir)"'
policy_libprofiles_a_SOURCES = policy/profiles/profiles.S
$(policy_libprofiles_a_OBJECTS): $(policy_profiles)
EXTRA_DIST += $(policy_profiles)
