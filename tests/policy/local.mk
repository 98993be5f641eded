# SPDX-License-Identifier: Apache-2.0
# tests/policy/local.mk -- what the makefile knows of this folder.
check_PROGRAMS += tests/policy/agree_driver
tests_policy_agree_driver_LDADD = $(UNIT_LIBS)
policy_tests = tests/policy/agree.sh
TESTS += $(policy_tests)
EXTRA_DIST += $(policy_tests) tests/policy/agree.py tests/policy/reference.py
