# SPDX-License-Identifier: Apache-2.0
# tests/preload/local.mk -- what the makefile knows of this folder.
preload_tests = \
	tests/preload/accuracy.sh \
	tests/preload/asked.sh \
	tests/preload/budget.sh \
	tests/preload/capture.sh \
	tests/preload/clients.sh \
	tests/preload/contexts.sh \
	tests/preload/conv.sh tests/preload/conv_settings.sh \
	tests/preload/conv_autotune.sh \
	tests/preload/conv_bad.sh \
	tests/preload/conv_graph.sh \
	tests/preload/conv_threads.sh \
	tests/preload/scaler_ways.sh \
	tests/preload/conv_traps.sh \
	tests/preload/corpus.sh \
	tests/preload/cudnn8.sh \
	tests/preload/devices.sh \
	tests/preload/digits.sh \
	tests/preload/digits_cnn.sh \
	tests/preload/doctor.sh \
	tests/preload/bad_scalar.sh \
	tests/preload/equal.sh \
	tests/preload/failures.sh \
	tests/preload/gpu_day.sh \
	tests/preload/gpu_day_conv.sh \
	tests/preload/harmless.sh \
	tests/preload/invariance.sh \
	tests/preload/jitter.sh \
	tests/preload/kernels.sh \
	tests/preload/kernels_ptx.sh \
	tests/preload/no_driver.sh \
	tests/preload/nonfinite.sh \
	tests/preload/numerics.sh \
	tests/preload/profit.sh \
	tests/preload/profit_host.sh \
	tests/preload/race.sh \
	tests/preload/refused.sh \
	tests/preload/ranges.sh \
	tests/preload/rank.sh \
	tests/preload/regions.sh \
	tests/preload/rnn.sh \
	tests/preload/scaling.sh \
	tests/preload/reload.sh \
	tests/preload/scaler_before_after.sh \
	tests/preload/scaler_examples.sh \
	tests/preload/scaler_graph.sh \
	tests/preload/scaler_ranks.sh \
	tests/preload/scaler_readme.sh \
	tests/preload/strict.sh \
	tests/preload/survive.sh \
	tests/preload/threads.sh \
	tests/preload/toolkits.sh \
	tests/preload/transparent.sh \
	tests/preload/trials.sh
if HAVE_EXAMPLES
TESTS += $(preload_tests)
check_PROGRAMS += tests/preload/programs/gemm_client
tests_preload_programs_gemm_client_SOURCES = \
	tests/preload/programs/client.h \
	tests/preload/programs/gemm_arguments.c \
	tests/preload/programs/gemm_check.c \
	tests/preload/programs/gemm_client.c \
	tests/preload/programs/gemm_client.h \
	tests/preload/programs/gemm_data.c \
	tests/preload/programs/gemm_forms.c
tests_preload_programs_gemm_client_LDFLAGS = $(GPU_LINK)
tests_preload_programs_gemm_client_LDADD = $(GPU_LIBS) -lm
check_PROGRAMS += tests/preload/programs/bad_scalar
tests_preload_programs_bad_scalar_SOURCES = \
	tests/preload/programs/bad_scalar.c \
	tests/preload/programs/client.h
tests_preload_programs_bad_scalar_LDFLAGS = $(GPU_LINK)
tests_preload_programs_bad_scalar_LDADD = $(GPU_LIBS) -lm
check_PROGRAMS += tests/preload/programs/equal
tests_preload_programs_equal_SOURCES = \
	tests/preload/programs/client.h \
	tests/preload/programs/equal.c \
	tests/preload/programs/gemm_client.h \
	tests/preload/programs/gemm_data.c \
	tests/preload/programs/gemm_forms.c
tests_preload_programs_equal_LDFLAGS = $(GPU_LINK)
tests_preload_programs_equal_LDADD = $(GPU_LIBS) -lm
check_PROGRAMS += tests/preload/programs/corpus_client
tests_preload_programs_corpus_client_SOURCES = \
	tests/corpus/families.c \
	tests/corpus/families.h \
	tests/corpus/product.c \
	tests/preload/programs/client.h \
	tests/preload/programs/corpus_client.c
tests_preload_programs_corpus_client_LDFLAGS = $(GPU_LINK)
tests_preload_programs_corpus_client_LDADD = $(GPU_LIBS) -lm
# Finds libautocast-api.so.1 in the tree; the GPU as all of them do.
check_PROGRAMS += tests/preload/programs/regions \
	tests/preload/programs/in_region.so
tests_preload_programs_regions_SOURCES = tests/preload/programs/client.h \
	tests/preload/programs/regions.c
tests_preload_programs_regions_LDFLAGS = -pthread $(GPU_LINK) \
	-Wl,-rpath,'$$ORIGIN/../../..'
tests_preload_programs_regions_LDADD = $(GPU_LIBS) libautocast-api.so
tests_preload_programs_in_region_so_SOURCES = \
	tests/preload/programs/in_region.c
