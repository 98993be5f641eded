/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/memory.h -- the table of allocations: memory.c makes and ends
 * them, copies and launches check against it. Each call locks for itself; from
 * the program's threads only. */
#ifndef AC_EMULATOR_MEMORY_H
#define AC_EMULATOR_MEMORY_H

#include "emulator/driver/context.h"
#include "emulator/driver/pool.h"
#include "emulator/ptx/ptx.h"

struct emu_allocation {
	unsigned char   *base;
	size_t           bytes;
	enum emu_memory_kind kind;
	struct CUctx_st *context; /* its owner */
	uint64_t         capture; /* id, if a graph owns it, else 0 */
	struct CUmemPoolHandle_st *pool; /* that it is from, or NULL */
	bool             variable; /* a module's: never given or taken */
	bool             leaving;  /* work that is queued may use it yet */
};

/* EMU_ALREADY_REGISTERED if the range overlaps another one. */
int emu_table_enter(const struct emu_allocation *new);
/* Take out what starts at `pointer` and is of one of these kinds (bits). */
bool emu_table_take(const void *pointer, unsigned kinds,
    struct emu_allocation *out);
/* The same for what its stream is to free: what was queued may use it yet, and
 * emu_table_left() takes it out in its turn. Under TSan it is out at once. */
bool emu_table_leave(const void *pointer, unsigned kinds,
    struct emu_allocation *out);
void emu_table_left(const void *pointer);
/* From now on this thread's checks are of work in its turn, for which that is
 * there. */
void emu_table_check_in_order(void);
/* Take out the variable at `pointer`, if it is still there. */
void emu_table_forget(const void *pointer);
/* The capture that recorded the allocation at `pointer`, 0 if none did. */
uint64_t emu_table_capture(const void *pointer);
/* Take out all of a context (NULL: of all), and call `give` for each. */
void emu_table_drop(const struct CUctx_st *context,
    void (*give)(const struct emu_allocation *allocation));
void emu_table_release(void);
/* The memory that kernels of the current context may touch, by address: at most
 * `most` regions go to `regions`. Returns how many there are. */
size_t emu_table_regions(struct ptx_region *regions, size_t most);

/* emu_memory_check() for copies and fills, which reach every device's
 * memory. */
int emu_memory_check_any(const void *pointer, uint64_t bytes,
    const char *argument);
/* Whether `pointer`, if it is device memory at all, is within the current
 * context's reach; for the arguments of kernels. */
int emu_memory_check_reach(const void *pointer, const char *argument);

/* memory.c: a graph that owned memory by this capture is gone. */
void emu_memory_free_captured(void *pointer, uint64_t capture);

#endif
