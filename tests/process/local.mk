# SPDX-License-Identifier: Apache-2.0
# tests/process/local.mk -- what the makefile knows of this folder.
# Where there is no preload they say so and are skipped.
process_tests = \
	tests/process/bad_input.sh \
	tests/process/hot_path.sh \
	tests/process/quickstart.sh \
	tests/process/quiet.sh \
	tests/process/sanitizers.sh \
	tests/process/privileged.sh \
	tests/process/startup.sh \
	tests/process/strangers.sh \
	tests/process/teardown.sh
TESTS += $(process_tests)
EXTRA_DIST += $(process_tests) \
	tests/process/programs/first_dlsym.c \
	tests/process/programs/hot.c \
	tests/process/programs/teardown.c \
	tests/process/programs/trip.c
