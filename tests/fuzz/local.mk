# SPDX-License-Identifier: Apache-2.0
# tests/fuzz/local.mk -- what the makefile knows of this folder.
check_PROGRAMS += tests/fuzz/policy_parse
tests_fuzz_policy_parse_LDADD = $(UNIT_LIBS)
TESTS += tests/fuzz/policy_parse
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/policy.dict
