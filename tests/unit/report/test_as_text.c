/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_as_text.c -- the text report, to the byte. */
#include "with_report.h"

CASE(test_whole)
{
	struct ac_report *report;

	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 1000000, AC_REASON_CAPTURE, 2);
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 9);
	strcpy(made_header.notes, "guard is not built yet\n\ntwo\n");
	made_header.peak_scratch_bytes = 4096;
	atomic_store(&made_header.finished, 1);
	atomic_store(&made_header.markers, 1);
	strcpy(made_markers[0].symbol, "cublasStrsm_v2");
	atomic_store(&made_markers[0].calls, 1);
	report = make_report(2);
	/* A clock that nothing was timed by. */
	report->processes[0].clock = AC_CLOCK_DEVICE;
	assert_string_equal(written(as_text, report),
	    "autocast report: train, 1970-01-02 00:00:00, process 99999999, "
	    "finished\n"
	    "  policy   amp (nobody chose)\n"
	    "  gpu      NVIDIA H200, sm_90, cublas-13.1\n"
	    "  times    none: no call was timed\n"
	    "  note     guard is not built yet\n"
	    "  note     two\n"
	    "\n"
	    "  site     operation    sizes caller     rung how       line "
	    "   calls  share speed gain err/tol\n"
	    "  00000010 gemm.nt   1000x1x1 train+1a2b tf32 library   amp:4 "
	    "1000002 99.9 %     -    -       -\n"
	    "           kept 2 of 1000002 calls: capture 2\n"
	    "           not checked: the library's own conversion\n"
	    "  00000011 gemm.nt   1000x1x2 train+1a2b keep too-small amp:4 "
	    "      9 <0.1 %     -    -       -\n"
	    "\n"
	    "FP32 GEMM work: 2 GFLOP in 1000011 calls at 2 sites\n"
	    "  recast   99.9 % of the FLOPs (1000000 calls): tf32 99.9 %\n"
	    "  kept     <0.1 %: too-small <0.1 % (9 calls), capture <0.1 % "
	    "(2 calls)\n"
	    "  verdicts not checked: the library's own conversion (1000000 calls)\n"
	    "  scratch  4.0 KiB of device memory at most\n"
	    "  seen     cublasStrsm_v2: 1 call, passed through\n");
	/* Whose calls XLA captured learns what to do about it. */
	strcpy(made[0].key.caller, "jaxlib.so+1a2b");
	report = make_report(1);
	assert_non_null(strstr(written(as_text, report),
	    "           kept 2 of 1000002 calls: capture 2\n"
	    "           XLA_FLAGS=--xla_gpu_enable_command_buffer= keeps XLA "
	    "from capturing\n"));
}

/* Where nothing was recast the head says why, within 100 columns. */
CASE(test_idle)
{
	static const char wanted[] =
	    "  recast   nothing: 100.0 % of the FP32 work kept for the reason "
	    "type\n"
	    "           the operands are not all FP32\n"
	    "           \"autocast explain 00000010\" says more\n";

	for (int i = 1; i < AC_REASON_COUNT; i++) {
		make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
		    (enum ac_reason)i), 0, (enum ac_reason)i, 3);
		written(as_text, make_report(1));
		assert_non_null(strstr(sunk, ac_reason_meanings[i]));
		for (const char *s = sunk; *s; s += strcspn(s, "\n") + 1)
			assert_true(strcspn(s, "\n") <= 100);
		if (i == AC_REASON_TYPE)
			assert_non_null(strstr(sunk, wanted));
	}
}

/* Of no FP32 work it is the calls. */
CASE(test_idle_calls)
{
	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TYPE), 0, AC_REASON_TYPE, 3);
	strcpy(made[0].key.type, "f16");
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 1);
	make_unread(1);
	assert_non_null(strstr(written(as_text, make_report(2)),
	    "  recast   nothing: 75.0 % of the calls kept for the reason type\n"
	    "           the operands are not all FP32\n"
	    "           \"autocast explain 00000010\" says more\n"));
	assert_null(strstr(written(as_text, make_report(0)), "nothing:"));
}

/* A run that learned has measured, and checked nothing. */
CASE(test_learnt)
{
	struct ac_report *report;

	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 0, AC_REASON_OWN, 9);
	made[0].course.judged = 5;
	made[0].course.mended_lines = 2;
	report = make_report(1);
	assert_non_null(strstr(written(as_text, report),
	    "  recast   nothing: the run learned, with rungs next to 5 of 9 "
	    "calls\n"
	    "           \"autocast report -v\" shows how those fared\n\n"));
	assert_non_null(strstr(sunk, "  measured: fp16 (cast), by amp:4\n"));
	assert_non_null(strstr(sunk,
	    "  measured next to 5 calls; to mend: 2 lines\n"));
	assert_null(strstr(sunk, "checked"));
	assert_null(strstr(sunk, "mended"));
}

