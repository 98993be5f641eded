/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/gemm.h -- a matrix product, however the caller spelled it.
 * Column-major, as cuBLAS: op(A) is m x k, op(B) is k x n, C is m x n.
 * Pointers are borrowed for the length of one call. */
#ifndef AC_SHIM_GEMM_H
#define AC_SHIM_GEMM_H

#include "kernels/verified/verified.h"
#include "shim/trial/conduct.h"
#include "shim/site/site.h"

#include <stdbool.h>
#include <stdint.h>

struct ac_operand {
	const void   *data;    /* a matrix; an array of matrices if BATCHED */
	cudaDataType  type;
	int64_t       ld;      /* leading dimension, in elements */
	long long     stride;  /* from one matrix to the next, in elements */
};

/* What only cublasLt has: C apart from what is written, and what follows. */
struct ac_gemm_tail {
	const float *added;              /* what beta scales; NULL: C itself */
	int64_t      added_ld, added_stride; /* ld 0: one column for all */
	struct ac_verified_tail then;    /* without its scratch */
	bool         follows;            /* D is not x itself, or is not all
	                                  * that is written */
	bool         writes_aux;
	uint64_t     algorithm;          /* that the program chose: a hash
	                                  * (shim/trial/tuning.h) */
};

struct ac_gemm_backend;
struct ac_job;

/* Which one, and that it is the lower triangle. */
enum { AC_SYMMETRIC_A = 1, AC_SYMMETRIC_B = 2, AC_SYMMETRIC_LOWER = 4 };

struct ac_gemm {
	const struct ac_gemm_backend *backend; /* by which it came */
	cublasHandle_t     handle;       /* or a cublasLtHandle_t */
	cublasOperation_t  transa, transb;
	int64_t            m, n, k, batch;
	const void        *alpha, *beta; /* host or device, as the handle's
	                                  * pointer mode says */
	struct ac_operand  a, b, c;
	const struct ac_gemm_tail *tail; /* NULL: a plain product */
	bool               in_arrays; /* `data` are arrays of matrices on the
	                               * device: the host cannot see them */
	uint8_t            symmetric; /* of A or B one triangle is stored:
	                               * AC_SYMMETRIC_*; 0: of neither */
};

/* One of NVIDIA's interfaces for products: what the recipes need of it. */
struct ac_gemm_backend {
	/* Lanes hold a handle of cuBLAS for what they run, and the program's
	 * handles are of the library that serves the calls. */
	bool has_handles;
	bool needs_place;   /* as in struct ac_conduct */
	/* Of a complete provider (shim/bind/provider.h), as all below. */
	enum ac_reason (*find_stream)(const struct ac_gemm *program,
	    struct ac_provider *provider, ac_cu_stream *stream_out);
	/* Where the program's scalars are. False: unknown. */
	bool (*pointer_mode)(const struct ac_gemm *program,
	    struct ac_provider *provider, cublasPointerMode_t *mode_out);
	/* Issue `product`, which is the job's but for handle, operands and
	 * scalars. With `apart`, it goes next to C, without beta and what
	 * follows. AC_REASON_NONE and *status_out, the library's answer; or why
	 * the original call may still be made: the provider has no such form,
	 * or refused. */
	enum ac_reason (*issue)(const struct ac_job *job,
	    const struct ac_gemm *product, cublasComputeType_t compute,
	    bool apart, cublasStatus_t *status_out);
};

/* cuBLAS's own: cublas_backend.c. */
extern const struct ac_gemm_backend ac_cublas_backend
    __attribute__((visibility("hidden")));

/* What numbers and addresses tell, the latter alone of calls that are `known`
 * (or NULL). */
enum ac_reason ac_gemm_objection_to(const struct ac_gemm *g,
    const struct ac_layout_known *known);

/* Why the call is kept whatever its site does; AC_REASON_NONE: it may be
 * recast. `handle` is the program's, `provider` the library that is asked,
 * `known` what is known of such calls, or NULL. Calls nothing. Nothing of ours
 * may touch a handle of another version of cuBLAS, or one that we did not see
 * created. */
static inline enum ac_reason
ac_gemm_objection(const struct ac_gemm *g, const struct ac_handle *handle,
    const struct ac_provider *provider,
    const struct ac_layout_known *known)
{
	if (!provider || (handle->provider != provider
	    && (!handle->provider || g->backend->has_handles)))
		return AC_REASON_UNSUPPORTED;
	return ac_gemm_objection_to(g, known);
}

/* Bytes of what beta scales, from the first element on, where the tail has a C
 * of its own. */
uint64_t ac_gemm_added_bytes(const struct ac_gemm *g);

/* What the operands of a site are made of, under AUTOCAST_RANGES=on: queue the
 * counting of this call's, once it is known that the provider takes them, and
 * hand on what earlier calls have counted by now. Nothing happens where that is
 * impossible, or in a capture. */
void ac_ranges_count(const struct ac_gemm *g, const struct ac_site *site);

/* Whether the original call may still be made after this answer. */
bool ac_gemm_is_refusal(cublasStatus_t status);

/* Try to run `g` in lower precision, as its site's decision says. DONE:
 * *status_out is the answer. Else C is untouched, or nothing that the original
 * call reads, and that is to be made. Counts the call. */
enum ac_outcome ac_gemm_recast(const struct ac_gemm *g,
    const struct ac_site *site, struct ac_kept *kept_out,
    cublasStatus_t *status_out);

#endif
