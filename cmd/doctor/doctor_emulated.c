/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_emulated.c -- causes that lie in the emulated GPU: what is
 * not replaced by it, and what it refused. Pure. */
#include "cmd/doctor/doctor.h"

#include <string.h>

/* The same command on a GPU, if this machine has one. */
static void
add_real(struct ac_text *fix, const struct ac_doctor_facts *facts)
{
	ac_quotef(fix, "%s doctor -- ", facts->autocast);
	ac_doctor_add_program(fix, facts);
}

enum ac_doctor_mark
ac_find_static_runtime(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;
	const struct ac_doctor_process *process =
	    ac_diagnosis_process(d, AC_HAS_RUNTIME);
	const char *path = facts->file && facts->file->facts.has_static_cudart
	    ? facts->file->image : process ? process->runtime : NULL;

	if (!facts->launch->emulate || !path)
		return AC_DOCTOR_NOTHING;
	ac_text_add_cleanf(d->text, "%s has the CUDA runtime linked in, which "
	    "the emulated GPU cannot replace", path);
	if (d->was_reached)
		return AC_DOCTOR_NOTE;
	if (ac_doctor_is_program(facts, path)) {
		ac_doctor_add_rebuild(d->fix, facts, path);
		return AC_DOCTOR_PROBLEM;
	}
	ac_text_add(d->text, ": what uses it does not run there; on a real GPU "
	    "it does no harm");
	add_real(d->fix, facts);
	return AC_DOCTOR_PROBLEM;
}

enum ac_doctor_mark
ac_find_refused(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;

	if (!facts->refused)
		return AC_DOCTOR_NOTHING;
	ac_text_add_cleanf(d->text, "the emulated GPU refused %s",
	    facts->refused);
	if (d->was_reached || d->has_problem)
		return AC_DOCTOR_NOTE;
	ac_text_add(d->text, "; the program then made no product, which on a "
	    "real GPU it may");
	add_real(d->fix, facts);
	return AC_DOCTOR_PROBLEM;
}

/* Preloaded, they come before any DT_RPATH; `run` keeps them behind us. Of
 * the same CUDA as the library `loaded`. */
static void
add_emulated(struct ac_text *fix, const char *emulator, const char *loaded)
{
	static const char *const names[] = { "libcudart", "libcublas" };
	const char *major = strstr(basename(loaded), ".so.");
	struct ac_text t = AC_TEXT_OF(PATH_MAX);

	ac_text_addf(&t, "%s/libcuda.so.1", emulator);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		ac_text_addf(&t, ":%s/%s.so.", emulator, names[i]);
		if (major)
			ac_text_add_bytes(&t, major + 4,
			    strspn(major + 4, "0123456789"));
	}
	ac_quotef(fix, "LD_PRELOAD=%s ", t.data);
}

/* A DT_RPATH somewhere goes before LD_LIBRARY_PATH. */
enum ac_doctor_mark
ac_find_emulator_hidden(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;
	const char *emulator = facts->launch->emulate ? facts->emulator : NULL;
	const char *loaded = NULL;

	for (size_t i = 0; emulator && i < facts->process_count; i++) {
		const char *path =
		    facts->processes[i].loaded[AC_VENDOR_CUBLAS];

		if (path && strncmp(path, emulator, strlen(emulator)))
			loaded = path;
	}
	if (!loaded)
		return AC_DOCTOR_NOTHING;
	ac_text_add_cleanf(d->text, "%s was loaded in spite of --emulate: ",
	    loaded);
	if (!ac_diagnosis_process(d, AC_HAS_RPATH)) {
		ac_text_add(d->text, "the program opens it by its path, in "
		    "whose place nothing can be put; a real GPU needs nothing");
		add_real(d->fix, facts);
		return AC_DOCTOR_PROBLEM;
	}
	ac_text_add(d->text, "the DT_RPATH of a library that needs it goes "
	    "before LD_LIBRARY_PATH");
	add_emulated(d->fix, emulator, loaded);
	ac_doctor_add_run(d->fix, facts, "");
	return AC_DOCTOR_PROBLEM;
}
