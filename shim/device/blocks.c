/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/blocks.c -- a table of blocks; whoever moves a block's state owns
 * it meanwhile, so that no lock is held while the driver runs. */
#include "shim/device/blocks.h"

#include "base/mapped.h"

#include <stdatomic.h>

enum { BLOCKS = 512 };  /* 64 lanes have 4 parts each; the rest is given back */
enum state { EMPTY, CLAIMED, LENT, BACK };

struct block {
	_Atomic uint32_t state;
	_Atomic uint64_t address, bytes;
	ac_cu_event      passed;        /* the last use, once it is BACK */
};

struct ac_blocks {
	const struct ac_driver *driver;
	struct block            block[BLOCKS];
};

static bool
claim(struct block *block, uint32_t from)
{
	return atomic_compare_exchange_strong(&block->state, &from, CLAIMED);
}

struct ac_blocks *
ac_blocks_make(const struct ac_driver *driver)
{
	struct ac_blocks *blocks = driver->cuMemAlloc && driver->cuMemFree
	    ? ac_mapped_take(sizeof *blocks) : NULL;

	if (blocks)
		blocks->driver = driver;
	return blocks;
}

void
ac_blocks_forget(struct ac_blocks *blocks)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		blocks->block[i].state = EMPTY;
}

/* The smallest of those above `above` bytes that will do. */
static struct block *
smallest(struct ac_blocks *blocks, uint64_t bytes, uint64_t above)
{
	struct block *best = NULL;

	for (unsigned i = 0; i < BLOCKS; i++) {
		struct block *block = &blocks->block[i];

		if (block->state == BACK && block->bytes >= bytes
		    && block->bytes > above
		    && (!best || block->bytes < best->bytes))
			best = block;
	}
	return best;
}

ac_cu_address
ac_blocks_reuse(struct ac_blocks *blocks, uint64_t bytes)
{
	uint64_t above = 0;
	struct block *block;

	while ((block = smallest(blocks, bytes, above))) {
		above = block->bytes;
		if (!claim(block, BACK))
			continue;
		if (block->bytes >= bytes
		    && !blocks->driver->cuEventQuery(block->passed)) {
			block->state = LENT;
			return block->address;
		}
		block->state = BACK;
	}
	return 0;
}

ac_cu_result
ac_blocks_add(struct ac_blocks *blocks, uint64_t bytes,
    ac_cu_address *address_out)
{
	enum { OUT_OF_MEMORY = 2 };
	const struct ac_driver *driver = blocks->driver;
	struct block *block = blocks->block;
	ac_cu_address address;
	ac_cu_result failed;
	unsigned i = 0;

	while (i < BLOCKS && !claim(&block[i], EMPTY))
		i++;
	if (i == BLOCKS)
		return OUT_OF_MEMORY;
	block += i;
	failed = driver->cuMemAlloc(&address, bytes);
	if (!failed) {
		failed = driver->cuEventCreate(&block->passed,
		    AC_CU_EVENT_DISABLE_TIMING);
		if (failed)
			driver->cuMemFree(address);
	}
	if (failed) {
		block->state = EMPTY;
		return failed;
	}
	block->address = address;
	block->bytes = bytes;
	block->state = LENT;
	*address_out = address;
	return 0;
}

bool
ac_blocks_give(struct ac_blocks *blocks, ac_cu_address address,
    ac_cu_stream frees)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		struct block *block = &blocks->block[i];

		if (block->state != LENT || block->address != address)
			continue;
		if (blocks->driver->cuEventRecord(block->passed, frees))
			return false;
		block->state = BACK;
		return true;
	}
	return false;
}

uint64_t
ac_blocks_free(struct ac_blocks *blocks)
{
	const struct ac_driver *driver = blocks->driver;
	uint64_t freed = 0;

	for (unsigned i = 0; i < BLOCKS; i++) {
		struct block *block = &blocks->block[i];

		if (!claim(block, BACK))
			continue;
		if (driver->cuMemFree(block->address)) {
			block->state = BACK;
			continue;
		}
		driver->cuEventDestroy(block->passed);
		freed += block->bytes;
		block->state = EMPTY;
	}
	return freed;
}
