/* SPDX-License-Identifier: Apache-2.0 */
/* tests/aarch64/unwind.c -- preloaded before the library, which asks the loader
 * for its objects. From there it walks the stack, through the library's frames,
 * and says which of the program's functions it came to first; and it leaves
 * nothing in any register that a function may use as it likes. */
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

/* The C library's own code uses few of them. */
static void
spoil(void)
{
	__asm__ volatile(
	    "movi v0.16b, #0xee\n movi v1.16b, #0xee\n movi v2.16b, #0xee\n"
	    "movi v3.16b, #0xee\n movi v4.16b, #0xee\n movi v5.16b, #0xee\n"
	    "movi v6.16b, #0xee\n movi v7.16b, #0xee\n mov x0, #0xee\n"
	    "mov x1, x0\n mov x2, x0\n mov x3, x0\n mov x4, x0\n mov x5, x0\n"
	    "mov x6, x0\n mov x7, x0\n mov x8, x0\n"
	    ::: "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "x0", "x1",
	    "x2", "x3", "x4", "x5", "x6", "x7", "x8");
}

int
dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data)
{
	static int (*real)(int (*)(struct dl_phdr_info *, size_t, void *),
	    void *);
	static int inside;
	struct walk walk = { 0 };
	int result;

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
	result = real(visit, data);
	spoil();
	return result;
}
