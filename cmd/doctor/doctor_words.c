/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_words.c -- what names say: a library's and a function's
 * vendor; the first process of a kind; commands to be copied into a shell.
 * Pure. */
#include "cmd/doctor/doctor.h"

#include <string.h>

const char *const ac_vendor_names[AC_VENDORS] = {
	"libcublas", "libcublasLt", "libcudnn", "libcusolver"
};

int
ac_vendor_of_file(const char *name)
{
	for (int v = 0; v < AC_VENDORS; v++) {
		const size_t length = strlen(ac_vendor_names[v]);

		if (!strncmp(name, ac_vendor_names[v], length) &&
		    !strncmp(name + length, ".so", 3))
			return v;
	}
	return -1;
}

int
ac_vendor_of_symbol(const char *symbol)
{
	static const struct {
		const char *prefix;
		enum ac_vendor vendor;
	} rows[] = {
		{ "cublasLt", AC_VENDOR_CUBLASLT },
		{ "cublas", AC_VENDOR_CUBLAS },
		{ "cudnn", AC_VENDOR_CUDNN },
		{ "cusolver", AC_VENDOR_CUSOLVER },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strncmp(symbol, rows[i].prefix, strlen(rows[i].prefix)))
			return (int)rows[i].vendor;
	return -1;
}

bool
ac_doctor_has_vendor(const struct ac_doctor_process *process)
{
	for (int v = 0; v < AC_VENDORS; v++)
		if (process->loaded[v] || process->hidden[v])
			return true;
	return false;
}

const char *
ac_doctor_hidden(const struct ac_doctor_process *process)
{
	for (int v = 0; v < AC_VENDORS; v++)
		if (process->hidden[v])
			return process->hidden[v];
	return NULL;
}

static bool
has(const struct ac_doctor_process *p, enum ac_trait trait)
{
	const bool has_vendor = ac_doctor_has_vendor(p);
	const bool lacks = p->seen && p->has_libc && !p->has_library;
	const bool traits[AC_TRAITS] = {
		[AC_LACKS_LIBRARY] = lacks,
		[AC_LACKS_IT_BADLY] = lacks && has_vendor,
		[AC_HAS_FOREIGN_DLSYM] = p->dlsym_before && has_vendor,
		[AC_HAS_HIDDEN] = ac_doctor_hidden(p)
		    || (p->has_namespaces && has_vendor),
		[AC_HAS_DEEPBIND] = p->deepbind && !p->stripped && has_vendor,
		[AC_HAS_LEFT] = p->left != 0,
		[AC_HAS_INTERPOSER] = p->before || p->after,
		[AC_HAS_INSIDE] = p->inside != NULL,
		[AC_HAS_RUNTIME] = p->runtime != NULL,
		[AC_HAS_RPATH] = p->has_rpath,
	};

	return traits[trait];
}

const struct ac_doctor_process *
ac_diagnosis_process(const struct ac_diagnosis *diagnosis, enum ac_trait trait)
{
	for (size_t i = 0; i < diagnosis->facts->process_count; i++)
		if (has(&diagnosis->facts->processes[i], trait))
			return &diagnosis->facts->processes[i];
	return NULL;
}

/* ---- Commands ----------------------------------------------------------- */

static const struct ac_doctor_process *
process_of(const struct ac_doctor_facts *facts)
{
	for (size_t i = 0; i < facts->process_count; i++)
		if (facts->processes[i].pid == facts->pid)
			return &facts->processes[i];
	return NULL;
}

void
ac_doctor_add_program(struct ac_text *text, const struct ac_doctor_facts *facts)
{
	const struct ac_doctor_process *process = process_of(facts);

	if (!facts->arguments) {
		ac_text_add(text, process && process->command
		    ? process->command : "PROGRAM");
		return;
	}
	ac_quote(text, *facts->arguments);
	ac_quote_all(text, facts->arguments + 1);
}

void
ac_doctor_add_run(struct ac_text *fix, const struct ac_doctor_facts *facts,
    const char *extra)
{
	const bool is_rule = strstr(extra, "->") != NULL;
	struct ac_launch launch = *facts->launch;

	if (strstr(extra, "--policy"))
		launch.chosen.policy = NULL;
	ac_quotef(fix, "%s run", facts->autocast);
	if (is_rule) /* of those the first one decides */
		ac_text_addf(fix, " %s", extra);
	ac_launch_add_options(fix, &launch);
	if (!is_rule && *extra)
		ac_text_addf(fix, " %s", extra);
	ac_text_add(fix, " -- ");
	ac_doctor_add_program(fix, facts);
}
