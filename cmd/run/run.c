/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/run.c -- autocast run: a program with the library preloaded.
 * Everything that can be refused is refused before the program starts; then
 * its exit status is ours. */
#include "cmd/run/run.h"
#include "cmd/run/launcher.h"
#include "base/env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OPT_REPORT = AC_LAUNCH_OWN, OPT_RANGES, OPT_CHECK, OPT_LIST_ENV };
/* The exit status of --check that found something. */
enum { EXIT_FOUND = 3 };

struct request {
	struct ac_launch run;
	struct ac_parallel job;     /* that this is a rank of */
	const char *report;         /* file of --report, or NULL */
	enum ac_report_format format;
	bool        is_off;         /* the user wants no statistics */
	bool        is_checked;     /* --check */
	int         found;          /* a file with a byte for each finding */
	struct timespec began;
	struct ac_child_cost cost;
};

static int
list_env(void)
{
	for (int i = 0; i < AC_ENV_COUNT; i++) {
		const struct ac_env_row *row = &ac_env_rows[i];

		printf("%-22s %s%s%s%s\n", row->variable, ac_env_meanings[i],
		    *row->fallback ? " (default " : "", row->fallback,
		    *row->fallback ? ")" : "");
	}
	return ac_say_done();
}

/* ---- Before the program starts ----------------------------------------- */

/* Where the numbers go. A user who wants none has no closing lines either, but
 * the report that he asks for. */
static int
prepare_state(struct request *request)
{
	struct ac_launch *run = &request->run;

	request->is_off = !request->report &&
	    !strcmp(ac_env(AC_ENV_STATE), "off");
	if (ac_launch_begin(run) || request->is_off)
		return 0;
	if (ac_launch_begin_once(run))
		return 0;
	if (request->report)
		return ac_say(AC_EXIT_FAILED, "run: TMPDIR, /tmp and /dev/shm "
		    "have no place for the numbers of --report, and %s",
		    run->unkept);
	setenv(ac_env_rows[AC_ENV_STATE].variable, "off", 1);
	if (ac_ranks_is_silent(&request->job))
		return 0;
	return ac_say(0, "nothing is counted: TMPDIR, /tmp and /dev/shm have "
	    "no place for it, and %s", run->unkept);
}

/* The report file is opened, not emptied, before the program runs: hours of
 * work must not end at a path that cannot be written. */
static int
check_report(struct request *request)
{
	const char *file = request->report;
	struct stat status;
	bool is_file;
	int fd;

	if (!file)
		return 0;
	if (!ac_format_choose(file, false, &request->format))
		return ac_say(AC_EXIT_USAGE, "run: --report %s: unknown "
		    "ending: .txt, .json, .csv or .html", file);
	if (!strcmp(file, "-"))
		return 0;
	fd = open(file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC
	    | O_NONBLOCK, 0666);
	if (fd < 0)
		return ac_say(AC_EXIT_FAILED, "run: cannot write the report "
		    "to %s: %s", file, errno == ELOOP ? "it is a symbolic link"
		    : strerror(errno));
	is_file = !fstat(fd, &status) && S_ISREG(status.st_mode);
	close(fd);
	return is_file ? 0 : ac_say(AC_EXIT_FAILED, "run: cannot write the "
	    "report to %s: it is not a regular file", file);
}

static int
prepare_check(struct request *request)
{
	if (!request->is_checked)
		return 0;
	if (!request->run.emulate)
		return ac_say(AC_EXIT_USAGE, "run: --check needs --emulate: "
		    "the emulated GPU checks kernels");
	request->found = ac_child_open_notes(AC_ENV_EMU_CHECK);
	return request->found >= 0 ? 0 : ac_say(AC_EXIT_FAILED, "run: no place "
	    "for what --check finds: %s", strerror(errno));
}

/* ---- After it ended ---------------------------------------------------- */

static int
write_report(const struct request *request, struct ac_report *report)
{
	const char *file = strcmp(request->report, "-") ? request->report
	    : NULL;
	const struct ac_report_style style = {
		.is_colored = ac_format_wants_color(AC_COLOR_AUTO, file)
	};
	struct ac_output output;

	if (report)
		ac_report_name_callers(report);
	if (!ac_output_open(&output, "run", file))
		return AC_EXIT_FAILED;
	ac_format_write(request->format, report, &style, &output.fd);
	return ac_output_close(&output);
}

/* Whether a run within this one counted something: it has said so. */
static bool
is_spoken_for(const struct request *request)
{
	struct ac_text why = AC_TEXT_OF(512);
	struct ac_report *last = *request->run.state
	    ? ac_report_of(NULL, &why) : NULL;
	const struct ac_file_header *h = last ? &last->processes[0] : NULL;
	const uint64_t began = (uint64_t)request->began.tv_sec;
	const bool is = h && (h->start_s > began || (h->start_s == began &&
	    h->start_ns >= request->began.tv_nsec));

	ac_report_destroy(last);
	return is;
}

static struct ac_report *
load(struct request *request, bool *spoken_for_out)
{
	struct ac_report *report;

	if (request->run.is_once)
		ac_child_hold(true);
	report = ac_ranks_report(&request->run, &request->job);
	*spoken_for_out = !report && is_spoken_for(request);
	if (request->run.is_once) {
		ac_launch_end(&request->run);
		ac_child_hold(false);
	}
	return report;
}

