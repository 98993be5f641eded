# SPDX-License-Identifier: Apache-2.0
# tests/perf/local.mk -- what the makefile knows of this folder.
perf_tests = \
	tests/perf/first.sh \
	tests/perf/kept.sh \
	tests/perf/recast.sh \
	tests/perf/vector.sh \
	tests/perf/time.sh \
	tests/perf/way.sh
TESTS += $(perf_tests)
bench_files = bench/README.md bench/accuracy bench/caller.c bench/loop.c bench/loop.h \
	bench/measure.sh bench/overhead bench/patterns.c bench/results \
	bench/stub_driver.c \
	bench/gpu-day
EXTRA_DIST += $(perf_tests) $(bench_files)
