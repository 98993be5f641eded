/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm.c -- the conductor of every product that is to be recast: may this
 * very call be, which recipe runs it, what is counted. */
#include "shim/gemm.h"

#include "shim/handle.h"
#include "shim/recipe.h"
#include "shim/start.h"

/* ---- What only this very call can tell --------------------------------- */

static bool
is_positive(const struct ac_gemm *g)
{
	return g->m > 0 && g->n > 0 && g->k > 0 && g->batch > 0;
}

/* Wrong leading dimensions, null pointers and unknown transposes get the
 * provider's own answer. A negative stride is legal but rare: kept. */
static bool
is_well_formed(const struct ac_gemm *g)
{
	const int64_t rows_a = g->transa == CUBLAS_OP_N ? g->m : g->k;
	const int64_t rows_b = g->transb == CUBLAS_OP_N ? g->k : g->n;

	return g->alpha && g->beta && g->a.data && g->b.data && g->c.data
	    && (unsigned)g->transa <= CUBLAS_OP_C
	    && (unsigned)g->transb <= CUBLAS_OP_C
	    && g->a.ld >= rows_a && g->b.ld >= rows_b && g->c.ld >= g->m
	    && g->a.stride >= 0 && g->b.stride >= 0 && g->c.stride >= 0;
}

/* Bytes from an operand's first to past its last element. */
static uint64_t
extent(const struct ac_operand *operand, int64_t rows, int64_t cols,
    int64_t batch)
{
	const uint64_t elements = (uint64_t)(cols - 1) * (uint64_t)operand->ld
	    + (uint64_t)rows + (uint64_t)(batch - 1) * (uint64_t)operand->stride;

	return elements * sizeof(float);
}

/* C and a `rows` x `cols` operand as rectangles of one parent matrix, C's
 * corner `distance` elements from the operand's: blocked factorisations
 * multiply parts of a matrix into another part, and those do not meet. */
static bool
rectangles_meet(const struct ac_gemm *g, int64_t rows, int64_t cols,
    int64_t distance)
{
	const int64_t ld = g->c.ld;
	int64_t row = distance % ld, col = distance / ld;

	if (row < 0) {
		row += ld;
		col--;
	}
	/* The part of C past the parent's last row lies in the next column. */
	return (row < rows && col < cols && col + g->n > 0)
	    || (row + g->m > ld && col + 1 < cols && col + 1 + g->n > 0);
}

static bool
overlaps(const struct ac_gemm *g, const struct ac_operand *operand,
    int64_t rows, int64_t cols)
{
	const uintptr_t c = (uintptr_t)g->c.data, x = (uintptr_t)operand->data;

	if (x >= c + extent(&g->c, g->m, g->n, g->batch)
	    || c >= x + extent(operand, rows, cols, g->batch))
		return false;
	if (g->batch == 1 && operand->ld == g->c.ld
	    && !((c - x) % sizeof(float)))
		return rectangles_meet(g, rows, cols,
		    (int64_t)(c - x) / (int64_t)sizeof(float));
	return true;
}

static bool
output_overlaps(const struct ac_gemm *g)
{
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;

	return overlaps(g, &g->a, ta ? g->k : g->m, ta ? g->m : g->k)
	    || overlaps(g, &g->b, tb ? g->n : g->k, tb ? g->k : g->n);
}

/* A handle of another version of cuBLAS, or one we did not see created, is
 * the program's affair: no companion of ours may touch it. */
static bool
is_of_provider(const struct ac_gemm *g, const struct ac_provider *provider)
{
	const struct ac_handle *handle = ac_handle_find(g->handle);

	return provider && handle->provider == provider;
}

static enum ac_reason
perform(const struct ac_gemm *g, const struct ac_site *site,
    cublasStatus_t *status_out)
{
	if (!is_of_provider(g, site->binding.provider))
		return AC_REASON_UNSUPPORTED;
	if (!is_positive(g))
		return AC_REASON_TOO_SMALL;
	if (!is_well_formed(g))
		return AC_REASON_UNSUPPORTED;
	if (output_overlaps(g))
		return AC_REASON_OVERLAP;
	return site->decision.tactic == AC_TACTIC_CAST
	    ? ac_recipe_cast(g, site, status_out)
	    : ac_recipe_library(g, site, status_out);
}

bool
ac_gemm_recast(const struct ac_gemm *g, const struct ac_site *site,
    cublasStatus_t *status_out)
{
	const enum ac_reason reason = perform(g, site, status_out);

	if (reason == AC_REASON_NONE)
		ac_shim_notice(&site->decision);
	ac_report_count(site->record, reason);
	return reason == AC_REASON_NONE;
}
