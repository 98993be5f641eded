# SPDX-License-Identifier: Apache-2.0
# examples/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += examples/data/README.md examples/data/digits.csv.gz \
	examples/twins/saxpy.cu examples/twins/saxpy_twin.c
policiesdir = $(docdir)/policies
dist_policies_DATA = \
	examples/policies/caffe-t4.policy \
	examples/policies/darknet.policy \
	examples/policies/digits.policy \
	examples/policies/hpc-solver.policy \
	examples/policies/llm.c.policy \
	examples/policies/one-rank-guard.policy \
	examples/policies/site-wide.policy
# What a CUDA program is linked with: NVIDIA's libraries, or their doubles.
if HAVE_CUDA_LIBS
GPU_LIBS = $(CUDA_LIBS)
else
GPU_LIBS = emulator/libcublas.so.13 emulator/libcudart.so.13
GPU_LINK = -Wl,-rpath-link,emulator
endif
if HAVE_EXAMPLES
# Linked without any run path: LD_LIBRARY_PATH, or `autocast run --emulate`,
# decides which GPU they run on.
example_programs = examples/digits_mlp examples/region examples/sgemm_strided
noinst_PROGRAMS += $(example_programs)
examples_digits_mlp_SOURCES = examples/digits_mlp.c \
	examples/digits_device.c examples/digits_device.h \
	examples/digits_input.c examples/digits_input.h
examples_digits_mlp_LDFLAGS = $(GPU_LINK)
examples_digits_mlp_LDADD = $(GPU_LIBS) -lm
if HAVE_EMULATED_CUDNN
noinst_PROGRAMS += examples/digits_cnn
examples_digits_cnn_SOURCES = examples/digits_cnn.c \
	examples/digits_device.c examples/digits_device.h \
	examples/digits_input.c examples/digits_input.h \
	examples/digits_network.c examples/digits_network.h
examples_digits_cnn_LDFLAGS = -Wl,-rpath-link,emulator
examples_digits_cnn_LDADD = emulator/libcudnn.so.9 $(GPU_LIBS) -lm
noinst_PROGRAMS += examples/graph_conv
examples_graph_conv_SOURCES = examples/graph_conv.c
examples_graph_conv_LDFLAGS = -Wl,-rpath-link,emulator
examples_graph_conv_LDADD = emulator/libcudnn.so.9 emulator/libcudart.so.13 -lm
endif
examples_region_SOURCES = examples/region.c
examples_region_LDFLAGS = $(GPU_LINK)
examples_region_LDADD = $(GPU_LIBS) -ldl -lm
examples_sgemm_strided_SOURCES = examples/sgemm_strided.c
examples_sgemm_strided_LDFLAGS = $(GPU_LINK)
examples_sgemm_strided_LDADD = $(GPU_LIBS) -lm
# Programs that call autocast_scaler.h. The run path is relative, and has our
# library only: in an unpacked and built tree they run without a setting.
noinst_LIBRARIES += examples/libnetwork.a
examples_libnetwork_a_SOURCES = \
	examples/scaler_network.c examples/scaler_network.h \
	examples/digits_device.c examples/digits_device.h \
	examples/digits_input.c examples/digits_input.h
LOOP_LINK = $(GPU_LINK) '-Wl,-rpath,$$ORIGIN/..'
LOOP_LIBS = examples/libnetwork.a libautocast-api.so.1 $(GPU_LIBS) -lm
noinst_PROGRAMS += examples/scaler_after examples/scaler_before \
	examples/scaler_accumulate \
	examples/scaler_checkpoint \
	examples/scaler_graph \
	examples/scaler_loop \
	examples/scaler_two_models
examples_scaler_accumulate_SOURCES = examples/scaler_accumulate.c \
	examples/scaler_tensors.h
examples_scaler_accumulate_LDFLAGS = $(LOOP_LINK)
examples_scaler_accumulate_LDADD = $(LOOP_LIBS)
examples_scaler_checkpoint_SOURCES = examples/scaler_checkpoint.c \
	examples/scaler_tensors.h
examples_scaler_checkpoint_LDFLAGS = $(LOOP_LINK)
examples_scaler_checkpoint_LDADD = $(LOOP_LIBS)
examples_scaler_graph_SOURCES = examples/scaler_graph.c \
	examples/scaler_tensors.h
examples_scaler_graph_LDFLAGS = $(LOOP_LINK)
examples_scaler_graph_LDADD = $(LOOP_LIBS)
examples_scaler_loop_SOURCES = examples/scaler_loop.c \
	examples/scaler_tensors.h
examples_scaler_loop_LDFLAGS = $(LOOP_LINK)
examples_scaler_loop_LDADD = $(LOOP_LIBS)
examples_scaler_two_models_SOURCES = examples/scaler_two_models.c \
	examples/scaler_tensors.h
examples_scaler_two_models_LDFLAGS = $(LOOP_LINK)
examples_scaler_two_models_LDADD = $(LOOP_LIBS)
# Neither is linked with anything of ours.
examples_scaler_before_SOURCES = examples/scaler_before.c
examples_scaler_before_LDFLAGS = $(GPU_LINK)
examples_scaler_before_LDADD = examples/libnetwork.a $(GPU_LIBS) -lm
examples_scaler_after_SOURCES = examples/scaler_after.c \
	examples/scaler_tensors.h
examples_scaler_after_LDFLAGS = $(GPU_LINK)
examples_scaler_after_LDADD = examples/libnetwork.a $(GPU_LIBS) -lm
if HAVE_MPI
noinst_PROGRAMS += examples/scaler_ranks
examples_scaler_ranks_SOURCES = examples/scaler_ranks.c \
	examples/scaler_tensors.h
examples_scaler_ranks_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
examples_scaler_ranks_LDFLAGS = $(LOOP_LINK)
examples_scaler_ranks_LDADD = $(LOOP_LIBS) $(MPI_LIBS)
endif
noinst_DATA += examples/digits.csv
endif
examples/digits.csv: examples/data/digits.csv.gz
	$(AM_V_GEN)$(MKDIR_P) examples && gzip -dc \
	    $(srcdir)/examples/data/digits.csv.gz >$@.tmp && mv $@.tmp $@
CLEANFILES += examples/digits.csv
