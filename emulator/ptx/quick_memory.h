/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/quick_memory.h -- a part of quick.h: loads and stores for which
 * all lanes have good addresses. A loop that says false has done nothing: the
 * general way also reports what is wrong. */
#ifndef AC_EMULATOR_PTX_QUICK_MEMORY_H
#define AC_EMULATOR_PTX_QUICK_MEMORY_H

#include "emulator/ptx/quick_more.h"

/* The limits of the lanes' addresses: from `low` on, `room` bytes further at
 * most. */
struct span {
	uint64_t low, room;
};

/* Of global memory around the first address; false: there is none. */
static inline bool
window_around(struct warp *w, const struct ptx_instruction *in, uint64_t first,
    uint64_t bytes, bool writes, struct span *out)
{
	const struct launch *const l = w->block->launch;
	const struct ptx_region *r;

	if (l->checks)
		return false;
	if (!l->options->bounds) {
		*out = (struct span){ LOWEST, UINT64_MAX - LOWEST - bytes };
		return true;
	}
	r = ptx_region_near(w->block->worker, in, first);
	if (!r || (writes && r->read_only) || r->high - r->low < bytes)
		return false;
	*out = (struct span){ r->low, r->high - r->low - bytes };
	return true;
}

/* Whether all lanes are within it, and aligned. */
static inline bool
all_within(const uint64_t *a, uint64_t offset, uint32_t mask,
    const struct span *in, uint64_t align)
{
	const uint64_t low = in->low - offset, room = in->room;
	uint64_t bad = 0, odd = 0;

	if (mask == UINT32_MAX) {
		for (int i = 0; i < LANES; i++) {
			bad |= a[i] - low > room;
			odd |= a[i];
		}
	} else {
		for (int i = 0; i < LANES; i++) {
			const uint64_t on = 0 - (uint64_t)(mask >> i & 1);

			bad |= on & (uint64_t)(a[i] - low > room);
			odd |= on & a[i];
		}
		odd |= a[__builtin_ctz(mask)];
	}
	return !bad && !((odd + offset) & (align - 1));
}

/* Whether each lane's address follows that of the lane before. */
static inline bool
in_a_row(const uint64_t *a, uint64_t bytes)
{
	const uint64_t first = a[0];
	uint64_t off = 0;

	for (uint64_t i = 0; i < LANES; i++)
		off |= a[i] ^ (first + i * bytes);
	return !off;
}

/* One access of global memory, BYTES wide, aligned: all lanes from `at` on, or
 * each at its own address. */
#define PREPARE(T, count, writes) \
	const uint64_t *const a = FROM(uint64_t, 1); \
	const uint64_t offset = (uint64_t)in->offset; \
	const uint64_t first = a[__builtin_ctz(mask)] + offset; \
	struct span window; \
 \
	w->rounds.changed |= writes; \
	if (!window_around(w, in, first, sizeof(T) * (count), writes, \
	    &window)) \
		return false
#define ROW_IS_GOOD(T) (mask == UINT32_MAX && in_a_row(a, sizeof(T)) && \
	!(first & (sizeof(T) - 1)) && first - window.low <= window.room && \
	window.room - (first - window.low) >= (LANES - 1) * sizeof(T))
#define COUNT_BYTES(n) (w->block->bytes += (uint64_t)(unsigned) \
	__builtin_popcount(mask) * (n))

#define GLOBAL(bits, T) \
QUICK_LOOP \
load_##bits(ARGUMENTS) \
{ \
	T *const to = (T *)(void *)(base[BASE_FRAME] + in->part[0].at); \
	PREPARE(T, 1, false); \
 \
	if (ROW_IS_GOOD(T)) { \
		memcpy(to, (const void *)(uintptr_t)first, sizeof(T) * \
		    LANES); \
	} else { \
		if (!all_within(a, offset, mask, &window, sizeof(T))) \
			return false; \
		for (int i = 0; i < LANES; i++) \
			if (mask >> i & 1) \
				to[i] = *(const T *)(uintptr_t)(a[i] + \
				    offset); \
	} \
	COUNT_BYTES(sizeof(T)); \
	return true; \
} \
QUICK_LOOP \
store_##bits(ARGUMENTS) \
{ \
	const T *const x = (const T *)(const void *)(base[in->part[0].base] + \
	    in->part[0].at); \
	PREPARE(T, 1, true); \
 \
	if (ROW_IS_GOOD(T)) { \
		memcpy((void *)(uintptr_t)first, x, sizeof(T) * LANES); \
	} else { \
		if (!all_within(a, offset, mask, &window, sizeof(T))) \
			return false; \
		for (int i = 0; i < LANES; i++) \
			if (mask >> i & 1) \
				*(T *)(uintptr_t)(a[i] + offset) = x[i]; \
	} \
	COUNT_BYTES(sizeof(T)); \
	return true; \
}
GLOBAL(B16, uint16_t)
GLOBAL(B32, uint32_t)
GLOBAL(B64, uint64_t)

