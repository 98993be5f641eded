# SPDX-License-Identifier: Apache-2.0
# tests/local.mk -- what the rows of tests/cases.in share. Add tests there.

### What the programs of a kind are linked with
UNIT_LIBS = scaler/libscaler.a api/libapi.a report/libreport.a \
	policy/libpolicy.a policy/libprofiles.a kernels/libkernels.a \
	kernels/libtwins.a base/libbase.a
plain_LIBS = $(UNIT_LIBS) -lm
unit_LIBS = $(UNIT_LIBS) $(CMOCKA_LIBS) -lm
# On the emulated GPU, which they find without a setting.
emulator_LINK = -Wl,--disable-new-dtags,-rpath,$(abs_top_builddir)/emulator
emulator_LIBS = scaler/libscaler.a api/libapi.a kernels/libkernels.a \
	base/libbase.a emulator/libcublas.so.13 emulator/libcudart.so.13 \
	emulator/libcuda.so.1 $(CMOCKA_LIBS) -lm
dnn_LINK = $(emulator_LINK)
dnn_LIBS = emulator/libcudnn.so.9 $(emulator_LIBS)
# As a user's programs are.
client_LIBS = $(LDADD)
client_lt_LIBS = $(LT_LIBS) $(LDADD)
# Of cuDNN 9, and of CUDA 12 and cuDNN 8: as emulated libraries only.
client12_LIBS = emulator/libcublas.so.12 emulator/libcudart.so.12
client_lt12_LIBS = emulator/libcublasLt.so.12 $(client12_LIBS)
client_dnn_LIBS = emulator/libcudnn.so.9 emulator/libcudart.so.13 -lm
client_dnn8_LIBS = emulator/libcudnn.so.8 emulator/libcudart.so.12 -lm

### Sources that several programs have
lt_sources = tests/preload/programs/lt_check.c \
	tests/preload/programs/lt_problem.c
doctor_sources = cmd/run/quote.c cmd/doctor/doctor_binding.c \
	cmd/doctor/doctor_emulated.c \
	cmd/doctor/doctor_causes.c \
	cmd/doctor/doctor_kept.c cmd/doctor/doctor_program.c \
	cmd/doctor/doctor_words.c
verified_sources = tests/unit/kernels/verified_cases.c \
	tests/unit/kernels/verified_families.c
scaler_sources = tests/unit/scaler/scaler_cases.c \
	tests/unit/kernels/cast_reference.c
scaler_scripts = tests/unit/scaler/scaler_script.c \
	tests/unit/scaler/scaler_rows.c tests/unit/scaler/scaler_model.c \
	tests/unit/scaler/scaler_model_numbers.c
scaler_device = tests/unit/scaler/scaler_device.c
recipe_sources = shim/gemm/cublas_backend.c shim/gemm/job.c \
	shim/gemm/layout.c shim/gemm/recipe_verified.c \
	shim/gemm/recipe_library.c
site_world = tests/unit/shim/site_world.c shim/bind/catalogue.c \
	shim/site/describe.c shim/site/sites.c
lt_world = tests/unit/shim/lt_world.c shim/bind/catalogue.c \
	shim/lt/content.c shim/lt/library.c shim/lt/proof.c
shadow_sources = shim/graph/shadow.c shim/graph/shadow_graph.c \
	shim/graph/shadow_note.c shim/graph/shadow_pool.c
trial_parts = shim/trial/timing.c shim/trial/variants.c \
	shim/trial/variants_record.c shim/trial/wait.c

$(top_srcdir)/tests/cases.mk: $(top_srcdir)/tests/cases.in \
		$(top_srcdir)/tests/cases.awk
	$(AM_V_GEN)cd $(top_srcdir) && \
	$(AWK) -f tests/cases.awk tests/cases.in >tests/cases.mk~ && \
	mv tests/cases.mk~ tests/cases.mk
include $(top_srcdir)/tests/cases.mk
include $(top_srcdir)/tests/strangers/local.mk

# Each call of NVIDIA's fails once: tests/preload/injected.sh.
.PHONY: injected
injected: all $(check_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) INJECTED=all $(BASH_PROGRAM) \
	    $(srcdir)/tests/preload/injected.sh
