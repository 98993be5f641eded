/* SPDX-License-Identifier: Apache-2.0 */
/* autocast_absent.h -- handles of scalers and groups where the library is not
 * in the process. For autocast_scaler_dynamic.h only; the program sees
 * autocast_scaler.h. No lock: a group may be made and destroyed by any
 * thread. */
#ifndef AUTOCAST_ABSENT_H
#define AUTOCAST_ABSENT_H

#include "autocast.h"

#include <stdlib.h>

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" /* in C there are no others */
extern "C" {
#endif

/* The library's handles are aligned; these are odd: one more than the address
 * of such a block. Each handle tells by itself whose it is. */
struct autocast_absent {
	struct autocast_absent *scaler; /* a group's; NULL: is one itself */
	struct autocast_absent *next;   /* group of the scaler; never removed */
	int is_free;                    /* a group that was destroyed */
};

static inline struct autocast_absent *
autocast_absent_block(const volatile void *handle)
{
	return (struct autocast_absent *)((uintptr_t)handle - 1);
}

static inline void *
autocast_absent_handle(struct autocast_absent *block)
{
	return (void *)((uintptr_t)block + 1);
}

static inline int
autocast_is_absent(const volatile void *handle)
{
	return (int)((uintptr_t)handle & 1);
}

/* A new block: one of the scaler's that was given back, or memory. */
static inline struct autocast_absent *
autocast_absent_create(struct autocast_absent *scaler)
{
	struct autocast_absent *block = NULL;
	int is_free = 1;

	if (scaler != NULL)
		block = __atomic_load_n(&scaler->next, __ATOMIC_ACQUIRE);
	for (; block != NULL; block = block->next, is_free = 1)
		if (__atomic_compare_exchange_n(&block->is_free, &is_free, 0, 0,
		    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return block;
	block = (struct autocast_absent *)calloc(1, sizeof(*block));
	if (block == NULL || scaler == NULL)
		return block;
	block->scaler = scaler;
	block->next = __atomic_load_n(&scaler->next, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&scaler->next, &block->next, block,
	    0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return block;
}

/* What a call for this pair returns, one of which at least is ours. */
static inline autocast_status
autocast_absent_pair(const volatile void *scaler, const volatile void *group)
{
	if (!autocast_is_absent(scaler) || !autocast_is_absent(group)
	    || autocast_absent_block(group)->scaler
	    != autocast_absent_block(scaler))
		return AUTOCAST_E_INVALID;
	return AUTOCAST_OK;
}

#ifdef __cplusplus
} /* extern "C" */
#pragma GCC diagnostic pop
#endif

#endif