/* What was emulated never looks measured. */
CASE(test_emulated)
{
	struct ac_report *report;

	made_header.emulated = 1;
	made_header.incomplete = 1;
	atomic_store(&made_header.finished, 0);
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	report = make_report(1);
	written(as_text, report);
	assert_non_null(strstr(sunk, "  times    none: no call was timed\n"));
	assert_non_null(strstr(sunk, "ended without exit()\n"));
	assert_non_null(strstr(sunk, "Some sites are missing"));
	made_header.pid = 1;
	report = make_report(0);
	report->processes[0].pid = getpid();
	written(as_text, report);
	assert_non_null(strstr(sunk, ", still running\n"));
}

/* A convolution says its shape, and its plans, next to a product. */
CASE(test_convolution)
{
	struct ac_report *report;
	struct ac_site_key *key;

	made_header.emulated = 0;
	made_header.incomplete = 0;
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 3, AC_REASON_NONE, 0);
	make_calls(make_site(1, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	key = &made[0].key;
	key->operation = AC_OP_CONV_FPROP;
	key->ta = key->tb = '\0';
	strcpy(key->symbol, "cudnnConvolutionBiasActivationForward");
	strcpy(key->shape, "n32 c256 28x28 k256 3x3 s1 p1 d1 g1 nchw");
	key->m = 25088;
	key->n = 256;
	key->k = 2304;
	made[0].course = (struct ac_site_course){ .plans = 2, .plan_ms = 3.25f,
		.workspace = 1048576 };
	made[0].region = (struct ac_site_region){ .name = "enc.0" };
	made[1].region = (struct ac_site_region){ .name = "loss" };
	report = make_report(2);
	written(as_text, report);
	assert_non_null(strstr(sunk, "\n           in region enc.0\n"
	    "           n32 c256 "));
	assert_non_null(strstr(sunk, "\n           in region loss\n"));
	assert_non_null(strstr(sunk, "  00000010 conv.fprop "));
	assert_non_null(strstr(sunk, "25088x256x2304"));
	assert_non_null(strstr(sunk, "\n           n32 c256 28x28 k256 3x3 s1 "
	    "p1 d1 g1 nchw\n           2 plans built in 3.25 ms, 1.0 MiB "
	    "of workspace at most\n"));
	assert_non_null(strstr(sunk, "\nFP32 GEMM/conv work: 88.8 GFLOP in 4 "
	    "calls at 2 sites\n"));
	assert_non_null(strstr(sunk, "\n  plans    2 plans built in 3.25 ms, "
	    "1.0 MiB of workspace at most\n"));
	written(summary, report);
	assert_non_null(strstr(sunk, "FP32 GEMM/conv work 88.8 GFLOP"));
}

/* A product of cublasLt says what follows it, and, kept for that, why. */
CASE(test_epilogues)
{
	static const struct {
		const char *shape;
		enum ac_reason reason;
		const char *line;
	} rows[] = {
		{ "gelu_bias", AC_REASON_RULE,
		  "  epilogue gelu_bias\n" },
		{ "bgrada/bgradb", AC_REASON_UNSUPPORTED,
		  "  epilogue bgrada/bgradb, kept by design: it adds up "
		  "an input, which a cast scales\n" },
		{ "other: EPILOGUE_AUX_SCALE_POINTER", AC_REASON_UNSUPPORTED,
		  "  epilogue other: EPILOGUE_AUX_SCALE_POINTER, kept "
		  "by design: autocast has no recipe for it\n" },
		{ "other: types or sizes", AC_REASON_TYPE,
		  "  epilogue other: types or sizes\n" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
		    rows[i].reason), 0, rows[i].reason, 3);
		made[0].key.operation = AC_OP_GEMM_LT;
		strcpy(made[0].key.shape, rows[i].shape);
		written(as_text, make_report(1));
		assert_non_null(strstr(sunk, rows[i].line));
		for (const char *s = sunk; *s; s += s[strcspn(s, "\n")] == '\n'
		    ? strcspn(s, "\n") + 1 : strcspn(s, "\n"))
			assert_true(strcspn(s, "\n") <= 100);
	}
}

CASE(test_unread)
{
	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 3);
	make_unread(0);
	written(as_text, make_report(1));
	assert_non_null(strstr(sunk, " conv.fprop      -  "));
	assert_non_null(strstr(sunk, "\n            sizes not read\n"));
	assert_non_null(strstr(sunk, "\nFP32 conv work: 0 FLOP in 3 calls at "
	    "1 site, without 3 of sizes not read\n"));
}

