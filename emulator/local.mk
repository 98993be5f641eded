# SPDX-License-Identifier: Apache-2.0
# emulator/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += \
	emulator/EXPORTS \
	emulator/README.md \
	emulator/cublas/README.md \
	emulator/cublaslt/README.md \
	emulator/cudnn/README.md \
	emulator/driver/README.md \
	emulator/ptx/README.md \
	emulator/runtime/README.md \
	emulator/shared/README.md
# The libraries have NVIDIA's SONAMEs and version nodes. libcuda.so.1 owns the
# device and serves the others. They are installed in a folder of their own, so
# that no program finds them by accident.
emulatordir = $(pkglibdir)/emulator
include $(top_srcdir)/emulator/names/local.mk
if HAVE_EMULATOR
emulator_PROGRAMS += emulator/libcuda.so.1 emulator/libcudart.so.13 \
	emulator/libcudart.so.12 emulator/libcublas.so.13 \
	emulator/libcublas.so.12 emulator/libcublasLt.so.13 \
	emulator/libcublasLt.so.12

nodist_emulator_libcuda_so_1_SOURCES = emulator/names/cuda-stubs.c
emulator_libcuda_so_1_SOURCES =
include $(top_srcdir)/emulator/driver/local.mk
include $(top_srcdir)/emulator/driver/api/local.mk
include $(top_srcdir)/emulator/driver/image/local.mk
# The driver outlives a runtime that a plugin brings and takes away.
emulator_libcuda_so_1_LDFLAGS = $(SHARED) -Wl,-soname,libcuda.so.1 \
	-Wl,-z,nodelete \
	-Wl,--version-script=emulator/names/cuda.map
emulator_libcuda_so_1_LDADD = emulator/ptx/libptx.a base/libbase.a -lm
emulator_libcuda_so_1_DEPENDENCIES = emulator/ptx/libptx.a base/libbase.a \
	emulator/names/cuda.map

# The runtime and cuBLAS of CUDA 13 and of CUDA 12 are made of the same objects,
# compiled once, and of one file that differs. No archive is ever made.
include $(top_srcdir)/emulator/shared/local.mk
EXTRA_LIBRARIES = emulator/librun.a emulator/libblas.a emulator/liblt.a
emulator_librun_a_SOURCES =
include $(top_srcdir)/emulator/runtime/local.mk
emulator_libblas_a_SOURCES = $(EMULATOR_SHARED)
include $(top_srcdir)/emulator/cublas/local.mk
include $(top_srcdir)/emulator/cublas/blas/local.mk
emulator_liblt_a_SOURCES =
include $(top_srcdir)/emulator/cublaslt/local.mk
CUDART_OBJECTS = $(emulator_librun_a_OBJECTS) emulator/libcuda.so.1 \
	base/libbase.a
CUBLAS_OBJECTS = $(emulator_libblas_a_OBJECTS) emulator/libcuda.so.1 \
	base/libbase.a
CUBLASLT_OBJECTS = $(emulator_liblt_a_OBJECTS) $(CUBLAS_OBJECTS)

nodist_emulator_libcudart_so_13_SOURCES = emulator/names/cudart.13-stubs.c
emulator_libcudart_so_13_SOURCES = $(EMULATOR_TOOLKIT_13)
emulator_libcudart_so_13_LDFLAGS = $(SHARED) -Wl,-soname,libcudart.so.13 \
	-Wl,--version-script=emulator/names/cudart.13.map
emulator_libcudart_so_13_LDADD = $(CUDART_OBJECTS)
emulator_libcudart_so_13_DEPENDENCIES = $(CUDART_OBJECTS) \
	emulator/names/cudart.13.map
nodist_emulator_libcudart_so_12_SOURCES = emulator/names/cudart.12-stubs.c
emulator_libcudart_so_12_SOURCES = $(EMULATOR_TOOLKIT_12) \
	emulator/runtime/cudart_device_12.c emulator/runtime/cudart_graph_12.c
emulator_libcudart_so_12_LDFLAGS = $(SHARED) -Wl,-soname,libcudart.so.12 \
	-Wl,--version-script=emulator/names/cudart.12.map
emulator_libcudart_so_12_LDADD = $(CUDART_OBJECTS)
emulator_libcudart_so_12_DEPENDENCIES = $(CUDART_OBJECTS) \
	emulator/names/cudart.12.map

nodist_emulator_libcublas_so_13_SOURCES = emulator/names/cublas.13-stubs.c
emulator_libcublas_so_13_SOURCES = $(EMULATOR_TOOLKIT_13)
emulator_libcublas_so_13_LDFLAGS = $(SHARED) -Wl,-soname,libcublas.so.13 \
	-Wl,--version-script=emulator/names/cublas.13.map
emulator_libcublas_so_13_LDADD = $(CUBLAS_OBJECTS) $(BLAS_LIBS) -lm
emulator_libcublas_so_13_DEPENDENCIES = $(CUBLAS_OBJECTS) \
	emulator/names/cublas.13.map
