/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_doctor.c -- from facts to findings: every cause alone,
 * with its exit status and its command, and which of two comes first. */
#include "tests/unit/cmd/with_doctor.h"

#define CHANGE(name) static void name(struct change *c)

CHANGE(healthy) { (void)c; }
CHANGE(not_found) {
	c->facts.obstacle = AC_OBSTACLE_NOT_FOUND;
	c->facts.was_run = false;
	c->facts.process_count = 0;
	c->facts.why = "./train: No such file or directory";
	nothing_reached(c);
}
CHANGE(no_pid)
{
	not_found(c);
	c->facts.program = NULL;
	c->facts.arguments = NULL;
}
CHANGE(foreign_pid) { no_pid(c); c->facts.obstacle = AC_OBSTACLE_CANNOT_RUN; }
CHANGE(rootless_pid) { foreign_pid(c); c->facts.is_root = true; }
CHANGE(rights) { not_found(c); c->facts.obstacle = AC_OBSTACLE_RIGHTS; }
CHANGE(machine) { not_found(c); c->facts.obstacle = AC_OBSTACLE_MACHINE; }
CHANGE(musl) { not_found(c); c->facts.obstacle = AC_OBSTACLE_MUSL; }
CHANGE(static_program) { not_found(c); c->facts.obstacle = AC_OBSTACLE_STATIC; }
CHANGE(static_launcher) { c->facts.obstacle = AC_OBSTACLE_STATIC; }
CHANGE(static_cublas) {
	static_program(c);
	c->file.facts.has_static_cublas = true;
}
CHANGE(cublas_inside) { c->process.inside = PATH("/opt/plugin.so"); }
CHANGE(trampolines) { cublas_inside(c); c->process.may_pass_on = true; }
CHANGE(trampolines_unreached) { trampolines(c); nothing_reached(c); }
CHANGE(static_runtime) {
	not_found(c);
	c->facts.obstacle = AC_OBSTACLE_NONE;
	c->launch.emulate = true;
	c->file.facts.has_static_cudart = true;
}
CHANGE(not_asked) {
	c->process.told = c->process.has_library = false;
	c->process.seen = c->process.has_environment = true;
	nothing_reached(c);
}
CHANGE(privileged) { not_asked(c); c->process.is_privileged = true; }
CHANGE(refused) { not_asked(c); c->process.was_asked = true; }
CHANGE(cleaned) {
	not_asked(c);
	c->facts.arguments = env_arguments;
	c->process.command = PATH("./train x");
}
CHANGE(ended_early) {
	not_asked(c);
	c->facts.arguments = env_arguments;
	c->process.has_environment = false;
	c->process.command = NULL;
}
CHANGE(became_other) {
	nothing_reached(c);
	c->facts.process_count = 0;
	c->facts.arguments = env_arguments;
	strcpy(c->file.path, "/usr/bin/env");
	strcpy(c->file.image, "/usr/bin/env");
}
CHANGE(unheard) { nothing_reached(c); c->facts.process_count = 0; }
CHANGE(hidden) {
	c->process.hidden[AC_VENDOR_CUBLAS] = PATH("/lib/libcublas.so.13");
}
CHANGE(namespaces) { nothing_reached(c); c->process.has_namespaces = true; }
CHANGE(foreign_dlsym)
{
	nothing_reached(c);
	c->process.dlsym_before = PATH("/x/hook.so");
}
CHANGE(reached_dlsym) { c->process.dlsym_before = PATH("/x/hook.so"); }
CHANGE(deepbind) { nothing_reached(c); c->process.deepbind = 2; }
CHANGE(reached_deepbind) { c->process.deepbind = 1; }
CHANGE(stripped) { deepbind(c); c->process.stripped = true; }
CHANGE(too_many) { c->process.left = 3; }
CHANGE(before_us)
{
	nothing_reached(c);
	c->process.before = PATH("/x/other.so");
}
CHANGE(both_run) { c->process.before = PATH("/x/other.so"); }
CHANGE(after_us) { c->process.after = PATH("/x/other.so"); }
CHANGE(by_path) { c->launch.emulate = true; c->facts.emulator = "/e"; }
CHANGE(real_one) { by_path(c); c->process.has_rpath = true; }
CHANGE(reached_refused)
{
	c->launch.emulate = true;
	c->facts.refused = "cuFun: no context is current";
}
CHANGE(call_refused)
{
	reached_refused(c);
	nothing_reached(c);
	c->process.loaded[0] = NULL;
}
CHANGE(nothing) { nothing_reached(c); c->process.loaded[0] = NULL; }
CHANGE(nothing_pid)
{
	nothing(c);
	c->facts.file = NULL;
	c->facts.program = NULL;
}
CHANGE(no_call) { nothing_reached(c); }
CHANGE(bad_policy) {
	nothing_recast(c, AC_REASON_RULE);
	c->facts.policy_is_bad = true;
	c->launch.chosen = chosen;
	c->launch.chosen.policy = "gemm -> x";
}
CHANGE(bad_file) { bad_policy(c); c->launch.chosen.policy = "my policy"; }
CHANGE(driver_elsewhere) { c->facts.lacks_driver = true; }
CHANGE(no_driver) { no_call(c); c->facts.lacks_driver = true; }
CHANGE(no_driver_emulator) { no_driver(c); c->facts.emulator = "/emulator"; }
CHANGE(script_127) { no_call(c); c->facts.wait_status = 127 << 8; }
CHANGE(no_library) {
	script_127(c);
	c->process.told = false;
	c->process.loaded[0] = NULL;
}
CHANGE(extension_on_gpu) { c->process.runtime = PATH("/py/_C.so"); }
CHANGE(extension_reached) {
	extension_on_gpu(c);
	c->launch.emulate = true;
}
CHANGE(extension) { extension_reached(c); nothing_reached(c); }
CHANGE(passed) { nothing_reached(c); c->facts.work.passed = 4;
	c->facts.work.vendor_passed[AC_VENDOR_CUDNN] = 4; }