tests_preload_programs_in_region_so_LDFLAGS = -shared
tests_preload_programs_in_region_so_LDADD =
check_PROGRAMS += tests/preload/programs/plugin.so
tests_preload_programs_plugin_so_SOURCES = tests/preload/programs/plugin.c \
	tests/preload/programs/plugin.h
tests_preload_programs_plugin_so_LDFLAGS = -shared $(GPU_LINK)
tests_preload_programs_plugin_so_LDADD = $(GPU_LIBS)
if HAVE_EMULATOR
# Of CUDA 12, which is here as emulated libraries only.
check_PROGRAMS += tests/preload/programs/plugin_12.so
tests_preload_programs_plugin_12_so_SOURCES = tests/preload/programs/plugin.c \
	tests/preload/programs/plugin.h
tests_preload_programs_plugin_12_so_LDFLAGS = -shared -Wl,-rpath-link,emulator
tests_preload_programs_plugin_12_so_LDADD = emulator/libcublas.so.12 \
	emulator/libcudart.so.12
endif
# The clients, one file each.
client_programs = \
	tests/preload/programs/alternating \
	tests/preload/programs/capture_beside \
	tests/preload/programs/captured \
	tests/preload/programs/churn \
	tests/preload/programs/contexts \
	tests/preload/programs/corners \
	tests/preload/programs/course \
	tests/preload/programs/crowd \
	tests/preload/programs/device_alpha \
	tests/preload/programs/linear_sgd \
	tests/preload/programs/graphs \
	tests/preload/programs/held_stream \
	tests/preload/programs/held_trial \
	tests/preload/programs/lane_order \
	tests/preload/programs/legacy \
	tests/preload/programs/many_streams \
	tests/preload/programs/no_context \
	tests/preload/programs/own_kernel \
	tests/preload/programs/plugin_host \
	tests/preload/programs/reset_exit \
	tests/preload/programs/bound \
	tests/preload/programs/shapes \
	tests/preload/programs/sizes \
	tests/preload/programs/turning \
	tests/preload/programs/scaler_ways \
	tests/preload/programs/two_devices \
	tests/preload/programs/two_threads \
	tests/preload/programs/two_toolkits \
	tests/preload/programs/user_workspace \
	tests/preload/programs/zero_sizes
check_PROGRAMS += $(client_programs)
if HAVE_EMULATED_CUDNN
check_PROGRAMS += tests/preload/programs/convolving
tests_preload_programs_convolving_SOURCES = \
	tests/preload/programs/conv_problem.h \
	tests/preload/programs/convolving.c tests/preload/programs/plugin.h
tests_preload_programs_convolving_LDFLAGS = -pthread -Wl,-rpath-link,emulator
tests_preload_programs_convolving_LDADD = emulator/libcudnn.so.9 \
	emulator/libcudart.so.13 -lm
check_PROGRAMS += tests/preload/programs/autotune
tests_preload_programs_autotune_SOURCES = \
	tests/preload/programs/autotune.c \
	tests/real/programs/conv_answers.h tests/real/programs/conv_describe.h
tests_preload_programs_autotune_LDFLAGS = -pthread -Wl,-rpath-link,emulator
tests_preload_programs_autotune_LDADD = emulator/libcudnn.so.9 \
	emulator/libcudart.so.13 -ldl -lm
check_PROGRAMS += tests/preload/programs/bad_convolutions
tests_preload_programs_bad_convolutions_SOURCES = \
	tests/preload/programs/bad_convolutions.c \
	tests/preload/programs/conv_problem.h
tests_preload_programs_bad_convolutions_LDFLAGS = -Wl,-rpath-link,emulator
tests_preload_programs_bad_convolutions_LDADD = \
	$(tests_preload_programs_convolving_LDADD)
check_PROGRAMS += tests/preload/programs/beside_products
tests_preload_programs_beside_products_SOURCES = \
	tests/preload/programs/beside_products.c \
	tests/preload/programs/conv_problem.h
tests_preload_programs_beside_products_LDFLAGS = -Wl,-rpath-link,emulator
tests_preload_programs_beside_products_LDADD = emulator/libcublas.so.13 \
	$(tests_preload_programs_convolving_LDADD)
check_PROGRAMS += tests/preload/programs/convolving.so
tests_preload_programs_convolving_so_SOURCES = \
	$(tests_preload_programs_convolving_SOURCES)
tests_preload_programs_convolving_so_LDFLAGS = -shared -pthread \
	-Wl,-rpath-link,emulator
tests_preload_programs_convolving_so_LDADD = \
	$(tests_preload_programs_convolving_LDADD)
check_PROGRAMS += tests/preload/programs/rnn_step
tests_preload_programs_rnn_step_LDFLAGS = -pthread -Wl,-rpath-link,emulator
tests_preload_programs_rnn_step_LDADD = emulator/libcudnn.so.9 \
	emulator/libcudart.so.13
# Of cuDNN 8 and CUDA 12, which are here as emulated libraries only.
DNN_8_LINK = -pthread -Wl,-rpath-link,emulator
DNN_8_LIBS = emulator/libcudnn.so.8 emulator/libcudart.so.12 -lm
check_PROGRAMS += tests/preload/programs/convolving_8 \
	tests/preload/programs/convolving_8.so \
	tests/preload/programs/graph_conv_8 \
	tests/preload/programs/rnn_step_8 tests/preload/programs/two_cudnns
