/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_program.c -- causes that lie in the program: what kind of
 * file it is, what it loads, how it ended. Pure. */
#include "cmd/doctor/doctor.h"

#include <string.h>
#include <sys/wait.h>

/* What helps to see why a program cannot be found or run. */
static void
add_search(struct ac_text *fix, const struct ac_doctor_facts *facts)
{
	const char *program = facts->program;
	const bool is_itself = !strncmp(facts->why, program, strlen(program));

	if (strstr(facts->why, "did you mean './")) {
		ac_quotef(fix, "%s doctor -- ./", facts->autocast);
		ac_doctor_add_program(fix, facts);
		return;
	}
	if (!is_itself)         /* but its interpreter */
		ac_text_add(fix, "head -n 1 ");
	else if (strstr(facts->why, "chmod +x"))
		ac_text_add(fix, "chmod +x ");
	else if (facts->obstacle == AC_OBSTACLE_CANNOT_RUN)
		ac_text_add(fix, "file ");
	else if (!strchr(program, '/'))
		ac_text_add(fix, "type -a ");
	else
		ac_text_add(fix, "find . -name ");
	ac_quote(fix, is_itself && facts->obstacle ==
	    AC_OBSTACLE_NOT_FOUND ? basename(program) : program);
}

enum ac_doctor_mark
ac_find_not_runnable(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;

	if (facts->obstacle != AC_OBSTACLE_NOT_FOUND &&
	    facts->obstacle != AC_OBSTACLE_CANNOT_RUN)
		return AC_DOCTOR_NOTHING;
	ac_text_add(d->text, facts->why);
	if (facts->program) {
		add_search(d->fix, facts);
	} else if (facts->obstacle == AC_OBSTACLE_NOT_FOUND) {
		ac_text_add(d->fix, "ps -e -o pid,user,args");
	} else if (facts->is_root) {
		ac_text_addf(d->fix, "grep Cap /proc/%d/status "
		    "/proc/self/status", (int)facts->pid);
	} else {
		ac_quotef(d->fix, "sudo %s doctor --pid ", facts->autocast);
		ac_text_addf(d->fix, "%d", (int)facts->pid);
	}
	return AC_DOCTOR_PROBLEM;
}

void
ac_doctor_add_copy(struct ac_text *fix, const struct ac_doctor_facts *facts,
    const char *image)
{
	ac_quotef(fix, "cp %s ./copy && %s run -- ./copy", image,
	    facts->autocast);
	if (facts->arguments)
		ac_quote_all(fix, facts->arguments + 1);
}

enum ac_doctor_mark
ac_find_rights(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;

	if (facts->obstacle != AC_OBSTACLE_RIGHTS)
		return AC_DOCTOR_NOTHING;
	ac_text_add(d->text, facts->why);
	ac_doctor_add_copy(d->fix, facts, facts->file->image);
	return AC_DOCTOR_PROBLEM;
}

enum ac_doctor_mark
ac_find_foreign(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;

	if (facts->obstacle != AC_OBSTACLE_MACHINE &&
	    facts->obstacle != AC_OBSTACLE_MUSL)
		return AC_DOCTOR_NOTHING;
	ac_text_add(d->text, facts->why);
	ac_quotef(d->fix, "file %s", facts->file->image);
	return AC_DOCTOR_PROBLEM;
}

bool
ac_doctor_is_program(const struct ac_doctor_facts *facts, const char *path)
{
	if (facts->file && !strcmp(path, facts->file->image))
		return true;
	for (size_t i = 0; facts->file && i < facts->process_count; i++)
		if (facts->processes[i].pid == facts->pid &&
		    facts->processes[i].exe &&
		    !strcmp(path, facts->processes[i].exe))
			return true;
	return false;
}

void
ac_doctor_add_rebuild(struct ac_text *fix, const struct ac_doctor_facts *facts,
    const char *path)
{
	if (ac_doctor_is_program(facts, path))
		ac_quotef(fix, "nvcc -cudart shared -o %s *.cu -lcublas "
		    "-lcublasLt", basename(path));
	else
		ac_quotef(fix, "readelf -d %s", path);
}

enum ac_doctor_mark
ac_find_static_cublas(const struct ac_diagnosis *d)
{
	const struct ac_doctor_process *process =
	    ac_diagnosis_process(d, AC_HAS_INSIDE);
	const struct ac_program *file = d->facts->file;
	const char *path = process ? process->inside
	    : file && file->facts.has_static_cublas ? file->image : NULL;

	if (!path)
		return AC_DOCTOR_NOTHING;
	ac_text_add_clean(d->text, path);
	/* TensorFlow opens cuBLAS when the first of them is called. */
	if (process && process->may_pass_on) {
		ac_text_add(d->text, " defines cuBLAS's functions itself: "
		    "calls that it does not pass on are not seen");
		if (d->was_reached)
			return AC_DOCTOR_NOTE;
	} else {
		ac_text_add(d->text, " has cuBLAS linked in: its calls stay "
		    "inside and nothing can take them over; link it with the "
		    "shared libraries");
	}
	ac_doctor_add_rebuild(d->fix, d->facts, path);
	return AC_DOCTOR_PROBLEM;
}

