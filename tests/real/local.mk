# SPDX-License-Identifier: Apache-2.0
# tests/real/local.mk -- what the makefile knows of this folder.
# Without a GPU; skipped where they are not installed.
real_tests = \
	tests/real/answers.sh \
	tests/real/cudnn_calls.sh \
	tests/real/cudnn_graph.sh \
	tests/real/cudnn_rnn.sh \
	tests/real/cudnn_replay.sh \
	tests/real/cudnn_table.sh \
	tests/real/driver.sh \
	tests/real/libraries.sh
TESTS += $(real_tests)
EXTRA_DIST += $(real_tests) tests/real/programs/answers.c \
	tests/real/cudnn.sh tests/real/devices/sm75.json \
	tests/real/devices/sm80.json tests/real/devices/sm89.json \
	tests/real/devices/sm90.json tests/real/devices/sm100.json \
	tests/real/programs/conv_answers.h tests/real/programs/conv_bad.c \
	tests/real/programs/conv_describe.h tests/real/programs/conv_threads.c \
	tests/real/programs/conv_replay.c \
	tests/real/programs/rnn_descriptor.c \
	tests/real/programs/conv_frontend.c tests/real/programs/conv_graph.c \
	tests/real/programs/conv_table.c tests/real/programs/convolution.c \
	tests/real/programs/driver.c tests/real/programs/watch.c \
	tests/real/fetch_libcuda.sh tests/real/real.sh tests/real/rows.py