CHANGE(off)
{
	nothing_recast(c, AC_REASON_RULE);
	strcpy(c->facts.work.policy, "off");
}
CHANGE(rule) { nothing_recast(c, AC_REASON_RULE); }
CHANGE(small)
{
	nothing_recast(c, AC_REASON_TOO_SMALL);
	c->launch.chosen = chosen;
}
CHANGE(tf32_already) { nothing_recast(c, AC_REASON_NO_PROFIT);
	strcpy(c->facts.work.kept_most[AC_REASON_NO_PROFIT].key.asked, "tf32");
	c->launch.chosen = chosen; }
CHANGE(overridden) { nothing_recast(c, AC_REASON_OPTED_OUT);
	strcpy(c->facts.work.kept_most[AC_REASON_OPTED_OUT].key.asked,
	    "opted-out");
}
CHANGE(pedantic) { nothing_recast(c, AC_REASON_PEDANTIC);
	strcpy(c->facts.work.kept_most[AC_REASON_PEDANTIC].key.asked,
	    "pedantic");
}
CHANGE(solver) { nothing_recast(c, AC_REASON_SOLVER); }
CHANGE(internal) { nothing_recast(c, AC_REASON_INTERNAL_CALLER);
	strcpy(c->facts.work.kept_most[AC_REASON_INTERNAL_CALLER].key.caller,
	    "libcusolver.so.12+9"); }

/* What helps a product helps no other operation: the line names the kept
 * one. */
static void
kept_operation(struct change *c, enum ac_reason reason, enum ac_operation which)
{
	nothing_recast(c, reason);
	c->facts.work.kept_most[reason].key.operation = which;
}
CHANGE(no_rule) { kept_operation(c, AC_REASON_NO_RULE, AC_OP_CONV_FPROP); }
CHANGE(conv_small) { kept_operation(c, AC_REASON_TOO_SMALL, AC_OP_CONV_WGRAD); }
CHANGE(conv_needless) {
	kept_operation(c, AC_REASON_NO_PROFIT, AC_OP_CONV_FPROP);
}
CHANGE(conv_tf32) {
	conv_needless(c);
	strcpy(c->facts.work.kept_most[AC_REASON_NO_PROFIT].key.asked, "tf32");
}
CHANGE(conv_solver) { kept_operation(c, AC_REASON_SOLVER, AC_OP_CONV_DGRAD); }
CHANGE(conv_internal) {
	kept_operation(c, AC_REASON_INTERNAL_CALLER, AC_OP_CONV_FPROP);
}
CHANGE(conv_region)
{
	kept_operation(c, AC_REASON_REGION, AC_OP_CONV_FPROP);
	strcpy(c->facts.work.kept_most[AC_REASON_REGION].region.name, "loss");
}
CHANGE(captured) { nothing_recast(c, AC_REASON_CAPTURE);
	strcpy(c->facts.work.kept_most[AC_REASON_CAPTURE].key.caller,
	    "xla_cuda_plugin.so+1a2b"); }