/* Vectors of two or four. */
#define VECTORS(bits, T) \
QUICK_LOOP \
load_vector_##bits(ARGUMENTS) \
{ \
	const uint64_t count = in->vector; \
	PREPARE(T, count, false); \
 \
	if (!all_within(a, offset, mask, &window, sizeof(T) * count)) \
		return false; \
	for (uint64_t k = 0; k < count; k++) { \
		T *const to = (T *)(void *)(base[BASE_FRAME] + \
		    in->part[k].at); \
		const uint64_t more = offset + k * sizeof(T); \
 \
		for (int i = 0; i < LANES; i++) \
			if (mask >> i & 1) \
				to[i] = *(const T *)(uintptr_t)(a[i] + more); \
	} \
	COUNT_BYTES(sizeof(T) * count); \
	return true; \
} \
QUICK_LOOP \
store_vector_##bits(ARGUMENTS) \
{ \
	const uint64_t count = in->vector; \
	PREPARE(T, count, true); \
 \
	if (!all_within(a, offset, mask, &window, sizeof(T) * count)) \
		return false; \
	for (uint64_t k = 0; k < count; k++) { \
		const T *const x = (const T *)(const void *)( \
		    base[in->part[k].base] + in->part[k].at); \
		const uint64_t more = offset + k * sizeof(T); \
 \
		for (int i = 0; i < LANES; i++) \
			if (mask >> i & 1) \
				*(T *)(uintptr_t)(a[i] + more) = x[i]; \
	} \
	COUNT_BYTES(sizeof(T) * count); \
	return true; \
}
VECTORS(B32, uint32_t)
VECTORS(B64, uint64_t)

/* ---- Shared memory, parameters ----------------------------------------- */

/* The parts of shared memory: of the kernel, of others, dynamic. */
static inline bool
shared_window(const struct warp *w, uint32_t first, uint32_t bytes,
    struct span *out)
{
	const struct launch *const l = w->block->launch;
	const uint64_t low = first < SHARED_COMMON ? 0 : first < SHARED_DYNAMIC
	    ? SHARED_COMMON : SHARED_DYNAMIC;
	const uint64_t size = !low ? l->kernel->shared_bytes
	    : low == SHARED_COMMON ? l->kernel->module->shared_bytes
	    : l->dynamic;

	*out = (struct span){ low, size - bytes };
	return !w->block->shadow && size >= bytes;
}

static inline bool
all_shared(const struct warp *w, const uint32_t *a, uint32_t offset,
    uint32_t mask, uint32_t bytes)
{
	struct span window;
	uint32_t low, room, bad = 0, odd = 0;

	if (!shared_window(w, a[__builtin_ctz(mask)] + offset, bytes, &window))
		return false;
	low = (uint32_t)window.low - offset;
	room = (uint32_t)window.room;
	for (int i = 0; i < LANES; i++) {
		const uint32_t on = 0 - (mask >> i & 1);

		bad |= on & (uint32_t)(a[i] - low > room);
		odd |= on & (a[i] + offset);
	}
	return !bad && !(odd & (bytes - 1));
}

#define SHARED(bits, T) \
QUICK_LOOP \
load_shared_##bits(ARGUMENTS) \
{ \
	const uint32_t *const a = FROM(uint32_t, 1); \
	const uint32_t offset = (uint32_t)in->offset; \
	T *const to = (T *)(void *)(base[BASE_FRAME] + in->part[0].at); \
 \
	if (!all_shared(w, a, offset, mask, sizeof(T))) \
		return false; \
	for (int i = 0; i < LANES; i++) \
		if (mask >> i & 1) \
			to[i] = *(const T *)(const void *)(w->block->shared + \
			    (uint32_t)(a[i] + offset)); \
	return true; \
} \
QUICK_LOOP \
store_shared_##bits(ARGUMENTS) \
{ \
	const uint32_t *const a = FROM(uint32_t, 1); \
	const T *const x = (const T *)(const void *)(base[in->part[0].base] + \
	    in->part[0].at); \
	const uint32_t offset = (uint32_t)in->offset; \
 \
	w->rounds.changed = true; \
	if (!all_shared(w, a, offset, mask, sizeof(T))) \
		return false; \
	for (int i = 0; i < LANES; i++) \
		if (mask >> i & 1) \
			*(T *)(void *)(w->block->shared + \
			    (uint32_t)(a[i] + offset)) = x[i]; \
	return true; \
}
SHARED(B32, uint32_t)
SHARED(B64, uint64_t)

/* A parameter is the same for all lanes. */
#define PARAMETER(bits, T) \
QUICK_LOOP \
load_param_##bits(ARGUMENTS) \
{ \
	const struct launch *const l = w->block->launch; \
	T *const to = (T *)(void *)(base[BASE_FRAME] + in->part[0].at); \
	const uint64_t at = (uint64_t)in->offset; \
	T x; \
 \
	if (at + sizeof x > l->kernel->parameter_bytes || at % sizeof x) \
		return false; \
	memcpy(&x, l->params + at, sizeof x); \
	if (mask == UINT32_MAX) \
		for (int i = 0; i < LANES; i++) \
			to[i] = x; \
	else \
		for (int i = 0; i < LANES; i++) \
			to[i] = mask >> i & 1 ? x : to[i]; \
	return true; \
}
PARAMETER(B32, uint32_t)
PARAMETER(B64, uint64_t)

#endif
