/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/end.c -- the lines at the end of `autocast run`: those of the report,
 * and one where there is nothing to report, so that nobody takes silence for
 * success. */
#include "cmd/run/run.h"
#include "cmd/run/compared.h"
#include "cmd/run/launcher.h"
#include "cmd/gpu/gpu.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMMAND_BYTES = 8192, COMPARE_BYTES = 512, POLICY_BYTES = 1 << 18,
	NOT_FOUND = 127 };  /* a shell's status, and the loader's */

/* ---- What forces calls that lose --------------------------------------- */

/* What makes calls recast whether they gain or not, and the cure; `text` stays
 * empty if nothing does. */
static void
add_forced(struct ac_text *text, const struct ac_end *end)
{
	static const char setting[] = "profit=off", last[] = "\notherwise ";
	struct ac_text printed = ac_say_buffer(POLICY_BYTES);
	char *profile;

	(void)ac_chosen_print(&end->launch->chosen, &printed);
	profile = strstr(printed.data, last);
	if (profile) {
		profile += strlen(last);
		profile[strcspn(profile, "\n")] = '\0';
	}
	if (profile && ac_policy_profile_text(profile) &&
	    strstr(ac_policy_profile_text(profile), setting))
		ac_text_addf(text, "the profile %s forces them, amp would keep "
		    "what loses", profile);
	else if (strstr(printed.data, setting))
		ac_text_addf(text, "%s forces them, profit=on would keep what "
		    "loses", setting);
	free(printed.data);
}

/* ---- What to type ------------------------------------------------------ */

/* The command that does VERB to this run. Where this is a rank whose launcher
 * is not to be seen, such as Slurm's on another host, it stands for that. */
static void
add_command(struct ac_text *text, const char *verb, const struct ac_end *end)
{
	static char launcher[] = "LAUNCHER";
	char *words[2] = { launcher, NULL };

	if (!end->is_rank) {
		ac_launch_add_command(text, verb, end->launch, end->arguments);
		return;
	}
	ac_launch_add_command(text, verb, end->launch, words);
	ac_quote_all(text, end->arguments);
	ac_text_add(text, ", with srun or the like and its options for "
	    "LAUNCHER");
}

/* ---- Nothing was reached ----------------------------------------------- */

/* A launcher's exit status is mostly that of what it started. What it says
 * itself stands above. */
static void
add_why_none(struct ac_text *text, const struct ac_end *end)
{
	const int status = WIFEXITED(end->ended) ? WEXITSTATUS(end->ended) : 0;
	struct ac_text refused = AC_TEXT_OF(COMMAND_BYTES);

	if (end->launch->emulate && ac_child_add_refusal(&refused, 0))
		ac_text_addf(text, "the emulated GPU refused %s", refused.data);
	else if (status && ac_launcher_is(end->program->path))
		ac_text_addf(text, "%s ended with status %d: it could not "
		    "start the program, or that failed before its first call",
		    end->arguments[0], status);
	else if (status == NOT_FOUND)
		ac_text_addf(text, "status %d says that a program, or a "
		    "library that it needs, was not found", status);
	else
		ac_text_add(text, "the program makes none, its statistics "
		    "could not be kept, or libautocast.so did not get into "
		    "it");
}

/* Ends with the command to type next, for all ranks; what became of `own` is
 * why. */
static void
say_nothing(const struct ac_end *end, const struct ac_end *own)
{
	const bool can_emulate = ac_where_emulator() != NULL;
	struct ac_text command = AC_TEXT_OF(COMMAND_BYTES);

	if (!*end->launch->state && !end->is_off)
		return; /* that was said before it began */
	if (end->is_off) {
		add_command(&command, "run", end);
		(void)ac_say(0, "nothing was counted: AUTOCAST_STATE is off; "
		    "type: env -u AUTOCAST_STATE %s", command.data);
		return;
	}
	if (end->launch->emulate || ac_gpu_has_driver()) {
		struct ac_text why = AC_TEXT_OF(COMMAND_BYTES);

		add_why_none(&why, own);
		add_command(&command, "doctor", end);
		(void)ac_say(0, "no call of cuBLAS or cuDNN was seen: %s; "
		    "type: %s", why.data, command.data);
		return;
	}
	add_command(&command, can_emulate ? "run --emulate" : "doctor", end);
	(void)ac_say(0, "no call of cuBLAS or cuDNN was seen, and there is no "
	    "NVIDIA driver here (libcuda.so.1 cannot be loaded); type: %s",
	    command.data);
}

