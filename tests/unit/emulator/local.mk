# SPDX-License-Identifier: Apache-2.0
# tests/unit/emulator/local.mk -- what the makefile knows of this folder.
if HAVE_EMULATOR
if HAVE_CMOCKA
EMULATOR_LIBS = emulator/libcublas.so.13 emulator/libcudart.so.13 \
	emulator/libcuda.so.1
EMULATOR_LINK = -Wl,--disable-new-dtags,-rpath,$(abs_top_builddir)/emulator
# Its tests.
emulator_tests = \
	tests/unit/emulator/test_emu_ahead \
	tests/unit/emulator/test_emu_calls \
	tests/unit/emulator/test_emu_clock \
	tests/unit/emulator/test_emu_capture \
	tests/unit/emulator/test_emu_capture_rules \
	tests/unit/emulator/test_emu_complex \
	tests/unit/emulator/test_emu_devices \
	tests/unit/emulator/test_emu_driver \
	tests/unit/emulator/test_emu_edges \
	tests/unit/emulator/test_emu_exact \
	tests/unit/emulator/test_emu_gemm \
	tests/unit/emulator/test_emu_graph \
	tests/unit/emulator/test_emu_matrix \
	tests/unit/emulator/test_emu_memory \
	tests/unit/emulator/test_emu_models \
	tests/unit/emulator/test_emu_once \
	tests/unit/emulator/test_emu_race \
	tests/unit/emulator/test_emu_replay \
	tests/unit/emulator/test_emu_round \
	tests/unit/emulator/test_emu_scaler \
	tests/unit/emulator/test_emu_stream \
	tests/unit/emulator/test_emu_sums \
	tests/unit/emulator/test_emu_toolkits \
	tests/unit/emulator/test_emu_touch \
	tests/unit/emulator/test_emu_vector \
	tests/unit/scaler/test_scaler_bad \
	tests/unit/scaler/test_scaler_bad_use \
	tests/unit/scaler/test_scaler_capture \
	tests/unit/scaler/test_scaler_conformance \
	tests/unit/scaler/test_scaler_context \
	tests/unit/scaler/test_scaler_faults \
	tests/unit/scaler/test_scaler_order \
	tests/unit/scaler/test_scaler_state \
	tests/unit/scaler/test_scaler_threads \
	tests/unit/scaler/test_scaler_walk
check_PROGRAMS += $(emulator_tests)
TESTS += $(emulator_tests)
# The gradient scaler, through its public functions.
SCALER_LIBS = scaler/libscaler.a api/libapi.a kernels/libkernels.a \
	base/libbase.a $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
scaler_device = tests/unit/scaler/scaler_device.c tests/unit/scaler/scaler_device.h
tests_unit_scaler_test_scaler_bad_SOURCES = tests/unit/scaler/test_scaler_bad.c \
	tests/unit/scaler/scaler_bad.h
tests_unit_scaler_test_scaler_bad_LDFLAGS = $(EMULATOR_LINK)
tests_unit_scaler_test_scaler_bad_LDADD = $(SCALER_LIBS)
tests_unit_scaler_test_scaler_bad_use_SOURCES = tests/unit/scaler/test_scaler_bad_use.c \
	tests/unit/scaler/scaler_bad.h
tests_unit_scaler_test_scaler_bad_use_LDFLAGS = $(EMULATOR_LINK)
tests_unit_scaler_test_scaler_bad_use_LDADD = $(SCALER_LIBS)
tests_unit_scaler_test_scaler_conformance_SOURCES = \
	tests/unit/scaler/test_scaler_conformance.c $(scaler_device) $(scaler_scripts)
