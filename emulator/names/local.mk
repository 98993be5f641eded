# SPDX-License-Identifier: Apache-2.0
# emulator/names/local.mk -- what the makefile knows of this folder.
EMULATOR_NAMES = cublas.12 cublas.13 cublaslt.12 cublaslt.13 cuda cudart.12 \
	cudart.13 cudnn.8 cudnn.9 nvml
EXTRA_DIST += $(EMULATOR_NAMES:%=emulator/names/%) emulator/names/README.md \
	emulator/names/keep.h emulator/names/map.awk emulator/names/names.h \
	emulator/names/stub.h emulator/names/stubs.awk \
	emulator/names/update emulator/names/values
CLEANFILES += $(EMULATOR_NAMES:%=emulator/names/%-stubs.c) \
	$(EMULATOR_NAMES:%=emulator/names/%.map)
.PRECIOUS: emulator/names/%-stubs.c emulator/names/%.map
emulator/names/%-stubs.c: $(srcdir)/emulator/names/% \
		$(srcdir)/emulator/names/values \
		$(srcdir)/emulator/names/stubs.awk
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(AWK) -v list=$* -f $(srcdir)/emulator/names/stubs.awk \
		$(srcdir)/emulator/names/values $< >$@.new && mv $@.new $@
emulator/names/%.map: $(srcdir)/emulator/names/% \
		$(srcdir)/emulator/names/map.awk
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(AWK) -f $(srcdir)/emulator/names/map.awk $< >$@.new && \
		mv $@.new $@
