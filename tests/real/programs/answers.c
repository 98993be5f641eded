/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/answers.c -- what every function of the catalogue
 * answers to a handle that is none: answers WAY, that is linked, or looked up
 * in a handle, by version, by default, or in the program's own handle. One line
 * per call: status, or the signal it ends in, and which arguments were written
 * to. Needs no GPU: no handle can be had without one. The calls run in a child,
 * which is replaced when one of them crashes.
 * rows.inc is made by tests/real/rows.py. */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARAMETERS = 32, BLOCK = 64 << 10, VOID = -1 };

struct input {
	int number;
	void *pointer[PARAMETERS];
};
struct row {
	const char *name, *soname;
	int (*call)(void *fn, void *handle, const struct input *in);
	int has_handle;
};
#include "rows.inc"

enum { ROWS = sizeof rows / sizeof *rows };

/* What is shared with the child: how far it is. */
static volatile struct {
	int at;
} *progress;

/* A handle, then one block for each parameter. */
static char *arena;

static const struct {
	const char *name;
	int fill; /* -1: a null pointer */
} handles[] = { { "null", -1 }, { "zeros", 0 }, { "0x5a", 0x5a } };
enum { HANDLES = sizeof handles / sizeof *handles, INPUTS = 2 };

/* NULL: call the linked one. */
static void *
function(const char *way, const struct row *row)
{
	void *library = dlopen(!strcmp(way, "own") ? NULL : row->soname,
	    RTLD_LAZY | RTLD_LOCAL);

	if (!strcmp(way, "linked"))
		return NULL;
	if (!strcmp(way, "default"))
		return dlsym(RTLD_DEFAULT, row->name);
	if (!strcmp(way, "version"))
		return dlvsym(library, row->name, row->soname);
	return dlsym(library, row->name);
}

static void
print_last_error(const struct row *row)
{
	void (*last)(char *, size_t);
	char text[512] = "";
	void *found;

	if (strncmp(row->soname, "libcudnn", 8))
		return;
	found = dlsym(RTLD_DEFAULT, "cudnnGetLastErrorString");
	memcpy(&last, &found, sizeof last);
	if (last)
		last(text, sizeof text);
	printf(" last='%s'", text);
}

/* Which blocks no longer hold what they were filled with. */
static void
print_touched(const char *before)
{
	printf(" touched=");
	for (int i = 0; i <= PARAMETERS; i++)
		if (memcmp(arena + i * BLOCK, before + i * BLOCK, BLOCK))
			printf("%d,", i - 1);
}

static void
answer(const char *way, int at, char *before)
{
	const struct row *row = &rows[at / (HANDLES * INPUTS)];
	const int handle = at / INPUTS % HANDLES;
	const int nothing = at % INPUTS; /* null pointers, number -1 */
	struct input in = { .number = nothing ? -1 : 8 };
	void *fn;
	int status;

	if (!row->has_handle && handle)
		return;
	memset(arena, handles[handle].fill, BLOCK);
	memset(arena + BLOCK, 0, PARAMETERS * BLOCK);
	memcpy(before, arena, (PARAMETERS + 1) * BLOCK);
	for (int i = 0; i < PARAMETERS; i++)
		in.pointer[i] = nothing ? NULL : arena + (i + 1) * BLOCK;
	printf("%s %s handle=%s input=%s", row->name, way,
	    row->has_handle ? handles[handle].name : "none",
	    nothing ? "null" : "sound");
	fn = function(way, row);
	if (!fn && strcmp(way, "linked"))
		printf(" unfound");
	status = row->call(fn, handles[handle].fill < 0 ? NULL : arena, &in);
	if (status != VOID)
		printf(" status=%d", status);
	print_touched(before);
	print_last_error(row);
	printf("\n");
}

static int
run_from(const char *way, int first, char *before)
{
	const struct rlimit no_core = { 0, 0 };
	pid_t child;
	int status;

	fflush(stdout);
	progress->at = first;
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setrlimit(RLIMIT_CORE, &no_core);
		/* Lines must be out when a call crashes. */
		setvbuf(stdout, NULL, _IONBF, 0);
		for (int i = first; i < ROWS * HANDLES * INPUTS; i++) {
			progress->at = i;
			alarm(240);
			answer(way, i, before);
		}
		exit(EXIT_SUCCESS);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return ROWS * HANDLES * INPUTS;
	printf(WIFSIGNALED(status) ? " signal=%d\n" : " exit=%d\n",
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return progress->at + 1;
}

int
main(int argc, char **argv)
{
	const size_t bytes = (PARAMETERS + 1) * BLOCK;
	char *before = malloc(bytes);
	int next = 0;

	if (argc != 2 || !before) {
		fprintf(stderr,
		    "usage: answers linked|handle|version|default|own\n");
		return 2;
	}
	progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* Below 2^31: a pointer taken for a number is the same in each run. */
	arena = mmap((void *)0x20000000, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (progress == MAP_FAILED || arena == MAP_FAILED)
		return 99;
	while (next >= 0 && next < ROWS * HANDLES * INPUTS)
		next = run_from(argv[1], next, before);
	return next < 0;
}