tests_unit_scaler_test_scaler_conformance_LDFLAGS = $(EMULATOR_LINK)
tests_unit_scaler_test_scaler_conformance_LDADD = $(SCALER_LIBS)
tests_unit_scaler_test_scaler_capture_LDFLAGS = $(EMULATOR_LINK)
tests_unit_scaler_test_scaler_capture_LDADD = $(SCALER_LIBS)
tests_unit_scaler_test_scaler_faults_LDFLAGS = $(EMULATOR_LINK)
tests_unit_scaler_test_scaler_faults_LDADD = $(SCALER_LIBS)
tests_unit_scaler_test_scaler_order_LDFLAGS = $(EMULATOR_LINK)
tests_unit_scaler_test_scaler_order_LDADD = $(SCALER_LIBS)
tests_unit_scaler_test_scaler_state_LDFLAGS = $(EMULATOR_LINK)
tests_unit_scaler_test_scaler_state_LDADD = $(SCALER_LIBS)
tests_unit_scaler_test_scaler_context_LDFLAGS = $(EMULATOR_LINK)
tests_unit_scaler_test_scaler_context_LDADD = $(SCALER_LIBS)
tests_unit_scaler_test_scaler_threads_LDFLAGS = $(EMULATOR_LINK)
tests_unit_scaler_test_scaler_threads_LDADD = $(SCALER_LIBS)
tests_unit_scaler_test_scaler_walk_SOURCES = tests/unit/scaler/test_scaler_walk.c \
	$(scaler_device) $(scaler_scripts)
tests_unit_scaler_test_scaler_walk_LDFLAGS = $(EMULATOR_LINK)
tests_unit_scaler_test_scaler_walk_LDADD = $(SCALER_LIBS)
tests_unit_emulator_test_emu_calls_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_calls_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_ahead_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_ahead_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_clock_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_clock_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_capture_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_capture_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_capture_rules_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_capture_rules_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_complex_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_complex_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_devices_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_devices_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_driver_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_driver_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_edges_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_edges_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_exact_SOURCES = tests/unit/emulator/test_emu_exact.c \
	tests/unit/emulator/test_emu_exact.h emulator/cublas/cublas_exact.c
