# SPDX-License-Identifier: Apache-2.0
# tests/cli/local.mk -- what the makefile knows of this folder.
check_PROGRAMS += tests/cli/counting tests/cli/watched
tests_cli_counting_LDADD = $(UNIT_LIBS)
tests_cli_watched_LDADD = $(UNIT_LIBS)
cli_tests = \
	tests/cli/calibrate.sh \
	tests/cli/compare.sh \
	tests/cli/compared.sh \
	tests/cli/doctor.sh \
	tests/cli/explain.sh \
	tests/cli/list.sh \
	tests/cli/main.sh \
	tests/cli/many_sites.sh \
	tests/cli/path.sh \
	tests/cli/policy.sh \
	tests/cli/report.sh \
	tests/cli/run.sh \
	tests/cli/run_emulate.sh \
	tests/cli/run_env.sh \
	tests/cli/run_report.sh \
	tests/cli/run_signals.sh \
	tests/cli/run_state.sh \
	tests/cli/validate.sh \
	tests/cli/watch.sh
TESTS += $(cli_tests)
cli_expected = \
	tests/cli/calibrate.expected \
	tests/cli/compare.expected \
	tests/cli/doctor.expected \
	tests/cli/explain.expected \
	tests/cli/list.expected \
	tests/cli/main.expected \
	tests/cli/policy.expected \
	tests/cli/report.expected \
	tests/cli/run.expected \
	tests/cli/run_report.expected \
	tests/cli/validate.expected \
	tests/cli/watch.expected
EXTRA_DIST += $(cli_tests) $(cli_expected) tests/cli/calibrate_stub.c \
	tests/cli/transcript.sh
