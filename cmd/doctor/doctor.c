/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor.c -- autocast doctor: is the program reached, and if not,
 * why? Gathers facts from a run, or from a running process; the conclusions are
 * cmd/doctor/doctor_causes.c's. */
#include "cmd/doctor/doctor.h"
#include "cmd/gpu/gpu.h"
#include "cmd/run/launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_JSON = AC_LAUNCH_OWN, OPT_PID };
enum { FAMILY = 256 };

/* All that a visit gathers. */
struct visit {
	struct ac_launch launch;
	struct ac_doctor_facts facts;
	bool   json;
	const char *pid;                 /* of --pid, as typed */
	struct ac_program program;
	char   last_name[16];
	/* Where the processes of a run leave their records: private, and gone
	 * afterwards. "": there is none. */
	char   records[64];
};

/* ---- While the program runs -------------------------------------------- */

/* The latest that is known of `pid`: an entry of its own when it is new. */
static struct ac_doctor_process *
entry_of(struct visit *visit, pid_t pid, bool is_new)
{
	struct ac_doctor_facts *facts = &visit->facts;

	for (size_t i = facts->process_count; !is_new && i-- > 0; )
		if (facts->processes[i].pid == pid)
			return &facts->processes[i];
	facts->processes = ac_say_memory(reallocarray(facts->processes,
	    facts->process_count + 1, sizeof *facts->processes));
	memset(&facts->processes[facts->process_count], 0,
	    sizeof *facts->processes);
	return &facts->processes[facts->process_count++];
}

static void
look_at(struct visit *visit, pid_t pid)
{
	struct ac_doctor_process *process = entry_of(visit, pid, false);
	int error = ac_doctor_look_at(pid, process);

	if (error == ESTALE) {
		process = entry_of(visit, pid, true);
		error = ac_doctor_look_at(pid, process);
	}
	if (error && !process->exe)
		visit->facts.process_count--; /* gone already: the last one */
}

static void
look(pid_t pid, void *context)
{
	struct visit *visit = context;
	pid_t family[FAMILY];
	const size_t members = ac_doctor_family(pid, family, FAMILY);

	visit->facts.pid = pid;
	ac_doctor_name_of(pid, visit->last_name);
	for (size_t i = 0; i < members; i++)
		look_at(visit, family[i]);
}

/* ---- What is known ----------------------------------------------------- */

/* The live statistics of one process. */
static void
add_up_process(struct visit *visit, const char *path)
{
	struct ac_text why = AC_TEXT_OF(512);
	struct ac_report_watched watched = { .pid = visit->facts.pid };
	struct ac_report *report;
	bool runs;
	struct ac_text t = AC_TEXT_IN(watched.path);

	ac_text_add(&t, path);
	report = ac_report_look(&watched, &runs, &why);
	if (report)
		ac_doctor_add_up(report, &visit->facts.work);
	else if (why.used)
		ac_say(0, "doctor: cannot read %s: %s", path, why.data);
	ac_report_destroy(report);
}

static int
conclude(struct visit *visit)
{
	static struct ac_doctor_findings findings;
	struct ac_doctor_facts *facts = &visit->facts;
	const bool emulate = visit->launch.emulate;
	bool has_vendor = false;
	struct ac_text refused = AC_TEXT_OF(512);

	for (size_t i = 0; i < facts->process_count; i++)
		has_vendor |= facts->processes[i].loaded[AC_VENDOR_CUBLAS]
		    != NULL;
	for (size_t i = 0; i < facts->process_count; i++)
		ac_doctor_read_files(&facts->processes[i], !has_vendor);
	for (size_t i = 0; emulate && i < facts->process_count; i++)
		ac_doctor_read_runtime(&facts->processes[i]);
	facts->last_name = visit->last_name;
	if (emulate && ac_child_add_refusal(&refused, 0))
		facts->refused = refused.data;
	facts->lacks_driver = !emulate && !ac_gpu_has_driver();
	ac_doctor_diagnose(facts, &findings);
	ac_doctor_print(&findings, visit->json);
	for (size_t i = 0; i < facts->process_count; i++)
		ac_doctor_free(&facts->processes[i]);
	free(facts->processes);
	return ac_say_done() ? AC_DOCTOR_UNKNOWN : findings.status;
}

/* ---- A program --------------------------------------------------------- */

/* A static launcher may start programs that are not static. */
static bool
can_be_run(const struct visit *visit)
{
	const struct ac_doctor_facts *facts = &visit->facts;
	const struct ac_elf_facts *file = &visit->program.facts;

	if (visit->launch.emulate &&
	    (file->has_static_cudart || file->has_static_cublas))
		return false;
	return facts->obstacle == AC_OBSTACLE_NONE ||
	    (facts->obstacle == AC_OBSTACLE_STATIC && !file->has_static_cublas);
}

static void
make_records(struct visit *visit)
{
	struct ac_text t = AC_TEXT_IN(visit->records);

	ac_text_addf(&t, "/tmp/autocast-doctor-%d-XXXXXX", (int)getpid());
	if (mkdtemp(visit->records))
		visit->launch.facts = visit->records;
	else
		*visit->records = '\0';
}

