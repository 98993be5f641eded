/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_binding.c -- causes that lie between the program and the
 * NVIDIA library: our library is not there, or calls go past it. Pure. */
#include "cmd/doctor/doctor.h"

#include <string.h>
#include <sys/wait.h>

enum { NAME_LENGTH = 15 };      /* of what the kernel calls a program */

static const char *
name_of(const struct ac_doctor_process *process)
{
	return process->exe ? basename(process->exe) : "a process";
}

/* ---- Our library is not in the process --------------------------------- */

/* Which of the program's own words begins the command that was lost: that of
 * `process`, or, where that could not be read, the one called `name`. 0: none
 * of them. */
static size_t
find_lost(const struct ac_doctor_facts *facts,
    const struct ac_doctor_process *process, const char *name)
{
	for (size_t i = 1; facts->arguments && *facts->arguments &&
	    facts->arguments[i]; i++) {
		struct ac_text rest = AC_TEXT_OF(AC_DOCTOR_FIX);

		ac_quote(&rest, facts->arguments[i]);
		ac_quote_all(&rest, facts->arguments + i + 1);
		if (process && process->command) {
			if (!strcmp(rest.data, process->command))
				return i;
			continue;
		}
		if (*name && !strncmp(name, basename(facts->arguments[i]),
		    NAME_LENGTH))
			return i;
	}
	return 0;
}

/* The user's own command with autocast moved behind what loses LD_PRELOAD,
 * else the lost command alone. */
static void
add_moved(struct ac_text *fix, const struct ac_doctor_facts *facts,
    const struct ac_doctor_process *process)
{
	const size_t lost = find_lost(facts, process, process && process->exe
	    ? basename(process->exe) : facts->last_name);

	for (size_t i = 0; i < lost; i++)
		ac_quotef(fix, "%s ", facts->arguments[i]);
	ac_quotef(fix, facts->launch && facts->launch->emulate
	    ? "%s run --emulate --" : "%s run --", facts->own_path);
	if (lost)
		ac_quote_all(fix, facts->arguments + lost);
	else
		ac_text_addf(fix, " %s", process && process->command
		    ? process->command : "PROGRAM");
}

static void
add_why_not(struct ac_text *text, const struct ac_doctor_process *process)
{
	if (process->is_privileged)
		ac_text_add(text, ": it is set-uid, set-gid or has file "
		    "capabilities, so the loader ignores LD_PRELOAD");
	else if (!process->has_environment)
		ac_text_add(text, ", whose environment could not be read (it "
		    "may have ended too soon): something before it (env -i, "
		    "sudo, a container, a wrapper) took LD_PRELOAD away, or "
		    "the loader could not take it");
	else if (!process->was_asked)
		ac_text_add(text, ": its environment has no LD_PRELOAD with "
		    "it; something before it (env -i, sudo, a container, a "
		    "wrapper) took that away, or nobody set it");
	else
		ac_text_add(text, ": the loader could not take it; its own "
		    "message stands on the program's standard error");
}

/* The main program became something of which nothing was heard. */
static bool
became_another(const struct ac_diagnosis *diagnosis)
{
	const struct ac_doctor_facts *facts = diagnosis->facts;
	const char *name = facts->last_name;

	if (!facts->was_run || !*name || !facts->file ||
	    WIFSIGNALED(facts->wait_status))
		return false;
	for (size_t i = 0; i < facts->process_count; i++) {
		const struct ac_doctor_process *process = &facts->processes[i];

		if (process->pid == facts->pid && (process->told ||
		    (process->has_library && process->exe && !strncmp(name,
		    basename(process->exe), NAME_LENGTH))))
			return false;
	}
	return strncmp(name, basename(facts->file->path), NAME_LENGTH) &&
	    strncmp(name, basename(facts->file->image), NAME_LENGTH);
}

enum ac_doctor_mark
ac_find_not_preloaded(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;
	const struct ac_doctor_process *process =
	    ac_diagnosis_process(d, AC_LACKS_IT_BADLY);

	if (!process && !d->was_reached && !d->has_vendor)
		process = ac_diagnosis_process(d, AC_LACKS_LIBRARY);
	if (process) {
		ac_text_add_cleanf(d->text, "%s (process %d) runs without "
		    "libautocast.so", name_of(process), (int)process->pid);
		add_why_not(d->text, process);
	} else if (!d->was_reached && became_another(d)) {
		ac_text_add_cleanf(d->text, "the program became %s, of which "
		    "nothing was heard: something before it (env -i, sudo, a "
		    "container, a wrapper) took LD_PRELOAD away, unless it "
		    "ended by _exit()", facts->last_name);
	} else {
		return AC_DOCTOR_NOTHING;
	}
	if (process && process->is_privileged && process->exe)
		ac_doctor_add_copy(d->fix, facts, process->exe);
	else
		add_moved(d->fix, facts, process);
	return AC_DOCTOR_PROBLEM;
}

