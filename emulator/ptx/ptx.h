/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/ptx.h -- runs PTX text on the CPU, for an emulated GPU and for
 * tests.
 *
 * A module is parsed once into a compact form. A launch runs block by block;
 * in a block warp by warp, 32 lanes of one instruction at a time. "Device
 * memory" is ordinary memory: a generic address is a host address. Written
 * from the public description of the PTX ISA. */
#ifndef AC_EMULATOR_PTX_PTX_H
#define AC_EMULATOR_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ptx_module;
struct ptx_function;

/* The errors that a launch finds in a kernel. */
enum ptx_finding {
	PTX_OUTSIDE,      /* an address outside of this launch's memory */
	PTX_READ_ONLY,    /* a store to read-only memory */
	PTX_MISALIGNED,   /* a real GPU would end the context with an error */
	PTX_UNINITIALISED,/* shared memory is read before it is written */
	PTX_RACE_BLOCK,   /* two warps, no barrier between */
	PTX_RACE_WARP,    /* two lanes of one warp, no bar.warp.sync between */
	PTX_DIVERGENT_BARRIER, /* an aligned barrier without some live lanes */
	PTX_DEADLOCK,     /* all remaining threads wait */
	PTX_MEMBERS,      /* a lane outside of its own member mask, or members
	                   * that never come */
	PTX_SOURCE_LANE,  /* a shuffle reads a lane that does not take part */
	PTX_SPIN,         /* waits for an event that never happens */
	PTX_TRAP,
	PTX_ASSERT,       /* assert() of the kernel's own */
	PTX_UNSUPPORTED,
	PTX_FINDINGS
};
extern const char *const ptx_finding_name[PTX_FINDINGS];

struct ptx_region {
	uintptr_t   low, high;  /* [low, high) */
	bool        read_only;
	const char *name;
};

/* How a launch runs. All zero: as fast as possible, with the checks that cost
 * nothing. */
struct ptx_options {
	bool check;             /* check each access; use the regions */
	bool bounds;            /* only that global memory is within the
	                         * regions, and aligned */
	bool cooperative;       /* all blocks at once; they may sync */
	const struct ptx_region *region; /* sorted by address, disjoint */
	size_t   region_count;
	bool     any_address;   /* check, but without a list of regions */
	uint64_t schedule;      /* 0: natural order; else a seed for the
	                         * order of blocks, of warps, and for when
	                         * they change */
	uint64_t nans;          /* 0: canonical; else a seed: NaNs that
	                         * arithmetic makes get any payload and sign */
	uint64_t fill;          /* 0: registers and shared memory begin as
	                         * zero; else a seed for their content */
	uint64_t spin_limit;    /* warp instructions of a block; 0: 2^28 */
	/* Of a launch, while all warps that run go round and nothing changes
	 * memory; then it ends as with PTX_SPIN. 0: no such limit. */
	uint64_t idle_limit;
	uint64_t idle_milliseconds; /* not before so many have passed, too */
	unsigned resident;      /* blocks that may wait for each other; 0: 64;
	                         * all, if `cooperative` */
	unsigned threads;       /* of the host, at most; 0: as it has
	                         * processors. One with `check`, `schedule`,
	                         * `nans`, `fill` or `count` */
	bool     any_order;     /* several even where their order shows: in
	                         * sums of floating point and what is printed.
	                         * For tests: also where it is not worth it */
	int      capability;    /* of the device: 80 is 8.0; 0: that */
	FILE    *report;        /* findings as they come, each once; or NULL */
	/* What kernels print: the format, and the values as nvcc's code lays
	 * them out; NULL: nowhere. */
	void   (*print)(const char *format, const void *values);
	bool     count;         /* per instruction: ptx_module_coverage() */
};

struct ptx_result {
	uint64_t instructions;  /* of warps */
	uint64_t lanes;         /* of threads; counted with `check` only */
	uint64_t bytes;         /* read and written, without shared memory */
	uint64_t findings[PTX_FINDINGS];
};

/* NULL, and a message with the line, if the text is not valid. */
struct ptx_module *ptx_module_load(const char *text, size_t length,
    char *message, size_t message_size);
void ptx_module_free(struct ptx_module *module);

struct ptx_function *ptx_module_kernel(struct ptx_module *module,
    const char *name);
/* Number i of the kernels, or NULL. */
struct ptx_function *ptx_module_kernel_at(struct ptx_module *module, size_t i);
const char *ptx_kernel_name(const struct ptx_function *kernel);
size_t ptx_kernel_parameters(const struct ptx_function *kernel);
size_t ptx_kernel_parameter_bytes(const struct ptx_function *kernel, size_t i);
size_t ptx_kernel_parameter_align(const struct ptx_function *kernel, size_t i);
/* In bytes: of a block's shared memory, what the text declares; of a thread's
 * local memory. Threads that a block has at most, 0: any number. */
size_t ptx_kernel_shared(const struct ptx_function *kernel);
size_t ptx_kernel_local(const struct ptx_function *kernel);
unsigned ptx_kernel_threads(const struct ptx_function *kernel);
/* Of a .global or .const variable: its address, NULL if there is none. */
void *ptx_module_variable(struct ptx_module *module, const char *name,
    size_t *bytes_out);
/* Number i of them; false after the last. */
bool ptx_module_variable_at(const struct ptx_module *module, size_t i,
    void **address_out, size_t *bytes_out);

/* False: it ended early (DEADLOCK, SPIN, TRAP, UNSUPPORTED, or members that
 * never come). A bad access is left out. */
bool ptx_launch(struct ptx_function *kernel, const unsigned grid[3],
    const unsigned block[3], size_t dynamic_shared, void **params,
    const struct ptx_options *options, struct ptx_result *result);

/* Instructions that cannot run go to `out`, unless NULL. */
size_t ptx_module_unsupported(const struct ptx_module *module, FILE *out);

/* Instructions that no launch with `count` has run go to `out`, unless NULL.
 * Returns their number; *total_out: the number of all. */
size_t ptx_module_coverage(const struct ptx_module *module, FILE *out,
    size_t *total_out);

#endif
