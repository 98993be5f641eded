/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/preflight.c -- asks the loader what it would load for a program on
 * the emulated GPU, before anything starts, and says what is not there. */
#include "cmd/run/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	NAMES_SHOWN = 5,
	ANSWER_BYTES = 1 << 20,
	PATIENCE = 10           /* s, with a loader that does not answer */
};

struct preflight {
	const char *emulator;
	size_t      missing;    /* names so far */
	size_t      machine_code; /* files without PTX */
	bool        linked;     /* one of them by nvcc -rdc=true */
};

static bool
begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* The dynamic loader as ldd asks it: it lists what it loads and binds every
 * name, and does not start the program. */
static void
become_loader(const struct ac_program *program, const char *emulator, int out)
{
	char *const arguments[] = { (char *)(uintptr_t)program->image, NULL };
	static const struct ac_launch plain = { .plain = true };
	const struct ac_child child = {
		.launch = &plain, .program = program, .emulator = emulator
	};
	const int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	if (!ac_child_prepare(&child))
		_exit(AC_EXIT_FAILED);
	setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
	setenv("LD_WARN", "yes", 1);
	setenv("LD_BIND_NOW", "1", 1);
	execv(program->image, arguments);
	_exit(AC_EXIT_FAILED);
}

/* All that it says; what it says too late does not count. */
static void
read_answer(int fd, pid_t pid, struct ac_text *answer)
{
	const double end = ac_say_clock() + PATIENCE;
	char bytes[4096];
	ssize_t got = 1;

	while (got > 0) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		const double left = end - ac_say_clock();
		const int asked = poll(&ready, 1, left > 0 ? (int)(1e3 * left)
		    : 0);

		if (asked < 0 && errno == EINTR)
			continue;
		if (asked <= 0) {
			kill(pid, SIGKILL);
			break;
		}
		got = read(fd, bytes, sizeof bytes);
		if (got > 0)
			ac_text_add_bytes(answer, bytes, (size_t)got);
	}
}

static void
ask(const struct ac_program *program, const char *emulator,
    struct ac_text *answer)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid)
		become_loader(program, emulator, ends[1]);
	close(ends[1]);
	if (pid > 0) {
		read_answer(ends[0], pid, answer);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
}

/* ---- What it says ------------------------------------------------------ */

/* "undefined symbol: NAME, version NODE\t(FILE)"; the node may be missing. */
static void
say_name(struct preflight *flight, const char *name)
{
	const size_t length = strcspn(name, ", \t");
	const char *file = strchr(name, '(');

	if (!begins(name, "cu") && !begins(name, "__cuda"))
		return;
	if (flight->missing++ < NAMES_SHOWN)
		ac_say(0, "%.*s, which %.*s needs, is not in the emulated "
		    "GPU's libraries", (int)length, name,
		    file ? (int)strcspn(file + 1, ")") : 3,
		    file ? file + 1 : "it");
}

/* Libraries of NVIDIA's that compute on the device by themselves. */
static bool
is_not_emulated(const char *library)
{
	static const char *const names[] = {
		"libcusparse", "libcusolver", "libcurand", "libcufft",
		"libnccl", "libnpp", "libcutensor", "libnvjpeg", "libcudss"
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (begins(library, names[i]))
			return strstr(library, ".so") != NULL;
	return false;
}

/* What is inside `path`, the program or a library of its own. */
static void
say_facts(struct preflight *flight, const char *path,
    const struct ac_elf_facts *facts)
{
	if (facts->has_static_cudart)
		ac_say(0, "%s has the CUDA runtime linked in, which the "
		    "emulated GPU cannot replace", path);
	if (!facts->has_machine_code || facts->has_ptx)
		return;
	flight->machine_code++;
	flight->linked |= facts->is_linked_device_code;
	ac_say(0, "%s has kernels as machine code only; the emulated GPU runs "
	    "PTX", path);
}

/* "LIBRARY => PATH (0x...)" or "LIBRARY => not found". */
static void
say_library(struct preflight *flight, char *library, char *path)
{
	struct ac_elf_facts facts;

	path[strcspn(path, " \t")] = '\0';
	if (is_not_emulated(library))
		ac_say(0, "%s, which the program needs, has no emulated "
		    "stand-in: its calls fail without a GPU", library);
	else if (*path == '/' && !begins(path, flight->emulator) &&
	    ac_elf_inspect(path, &facts))
		say_facts(flight, path, &facts);
}

void
ac_preflight(const struct ac_program *program, const char *emulator)
{
	static const char undefined[] = "undefined symbol: ";
	struct preflight flight = { .emulator = emulator };
	struct ac_text answer = ac_say_buffer(ANSWER_BYTES);
	char *rest = answer.data, *line;

	say_facts(&flight, program->path, &program->facts);
	ask(program, emulator, &answer);
	while ((line = strsep(&rest, "\n"))) {
		char *name = strstr(line, undefined), *arrow;

		line += strspn(line, " \t");
		arrow = strstr(line, " => ");
		if (name) {
			say_name(&flight, name + sizeof undefined - 1);
		} else if (arrow) {
			*arrow = '\0';
			say_library(&flight, line, arrow + 4);
		}
	}
	if (flight.missing > NAMES_SHOWN)
		ac_say(0, "and %zu more names", flight.missing - NAMES_SHOWN);
	if (flight.machine_code)
		ac_say(0, "build with -arch=sm_80, or add -gencode "
		    "arch=compute_80,code=compute_80: both keep the PTX%s",
		    flight.linked ? ", without -rdc=true" : "");
	free(answer.data);
}
