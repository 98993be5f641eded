# SPDX-License-Identifier: Apache-2.0
# kernels/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += \
	kernels/README.md \
	kernels/conv/README.md \
	kernels/load/README.md \
	kernels/recast/README.md \
	kernels/scaler/README.md \
	kernels/twins/README.md \
	kernels/verified/README.md
# libkernels.a: what the product launches. libtwins.a: the same text for the
# CPU, for tests, and as libtwins.so for the emulated GPU.
noinst_LIBRARIES += kernels/libkernels.a kernels/libtwins.a
kernels_libkernels_a_SOURCES =
include $(top_srcdir)/kernels/conv/local.mk
include $(top_srcdir)/kernels/load/local.mk
include $(top_srcdir)/kernels/recast/local.mk
include $(top_srcdir)/kernels/scaler/local.mk
include $(top_srcdir)/kernels/verified/local.mk
# PTX is embedded as gzip packs it, the same bytes each time.
kernels/recast/recast_ptx.$(OBJEXT): kernels/recast.ptx.gz
kernels/scaler/scaler_ptx.$(OBJEXT): kernels/scaler.ptx.gz
kernels/recast.ptx.gz: kernels/recast.ptx
kernels/scaler.ptx.gz: kernels/scaler.ptx
kernels/recast.ptx.gz kernels/scaler.ptx.gz:
	$(AM_V_GEN)$(MKDIR_P) kernels && name=`basename $@ .gz` && \
	    $(GZIP_PROGRAM) -9n <$(srcdir)/kernels/$$name >$@.new && mv $@.new $@
CLEANFILES += kernels/recast.ptx.gz kernels/scaler.ptx.gz
# The same as machine code, 2 MB, which the driver need not compile: files next to
# the preload.
EXTRA_DIST += kernels/make-image.sh
if HAVE_PTXAS
kernelimagesdir = $(pkglibdir)
nodist_kernelimages_DATA = libautocast-recast.fatbin \
	libautocast-scaler.fatbin
libautocast-%.fatbin: kernels/%.ptx kernels/%.ptx.gz kernels/make-image.sh
	$(AM_V_GEN)PTXAS='$(PTXAS)' FATBINARY='$(FATBINARY)' $(SHELL) \
	    $(srcdir)/kernels/make-image.sh $< kernels/$*.ptx.gz $@ \
	    $(KERNEL_TARGETS)
CLEANFILES += $(nodist_kernelimages_DATA)
kernels/recast/recast_module.$(OBJEXT) kernels/scaler/scaler.$(OBJEXT): \
	AM_CPPFLAGS += -DAC_WITH_IMAGES
endif
kernels_libtwins_a_SOURCES = kernels/recast/float_mode.h
include $(top_srcdir)/kernels/twins/local.mk
# The twins give the GPU's bits: no products fused into sums. No errno, so a
# square root is an instruction and not libm's.
kernels_libtwins_a_CFLAGS = $(AM_CFLAGS) $(NO_CONTRACT) -fno-math-errno
if HAVE_EMULATOR
emulator_PROGRAMS += emulator/libtwins.so
emulator_libtwins_so_SOURCES = kernels/twins/twins_emulated.c
emulator_libtwins_so_LDFLAGS = $(SHARED) -Wl,-soname,libtwins.so
emulator_libtwins_so_LDADD = kernels/libtwins.a emulator/libcuda.so.1 \
	base/libbase.a -lm
endif
EXTRA_DIST += kernels/conv/conv_check.cu \
	kernels/recast/recast_block.cu kernels/recast/recast_ranges.cu \
	kernels/recast/recast_symmetric.cu \
	kernels/scaler/scaler.cu kernels/scaler/scaler_sums.cu \
	kernels/recast.ptx kernels/recast.ptx.nvcc \
	kernels/scaler.ptx kernels/scaler.ptx.nvcc \
	kernels/verified/verified_apart.cu \
	kernels/verified/verified_bring.cu kernels/verified/verified_cast.cu \
	kernels/verified/verified_mend.cu kernels/verified/verified_probe.cu \
	kernels/verified/verified_tile.cu kernels/verified/verified_verify.cu \
	kernels/make-ptx.sh
