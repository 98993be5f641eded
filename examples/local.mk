# SPDX-License-Identifier: Apache-2.0
# examples/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += examples/autocast_grad_scaler.h examples/data/README.md examples/data/digits.csv.gz \
	examples/twins/saxpy.cu examples/twins/saxpy_twin.c
policiesdir = $(docdir)/policies
dist_policies_DATA = \
	examples/policies/caffe-t4.policy \
	examples/policies/darknet.policy \
	examples/policies/digits.policy \
	examples/policies/hpc-solver.policy \
	examples/policies/llm.c.policy \
	examples/policies/site-wide.policy
# What programs are linked with unless they say otherwise: NVIDIA's libraries,
# or their doubles, which need each other.
if HAVE_CUDA_LIBS
GPU_LIBS = $(CUDA_LIBS)
LT_LIBS = -lcublasLt
else
GPU_LIBS = emulator/libcublas.so.13 emulator/libcudart.so.13
LT_LIBS = emulator/libcublasLt.so.13
endif
LDADD = $(GPU_LIBS) -lm
# NVIDIA's libcublas needs NVIDIA's libcublasLt, not its double.
AM_LDFLAGS = $(CUDA_LDFLAGS) -Wl,-rpath-link,emulator
if HAVE_EXAMPLES
# Linked without any run path: LD_LIBRARY_PATH, or `autocast run --emulate`,
# decides which GPU they run on.
noinst_PROGRAMS += examples/digits_mlp examples/lt_linear examples/region \
	examples/sgemm_strided
digits_sources = \
	examples/digits_device.c examples/digits_device.h \
	examples/digits_input.c examples/digits_input.h
examples_digits_mlp_SOURCES = examples/digits_mlp.c $(digits_sources)
examples_lt_linear_SOURCES = examples/lt_linear.c $(digits_sources)
examples_lt_linear_LDADD = $(LT_LIBS) $(LDADD)
examples_region_LDADD = -ldl $(LDADD)
if HAVE_EMULATED_CUDNN
noinst_PROGRAMS += examples/digits_cnn examples/graph_conv
examples_digits_cnn_SOURCES = examples/digits_cnn.c $(digits_sources) \
	examples/digits_network.c examples/digits_network.h
examples_digits_cnn_LDADD = emulator/libcudnn.so.9 $(LDADD)
examples_graph_conv_SOURCES = examples/graph_conv.c examples/graph_stored.h
examples_graph_conv_LDADD = emulator/libcudnn.so.9 emulator/libcudart.so.13 -lm
endif
# Programs that call autocast_scaler.h.
noinst_LIBRARIES += examples/libnetwork.a
examples_libnetwork_a_SOURCES = $(digits_sources) \
	examples/scaler_network.c examples/scaler_network.h \
	examples/scaler_tensors.h
noinst_PROGRAMS += \
	examples/scaler_accumulate \
	examples/scaler_after \
	examples/scaler_before \
	examples/scaler_checkpoint \
	examples/scaler_graph \
	examples/scaler_loop \
	examples/scaler_two_models
# None of the three is linked with anything of ours.
examples_scaler_accumulate_LDADD = examples/libnetwork.a $(LDADD)
examples_scaler_after_LDADD = examples/libnetwork.a $(LDADD)
examples_scaler_before_LDADD = examples/libnetwork.a $(LDADD)
# The run path is relative, and has our library only: in an unpacked and built
# tree they run without a setting.
LOOP_LINK = $(AM_LDFLAGS) '-Wl,-rpath,$$ORIGIN/..'
LOOP_LIBS = examples/libnetwork.a libautocast-api.so.1 $(LDADD)
examples_scaler_checkpoint_LDFLAGS = $(LOOP_LINK)
examples_scaler_checkpoint_LDADD = $(LOOP_LIBS)
examples_scaler_graph_LDFLAGS = $(LOOP_LINK)
examples_scaler_graph_LDADD = $(LOOP_LIBS)
examples_scaler_loop_LDFLAGS = $(LOOP_LINK)
examples_scaler_loop_LDADD = $(LOOP_LIBS)
examples_scaler_two_models_LDFLAGS = $(LOOP_LINK)
examples_scaler_two_models_LDADD = $(LOOP_LIBS)
if HAVE_MPI
noinst_PROGRAMS += examples/scaler_ranks
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