enum ac_doctor_mark
ac_find_lost_record(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;

	if (!facts->was_run || facts->work.is_known || d->has_problem)
		return AC_DOCTOR_NOTHING;
	for (size_t i = 0; i < facts->process_count; i++)
		if (facts->processes[i].told || facts->processes[i].has_library)
			return AC_DOCTOR_NOTHING;
	ac_text_add(d->text, "the program ended without exit() and so fast "
	    "that nothing is known about it");
	ac_quotef(d->fix, "%s doctor --pid $(pgrep -n -f %s)", facts->autocast,
	    facts->program);
	return AC_DOCTOR_PROBLEM;
}

/* ---- Calls go past it -------------------------------------------------- */

/* Known to go wrong when nothing arrives; else only a possibility. */
static enum ac_doctor_mark
mark_unless_reached(const struct ac_diagnosis *diagnosis)
{
	return diagnosis->was_reached ? AC_DOCTOR_NOTE : AC_DOCTOR_PROBLEM;
}

/* With `library` before ours. */
static void
add_process_run(struct ac_text *fix, const struct ac_doctor_facts *facts,
    const struct ac_doctor_process *process, const char *library)
{
	ac_quotef(fix, "LD_PRELOAD=%s %s run -- ", library, facts->autocast);
	ac_text_add(fix, process->command ? process->command : "PROGRAM");
}

enum ac_doctor_mark
ac_find_foreign_dlsym(const struct ac_diagnosis *d)
{
	const struct ac_doctor_process *process =
	    ac_diagnosis_process(d, AC_HAS_FOREIGN_DLSYM);

	if (!process)
		return AC_DOCTOR_NOTHING;
	ac_text_add_cleanf(d->text, "%s comes before libautocast.so and has a "
	    "dlsym() of its own: functions that are looked up there pass us "
	    "by; put libautocast.so first", process->dlsym_before);
	add_process_run(d->fix, d->facts, process, process->dlsym_before);
	return mark_unless_reached(d);
}

enum ac_doctor_mark
ac_find_namespace(const struct ac_diagnosis *d)
{
	const struct ac_doctor_process *process =
	    ac_diagnosis_process(d, AC_HAS_HIDDEN);
	const char *hidden;

	if (!process)
		return AC_DOCTOR_NOTHING;
	hidden = ac_doctor_hidden(process);
	ac_text_add_cleanf(d->text, "%s was opened by dlmopen() into a "
	    "namespace of its own, where no preloaded library reaches; open "
	    "it with dlopen()", hidden ? hidden : "something");
	ac_text_add(d->fix, "grep -rn dlmopen .");
	return hidden ? AC_DOCTOR_PROBLEM : mark_unless_reached(d);
}

enum ac_doctor_mark
ac_find_deepbind(const struct ac_diagnosis *d)
{
	const struct ac_doctor_process *process =
	    ac_diagnosis_process(d, AC_HAS_DEEPBIND);

	if (!process)
		return AC_DOCTOR_NOTHING;
	ac_text_add_cleanf(d->text, "%s made %s with RTLD_DEEPBIND: such a "
	    "library calls cuBLAS past us, unless 'set deepbind=on' takes the "
	    "flag away", name_of(process), AC_COUNT(process->deepbind,
	    "dlopen() call"));
	ac_doctor_add_run(d->fix, d->facts, "-e 'set deepbind=on'");
	return mark_unless_reached(d);
}

enum ac_doctor_mark
ac_find_slots(const struct ac_diagnosis *d)
{
	const struct ac_doctor_process *process =
	    ac_diagnosis_process(d, AC_HAS_LEFT);

	if (!process)
		return AC_DOCTOR_NOTHING;
	ac_text_add_cleanf(d->text, "%s looked up %s of more NVIDIA libraries "
	    "than we follow at once; their calls pass us by",
	    name_of(process), AC_COUNT(process->left, "function"));
	ac_quotef(d->fix, "%s report", d->facts->autocast);
	return AC_DOCTOR_PROBLEM;
}

enum ac_doctor_mark
ac_find_interposer(const struct ac_diagnosis *d)
{
	const struct ac_doctor_process *process =
	    ac_diagnosis_process(d, AC_HAS_INTERPOSER);
	const char *path;

	if (!process)
		return AC_DOCTOR_NOTHING;
	path = process->before ? process->before : process->after;
	ac_text_add_cleanf(d->text, "%s takes over the same functions, %s us",
	    path, process->before ? "before" : "after");
	if (d->was_reached || !process->before) {
		ac_text_add(d->text, "; both run");
		return AC_DOCTOR_NOTE;
	}
	ac_text_add(d->text, ", and passes nothing on");
	add_process_run(d->fix, d->facts, process, path);
	return AC_DOCTOR_PROBLEM;
}
