/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/program.h -- finds the file of the program to run and says whether
 * the library can be preloaded into it. */
#ifndef AC_CMD_PROGRAM_H
#define AC_CMD_PROGRAM_H

#include "base/text.h"

#include <limits.h>
#include <stdbool.h>

/* What an ELF file says about how it is linked. */
struct ac_elf_facts {
	bool is_elf;
	bool is_native;          /* our class, byte order and machine */
	bool is_damaged;         /* ends within its own headers */
	bool is_dynamic;         /* asks for a loader: it can be preloaded */
	bool is_musl;            /* asks for a loader other than glibc's */
	bool has_rpath;          /* DT_RPATH without DT_RUNPATH */
	bool has_static_cudart;  /* the CUDA runtime is inside */
	bool has_static_cublas;  /* or defines its functions */
	bool has_cublas_text;    /* the former, beyond doubt */
	bool defines_cublas;     /* cublasSgemm_v2 is among its symbols */
	bool defines_dlsym;
	bool has_machine_code;   /* kernels, as a GPU runs them */
	bool has_ptx;            /* kernels, as text */
	bool is_linked_device_code; /* by nvcc -rdc=true */
	char sanitizer[64];      /* SONAME of the sanitizer it needs, "" */
};

/* Read `path`. False: it cannot be read, errno says why. Never trusts the
 * file: a malformed one is merely not dynamic. */
bool ac_elf_inspect(const char *path, struct ac_elf_facts *facts_out);

/* Why a program cannot be run with the library. Those after CANNOT_RUN are
 * programs that run, but that nothing can be preloaded into. */
enum ac_obstacle {
	AC_OBSTACLE_NONE, AC_OBSTACLE_NOT_FOUND, AC_OBSTACLE_CANNOT_RUN,
	AC_OBSTACLE_MACHINE, AC_OBSTACLE_STATIC, AC_OBSTACLE_MUSL,
	AC_OBSTACLE_RIGHTS
};

struct ac_program {
	char path[PATH_MAX];      /* what is given to execve() */
	char image[PATH_MAX];     /* the ELF file that will really run */
	struct ac_elf_facts facts; /* of the image */
};

/* Find `name` as a shell would, look through #! lines, and judge whether the
 * result can be preloaded. What stands against it, with one line in `why` that
 * says which file and why. *program_out is filled as far as it was found. */
enum ac_obstacle ac_program_look(const char *name,
    struct ac_program *program_out, struct ac_text *why);

/* The same, said on stderr. Returns 0, or an exit status (126, 127). */
int ac_program_find(const char *name, struct ac_program *program_out);

/* Whether that is the name of an emulated GPU, in either case. */
bool ac_program_is_model(const char *name, size_t length);

#endif