static int
run_program(struct visit *visit, char **arguments)
{
	struct ac_launch *launch = &visit->launch;
	struct ac_doctor_facts *facts = &visit->facts;
	struct ac_report *report;
	int status;

	if (launch->emulate && ac_where_emulator())
		ac_preflight(&visit->program, ac_where_emulator());
	make_records(visit);
	if (!ac_launch_begin(launch))
		(void)ac_launch_begin_once(launch);
	launch->watch = (struct ac_child_watch){ look, visit };
	status = ac_launch_run(launch, &visit->program, arguments,
	    &facts->wait_status);
	ac_child_hold(true);
	facts->was_run = !status;
	if (!status && *visit->records)
		facts->processes = ac_doctor_read_records(visit->records,
		    facts->processes, &facts->process_count);
	report = status ? NULL : ac_launch_report(launch);
	ac_doctor_add_up(report, &facts->work);
	ac_report_destroy(report);
	if (*visit->records)
		ac_launch_remove(visit->records);
	ac_launch_end(launch);
	ac_child_hold(false);
	return status;
}

static int
visit_program(struct visit *visit, char **arguments)
{
	struct ac_text why = AC_TEXT_OF(2 * PATH_MAX);
	struct ac_policy_origin origin;
	struct ac_policy *policy;
	int status = ac_launch_check_model(&visit->launch, "doctor");

	if (status)
		return AC_DOCTOR_UNKNOWN;
	policy = ac_chosen_load(&visit->launch.chosen, &origin);
	visit->facts.policy_is_bad = !policy;
	ac_policy_destroy(policy);
	visit->facts.program = arguments[0];
	visit->facts.arguments = arguments;
	visit->facts.file = &visit->program;
	visit->facts.obstacle = ac_program_look(arguments[0], &visit->program,
	    &why);
	visit->facts.why = why.data;
	if (can_be_run(visit))
		status = run_program(visit, arguments);
	if (!status)
		status = conclude(visit);
	else
		status = AC_DOCTOR_UNKNOWN;
	return status;
}

/* ---- A process --------------------------------------------------------- */

static int
visit_process(struct visit *visit)
{
	struct ac_doctor_facts *facts = &visit->facts;
	struct ac_doctor_process *process;
	int error;
	struct ac_text why = AC_TEXT_OF(256);

	facts->pid = (pid_t)ac_arguments_whole(visit->pid, 1, 4194304);
	if (facts->pid < 0) {
		(void)ac_say(0, "doctor: '%s' is no process id", visit->pid);
		return AC_DOCTOR_UNKNOWN;
	}
	process = entry_of(visit, facts->pid, true);
	error = ac_doctor_look_at(facts->pid, process);
	if (error == EACCES || error == EPERM) {
		facts->obstacle = AC_OBSTACLE_CANNOT_RUN;
		facts->is_root = !geteuid();
		ac_text_addf(&why, "process %d may not be looked at: it is "
		    "another user's, or has other rights than we", facts->pid);
	} else if (error) {
		facts->obstacle = AC_OBSTACLE_NOT_FOUND;
		ac_text_addf(&why, "there is no process %d, or it is ending",
		    facts->pid);
	}
	facts->why = why.data;
	if (process->statistics)
		add_up_process(visit, process->statistics);
	return conclude(visit);
}

/* ---- The verb ---------------------------------------------------------- */

/* One option; false if it is none of ours. */
static bool
take_option(struct visit *visit, int option, const char *value)
{
	switch (option) {
	case OPT_JSON:
		visit->json = true;
		return true;
	case OPT_PID:
		visit->pid = value;
		return true;
	default:
		return ac_launch_take(&visit->launch, option, value);
	}
}

static int
run(const struct ac_command *self, char **arguments)
{
	static struct visit visit;
	static char own[PATH_MAX];
	struct ac_arguments a = { .command = self, .next = arguments };
	const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
	int option;

	visit.facts.launch = &visit.launch;
	visit.facts.autocast = program_invocation_name;
	visit.facts.own_path = length > 0 ? own : program_invocation_name;
	visit.facts.emulator = ac_where_emulator();
	do {
		option = ac_arguments_next(&a);
	} while (take_option(&visit, option, a.value));
	if (option == AC_ARGUMENT_STOP)
		return a.status ? AC_DOCTOR_UNKNOWN : 0;
	if (option == AC_ARGUMENT_OPERAND && visit.pid) {
		(void)ac_say(0, "doctor: a program or --pid, not both");
		return AC_DOCTOR_UNKNOWN;
	}
	if (option != AC_ARGUMENT_OPERAND && !visit.pid)
		return ac_doctor_check_machine(&visit.launch,
		    visit.facts.autocast, visit.json);
	return visit.pid ? visit_process(&visit)
	    : visit_program(&visit, a.next - 1);
}

const struct ac_command ac_command_doctor = {
	.name = "doctor",
	.operands = "[[--] PROGRAM [ARGUMENT]... | --pid PID]",
	.summary = "Say whether a program's calls are reached, and if not, "
	    "why.",
	.details = "Runs PROGRAM as 'autocast run' would, or looks at a "
	    "running process, and then\nprints what it found on stdout, the "
	    "gravest first; the last line is the command\nthat helps. The "
	    "exit status is 0 when calls are recast, 1 when they are "
	    "reached\nbut none is recast, 2 when none, or not all, are "
	    "reached, 3 when that could\nnot be found out. Without a program "
	    "this machine is looked at: 0 when it\nhas what a run needs, "
	    "else 2.\n",
	.ends_at_operand = true,
	.options = {
		{ OPT_PID, "pid", "PID", "look at this running process" },
		AC_POLICY_OPTIONS,
		{ AC_LAUNCH_EMULATE, "emulate", "[=MODEL]",
		    "on an emulated GPU: " AC_EMULATED_MODELS " (default "
		    "h200)" },
		{ OPT_JSON, "json", NULL, "as JSON" },
	},
	.run = run
};
