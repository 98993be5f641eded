/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/module.c -- which file each calling module is, so that a reader
 * can look for the names of functions in it. */
#include "report/count/live.h"
#include "base/elf.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool
find_file(const char *path, struct ac_text *text)
{
	char name[AC_FILE_PATH];

	if (!*path) {
		ac_text_add(text, ac_elf_program());
	} else {
		if (*path != '/' && getcwd(name, sizeof name))
			ac_text_addf(text, "%s/", name);
		ac_text_add(text, path);
	}
	return *text->data == '/' && !text->truncated;
}

/* Nobody looks for names in a file that has changed since. */
static void
fill(struct ac_file_module *module, const char *name, const char *path)
{
	struct ac_text text = AC_TEXT_IN(module->path);
	struct stat status;

	AC_LIVE_PUT(module->name, name);
	/* glibc's stat is too new, the system call is not. */
	if (!find_file(path, &text) || syscall(SYS_newfstatat, AT_FDCWD,
	    module->path, &status, 0)) {
		*module->path = '\0';
		return;
	}
	module->bytes = (uint64_t)status.st_size;
	module->changed_s = (int64_t)status.st_mtim.tv_sec;
	module->changed_ns = (int64_t)status.st_mtim.tv_nsec;
}

/* Of two files of one name, a caller does not say which it is in. */
static void
check(struct ac_file_module *module, const char *name, const char *path)
{
	struct ac_file_module other;

	memset(&other, 0, sizeof other);
	fill(&other, name, path);
	if (strcmp(module->path, other.path))
		*module->path = '\0';
}

void
ac_report_module(const char *name, const char *path)
{
	const int saved = ac_live_enter();
	struct ac_file_header *header = &ac_live.front->header;
	const uint32_t count = atomic_load(&header->modules);
	uint32_t i = 0;

	while (i < count && strcmp(header->module[i].name, name))
		i++;
	if (i < count) {
		check(&header->module[i], name, path);
	} else if (i < AC_FILE_MODULES) {
		fill(&header->module[i], name, path);
		atomic_store_explicit(&header->modules, i + 1,
		    memory_order_release);
	}
	ac_live_leave(saved);
}
