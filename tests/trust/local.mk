# SPDX-License-Identifier: Apache-2.0
# tests/trust/local.mk -- what the makefile knows of this folder.
trust_tests = tests/trust/cost.sh tests/trust/drawn.sh tests/trust/rhythm.sh
EXTRA_DIST += $(trust_tests) tests/trust/draw.py tests/trust/judge.awk \
	tests/trust/play.sh tests/trust/trust.sh
if HAVE_EXAMPLES
TESTS += $(trust_tests)
check_PROGRAMS += tests/trust/cost tests/trust/rhythm
tests_trust_cost_SOURCES = tests/preload/programs/client.h tests/trust/cost.c
tests_trust_cost_LDFLAGS = $(GPU_LINK)
tests_trust_cost_LDADD = $(GPU_LIBS) -lm
tests_trust_rhythm_SOURCES = tests/preload/programs/client.h \
	tests/trust/rhythm.c tests/trust/rhythm_data.c tests/trust/rhythm_data.h
tests_trust_rhythm_LDFLAGS = $(GPU_LINK)
tests_trust_rhythm_LDADD = $(GPU_LIBS) -lm
endif
