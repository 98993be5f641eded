/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/module.h -- kernel libraries, for the driver calls that load
 * them. */
#ifndef AC_EMULATOR_MODULE_H
#define AC_EMULATOR_MODULE_H

#include "emulator/driver/device.h"
#include "emulator/driver/launch.h"
#include "emulator/driver/twin.h"
#include "emulator/ptx/ptx.h"

enum { EMU_MARK_KERNEL = 0x4b45524e };

/* Where the program wants to read why its PTX was refused; bytes 0: it does
 * not. */
struct emu_jit {
	char  *log;
	size_t bytes;
};

/* A kernel that a PTX text declares: struct CUkern_st of NVIDIA's headers, and
 * struct CUfunc_st too. */
struct CUkern_st {
	_Atomic uint32_t  mark;
	struct CUlib_st  *library;
	_Atomic uint64_t  loaded;  /* the last context found to have it */
	struct emu_loaded *all_loaded; /* all of them; under module.c's lock */
	char             *name;
	size_t            count;  /* parameters */
	size_t           *sizes;  /* bytes of each */
	size_t           *offsets; /* of each, as they lie in one buffer */
	size_t            number; /* in its library */
	/* Dynamic shared memory that the program asked for; SIZE_MAX: it did
	 * not. */
	_Atomic size_t    dynamic;
	struct CUkern_st *next;
};

struct CUlib_st {
	_Atomic uint32_t  mark;   /* 0 once unloaded */
	struct emu_jit    jit;
	struct CUkern_st *kernels;
	size_t            kernel_count;
	char             *text;   /* NULL: twins run */
	unsigned          capability; /* that the text is for: 75 is 7.5 */
	struct emu_instance *instances; /* under module.c's lock */
	struct CUlib_st  *next;
};

/* Functions are loaded into a context when they are first needed there, as with
 * CUDA_MODULE_LOADING=LAZY [CUDA programming guide, lazy loading]: at the
 * latest by a launch. A thread that must not load, because of a capture, gets
 * that status. */
int emu_function_load(struct CUkern_st *function);
/* Its text in the current context, which has the module's variables for itself;
 * NULL: only a twin can run. */
struct ptx_function *emu_kernel_text(struct CUkern_st *kernel);
/* As emu_library_load(), but refused where a capture forbids it, and complains
 * itself. */
int emu_module_load(const void *code, struct CUlib_st **library_out,
    struct emu_refusal *refusal_out);
void emu_libraries_release(void);

/* entries.c: the kernels that a text declares, with the sizes of their
 * parameters, newest first; nothing else is read. False: the text is not
 * valid. */
bool emu_entries_scan(const char *text, struct CUlib_st *library);
/* The capability that the text is for: .target sm_75; 0: it does not say. */
unsigned emu_entries_target(const char *text);
/* A new one in the library, without parameters yet; one more of them. */
struct CUkern_st *emu_entries_add(struct CUlib_st *library, const char *name,
    size_t length);
/* One more parameter, of this alignment. */
void emu_entries_size(struct CUkern_st *kernel, size_t bytes, size_t align);

/* A twin that a program or a library registered for a kernel. */
struct emu_twin {
	struct emu_twin_row row;
	bool             has_sizes;  /* else the kernel's text says them */
	size_t           count;
	struct emu_twin *next;
	size_t           sizes[];
};

/* twins.c: the twin that was last registered under this name, or NULL. Opens
 * the libraries that bring twins when it first finds none. */
const struct emu_twin *emu_twin_find(const char *name);
void emu_twins_release(void);

#endif
