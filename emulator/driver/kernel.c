/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/kernel.c -- what a kernel needs of the device, by its PTX,
 * and how much of that the device has. */
#include "emulator/driver/context.h"
#include "emulator/driver/module.h"

enum {
	KB = 1024,
	SHARED_DEFAULT = 48 * KB, /* of a block, unless it is allowed more */
	SHARED_SYSTEM = KB,       /* that each block takes besides */
	THREADS_MOST = 1024,
	WARP = 32
};

int
emu_kernel_facts(struct CUkern_st *kernel, struct emu_kernel_facts *facts_out)
{
	const struct ptx_function *const text = emu_kernel_text(kernel);
	const size_t asked = atomic_load(&kernel->dynamic);
	size_t shared = 0, left;

	*facts_out = (struct emu_kernel_facts){ .threads = THREADS_MOST,
		.capability = kernel->library->capability };
	if (text) {
		shared = ptx_kernel_shared(text);
		facts_out->local = ptx_kernel_local(text);
		if (ptx_kernel_threads(text) && ptx_kernel_threads(text) <
		    THREADS_MOST)
			facts_out->threads = ptx_kernel_threads(text);
	}
	left = shared < SHARED_DEFAULT ? SHARED_DEFAULT - shared : 0;
	facts_out->shared = shared;
	facts_out->dynamic = asked == SIZE_MAX ? left : asked;
	return EMU_OK;
}

int
emu_kernel_allow(struct CUkern_st *kernel, size_t dynamic)
{
	const size_t all = (size_t)emu_device_model(emu_context_device())->
	    shared_per_block;
	struct emu_kernel_facts facts;
	const int status = emu_kernel_facts(kernel, &facts);

	if (status)
		return status;
	if (facts.shared > all || dynamic > all - facts.shared)
		return EMU_INVALID_VALUE;
	atomic_store(&kernel->dynamic, dynamic);
	return EMU_OK;
}

int
emu_kernel_blocks(struct CUkern_st *kernel, unsigned threads, size_t dynamic,
    int *blocks_out)
{
	const struct emu_model *m = emu_device_model(emu_context_device());
	struct emu_kernel_facts facts;
	const int status = emu_kernel_facts(kernel, &facts);
	size_t shared, blocks;

	if (status)
		return status;
	if (!threads)
		return EMU_INVALID_VALUE;
	if (threads > facts.threads) {
		*blocks_out = 0;
		return EMU_OK;
	}
	blocks = (size_t)m->threads_per_multiprocessor /
	    ((threads + WARP - 1) / WARP * WARP);
	shared = facts.shared + dynamic + SHARED_SYSTEM;
	if (blocks > (size_t)m->shared_per_multiprocessor / shared)
		blocks = (size_t)m->shared_per_multiprocessor / shared;
	if (blocks > (size_t)m->blocks_per_multiprocessor)
		blocks = (size_t)m->blocks_per_multiprocessor;
	*blocks_out = (int)blocks;
	return EMU_OK;
}