/* ---- It crashed -------------------------------------------------------- */

/* Whoever typed ^C knows that; what crashed, or ran out of memory, is said
 * before numbers that look like those of a whole run. */
static void
say_crash(int ended)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
		SIGABRT, SIGKILL };

	for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
		if (WIFSIGNALED(ended) && WTERMSIG(ended) == crashes[i])
			(void)ac_say(0, "signal %d (%s) ended the program; "
			    "what follows counts up to there", crashes[i],
			    strsignal(crashes[i]));
}

/* ---- It was never compared --------------------------------------------- */

/* Good verdicts of the guard do not prove the program's output right: say so
 * until it was compared, and is the same. */
static void
say_compared(const struct ac_end *end)
{
	static const char *const words[] = {
		[AC_COMPARED_NEVER] = "output not yet compared with that of "
		    "plain FP32 runs",
		[AC_COMPARED_SAME] = NULL,
		[AC_COMPARED_DIFFERS] = "this program's output differs from "
		    "that of plain runs",
		[AC_COMPARED_BEFORE] = "this program's output was compared "
		    "before the program was changed, not since",
		[AC_COMPARED_ELSEWHERE] = "this program's output was compared "
		    "under another policy or on another GPU only",
	};
	struct ac_compared compared;
	enum ac_compared_state state;
	struct ac_text command = AC_TEXT_OF(COMPARE_BYTES);

	if (!ac_compared_of(&end->launch->chosen, end->program,
	    end->arguments, end->report->processes[0].gpu, &compared))
		return;
	state = ac_compared_look(&compared);
	/* Of a launcher's files nothing is known here. */
	if (!words[state] || (end->is_rank && state == AC_COMPARED_BEFORE))
		return;
	add_command(&command, "compare", end);
	(void)ac_say(0, "%s; type: %s", words[state], command.truncated
	    ? "autocast compare, with the same options and arguments"
	    : command.data);
}

/* ---- It was tuned for another GPU ---------------------------------------- */

static void
say_made(const struct ac_end *end)
{
	const struct ac_file_header *process = &end->report->processes[0];
	struct ac_made made;

	if (ac_made_on(end->launch->chosen.policy, &made)
	    && ac_made_elsewhere(&made, process->gpu, process->library))
		(void)ac_say(0, "the policy was made on %s with %s, this ran "
		    "on %s with %s: 'autocast tune%s' measures here", made.gpu,
		    made.library, process->gpu, process->library,
		    process->emulated ? " --emulate" : "");
}

/* ---- The end ----------------------------------------------------------- */

/* What is said of a rank is about all of them, by what launched them. */
static struct ac_end
of_all(const struct ac_end *end, struct ac_program *launcher)
{
	char **words = ac_launcher_words(end->arguments);
	struct ac_end all = *end;
	struct ac_text why = AC_TEXT_OF(2 * PATH_MAX);

	if (!words || ac_program_look(*words, launcher, &why))
		return all;
	all.program = launcher;
	all.arguments = words;
	all.is_rank = false;
	return all;
}

void
ac_end_say(const struct ac_end *end)
{
	static struct ac_program launcher;
	const struct ac_end all = of_all(end, &launcher);
	const struct ac_launch *launch = end->launch;
	const char *unkept = *launch->unkept ? launch->unkept : NULL;
	struct ac_report_ending ending = { unkept, end->wall, NULL };
	struct ac_report_totals totals = { .recast_calls = 0 };
	int error = STDERR_FILENO;
	struct ac_text forced = AC_TEXT_OF(256);

	say_crash(end->ended);
	if (end->report) {
		/* What ranks save they save at once: that is no sum. */
		if (end->report->processes[0].ranks)
			ending.wall = 0;
		ac_report_totals(end->report, &totals);
		add_forced(&forced, end);
		ending.forced = forced.used ? forced.data : NULL;
	}
	if (!ac_report_as_summary(end->report, &ending, ac_say_bytes, &error) &&
	    !end->is_spoken_for)
		say_nothing(&all, end);
	if (end->report && end->report->process_count)
		say_made(end);
	if (totals.recast_calls && !unkept)
		say_compared(&all);
}
