/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_once.c -- remembers the last product that wrote each
 * C, by its address. */
#include "emulator/cublas/cublas_once.h"
#include "emulator/cublas/cublas_sums.h"

#include <pthread.h>
#include <string.h>

enum { ROWS = 1 << 14, LOOKED_AT = 256 };

static struct row {
	const void *c;
	uint64_t product;  /* the operands, and how they were multiplied */
	uint64_t left;     /* in C */
	uint64_t bytes;
} rows[ROWS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t
mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0xbf58476d1ce4e5b9ull;
	return hash ^ hash >> 29;
}

static uint64_t
look(uint64_t hash, const struct emu_operand *o, int64_t rows_of,
    int64_t columns)
{
	const size_t element = emu_type_bytes(o->type);

	for (uint64_t i = 0; i < LOOKED_AT; i++) {
		const uint64_t at = mix(i, i + 1);
		const int64_t offset = (int64_t)((at >> 32) % (uint64_t)columns)
		    * o->ld + (int64_t)((at & 0xffffffff) % (uint64_t)rows_of);
		uint64_t value = 0;

		memcpy(&value, (const char *)o->data +
		    (size_t)offset * element, element);
		hash = mix(hash, value);
	}
	return hash;
}

static uint64_t
product_of(const struct emu_gemm *g, uint64_t behind)
{
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
	const uint64_t facts[] = { (uint64_t)ta, (uint64_t)tb, (uint64_t)g->m,
		(uint64_t)g->n, (uint64_t)g->k, (uint64_t)g->c.ld,
		(uint64_t)g->a.type, (uint64_t)g->c.type,
		(uint64_t)g->arithmetic };
	uint64_t hash = behind, alpha;

	memcpy(&alpha, &g->alpha.value, sizeof alpha);
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		hash = mix(hash, facts[i]);
	hash = look(mix(hash, alpha), &g->a, emu_rows_of_a(g),
	    ta ? g->m : g->k);
	return look(hash, &g->b, emu_rows_of_b(g), tb ? g->k : g->n);
}

static struct row *
row_of(const void *c)
{
	return &rows[mix(0, (uintptr_t)c) % ROWS];
}

/* RATIONALE: not under TSan, where the lock would order workers. */
static bool
is_simple(const struct emu_gemm *g)
{
	return !EMU_TSAN && emu_device_sums() == EMU_SUMS_ONCE &&
	    g->real == EMU_FLOAT && g->batch == 1 && !g->c.array &&
	    emu_scalar_is_zero(&g->beta) && emu_gemm_multiplies(g);
}

bool
emu_once_has(const struct emu_gemm *g, uint64_t behind, uint64_t *bytes_out)
{
	struct row row;

	if (!is_simple(g))
		return false;
	pthread_mutex_lock(&lock);
	row = *row_of(g->c.data);
	pthread_mutex_unlock(&lock);
	if (row.c != g->c.data || row.product != product_of(g, behind) ||
	    row.left != look(0, &g->c, g->m, g->n))
		return false;
	*bytes_out = row.bytes;
	return true;
}

void
emu_once_note(const struct emu_gemm *g, uint64_t behind, uint64_t bytes)
{
	struct row row;

	if (!is_simple(g))
		return;
	row = (struct row){ .c = g->c.data, .product = product_of(g, behind),
		.left = look(0, &g->c, g->m, g->n), .bytes = bytes };
	pthread_mutex_lock(&lock);
	*row_of(g->c.data) = row;
	pthread_mutex_unlock(&lock);
}