static struct ac_report *
make_timed(enum ac_clock clock)
{
	made_header.emulated = 0;
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 1000, AC_REASON_NONE, 0);
	make_calls(make_site(1, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 10, AC_REASON_NONE, 0);
	made_header.clock = clock;
	made[0].tol = 0.5f;
	made[0].course = (struct ac_site_course){
		.judged = 990, .late = 1, .demotions = 2, .captured = 3,
		.mended_calls = 1, .unread = 10, .error = 0.15f, .keep_us = 70,
		.recast_us = 20
	};
	made[1].course.keep_predicted_us = 1e6;
	made[1].course.recast_predicted_us = 2e6;
	return make_report(2);
}

/* What was gained, what it cost, and where each number is from. */
CASE(test_course)
{
	struct ac_report *report = make_timed(AC_CLOCK_DEVICE);

	written(as_text, report);
	assert_non_null(strstr(sunk, "  times    measured by events of the "
	    "device around single calls\n"));
	assert_non_null(strstr(sunk, "\n"
	    "  kept     0.0 %\n"
	    "  time     all 1010 FP32 calls 10.1 s -> 20 s: 2.0x slower "
	    "(measured, 99.3 % of it estimated)\n"
	    "  gain     50 ms of device time, measured x 1000 calls: 70 ms "
	    "before, 20 ms now\n"
	    "  gain     -10 s of device time, estimated x 10 calls: 10 s "
	    "before, 20 s now\n"
	    "  verdicts checked 990 of 1010 recast calls; mended 1 call; 10 "
	    "checks unread; not checked: the library's own conversion (10 "
	    "calls); 1 verdict late\n"
	    "  error    worst error 0.15, 0.30 of tol 0.5, at site 00000010\n"
	    "  demoted  2 times\n"
	    "  graphs   3 calls recorded; two executables of one graph "
	    "must not run at once\n"
	    "  scratch  "));
}

/* A part of what the run would have taken, and Amdahl's bound: 70 ms and 10 s
 * of calls, 50 ms won and 10 s lost, in a run of 12 s. */
CASE(test_wall)
{
	struct ac_report *report;

	atomic_store(&made_header.finished, 1);
	atomic_store(&made_header.wall_ns, 12000000000u);
	report = make_timed(AC_CLOCK_DEVICE);
	report->sites[0].course.keep_predicted_us = 0;
	report->sites[1].course.keep_predicted_us = 0;
	written(as_text, report);
	/* 0.05 of 12.05 s, and 12.05 / (12.05 - 0.07). */
	assert_non_null(strstr(sunk, "  wall     12 s; the gain is 0.4 % of "
	    "what it would have been, 1.0x at most if these calls took no "
	    "time (Amdahl)\n"));
	atomic_store(&report->processes[0].finished, 0);
	written(as_text, report);
	assert_non_null(strstr(sunk, "  wall     12 s at least; the gain "));
	report->processes[0].emulated = 1;
	written(as_text, report);
	assert_non_null(strstr(sunk, "  wall     12 s at least on the emulated "
	    "GPU, which says nothing of a real one\n"));
	atomic_store(&made_header.wall_ns, 0);
}

/* Events that nobody came to read are no lack of a clock. */
CASE(test_unread_times)
{
	struct ac_report *report;

	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 1000, AC_REASON_NONE, 0);
	made[0].course.timings = 4;
	made_header.emulated = 1;
	made_header.clock = AC_CLOCK_MODELLED;
	report = make_report(1);
	written(as_text, report);
	assert_non_null(strstr(sunk, "  times    none: of 4 timed calls the "
	    "device's events were not read before it was too late\n"));
	report->sites[0].course.timings = 0;
	written(as_text, report);
	assert_non_null(strstr(sunk, "  times    none: no call was timed\n"));
	report->sites[0].recast = 0;
	report->processes[0].clock = AC_CLOCK_NONE;
	written(as_text, report);
	assert_non_null(strstr(sunk, "  times    none: no call was recast\n"));
	made_header.emulated = 0;
	made_header.clock = AC_CLOCK_NONE;
}

/* `written` with blanks squeezed: as wide as columns are, they say the same. */
static const char *
squeezed(const struct ac_report *report)
{
	char *to = sunk;

	written(as_text, report);
	for (const char *from = sunk; *from; from++)
		if (*from != ' ' || to == sunk || to[-1] != ' ')
			*to++ = *from;
	*to = '\0';
	return sunk;
}

/* A site that ran on three rungs is one row and one site; what is predicted is
 * marked, and the mark explained. */