tests_unit_emulator_test_emu_exact_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_exact_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_gemm_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_gemm_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_graph_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_graph_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_matrix_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_matrix_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_memory_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_memory_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_models_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_models_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_once_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_once_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_race_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_race_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_replay_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_replay_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_round_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_round_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_scaler_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_scaler_LDADD = kernels/libkernels.a base/libbase.a \
	$(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_stream_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_stream_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_sums_SOURCES = tests/unit/emulator/test_emu_sums.c \
	tests/unit/emulator/test_emu_exact.h
tests_unit_emulator_test_emu_sums_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_sums_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_toolkits_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_toolkits_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_touch_SOURCES = tests/unit/emulator/test_emu_touch.c \
	emulator/cublas/cublas_touch.c
tests_unit_emulator_test_emu_touch_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_touch_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_vector_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_vector_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
if HAVE_EMULATED_CUDNN
DNN_LIBS = emulator/libcudnn.so.9 $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
dnn_tests = tests/unit/emulator/test_emu_conv tests/unit/emulator/test_emu_conv_calls \
	tests/unit/emulator/test_emu_dnn_norm tests/unit/emulator/test_emu_dnn_ops \
	tests/unit/emulator/test_emu_dnn_rnn tests/unit/emulator/test_emu_dnn_rnn_calls \
	tests/unit/emulator/test_emu_dnn_tensor
dnn_tests += tests/unit/emulator/test_emu_conv_refused tests/unit/emulator/test_emu_conv_run \
	tests/unit/emulator/test_emu_dnn_descriptor tests/unit/emulator/test_emu_dnn_refused
check_PROGRAMS += $(dnn_tests)
TESTS += $(dnn_tests)
tests_unit_emulator_test_emu_conv_SOURCES = tests/unit/emulator/test_emu_conv.c \
	tests/unit/emulator/test_emu_conv.h
tests_unit_emulator_test_emu_conv_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_conv_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_conv_calls_SOURCES = \
	tests/unit/emulator/test_emu_conv_calls.c tests/unit/emulator/test_emu_conv.h
tests_unit_emulator_test_emu_conv_calls_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_conv_calls_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_conv_refused_SOURCES = \
	tests/unit/emulator/test_emu_conv_refused.c tests/unit/emulator/test_emu_conv.h
tests_unit_emulator_test_emu_conv_refused_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_conv_refused_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_dnn_descriptor_SOURCES = \
	tests/unit/emulator/test_emu_dnn_descriptor.c tests/unit/emulator/test_emu_conv.h
tests_unit_emulator_test_emu_dnn_descriptor_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_dnn_descriptor_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_dnn_refused_SOURCES = \
	tests/unit/emulator/test_emu_dnn_refused.c tests/unit/emulator/test_emu_dnn_ops.h
tests_unit_emulator_test_emu_dnn_refused_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_dnn_refused_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_conv_run_SOURCES = tests/unit/emulator/test_emu_conv_run.c \
	emulator/cudnn/conv/cudnn_conv_plain.c emulator/cudnn/conv/cudnn_conv_run.c \
	emulator/cudnn/base/cudnn_tensor.c
tests_unit_emulator_test_emu_conv_run_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_conv_run_LDADD = $(EMULATOR_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_emulator_test_emu_dnn_norm_SOURCES = tests/unit/emulator/test_emu_dnn_norm.c \
	tests/unit/emulator/test_emu_dnn_ops.h
tests_unit_emulator_test_emu_dnn_norm_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_dnn_norm_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_dnn_ops_SOURCES = tests/unit/emulator/test_emu_dnn_ops.c \
	tests/unit/emulator/test_emu_dnn_ops.h
tests_unit_emulator_test_emu_dnn_ops_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_dnn_ops_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_dnn_rnn_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_dnn_rnn_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_dnn_rnn_calls_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_dnn_rnn_calls_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_dnn_tensor_SOURCES = tests/unit/emulator/test_emu_dnn_tensor.c \
	tests/unit/emulator/test_emu_dnn_ops.h
tests_unit_emulator_test_emu_dnn_tensor_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_dnn_tensor_LDADD = $(DNN_LIBS)
# cuDNN's graphs.
check_PROGRAMS += tests/unit/emulator/test_emu_graph_dnn \
	tests/unit/emulator/test_emu_graph_dnn_refused \
	tests/unit/emulator/test_emu_graph_dnn_run tests/unit/emulator/test_emu_graph_dnn_set \
	tests/unit/emulator/test_emu_graph_dnn_shape tests/unit/emulator/test_emu_graph_dnn_steps \
	tests/unit/emulator/test_emu_graph_dnn_threads
TESTS += tests/unit/emulator/test_emu_graph_dnn \
	tests/unit/emulator/test_emu_graph_dnn_refused \
	tests/unit/emulator/test_emu_graph_dnn_run tests/unit/emulator/test_emu_graph_dnn_set \
	tests/unit/emulator/test_emu_graph_dnn_shape tests/unit/emulator/test_emu_graph_dnn_steps \
	tests/unit/emulator/test_emu_graph_dnn_threads
tests_unit_emulator_test_emu_graph_dnn_SOURCES = \
	tests/unit/emulator/test_emu_graph_dnn.c \
	tests/unit/emulator/test_emu_graph_dnn.h
tests_unit_emulator_test_emu_graph_dnn_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_graph_dnn_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_graph_dnn_refused_SOURCES = \
	tests/unit/emulator/test_emu_graph_dnn_refused.c \
	tests/unit/emulator/test_emu_graph_dnn.h
tests_unit_emulator_test_emu_graph_dnn_refused_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_graph_dnn_refused_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_graph_dnn_run_SOURCES = \
	tests/unit/emulator/test_emu_graph_dnn_run.c \
	tests/unit/emulator/test_emu_graph_dnn.h
tests_unit_emulator_test_emu_graph_dnn_run_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_graph_dnn_run_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_graph_dnn_set_SOURCES = \
	tests/unit/emulator/test_emu_graph_dnn_set.c \
	tests/unit/emulator/test_emu_graph_dnn.h
tests_unit_emulator_test_emu_graph_dnn_set_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_graph_dnn_set_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_graph_dnn_shape_SOURCES = \
	tests/unit/emulator/test_emu_graph_dnn_shape.c \
	tests/unit/emulator/test_emu_graph_dnn.h
tests_unit_emulator_test_emu_graph_dnn_shape_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_graph_dnn_shape_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_graph_dnn_steps_SOURCES = \
	tests/unit/emulator/test_emu_graph_dnn_steps.c \
	tests/unit/emulator/test_emu_graph_dnn.h
tests_unit_emulator_test_emu_graph_dnn_steps_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_graph_dnn_steps_LDADD = $(DNN_LIBS)
tests_unit_emulator_test_emu_graph_dnn_threads_SOURCES = \
	tests/unit/emulator/test_emu_graph_dnn_threads.c \
	tests/unit/emulator/test_emu_graph_dnn.h
tests_unit_emulator_test_emu_graph_dnn_threads_LDFLAGS = $(EMULATOR_LINK)
tests_unit_emulator_test_emu_graph_dnn_threads_LDADD = $(DNN_LIBS)
endif
# Its tests end.
endif
endif