enum ac_doctor_mark
ac_find_static(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;

	if (facts->obstacle != AC_OBSTACLE_STATIC)
		return AC_DOCTOR_NOTHING;
	if (!d->has_vendor) {
		ac_text_add(d->text, facts->why);
		ac_doctor_add_rebuild(d->fix, facts, facts->file->image);
		return AC_DOCTOR_PROBLEM;
	}
	ac_text_add_cleanf(d->text, "%s is statically linked, but what it "
	    "starts is not: 'autocast run' refuses it, so set LD_PRELOAD "
	    "yourself", facts->file->image);
	ac_quotef(d->fix, "LD_PRELOAD=$(%s policy where --library) ",
	    facts->autocast);
	ac_doctor_add_program(d->fix, facts);
	return AC_DOCTOR_NOTE;
}

/* ---- What it did ------------------------------------------------------- */

/* In words, how the program ended; "" if that was as it should be. */
static void
add_end(struct ac_text *text, const struct ac_doctor_facts *facts)
{
	if (!facts->was_run)
		return;
	if (WIFSIGNALED(facts->wait_status))
		ac_text_addf(text, "the program was ended by signal %d (%s)",
		    WTERMSIG(facts->wait_status),
		    strsignal(WTERMSIG(facts->wait_status)));
	else if (WEXITSTATUS(facts->wait_status))
		ac_text_addf(text, "the program ended with status %d",
		    WEXITSTATUS(facts->wait_status));
}

enum ac_doctor_mark
ac_find_failed(const struct ac_diagnosis *d)
{
	add_end(d->text, d->facts);
	if (!d->text->used)
		return AC_DOCTOR_NOTHING;
	ac_text_add(d->text, d->was_reached ? "; what it did until then "
	    "counts" : "; it may not have come as far as its first product");
	return AC_DOCTOR_NOTE;
}

/* The loader ends a program with this status before it begins. */
enum { LOADER_FAILED = 127 };

enum ac_doctor_mark
ac_find_no_library(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;

	if (!facts->was_run || !facts->file || d->has_problem ||
	    WIFSIGNALED(facts->wait_status) ||
	    WEXITSTATUS(facts->wait_status) != LOADER_FAILED)
		return AC_DOCTOR_NOTHING;
	for (size_t i = 0; i < facts->process_count; i++)
		if (facts->processes[i].told)
			return AC_DOCTOR_NOTHING;
	ac_text_add(d->text, "the loader ended the program before it began: a "
	    "library or a function that it needs is missing");
	if (facts->launch->emulate)
		ac_quotef(d->fix, "%s run --emulate ", facts->autocast);
	ac_quotef(d->fix, "ldd -r %s 2>&1 | grep -e 'not found' -e undefined",
	    facts->file->image);
	return AC_DOCTOR_PROBLEM;
}

enum ac_doctor_mark
ac_find_no_driver(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;

	if (!facts->lacks_driver || !d->has_vendor ||
	    d->was_reached || d->has_problem)
		return AC_DOCTOR_NOTHING;
	ac_text_add(d->text, "there is no NVIDIA driver on this machine "
	    "(libcuda.so.1 cannot be loaded), so that cuBLAS cannot begin");
	if (facts->emulator)
		ac_doctor_add_run(d->fix, facts, "--emulate");
	else
		ac_text_add(d->fix, "nvidia-smi");
	return AC_DOCTOR_PROBLEM;
}

enum ac_doctor_mark
ac_find_nothing_loaded(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;

	if (d->has_vendor || d->was_reached
	    || d->has_problem)
		return AC_DOCTOR_NOTHING;
	ac_text_addf(d->text, "neither cuBLAS nor cuDNN was loaded by %s: "
	    "there is nothing to recast", facts->process_count > 1
	    ? "any of its processes" : "the program");
	if (facts->file) {
		/* Of scripts ldd sees no more than the interpreter. */
		ac_text_add(d->fix, "LD_DEBUG=files ");
		ac_doctor_add_program(d->fix, facts);
		ac_text_add(d->fix, " 2>&1 | grep -e cublas -e cudnn");
	} else {
		ac_text_addf(d->fix, "grep -i -e cublas -e cudnn /proc/%d/maps",
		    (int)facts->pid);
	}
	return AC_DOCTOR_PROBLEM;
}
