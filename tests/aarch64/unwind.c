/* SPDX-License-Identifier: Apache-2.0 */
/* tests/aarch64/unwind.c -- preloaded before the library, which asks the loader
 * for its objects: walks the stack from there, through the library's frames,
 * and says which of the program's functions it came to first. */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

struct walk {
	const char *program;  /* the function of it */
	int ours;             /* frames of the library */
	int ended;            /* at the program's start */
};

static _Unwind_Reason_Code
step(struct _Unwind_Context *context, void *data)
{
	const uintptr_t at = _Unwind_GetIP(context) - 1;
	struct walk *walk = data;
	Dl_info where;

	if (!dladdr((void *)at, &where) || !where.dli_fname)
		return _URC_NO_REASON;
	if (strstr(where.dli_fname, "libautocast"))
		walk->ours++;
	if (where.dli_sname && !strcmp(where.dli_sname, "_start"))
		walk->ended = 1;
	if (!walk->program && strstr(where.dli_fname, "/registers"))
		walk->program = where.dli_sname ? where.dli_sname : "unnamed";
	return _URC_NO_REASON;
}

int
dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data)
{
	static int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	static int inside;
	struct walk walk = { 0 };

	if (!real)
		real = (__typeof__(real))(uintptr_t)dlsym(RTLD_NEXT,
		    "dl_iterate_phdr");
	if (!inside) {
		inside = 1;
		_Unwind_Backtrace(step, &walk);
		if (walk.ours)
			dprintf(1, "%s%s\n", walk.program ? walk.program
			    : "nowhere", walk.ended ? "" : ", lost");
		inside = 0;
	}
	return real(visit, data);
}
