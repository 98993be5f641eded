# SPDX-License-Identifier: Apache-2.0
# tests/unit/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += \
	tests/README.md \
	tests/unit/README.md
UNIT_LIBS = report/libreport.a policy/libpolicy.a policy/libprofiles.a \
	kernels/libkernels.a kernels/libtwins.a base/libbase.a
LDADD = $(UNIT_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
unit_tests = \
	tests/unit/report/test_as_json \
	tests/unit/report/test_as_ranges \
	tests/unit/report/test_as_summary \
	tests/unit/report/test_as_text \
	tests/unit/report/test_as_watch \
	tests/unit/shim/test_asked \
	tests/unit/report/test_basis \
	tests/unit/policy/test_calibration \
	tests/unit/kernels/test_cast \
	tests/unit/kernels/test_cast_exhaustive \
	tests/unit/cmd/test_compare \
	tests/unit/policy/test_complaints \
	tests/unit/kernels/test_conv_check \
	tests/unit/kernels/test_conv_judge \
	tests/unit/report/test_count \
	tests/unit/report/test_course \
	tests/unit/policy/test_cover \
	tests/unit/policy/test_scaling \
	tests/unit/report/test_stamp \
	tests/unit/cmd/test_validate \
	tests/unit/policy/test_decide \
	tests/unit/cmd/test_doctor \
	tests/unit/cmd/test_doctor_record \
	tests/unit/kernels/test_driver \
	tests/unit/base/test_elf \
	tests/unit/cmd/test_elf_facts \
	tests/unit/policy/test_explain \
	tests/unit/report/test_file \
	tests/unit/report/test_find \
	tests/unit/policy/test_guard \
	tests/unit/policy/test_include \
	tests/unit/policy/test_lex \
	tests/unit/report/test_live \
	tests/unit/kernels/test_load \
	tests/unit/base/test_lock \
	tests/unit/base/test_table \
	tests/unit/cmd/test_manual \
	tests/unit/policy/test_match \
	tests/unit/report/test_merge \
	tests/unit/report/test_notice \
	tests/unit/cmd/test_numbers \
	tests/unit/policy/test_parse \
	tests/unit/policy/test_policy_conv \
	tests/unit/policy/test_policy_region \
	tests/unit/policy/test_print \
	tests/unit/policy/test_problems \
	tests/unit/report/test_process \
	tests/unit/policy/test_profiles \
	tests/unit/policy/test_range \
	tests/unit/report/test_ranges \
	tests/unit/policy/test_profit \
	tests/unit/policy/test_profit_published \
	tests/unit/report/test_read \
	tests/unit/report/test_read_fuzz \
	tests/unit/kernels/test_recast \
	tests/unit/kernels/test_recast_estimate tests/unit/kernels/test_recast_finish \
	tests/unit/kernels/test_recast_judge \
	tests/unit/kernels/test_recast_launch \
	tests/unit/kernels/test_recast_sample \
	tests/unit/kernels/test_recast_twins \
	tests/unit/policy/test_region \
	tests/unit/report/test_report_load \
	tests/unit/scaler/test_scaler_fuzz \
	tests/unit/scaler/test_scaler_large \
	tests/unit/scaler/test_scaler_launch \
	tests/unit/scaler/test_scaler_sums \
	tests/unit/scaler/test_scaler_twins \
	tests/unit/scaler/test_scaler_update \
	tests/unit/shim/test_scratch \
	tests/unit/report/test_shard \
	tests/unit/report/test_table \
	tests/unit/base/test_text \
	tests/unit/policy/test_twelve \
	tests/unit/report/test_words
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
tests_unit_policy_test_calibration_LDADD = $(LDADD) -lm
tests_unit_kernels_test_cast_SOURCES = tests/unit/kernels/test_cast.c $(recast_sources)
tests_unit_kernels_test_cast_LDADD = $(LDADD) -lm
tests_unit_kernels_test_conv_check_SOURCES = tests/unit/kernels/test_conv_check.c \
	tests/unit/kernels/conv_cases.c tests/unit/kernels/conv_cases.h
tests_unit_kernels_test_conv_check_LDADD = $(LDADD) -lm
tests_unit_kernels_test_conv_judge_SOURCES = tests/unit/kernels/test_conv_judge.c \
	tests/unit/kernels/conv_cases.c tests/unit/kernels/conv_cases.h
tests_unit_kernels_test_conv_judge_LDADD = $(LDADD) -lm
# Scripts for gradient scalers, and a model of one.
scaler_scripts = tests/unit/scaler/scaler_script.c tests/unit/scaler/scaler_script.h \
	tests/unit/scaler/scaler_rows.c tests/unit/scaler/scaler_rows.h \
	tests/unit/scaler/scaler_model.c tests/unit/scaler/scaler_model.h \
	tests/unit/scaler/scaler_model_end.c tests/unit/scaler/scaler_model_numbers.c
tests_unit_scaler_test_scaler_fuzz_SOURCES = tests/unit/scaler/test_scaler_fuzz.c \
	$(scaler_scripts)
tests_unit_scaler_test_scaler_fuzz_LDADD = scaler/libscaler.a api/libapi.a $(LDADD) \
	-lm
EXTRA_DIST += tests/golden/scaler.txt tests/golden/scaler_golden.py \
	tests/golden/scaler_rows.txt
recast_sources = tests/unit/kernels/recast_cases.c tests/unit/kernels/recast_cases.h \
	tests/unit/kernels/cast_cases.c tests/unit/kernels/cast_cases.h \
	tests/unit/kernels/cast_reference.c tests/unit/kernels/cast_reference.h
tests_unit_kernels_test_recast_SOURCES = tests/unit/kernels/test_recast.c $(recast_sources)
tests_unit_kernels_test_recast_LDADD = $(LDADD) -lm
tests_unit_kernels_test_recast_estimate_SOURCES = \
	tests/unit/kernels/test_recast_estimate.c \
	tests/unit/kernels/estimate_draws.c tests/unit/kernels/estimate_draws.h \
	$(recast_sources)
tests_unit_kernels_test_recast_estimate_LDADD = $(LDADD) -lm
tests_unit_kernels_test_recast_finish_SOURCES = tests/unit/kernels/test_recast_finish.c \
	$(recast_sources)
tests_unit_kernels_test_recast_finish_LDADD = $(LDADD) -lm
tests_unit_kernels_test_recast_judge_SOURCES = tests/unit/kernels/test_recast_judge.c \
	$(recast_sources)
tests_unit_kernels_test_recast_judge_LDADD = $(LDADD) -lm
tests_unit_kernels_test_recast_sample_SOURCES = tests/unit/kernels/test_recast_sample.c \
	$(recast_sources)
tests_unit_kernels_test_recast_sample_LDADD = $(LDADD) -lm
tests_unit_kernels_test_recast_twins_SOURCES = tests/unit/kernels/test_recast_twins.c \
	$(recast_sources)
tests_unit_kernels_test_recast_twins_LDADD = $(LDADD) -lm
doctor_sources = cmd/run/quote.c cmd/run/quote.h cmd/doctor/doctor_binding.c cmd/doctor/doctor_causes.c cmd/doctor/doctor_fix.c \
	cmd/doctor/doctor_kept.c cmd/doctor/doctor_program.c
tests_unit_cmd_test_doctor_SOURCES = tests/unit/cmd/test_doctor.c $(doctor_sources)
tests_unit_cmd_test_doctor_record_SOURCES = tests/unit/cmd/test_doctor_record.c \
	cmd/run/elf_facts.c cmd/say.c $(doctor_sources)
tests_unit_cmd_test_compare_LDADD = $(LDADD) -lm
tests_unit_cmd_test_validate_SOURCES = tests/unit/cmd/test_validate.c \
	cmd/validate/validate_trace.c
tests_unit_cmd_test_numbers_SOURCES = tests/unit/cmd/test_numbers.c cmd/compare/numbers.c \
	cmd/compare/numbers_lines.c cmd/compare/numbers_piece.c
tests_unit_cmd_test_numbers_LDADD = $(LDADD) -lm
tests_unit_policy_test_policy_conv_LDADD = $(LDADD) -lm
tests_unit_policy_test_profit_LDADD = $(LDADD) -lm
tests_unit_policy_test_profit_published_LDADD = $(LDADD) -lm
tests_unit_policy_test_range_LDADD = $(LDADD) -lm
tests_unit_policy_test_region_LDFLAGS = -pthread
tests_unit_policy_test_region_LDADD = api/libapi.a $(LDADD)
scaler_sources = tests/unit/scaler/scaler_cases.c tests/unit/scaler/scaler_cases.h \
	tests/unit/kernels/cast_reference.c tests/unit/kernels/cast_reference.h
tests_unit_scaler_test_scaler_large_SOURCES = tests/unit/scaler/test_scaler_large.c \
	$(scaler_sources)
tests_unit_scaler_test_scaler_large_LDADD = $(LDADD) -lm
tests_unit_scaler_test_scaler_sums_SOURCES = tests/unit/scaler/test_scaler_sums.c \
	$(scaler_sources)
tests_unit_scaler_test_scaler_sums_LDADD = $(LDADD) -lm
tests_unit_scaler_test_scaler_update_SOURCES = tests/unit/scaler/test_scaler_update.c \
	$(scaler_sources)
tests_unit_scaler_test_scaler_update_LDADD = $(LDADD) -lm
tests_unit_scaler_test_scaler_twins_SOURCES = tests/unit/scaler/test_scaler_twins.c \
	$(scaler_sources)
tests_unit_scaler_test_scaler_twins_LDADD = $(LDADD) -lm
tests_unit_shim_test_scratch_SOURCES = tests/unit/shim/test_scratch.c shim/device/scratch.c \
	shim/device/blocks.c
if HAVE_CUDA
check_PROGRAMS += tests/unit/shim/test_history tests/unit/shim/test_pair \
	tests/unit/shim/test_trial tests/unit/shim/test_trial_pairs \
	tests/unit/shim/test_trial_samples tests/unit/shim/test_trial_threads \
	tests/unit/shim/test_job tests/unit/shim/test_solver \
	tests/unit/shim/test_trial_course tests/unit/shim/test_trial_sums
TESTS += tests/unit/shim/test_history tests/unit/shim/test_pair \
	tests/unit/shim/test_trial tests/unit/shim/test_trial_pairs \
	tests/unit/shim/test_trial_samples tests/unit/shim/test_trial_threads \
	tests/unit/shim/test_job tests/unit/shim/test_solver \
	tests/unit/shim/test_trial_course tests/unit/shim/test_trial_sums
endif
if HAVE_CUDNN
check_PROGRAMS += tests/unit/shim/test_shadow tests/unit/shim/test_sites \
	tests/unit/shim/test_executed
TESTS += tests/unit/shim/test_shadow tests/unit/shim/test_sites \
	tests/unit/shim/test_executed
tests_unit_shim_test_executed_SOURCES = tests/unit/shim/test_executed.c \
	shim/graph/executed.c shim/graph/executed.h
tests_unit_shim_test_executed_LDFLAGS = -pthread
endif
tests_unit_shim_test_sites_SOURCES = tests/unit/shim/test_sites.c shim/site/sites.c
tests_unit_shim_test_sites_LDFLAGS = -pthread
tests_unit_shim_test_shadow_SOURCES = tests/unit/shim/test_shadow.c \
	tests/unit/shim/shadow_program.c tests/unit/shim/shadow_program.h \
	$(shadow_sources)
trial_parts = tests/unit/shim/trial_world.c tests/unit/shim/trial_world.h shim/trial/timing.c \
	shim/trial/trial.c shim/trial/trial_end.c shim/trial/trial_judge.c shim/trial/trial_slots.c \
	shim/trial/trial_strict.c shim/trial/trial_times.c shim/trial/trial_try.c shim/trial/trial_turn.c \
	shim/trial/trial_verdict.c \
	shim/trial/chain.c shim/trial/pair.c shim/trial/size_class.c shim/trial/trial_wait.c
tests_unit_shim_test_history_SOURCES = tests/unit/shim/test_history.c shim/device/history.c
tests_unit_shim_test_pair_SOURCES = tests/unit/shim/test_pair.c shim/trial/pair.c shim/trial/pair.h
tests_unit_shim_test_pair_LDFLAGS = -pthread
tests_unit_shim_test_trial_pairs_SOURCES = tests/unit/shim/test_trial_pairs.c \
	$(trial_parts)
tests_unit_shim_test_trial_pairs_LDFLAGS = $(tests_unit_shim_test_trial_LDFLAGS)
tests_unit_shim_test_trial_SOURCES = tests/unit/shim/test_trial.c $(trial_parts)
tests_unit_shim_test_trial_LDFLAGS = -Wl,--wrap=clock_gettime,--wrap=nanosleep
tests_unit_shim_test_trial_samples_SOURCES = tests/unit/shim/test_trial_samples.c \
	$(trial_parts)
tests_unit_shim_test_trial_samples_LDFLAGS = $(tests_unit_shim_test_trial_LDFLAGS)
tests_unit_shim_test_trial_sums_SOURCES = tests/unit/shim/test_trial_sums.c \
	$(trial_parts)
tests_unit_shim_test_trial_sums_LDFLAGS = $(tests_unit_shim_test_trial_LDFLAGS)
tests_unit_shim_test_trial_course_SOURCES = tests/unit/shim/test_trial_course.c \
	$(trial_parts)
tests_unit_shim_test_trial_course_LDFLAGS = $(tests_unit_shim_test_trial_LDFLAGS)
tests_unit_shim_test_trial_threads_SOURCES = tests/unit/shim/test_trial_threads.c \
	$(trial_parts)
tests_unit_shim_test_trial_threads_LDFLAGS = -pthread
tests_unit_shim_test_solver_SOURCES = tests/unit/shim/test_solver.c shim/bind/solver.c
tests_unit_shim_test_job_SOURCES = tests/unit/shim/test_job.c shim/gemm/job.c \
	shim/gemm/layout.c
endif
unit_headers = \
	tests/unit/child.h \
	tests/unit/kernels/launch_driver.h \
	tests/unit/emulator/test_emu.h \
	tests/unit/emulator/test_emu_capture.h \
	tests/unit/emulator/test_emu_gemm.h \
	tests/unit/policy/with_policy.h \
	tests/unit/report/with_report.h \
	tests/unit/with_state.h
EXTRA_DIST += $(unit_headers)
