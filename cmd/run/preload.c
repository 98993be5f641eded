/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/preload.c -- the environment of the child: LD_PRELOAD in the one
 * order that works, LD_LIBRARY_PATH, and the AUTOCAST_* variables.
 *
 * Order: sanitizer runtimes (they refuse to start when not first), then
 * libautocast.so, then the emulated libraries where a DT_RPATH would hide
 * them from LD_LIBRARY_PATH (before libautocast.so they would bypass it), then
 * what the user preloads. */
#include "cmd/run/launch.h"
#include "base/env.h"
#include "report/read/read.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LIST_BYTES = 1 << 16 };

/* ---- Lists ------------------------------------------------------------- */

static void
add(struct ac_text *list, const char *entry, size_t length)
{
	if (list->used)
		ac_text_add(list, ":");
	ac_text_add_bytes(list, entry, length);
}

static bool
is_sanitizer(const char *entry, size_t length)
{
	static const char *const names[] = {
		"libasan.", "libtsan.", "libubsan.", "liblsan.", "libclang_rt."
	};
	const char *slash = memrchr(entry, '/', length);
	const char *base = slash ? slash + 1 : entry;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if ((size_t)(entry + length - base) > strlen(names[i]) &&
		    !strncmp(base, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool
is_ours(const char *entry, size_t length)
{
	static const char name[] = "libautocast.so";
	const size_t own = sizeof name - 1;

	return length >= own && !strncmp(entry + length - own, name, own) &&
	    (length == own || entry[length - own - 1] == '/');
}

/* The user's entries that are (or are not) sanitizers, without ourselves. */
static void
add_existing(struct ac_text *list, bool sanitizers)
{
	const char *entry = ac_env(AC_ENV_LD_PRELOAD);

	while (*entry) {
		const size_t length = strcspn(entry, ": ");

		if (length && !is_ours(entry, length) &&
		    is_sanitizer(entry, length) == sanitizers)
			add(list, entry, length);
		entry += length + (entry[length] != '\0');
	}
}

/* The loader finds them by their SONAMEs, whatever order they come in. */
static void
add_emulated(struct ac_text *list, const char *directory)
{
	DIR *stream = opendir(directory);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		if (strncmp(entry->d_name, "libcu", 5) ||
		    !strstr(entry->d_name, ".so."))
			continue;
		add(list, directory, strlen(directory));
		ac_text_addf(list, "/%s", entry->d_name);
	}
	if (stream)
		closedir(stream);
}

/* LD_PRELOAD has no way to quote a separator. */
static bool
can_be_listed(const char *path)
{
	if (!strpbrk(path, ": \t\n"))
		return true;
	ac_say(0, "cannot preload %s: its path holds a space or a colon; "
	    "install autocast elsewhere", path);
	return false;
}

static void
set_preload(const struct ac_child *child)
{
	const struct ac_elf_facts *facts = &child->program->facts;
	struct ac_text list = ac_say_buffer(LIST_BYTES);

	add_existing(&list, true);
	if (*facts->sanitizer && !strstr(list.data, facts->sanitizer))
		add(&list, facts->sanitizer, strlen(facts->sanitizer));
	if (child->library)
		add(&list, child->library, strlen(child->library));
	if (child->emulator && facts->has_rpath)
		add_emulated(&list, child->emulator);
	add_existing(&list, false);
	if (list.used)
		setenv("LD_PRELOAD", list.data, 1);
	else
		unsetenv("LD_PRELOAD");
	free(list.data);
}

/* ---- NVIDIA's other libraries, as pip brings them ---------------------- */

/* On a GPU's machine they are found next to NVIDIA's cuBLAS; the emulated one
 * lies elsewhere. CUDA 12 has a folder for each, CUDA 13 one for all. */
static const char *const packages[] = {
	"cusolver", "cusparse", "nvjitlink", "cu13"
};

static void
add_site(struct ac_text *list, const char *from, const char *below,
    const char *python, const char *site)
{
	char path[2 * PATH_MAX], real[PATH_MAX];

	for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
		struct ac_text t = AC_TEXT_IN(path);

		ac_text_addf(&t, "%s/%s/%s/%s-packages/nvidia/%s/lib", from,
		    below, python, site, packages[i]);
		if (!t.truncated && realpath(path, real) &&
		    !strchr(real, ':'))
			ac_text_addf(list, ":%s", real);
	}
}

static void
add_beside(struct ac_text *list, const struct ac_program *program)
{
	char bin[PATH_MAX], real[PATH_MAX];
	const char *home = ac_env(AC_ENV_HOME), *python;
	char *slash;

	if (!realpath(program->image, real))
		return;
	python = strrchr(real, '/') + 1;
	if (strncmp(python, "python3.", 8))
		return;
	/* A virtual environment has its own folder, and a link to Python. */
	strcpy(bin, program->image);
	slash = strrchr(bin, '/');
	if (!slash)
		return;
	*slash = '\0';
	add_site(list, bin, "../lib", python, "site");
	add_site(list, bin, "../local/lib", python, "dist");
	if (*home == '/')
		add_site(list, home, ".local/lib", python, "site");
}

static void
set_library_path(const struct ac_child *child)
{
	const char *existing = ac_env(AC_ENV_LD_LIBRARY_PATH);
	struct ac_text list = ac_say_buffer(LIST_BYTES);

	ac_text_add(&list, child->emulator);
	if (*existing)
		ac_text_addf(&list, ":%s", existing);
	add_beside(&list, child->program);
	setenv("LD_LIBRARY_PATH", list.data, 1);
	free(list.data);
}

static void
set(enum ac_env_name name, const char *value)
{
	if (value)
		setenv(ac_env_rows[name].variable, value, 1);
}

bool
ac_child_prepare(const struct ac_child *child)
{
	const struct ac_launch *launch = child->launch;

	if ((child->library && !can_be_listed(child->library)) ||
	    (child->emulator && !can_be_listed(child->emulator)))
		return false;
	set_preload(child);
	if (child->emulator)
		set_library_path(child);
	set(AC_ENV_EMU_MODEL, launch->model);
	if (child->emulator && !ac_env_is_set(AC_ENV_EMU_CLOCK))
		set(AC_ENV_EMU_CLOCK, "model");
	if (!child->library)
		return true;
	set(AC_ENV_POLICY, child->policy);
	set(AC_ENV_RULES, launch->chosen.rules.data);
	set(AC_ENV_STATE, *launch->state ? launch->state : NULL);
	set(AC_ENV_RUN, launch->run);
	set(AC_ENV_FACTS, launch->facts);
	return true;
}

/* ---- What the emulated GPU refuses ------------------------------------- */

enum { REFUSED_MOST = 1 << 16 };

static int refused = -1;

int
ac_child_open_notes(enum ac_env_name name)
{
	const int fd = memfd_create("autocast", MFD_CLOEXEC);
	struct ac_text text = AC_TEXT_OF(64);

	ac_text_addf(&text, "/proc/%d/fd/%d", (int)getpid(), fd);
	if (fd >= 0)
		set(name, text.data);
	return fd;
}

void
ac_child_note_refusals(void)
{
	if (refused >= 0)
		close(refused);
	refused = ac_child_open_notes(AC_ENV_EMU_REFUSED);
}

bool
ac_child_add_refusal(struct ac_text *text, unsigned n)
{
	static char lines[REFUSED_MOST];
	const ssize_t got = refused < 0 ? 0
	    : pread(refused, lines, sizeof lines - 1, 0);
	char *rest = lines, *line = NULL;

	lines[got > 0 ? got : 0] = '\0';
	for (unsigned i = 0; i <= n; i++)
		line = strsep(&rest, "\n");
	if (!rest) /* the last one is not whole */
		return false;
	ac_text_add_clean(text, line);
	return true;
}