static int
finish(struct request *request, const struct ac_program *program,
    char **arguments, int ended)
{
	const bool is_quiet = ac_env_is_off(AC_ENV_NOTICE);
	bool is_spoken_for;
	struct ac_report *report = load(request, &is_spoken_for);
	const struct ac_end end = {
		.launch = &request->run, .program = program,
		.arguments = arguments, .report = report,
		.wall = request->cost.wall, .ended = ended,
		.is_off = request->is_off,
		.is_spoken_for = is_spoken_for,
		.is_rank = request->job.size > 0
	};
	int status = 0;

	if (!is_quiet)
		ac_end_say(&end);
	if (!is_quiet)
		ac_ranks_say(report);
	if (request->report)
		status = write_report(request, report);
	ac_report_destroy(report);
	return status;
}

static bool
has_findings(const struct request *request)
{
	struct stat status;

	return request->is_checked && !fstat(request->found, &status) &&
	    status.st_size > 0;
}

/* ---- The verb ---------------------------------------------------------- */

static int
start(struct request *request, const struct ac_program *program,
    char **arguments)
{
	const char *emulator = request->run.emulate ? ac_where_emulator()
	    : NULL;
	int ended = 0, status;

	if (emulator && !ac_ranks_is_silent(&request->job) &&
	    !ac_env_is_off(AC_ENV_NOTICE))
		ac_preflight(program, emulator);
	clock_gettime(CLOCK_REALTIME, &request->began);
	request->run.cost = &request->cost;
	status = ac_launch_run(&request->run, program, arguments, &ended);
	if (status)
		return status;
	if (!ac_ranks_is_silent(&request->job))
		status = finish(request, program, arguments, ended);
	if (has_findings(request))
		return EXIT_FOUND;
	ended = ac_child_exit(ended);
	return ended ? ended : status;
}

/* Read the options; 0 when `arguments` begin at *program_out. */
static int
read_options(struct ac_arguments *a, struct request *request,
    char ***program_out)
{
	for (;;) {
		const int option = ac_arguments_next(a);

		switch (option) {
		case OPT_REPORT:
			request->report = a->value;
			break;
		case OPT_RANGES:
			setenv(ac_env_rows[AC_ENV_RANGES].variable, "on", 1);
			break;
		case OPT_CHECK:
			request->is_checked = true;
			break;
		case OPT_LIST_ENV:
			a->status = list_env();
			return AC_ARGUMENT_STOP;
		case AC_ARGUMENT_OPERAND:
			*program_out = a->next - 1;
			return 0;
		case AC_ARGUMENT_END:
			a->status = ac_say(AC_EXIT_USAGE, "run: the program is "
			    "missing; try 'autocast run ./program'");
			return AC_ARGUMENT_STOP;
		default:
			if (!ac_launch_take(&request->run, option, a->value))
				return AC_ARGUMENT_STOP;
		}
	}
}

static void
warn(void)
{
	const char *notice = ac_env(AC_ENV_NOTICE);

	ac_env_warn();
	if (!ac_env_is_off(AC_ENV_NOTICE) && strcmp(notice, "on"))
		(void)ac_say(0, "AUTOCAST_NOTICE=%s is neither on nor off: on "
		    "is taken", notice);
}

static int
run(const struct ac_command *self, char **arguments)
{
	static struct request request;
	static struct ac_program program;
	struct ac_arguments a = { .command = self, .next = arguments };
	char **words;
	int status;

	if (read_options(&a, &request, &words))
		return a.status;
	/* Before a file of ours takes its place. */
	if (request.report && !strcmp(request.report, "-")
	    && fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return ac_say(AC_EXIT_FAILED, "run: cannot write the report: "
		    "standard output is closed; nothing was started");
	ac_parallel_read(&request.job);
	if (!ac_ranks_is_silent(&request.job))
		warn();
	status = ac_launch_check(&request.run, self->name, *words, &program);
	if (!status)
		status = prepare_check(&request);
	if (!status)
		status = prepare_state(&request);
	ac_ranks_join(&request.run, &request.job);
	if (!status && !ac_ranks_is_silent(&request.job))
		status = check_report(&request);
	if (!status && !ac_env_is_off(AC_ENV_NOTICE)) {
		ac_launch_warn(words);
		ac_launcher_warn(&request.run, &program, words);
	}
	if (!status)
		status = start(&request, &program, words);
	ac_launch_end(&request.run);
	return status;
}

const struct ac_command ac_command_run = {
	.name = "run",
	.operands = "[--] PROGRAM [ARGUMENT]...",
	.summary = "Run a program with its FP32 matrix products recast.",
	.details = "The exit status is the program's own; 125 when autocast "
	    "fails, 126 when the\nprogram cannot be run or preloaded, 127 when "
	    "it is not found, 2 when an option\nor the policy is wrong, 3 when "
	    "--check found something.\n",
	.ends_at_operand = true,
	.options = {
		AC_POLICY_OPTIONS,
		{ AC_LAUNCH_EMULATE, "emulate", "[=MODEL]",
		    "on an emulated GPU: " AC_EMULATED_MODELS " (default "
		    "h200); h200,t4: two" },
		{ OPT_REPORT, "report", "FILE",
		    "write the report to FILE: its ending, .txt, .json, .csv "
		    "or .html, says how; - is stdout" },
		{ OPT_RANGES, "ranges", NULL,
		    "count the operands' exponents, for report --ranges" },
		{ OPT_CHECK, "check", NULL,
		    "with --emulate: find errors in the program's kernels" },
		{ OPT_LIST_ENV, "list-env", NULL,
		    "list the environment variables and stop" },
	},
	.run = run
};