tests_preload_programs_convolving_8_SOURCES = \
	$(tests_preload_programs_convolving_SOURCES)
tests_preload_programs_convolving_8_LDFLAGS = $(DNN_8_LINK)
tests_preload_programs_convolving_8_LDADD = $(DNN_8_LIBS)
tests_preload_programs_convolving_8_so_SOURCES = \
	$(tests_preload_programs_convolving_SOURCES)
tests_preload_programs_convolving_8_so_LDFLAGS = -shared $(DNN_8_LINK)
tests_preload_programs_convolving_8_so_LDADD = $(DNN_8_LIBS)
tests_preload_programs_graph_conv_8_SOURCES = examples/graph_conv.c
tests_preload_programs_graph_conv_8_LDFLAGS = $(DNN_8_LINK)
tests_preload_programs_graph_conv_8_LDADD = $(DNN_8_LIBS)
tests_preload_programs_rnn_step_8_SOURCES = tests/preload/programs/rnn_step.c
tests_preload_programs_rnn_step_8_LDFLAGS = $(DNN_8_LINK)
tests_preload_programs_rnn_step_8_LDADD = $(DNN_8_LIBS)
tests_preload_programs_two_cudnns_LDADD = -ldl
endif
tests_preload_programs_capture_beside_LDFLAGS = $(GPU_LINK)
tests_preload_programs_capture_beside_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_alternating_LDFLAGS = $(GPU_LINK)
tests_preload_programs_alternating_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_captured_LDFLAGS = $(GPU_LINK)
tests_preload_programs_captured_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_churn_LDFLAGS = $(GPU_LINK)
tests_preload_programs_churn_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_contexts_LDFLAGS = $(GPU_LINK)
tests_preload_programs_contexts_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_corners_LDFLAGS = $(GPU_LINK)
tests_preload_programs_corners_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_course_LDFLAGS = $(GPU_LINK)
tests_preload_programs_course_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_crowd_LDFLAGS = $(GPU_LINK)
tests_preload_programs_crowd_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_device_alpha_LDFLAGS = $(GPU_LINK)
tests_preload_programs_device_alpha_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_linear_sgd_LDFLAGS = $(GPU_LINK)
tests_preload_programs_linear_sgd_LDADD = $(GPU_LIBS) -ldl -lm
tests_preload_programs_graphs_LDFLAGS = $(GPU_LINK)
tests_preload_programs_graphs_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_held_trial_LDFLAGS = $(GPU_LINK)
tests_preload_programs_held_trial_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_held_stream_LDFLAGS = $(GPU_LINK)
tests_preload_programs_held_stream_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_lane_order_LDFLAGS = $(GPU_LINK)
tests_preload_programs_lane_order_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_legacy_LDFLAGS = $(GPU_LINK)
tests_preload_programs_legacy_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_many_streams_LDFLAGS = $(GPU_LINK)
tests_preload_programs_many_streams_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_no_context_LDFLAGS = $(GPU_LINK)
tests_preload_programs_no_context_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_own_kernel_LDFLAGS = $(GPU_LINK)
tests_preload_programs_own_kernel_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_plugin_host_LDFLAGS = $(GPU_LINK)
tests_preload_programs_plugin_host_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_reset_exit_LDFLAGS = $(GPU_LINK)
tests_preload_programs_reset_exit_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_bound_LDFLAGS = $(GPU_LINK)
tests_preload_programs_bound_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_shapes_LDFLAGS = $(GPU_LINK)
tests_preload_programs_shapes_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_sizes_LDFLAGS = $(GPU_LINK)
tests_preload_programs_sizes_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_turning_LDFLAGS = $(GPU_LINK)
tests_preload_programs_turning_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_scaler_ways_LDFLAGS = $(GPU_LINK)
tests_preload_programs_scaler_ways_LDADD = libautocast-api.so $(GPU_LIBS) -lm
tests_preload_programs_two_devices_LDFLAGS = $(GPU_LINK)
tests_preload_programs_two_devices_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_two_threads_LDFLAGS = $(GPU_LINK)
tests_preload_programs_two_threads_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_two_toolkits_LDFLAGS = $(GPU_LINK)
tests_preload_programs_two_toolkits_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_user_workspace_LDFLAGS = $(GPU_LINK)
tests_preload_programs_user_workspace_LDADD = $(GPU_LIBS) -lm
tests_preload_programs_zero_sizes_LDFLAGS = $(GPU_LINK)
tests_preload_programs_zero_sizes_LDADD = $(GPU_LIBS) -lm
# The clients end.
endif
EXTRA_DIST += $(preload_tests) tests/preload/preload.sh \
	tests/preload/programs/closed_early.c \
	tests/preload/programs/short_threads.c \
	tests/preload/programs/survive.c \
	tests/preload/stub/calls.c tests/preload/stub/plugin.c \
	tests/preload/stub/reload.c tests/preload/stub/stub.map \
	tests/preload/stub/stub_cublas.c