CHANGE(no_gpu) { nothing_recast(c, AC_REASON_UNSUPPORTED);
	*c->facts.work.gpu = '\0'; c->facts.work.sm = 0; }
CHANGE(no_gpu_emulator) { no_gpu(c); c->facts.emulator = "/e"; }
CHANGE(no_handle) { no_gpu(c); c->process.handles = 0; }
CHANGE(old_gpu) { nothing_recast(c, AC_REASON_UNSUPPORTED);
	c->facts.work.sm = 61; }
CHANGE(t4) { nothing_recast(c, AC_REASON_UNSUPPORTED); c->facts.work.sm = 75; }
CHANGE(t4_small)
{
	nothing_recast(c, AC_REASON_TOO_SMALL);
	c->facts.work.sm = 75;
}
CHANGE(type) { nothing_recast(c, AC_REASON_TYPE); }
CHANGE(memory) { nothing_recast(c, AC_REASON_WORKSPACE); }
CHANGE(killed) { c->facts.wait_status = SIGKILL; }
CHANGE(failed) { no_call(c); c->facts.wait_status = 3 << 8; }

static const struct {
	void       (*change)(struct change *);
	const char  *cause;      /* of the first finding */
	enum ac_doctor_mark mark;
	int          status;
	const char  *fix, *says; /* the command; what the text holds */
} rows[] = {
	{ healthy, "libcublas", AC_DOCTOR_OK, 0, "autocast report",
	    "libcublas from /lib/libcublas.so.13: 10 products, 10 recast (tf32)" },
	{ not_found, "not-runnable", AC_DOCTOR_PROBLEM, 3, "find . -name train",
	    "No such" },
	{ no_pid, "not-runnable", AC_DOCTOR_PROBLEM, 3,
	    "ps -e -o pid,user,args", "" },
	{ foreign_pid, "not-runnable", AC_DOCTOR_PROBLEM, 3,
	    "sudo autocast doctor --pid 7", "" },
	{ rootless_pid, "not-runnable", AC_DOCTOR_PROBLEM, 3,
	    "grep Cap /proc/7/status /proc/self/status", "" },
	{ rights, "rights", AC_DOCTOR_PROBLEM, 2,
	    "cp /opt/train ./copy && autocast run -- ./copy 'a b'", "No such" },
	{ machine, "other-machine", AC_DOCTOR_PROBLEM, 2, "file /opt/train",
	    "No such" },
	{ musl, "other-machine", AC_DOCTOR_PROBLEM, 2, "file /opt/train",
	    "No such" },
	{ static_program, "static-program", AC_DOCTOR_PROBLEM, 2,
	    "nvcc -cudart shared -o train *.cu -lcublas -lcublasLt",
	    "No such" },
	{ static_launcher, "static-program", AC_DOCTOR_NOTE, 0,
	    "LD_PRELOAD=$(autocast policy where --library) ./train 'a b'",
	    "what it starts is not" },
	{ static_cublas, "static-cublas", AC_DOCTOR_PROBLEM, 2,
	    "nvcc -cudart shared -o train *.cu -lcublas -lcublasLt",
	    "/opt/train has cuBLAS linked in" },
	{ cublas_inside, "static-cublas", AC_DOCTOR_PROBLEM, 2,
	    "readelf -d /opt/plugin.so",
	    "/opt/plugin.so" },
	{ static_runtime, "static-runtime", AC_DOCTOR_PROBLEM, 2,
	    "nvcc -cudart shared -o train *.cu -lcublas -lcublasLt",
	    "CUDA runtime" },
	{ not_asked, "not-preloaded", AC_DOCTOR_PROBLEM, 2,
	    "/bin/autocast run -- ./train 'a b'",
	    "environment has no LD_PRELOAD" },
	{ privileged, "not-preloaded", AC_DOCTOR_PROBLEM, 2,
	    "cp /opt/train ./copy && autocast run -- ./copy 'a b'", "set-uid" },
	{ refused, "not-preloaded", AC_DOCTOR_PROBLEM, 2,
	    "/bin/autocast run -- ./train 'a b'", "loader could not take it" },
	{ cleaned, "not-preloaded", AC_DOCTOR_PROBLEM, 2,
	    "env -i /bin/autocast run -- ./train x", "train (process 7)" },
	{ ended_early, "not-preloaded", AC_DOCTOR_PROBLEM, 2,
	    "env -i /bin/autocast run -- ./train x",
	    "environment could not be read" },
	{ became_other, "not-preloaded", AC_DOCTOR_PROBLEM, 2,
	    "env -i /bin/autocast run -- ./train x", "became train" },
	{ unheard, "no-record", AC_DOCTOR_PROBLEM, 3,
	    "autocast doctor --pid $(pgrep -n -f ./train)", "without exit()" },
	{ hidden, "namespace", AC_DOCTOR_PROBLEM, 2, "grep -rn dlmopen .",
	    "dlmopen" },
	{ namespaces, "namespace", AC_DOCTOR_PROBLEM, 2, "grep -rn dlmopen .",
	    "dlmopen" },
	{ foreign_dlsym, "foreign-dlsym", AC_DOCTOR_PROBLEM, 2,
	    "LD_PRELOAD=/x/hook.so autocast run -- ./train 'a b'",
	    "put libautocast.so first" },
	{ reached_dlsym, "foreign-dlsym", AC_DOCTOR_NOTE, 0,
	    "LD_PRELOAD=/x/hook.so autocast run -- ./train 'a b'",
	    "/x/hook.so" },
	{ deepbind, "deepbind", AC_DOCTOR_PROBLEM, 2,
	    "autocast run -e 'set deepbind=on' -- ./train 'a b'",
	    "2 dlopen() calls" },
	{ reached_deepbind, "deepbind", AC_DOCTOR_NOTE, 0,
	    "autocast run -e 'set deepbind=on' -- ./train 'a b'",
	    "1 dlopen() call " },
	{ stripped, "no-call", AC_DOCTOR_PROBLEM, 2,
	    "autocast explain --functions", "" },
	{ too_many, "too-many", AC_DOCTOR_PROBLEM, 2, "autocast report",
	    "3 functions" },
	{ before_us, "interposer", AC_DOCTOR_PROBLEM, 2,
	    "LD_PRELOAD=/x/other.so autocast run -- ./train 'a b'",
	    "before us" },
	{ both_run, "interposer", AC_DOCTOR_NOTE, 0, "autocast report",
	    "before us; both run" },
	{ after_us, "interposer", AC_DOCTOR_NOTE, 0, "autocast report",
	    "after us; both run" },
	{ real_one, "emulator-hidden", AC_DOCTOR_PROBLEM, 2,
	    "LD_PRELOAD=/e/libcuda.so.1:/e/libcudart.so.13:/e/libcublas.so.13 "
	    "autocast run --emulate -- ./train 'a b'",
	    "DT_RPATH" },
	{ by_path, "emulator-hidden", AC_DOCTOR_PROBLEM, 2,
	    "autocast doctor -- ./train 'a b'", "opens it by its path" },
	{ nothing, "nothing-loaded", AC_DOCTOR_PROBLEM, 2,
	    "LD_DEBUG=files ./train 'a b' 2>&1 | grep -e cublas -e cudnn",
	    "neither cuBLAS nor cuDNN was loaded by the program" },
	{ nothing_pid, "nothing-loaded", AC_DOCTOR_PROBLEM, 2,
	    "grep -i -e cublas -e cudnn /proc/7/maps", "" },
	{ no_driver, "no-driver", AC_DOCTOR_PROBLEM, 2, "nvidia-smi",
	    "there is no NVIDIA driver on this machine" },
	{ no_driver_emulator, "no-driver", AC_DOCTOR_PROBLEM, 2,
	    "autocast run --emulate -- ./train 'a b'", "libcuda.so.1" },
	{ driver_elsewhere, "libcublas", AC_DOCTOR_OK, 0, "autocast report",
	    "" },
	{ no_library, "no-library", AC_DOCTOR_PROBLEM, 2,
	    "ldd -r /opt/train 2>&1 | grep -e 'not found' -e undefined",
	    "is missing" },
	{ script_127, "no-call", AC_DOCTOR_PROBLEM, 2,
	    "autocast explain --functions", "" },
	{ extension, "static-runtime", AC_DOCTOR_PROBLEM, 2,
	    "autocast doctor -- ./train 'a b'",
	    "/py/_C.so has the CUDA runtime linked in, which the emulated GPU "
	    "cannot replace: what uses it does not run there; on a real GPU" },
	{ trampolines, "static-cublas", AC_DOCTOR_NOTE, 0, "autocast report",
	    "defines cuBLAS's functions itself" },
	{ trampolines_unreached, "static-cublas", AC_DOCTOR_PROBLEM, 2,
	    "readelf -d /opt/plugin.so", "that it does not pass on" },
	{ call_refused, "refused", AC_DOCTOR_PROBLEM, 2,
	    "autocast doctor -- ./train 'a b'",
	    "the emulated GPU refused cuFun: no context is current; the "
	    "program then made no product" },
	{ reached_refused, "refused", AC_DOCTOR_NOTE, 0, "autocast report",
	    "the emulated GPU refused cuFun" },
	{ extension_reached, "static-runtime", AC_DOCTOR_NOTE, 0,
	    "autocast report", "/py/_C.so has" },
	{ extension_on_gpu, "libcublas", AC_DOCTOR_OK, 0, "autocast report",
	    "" },
	{ conv_needless, "kept", AC_DOCTOR_NOTE, 1,
	    "autocast explain 0000abcd", "nothing to gain here" },
	{ conv_tf32, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run -e 'conv -> fp16 profit=off' -- ./train 'a b'",
	    "TF32 by itself" },
	{ no_call, "no-call", AC_DOCTOR_PROBLEM, 2,
	    "autocast explain --functions",
	    "loaded, but no function" },
	{ bad_policy, "bad-policy", AC_DOCTOR_PROBLEM, 1,
	    "autocast run --policy 'gemm -> x' -e 'gemm m=1 -> keep' -- true",
	    "errors" },
	{ bad_file, "bad-policy", AC_DOCTOR_PROBLEM, 1,
	    "autocast policy check 'my policy'", "" },
	{ passed, "passed-through", AC_DOCTOR_PROBLEM, 1, "autocast report",
	    "4 calls" },
	{ off, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run --policy amp -- ./train 'a b'",
	    "'off' keeps everything" },
	{ rule, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run -e 'gemm -> tf32 profit=off' -- ./train 'a b'",
	    "the rule is amp:4" },
	{ small, "kept", AC_DOCTOR_NOTE, 1, "autocast explain 0000abcd",
	    "8x8x8: nothing to gain here" },
	{ tf32_already, "kept", AC_DOCTOR_NOTE, 1, "autocast explain 0000abcd",
	    "TF32 by itself: nothing to gain here" },
	{ overridden, "kept", AC_DOCTOR_PROBLEM, 1,
	    "env -u NVIDIA_TF32_OVERRIDE autocast run -- ./train 'a b'",
	    "NVIDIA_TF32_OVERRIDE=0" },
	{ pedantic, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run -e 'set respect-opt-out=off' -- ./train 'a b'",
	    "asks for pedantic" },
	{ solver, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run -e 'gemm solver=yes -> tf32 profit=off' -- ./train 'a b'",
	    "" },
	{ internal, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run -e 'gemm caller=\"libcusolver.so.12\" -> tf32 profit=off' "
	    "-- ./train 'a b'",
	    "libcusolver.so.12+9" },
	{ no_rule, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run -e 'conv -> fp16 profit=off' -- ./train 'a b'", "" },
	{ conv_small, "kept", AC_DOCTOR_NOTE, 1, "autocast explain 0000abcd",
	    "most of them are conv.wgrad" },
	{ conv_solver, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run -e 'conv solver=yes -> fp16 profit=off' -- ./train 'a b'",
	    "" },
	{ conv_internal, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run -e 'conv caller=\"train\" -> fp16 profit=off' "
	    "-- ./train 'a b'", "" },
	{ conv_region, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run -e 'conv region=loss -> fp16 profit=off' "
	    "-- ./train 'a b'", "region loss" },
	{ captured, "kept", AC_DOCTOR_PROBLEM, 1,
	    "XLA_FLAGS=--xla_gpu_enable_command_buffer= autocast run "
	    "-- ./train 'a b'", "keeps XLA from capturing" },
	{ no_gpu, "kept", AC_DOCTOR_PROBLEM, 1, "nvidia-smi",
	    "no GPU answered" },
	{ no_gpu_emulator, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run --emulate -- ./train 'a b'", "no GPU answered" },
	{ no_handle, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run -e 'set deepbind=on' -- ./train 'a b'",
	    "no cuBLAS handle" },
	{ old_gpu, "kept", AC_DOCTOR_PROBLEM, 1,
	    "nvidia-smi --query-gpu=name,compute_cap --format=csv", "sm 61" },
	{ t4, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run --policy fp16 -- ./train 'a b'", "FP16 only" },
	{ t4_small, "kept", AC_DOCTOR_NOTE, 1, "autocast explain 0000abcd",
	    "nothing to gain here" },
	{ type, "kept", AC_DOCTOR_PROBLEM, 1, "autocast explain 0000abcd",
	    "not all FP32" },
	{ memory, "kept", AC_DOCTOR_PROBLEM, 1,
	    "autocast run -e 'set workspace=1Gi' -- ./train 'a b'", "" },
	{ killed, "ended", AC_DOCTOR_NOTE, 0, "autocast report",
	    "signal 9 (Killed); what" },
	{ failed, "no-call", AC_DOCTOR_PROBLEM, 2,
	    "autocast explain --functions", "" },
};

CASE(test_causes)
{
	static struct ac_doctor_findings findings;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct change c;

		make_healthy(&c);
		rows[i].change(&c);
		ac_doctor_diagnose(&c.facts, &findings);
		if (strcmp(findings.found[0].cause, rows[i].cause) ||
		    !strstr(findings.found[0].text, rows[i].says))
			print_message("row %zu: %s: %s\n", i,
			    findings.found[0].cause, findings.found[0].text);
		assert_true(findings.count > 0);
		assert_string_equal(findings.found[0].cause, rows[i].cause);
		assert_int_equal(findings.found[0].mark, rows[i].mark);
		assert_int_equal(findings.status, rows[i].status);
		assert_string_equal(findings.fix, rows[i].fix);
		assert_non_null(strstr(findings.found[0].text, rows[i].says));
	}
}

/* ---- Two at once ------------------------------------------------------- */

CASE(test_priority)
{
	static struct ac_doctor_findings findings;
	struct change c;

	make_healthy(&c);
	nothing_recast(&c, AC_REASON_TOO_SMALL);
	c.facts.work.kept[AC_REASON_TYPE] = 11;
	c.process.hidden[0] = PATH("/lib/libcublas.so.12");
	c.process.deepbind = 1;
	ac_doctor_diagnose(&c.facts, &findings);
	assert_int_equal(findings.status, AC_DOCTOR_UNREACHED);
	assert_string_equal(findings.found[0].cause, "namespace");
	assert_string_equal(findings.found[1].cause, "deepbind");
	assert_string_equal(findings.found[2].cause, "kept");
	assert_non_null(strstr(findings.found[2].text, "11 calls kept (type)"));
	assert_non_null(strstr(findings.found[3].text,
	    "10 calls kept (too-small)"));
	assert_string_equal(findings.fix, "grep -rn dlmopen .");
}

/* Some are kept, but the run is well: nothing to be changed. */
CASE(test_partly_kept)
{
	static struct ac_doctor_findings findings;
	struct change c;

	make_healthy(&c);
	nothing_recast(&c, AC_REASON_TOO_SMALL);
	c.facts.work.recast = 1;
	ac_doctor_diagnose(&c.facts, &findings);
	assert_int_equal(findings.status, AC_DOCTOR_WELL);
	assert_int_equal(findings.found[0].mark, AC_DOCTOR_NOTE);
	assert_string_equal(findings.fix, "autocast report");
}

/* A command that does not fit is not printed at all. */
CASE(test_long_command)
{
	static struct ac_doctor_findings findings;
	static char word[AC_DOCTOR_FIX];
	char *long_arguments[] = { PATH("./train"), word, NULL };
	struct change c;

	memset(word, 'x', sizeof word - 1);
	make_healthy(&c);
	deepbind(&c);
	c.facts.arguments = long_arguments;
	ac_doctor_diagnose(&c.facts, &findings);
	assert_string_equal(findings.found[0].cause, "deepbind");
	assert_string_equal(findings.fix, "autocast report");
}

/* Only calls of NVIDIA's functions are calls; the worst site speaks for its
 * reason. */
CASE(test_adding_up)
{
	static struct ac_file_header header = {
		.policy = "amp",
		.why = "the policy has errors: recasting is off",
		.gpu = "NVIDIA T4", .sm = 75
	};
	struct ac_site_total sites[] = {
		{ .key = { .symbol = "cublasSgemm_v2" }, .id = 1, .calls = 5,
		    .recast = 2, .rung = AC_RUNG_FP16,
		    .kept = { [AC_REASON_TYPE] = 3 } },
		{ .key = { .symbol = "cublasGemmEx" }, .id = 2, .calls = 4,
		    .rung = AC_RUNG_TF32, .kept = { [AC_REASON_TYPE] = 4 } },
	};
	struct ac_marker markers[] = {
		{ .symbol = "dlopen(RTLD_DEEPBIND)", .calls = 7 },
		{ .symbol = "cudnnBackendExecute", .calls = 6 },
	};
	const struct ac_report report = {
		.processes = &header, .process_count = 1, .sites = sites,
		.site_count = 2, .markers = markers, .marker_count = 2
	};
	struct ac_doctor_work work;

	ac_doctor_add_up(&report, &work);
	assert_true(work.is_known && work.policy_is_bad);
	assert_int_equal(work.calls, 9);
	assert_int_equal(work.recast, 2);
	assert_int_equal(work.passed, 6);
	assert_int_equal(work.vendor_calls[AC_VENDOR_CUBLAS], 9);
	assert_int_equal(work.vendor_passed[AC_VENDOR_CUDNN], 6);
	assert_int_equal(work.kept[AC_REASON_TYPE], 7);
	assert_int_equal(work.kept_most[AC_REASON_TYPE].id, 2);
	assert_string_equal(work.rungs, "fp16");
	assert_string_equal(work.gpu, "NVIDIA T4");
	assert_int_equal(work.sm, 75);
	ac_doctor_add_up(NULL, &work);
	assert_false(work.is_known || work.calls);
}

CASE(test_vendors)
{
	assert_int_equal(ac_vendor_of_file("libcublas.so.13"),
	    AC_VENDOR_CUBLAS);
	assert_int_equal(ac_vendor_of_file("libcublasLt.so"),
	    AC_VENDOR_CUBLASLT);
	assert_int_equal(ac_vendor_of_file("libcudnn.so.9"), AC_VENDOR_CUDNN);
	assert_int_equal(ac_vendor_of_file("libcudnn_cnn.so.9"), -1);
	assert_int_equal(ac_vendor_of_file("libcublas"), -1);
	assert_int_equal(ac_vendor_of_symbol("cublasLtMatmul"),
	    AC_VENDOR_CUBLASLT);
	assert_int_equal(ac_vendor_of_symbol("cublasSgemm_v2"),
	    AC_VENDOR_CUBLAS);
	assert_int_equal(ac_vendor_of_symbol("cusolverDnSgetrf"),
	    AC_VENDOR_CUSOLVER);
	assert_int_equal(ac_vendor_of_symbol("(other symbols)"), -1);
}

CASES_RUN(NULL, NULL)
