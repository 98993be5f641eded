/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/module.h -- kernel libraries, for the driver calls that load
 * them. */
#ifndef AC_EMULATOR_MODULE_H
#define AC_EMULATOR_MODULE_H

#include "emulator/driver/device.h"
#include "emulator/ptx/ptx.h"
#include "kernels/twins/twins.h"

enum { EMU_KERNEL_PARAMETERS = 32, EMU_MARK_KERNEL = 0x4b45524e };

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
	char              name[128];
	size_t            count;  /* parameters */
	size_t            sizes[EMU_KERNEL_PARAMETERS]; /* bytes of each */
	struct ptx_function *ptx; /* its text; NULL: a twin runs */
	struct CUkern_st *next;
};

struct CUlib_st {
	_Atomic uint32_t  mark;   /* 0 once unloaded */
	struct emu_jit    jit;
	struct CUkern_st *kernels;
	struct ptx_module *ptx;   /* NULL: twins run */
	struct CUlib_st  *next;
};

int emu_library_load(const void *code, struct CUlib_st **library_out);
int emu_library_kernel(struct CUlib_st *library, const char *name,
    struct CUkern_st **kernel_out);
int emu_library_unload(struct CUlib_st *library);

/* Functions are loaded into a context when they are first needed there, as with
 * CUDA_MODULE_LOADING=LAZY [CUDA programming guide, lazy loading]: at the
 * latest by a launch. A thread that must not load, because of a capture, gets
 * that status. */
int emu_function_load(struct CUkern_st *function);
void emu_libraries_release(void);

typedef void (*emu_twin_run)(const struct ac_twin_launch *launch,
    void **params);

/* A twin that a program or a library registered for a kernel. */
struct emu_twin {
	const char      *name;
	emu_twin_run     run;
	size_t           count;
	size_t           sizes[EMU_KERNEL_PARAMETERS];
	struct emu_twin *next;
};

/* twins.c: the twin that was last registered under this name, or NULL. Opens
 * the libraries of AUTOCAST_EMU_TWINS when it first finds none. */
const struct emu_twin *emu_twin_registered(const char *name);
/* A twin of one of the product's own kernels, or NULL. */
emu_twin_run emu_twin_built_in(const char *name);
void emu_twins_release(void);

#pragma GCC visibility push(default)
/* Register `run` as the twin of kernel `name` (mangled, borrowed for ever),
 * whose `count` parameters have these sizes in bytes. Any time, from any
 * thread; a kernel's twin is looked up at each launch. */
void emuTwinRegister(const char *name, emu_twin_run run, const size_t *sizes,
    size_t count);
#pragma GCC visibility pop

#endif
