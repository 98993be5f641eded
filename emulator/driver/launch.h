/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/launch.h -- kernels and their launches, for the driver and
 * the runtime. */
#ifndef AC_EMULATOR_LAUNCH_H
#define AC_EMULATOR_LAUNCH_H

#include "emulator/driver/emu.h"
#include "emulator/driver/image/image.h"

struct CUlib_st;
struct CUkern_st;

struct emu_launch {
	const char   *name;
	struct CUkern_st *kernel;     /* NULL: nothing but a twin can run */
	unsigned      grid[3], block[3];
	size_t        shared;         /* dynamic, in bytes */
	bool          cooperative;    /* all blocks at once */
	void        **params;
};

/* What a program may ask about a kernel. */
struct emu_kernel_facts {
	unsigned capability;          /* that its PTX is for: 75 is 7.5 */
	size_t shared;                /* static */
	size_t local;
	unsigned threads;             /* the most of a block */
	size_t dynamic;               /* the most of a launch */
};

#pragma GCC visibility push(default)
/* Whether kernel `name` has a twin. */
bool emu_twin_is_there(const char *name);

/* PTX, a fat binary or a wrapper of one. Refused with a status, and
 * *refusal_out says why; nothing was complained about. */
int emu_library_load(const void *code, struct CUlib_st **library_out,
    struct emu_refusal *refusal_out);
/* EMU_NOT_FOUND if it has none of this name. */
int emu_library_kernel(struct CUlib_st *library, const char *name,
    struct CUkern_st **kernel_out);
/* A .global or .const variable, of the current context. */
int emu_library_variable(struct CUlib_st *library, const char *name,
    void **address_out, size_t *bytes_out);
int emu_library_unload(struct CUlib_st *library);

/* Queue a kernel: the twin that was last registered for its name, or its
 * PTX. */
int emu_kernel_launch(const struct emu_launch *launch,
    struct CUstream_st *handle);
/* Of the current device. */
int emu_kernel_facts(struct CUkern_st *kernel,
    struct emu_kernel_facts *facts_out);
/* Allow launches with that much dynamic shared memory. */
int emu_kernel_allow(struct CUkern_st *kernel, size_t dynamic);
/* Blocks of this size that one multiprocessor holds at a time. */
int emu_kernel_blocks(struct CUkern_st *kernel, unsigned threads,
    size_t dynamic, int *blocks_out);
#pragma GCC visibility pop

#endif