nodist_emulator_libcublas_so_12_SOURCES = emulator/names/cublas.12-stubs.c
emulator_libcublas_so_12_SOURCES = $(EMULATOR_TOOLKIT_12)
emulator_libcublas_so_12_LDFLAGS = $(SHARED) -Wl,-soname,libcublas.so.12 \
	-Wl,--version-script=emulator/names/cublas.12.map
emulator_libcublas_so_12_LDADD = $(CUBLAS_OBJECTS) $(BLAS_LIBS) -lm
emulator_libcublas_so_12_DEPENDENCIES = $(CUBLAS_OBJECTS) \
	emulator/names/cublas.12.map

# It computes with objects of cuBLAS, which it does not export.
nodist_emulator_libcublasLt_so_13_SOURCES = emulator/names/cublaslt.13-stubs.c
emulator_libcublasLt_so_13_SOURCES = $(EMULATOR_TOOLKIT_13)
emulator_libcublasLt_so_13_LDFLAGS = $(SHARED) \
	-Wl,-soname,libcublasLt.so.13 \
	-Wl,--version-script=emulator/names/cublaslt.13.map
emulator_libcublasLt_so_13_LDADD = $(CUBLASLT_OBJECTS) $(BLAS_LIBS) -lm
emulator_libcublasLt_so_13_DEPENDENCIES = $(CUBLASLT_OBJECTS) \
	emulator/names/cublaslt.13.map
nodist_emulator_libcublasLt_so_12_SOURCES = emulator/names/cublaslt.12-stubs.c
emulator_libcublasLt_so_12_SOURCES = $(EMULATOR_TOOLKIT_12)
emulator_libcublasLt_so_12_LDFLAGS = $(SHARED) \
	-Wl,-soname,libcublasLt.so.12 \
	-Wl,--version-script=emulator/names/cublaslt.12.map
emulator_libcublasLt_so_12_LDADD = $(CUBLASLT_OBJECTS) $(BLAS_LIBS) -lm
emulator_libcublasLt_so_12_DEPENDENCIES = $(CUBLASLT_OBJECTS) \
	emulator/names/cublaslt.12.map

include $(top_srcdir)/emulator/nvml/local.mk

if HAVE_EMULATED_CUDNN
emulator_PROGRAMS += emulator/libcudnn.so.9 emulator/libcudnn.so.8
nodist_emulator_libcudnn_so_9_SOURCES = emulator/names/cudnn.9-stubs.c
emulator_libcudnn_so_9_SOURCES = $(EMULATOR_SHARED)
include $(top_srcdir)/emulator/cudnn/local.mk
include $(top_srcdir)/emulator/cudnn/base/local.mk
include $(top_srcdir)/emulator/cudnn/conv/local.mk
include $(top_srcdir)/emulator/cudnn/graph/local.mk
include $(top_srcdir)/emulator/cudnn/ops/local.mk
emulator_libcudnn_so_9_LDFLAGS = $(SHARED) -Wl,-soname,libcudnn.so.9 \
	-Wl,--version-script=emulator/names/cudnn.9.map
emulator_libcudnn_so_9_LDADD = emulator/libcuda.so.1 base/libbase.a \
	$(DNNL_LIBS) -lm
emulator_libcudnn_so_9_DEPENDENCIES = emulator/libcuda.so.1 \
	base/libbase.a emulator/names/cudnn.9.map
nodist_emulator_libcudnn_so_8_SOURCES = emulator/names/cudnn.8-stubs.c
emulator_libcudnn_so_8_SOURCES = $(emulator_libcudnn_so_9_SOURCES)
emulator_libcudnn_so_8_CPPFLAGS = $(AM_CPPFLAGS) -DEMU_CUDNN_8
emulator_libcudnn_so_8_LDFLAGS = $(SHARED) -Wl,-soname,libcudnn.so.8 \
	-Wl,--version-script=emulator/names/cudnn.8.map
emulator_libcudnn_so_8_LDADD = $(emulator_libcudnn_so_9_LDADD)
emulator_libcudnn_so_8_DEPENDENCIES = emulator/libcuda.so.1 \
	base/libbase.a emulator/names/cudnn.8.map
endif

# What programs open without a version is CUDA 13's and the newest cuDNN.
EMULATOR_LINKS = $(patsubst %.so.1,%.so,$(patsubst %.so.9,%.so, \
	$(patsubst %.so.13,%.so,$(filter %.so.1 %.so.9 %.so.13, \
	$(emulator_PROGRAMS)))))
CLEANFILES += $(EMULATOR_LINKS)
all-local: $(EMULATOR_LINKS)
$(EMULATOR_LINKS): %.so: $(emulator_PROGRAMS)
	$(AM_V_GEN)$(LN_S) -f $(notdir $(filter %.so.1 %.so.9 %.so.13, \
		$(filter $@.%,$(emulator_PROGRAMS)))) $@
install-data-local: $(EMULATOR_LINKS)
	$(MKDIR_P) "$(DESTDIR)$(emulatordir)"
	for link in $(notdir $(EMULATOR_LINKS)); do \
		cp -Pf "emulator/$$link" "$(DESTDIR)$(emulatordir)" || exit 1; \
		done
uninstall-local:
	for link in $(notdir $(EMULATOR_LINKS)); do \
		rm -f "$(DESTDIR)$(emulatordir)/$$link"; done
endif