CASE(test_rungs)
{
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 900, AC_REASON_PROBATION, 3);
	make_calls(make_site(1, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 97, AC_REASON_NONE, 0);
	make_site(2, AC_RUNG_BF16, AC_TACTIC_CAST, AC_REASON_NONE);
	made[1].key = made[2].key = made[0].key;
	made[1].id = made[2].id = made[0].id;
	made[0].tol = 0.5f;
	made[0].course.finding = AC_FINDING_ERROR;
	made[0].course.error = 2;
	made[0].course.samples = 3;
	made[0].course.chosen = 4;
	made[1].course.chosen = 904;
	made[1].course.keep_predicted_us = 74;
	made[1].course.recast_predicted_us = 10;
	made[2].course.samples = 3;
	make_calls(make_site(3, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 0, AC_REASON_PROBATION, 10);
	made[3].course.samples = 1;
	squeezed(make_report(4));
	/* 97 of the 997 calls have times: 64 us won by each. */
	assert_non_null(strstr(sunk, " tf32 library amp:4 1000 96.2 % ~7.4x "
	    "~6.21 ms 4.00\n"
	    " kept 3 of 1000 calls: probation 3\n"
	    " not checked: the library's own conversion\n"
	    " left: fp16 (cast), by amp:4, 900 calls recast\n"
	    " demoted: error 2, tol 0.5; "));
	assert_non_null(strstr(sunk, "\n tried: bf16 (cast), by amp:4, none yet\n"));
	/* Nothing of it was recast. */
	assert_non_null(strstr(sunk, " keep probation amp:4 10 3.8 % - - -\n"
	    " tried: tf32 (library), by amp:4, none yet\n"));
	assert_non_null(strstr(sunk, "\n ~ estimated from the rates of "
	    "NVIDIA H200, not timed\n"));
	assert_non_null(strstr(sunk, " in 1010 calls at 2 sites\n"));
}

/* Colours say what the words say, and come only where they are asked for. */
static void
colored(const struct ac_report *report, ac_report_sink to, void *context)
{
	static const struct ac_report_style style = { .is_colored = true,
		.is_detailed = true };

	ac_report_as_table(report, &style, to, context);
}

CASE(test_colors)
{
	static char plain[1 << 16];
	struct ac_report *report = make_timed(AC_CLOCK_DEVICE);
	char *to = sunk;

	strcpy(plain, written(as_text, report));
	assert_null(strchr(plain, '\033'));
	written(colored, report);
	assert_non_null(strstr(sunk, "\033[32m3.5x\033[m"));
	assert_non_null(strstr(sunk, "\033[31m-10 s\033[m of device time"));
	for (const char *from = sunk; *from; from++) {
		if (*from == '\033')
			from += strcspn(from, "m");
		else
			*to++ = *from;
	}
	*to = '\0';
	assert_string_equal(sunk, plain);
}

/* On the emulated GPU nothing is called measured, whatever the file says. */
CASE(test_clocks)
{
	static const struct {
		enum ac_clock clock;
		uint32_t emulated;
	} cases[] = {
		{ AC_CLOCK_MODELLED, 1 },
		{ AC_CLOCK_DEVICE, 1 },
		{ AC_CLOCK_MODELLED, 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ac_report *report = make_timed(cases[i].clock);

		report->processes[0].emulated = cases[i].emulated;
		written(as_text, report);
		assert_non_null(strstr(sunk, "  times    estimated by the "
		    "emulated GPU's model, not measured\n"));
		assert_non_null(strstr(sunk, " of device time, estimated "
		    "x 1010 calls: 10.1 s before"));
		assert_null(strstr(sunk, "time, measured"));
	}
}

/* Names come from strangers: none may steer the terminal. */
CASE(test_hostile)
{
	struct ac_report *report;

	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	strcpy(made[0].key.caller, "\033]0;x\007+1");
	strcpy(made[0].source, "a\nb");
	strcpy(made_header.program, "\033[2J");
	report = make_report(1);
	strcpy(report->processes[0].why, "\r\033c");
	strcpy(report->processes[0].gpu, "\033c");
	strcpy(report->processes[0].library, "\033c");
	strcpy(report->processes[0].policy, "\033c");
	strcpy(report->processes[0].notes, "\033c\n");
	strcpy(report->markers[0].symbol, "\033c");
	written(as_text, report);
	assert_null(strpbrk(sunk, "\033\r\007"));
	assert_non_null(strstr(sunk, "a?b:4"));
}

CASE(test_nothing)
{
	assert_string_equal(written(as_text, NULL),
	    "autocast report: nothing was intercepted\n");
}

int
main(void)
{
	setenv("TZ", "UTC0", 1);
	return cases_run(NULL, NULL);
}
