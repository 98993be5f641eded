/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/lt_backend.c -- how a recast product goes through cublasLt: on the
 * program's handle and stream, in its workspace, with an algorithm of our own
 * (shim/lt/plan.h). */
#include "shim/lt/call.h"

#include "base/mapped.h"
#include "base/table.h"
#include "shim/gemm/recipe.h"
#include "shim/lt/pairs.h"
#include "shim/lt/plan.h"

#include <stddef.h>
#include <string.h>

/* cublasLt wants 256 bytes (manual of cublasLtMatmul()). */
/* A vector that is a slice of another may lie anywhere. Heuristics are told of
 * the alignments of A to D only, and an algorithm may read the rest by 16
 * bytes. */
enum { WORKSPACE_MASK = 255, VECTOR_MASK = 15 };

/* A call as a product; the first member is what the recipes know of it. */
struct lt_gemm {
	struct ac_gemm                gemm;
	struct ac_gemm_tail           tail;
	const struct ac_lt_arguments *x;
	const struct ac_lt_decided   *decided;
	struct ac_lt_pointers         pointers;
};

static enum ac_reason
find_stream(const struct ac_gemm *program, struct ac_provider *provider,
    ac_cu_stream *stream_out)
{
	(void)provider;
	*stream_out = (ac_cu_stream)((const struct lt_gemm *)program)
	    ->x->stream;
	return AC_REASON_NONE;
}

static bool
pointer_mode(const struct ac_gemm *program, struct ac_provider *provider,
    cublasPointerMode_t *mode_out)
{
	(void)provider;
	*mode_out = ((const struct lt_gemm *)program)->decided
	    ->product.pointer_mode;
	return true;
}

/* ---- One product issued -------------------------------------------------- */

static struct ac_lt_stored
stored(const struct ac_operand *operand)
{
	return (struct ac_lt_stored){ operand->ld, operand->stride };
}

/* Where `product` goes: next to C, or in its place, with what follows. Without
 * a C, beta is 0, and D does as well as any. The kind is what may change. */
static void
set_run(const struct ac_job *job, const struct ac_gemm *product,
    cublasComputeType_t compute, bool apart, struct ac_lt_plan_key *kind,
    struct ac_lt_run *run)
{
	const struct lt_gemm *call = (const struct lt_gemm *)job->g;
	const struct ac_lt_arguments *x = call->x;
	const struct ac_lt_product *p = &call->decided->product;
	const bool aux = !apart
	    && ac_lt_epilogues[p->epilogue].aux != AC_LT_AUX_NO;
	void *const result = (void *)(uintptr_t)product->c.data;

	*run = (struct ac_lt_run){
		.handle = x->handle, .alpha = product->alpha,
		.a = product->a.data, .b = product->b.data,
		.beta = product->beta,
		.c = apart ? result : x->c ? x->c : x->d,
		.bias = apart ? NULL : call->pointers.bias,
		.d = apart ? result : x->d,
		.aux = apart ? NULL : call->pointers.aux,
		.workspace = x->workspace,
		.stream = job->call.place->stream,
		.driver = job->call.place->driver
	};
	kind->workspace_bytes = x->workspace ? x->workspace_bytes : 0;
	kind->bias_stride = !apart && p->batch > 1
	    ? call->decided->content.bias_stride : 0;
	kind->aux_ld = aux ? call->pointers.aux_ld : 0;
	kind->aux_stride = aux ? call->pointers.aux_stride : 0;
	kind->a = stored(&product->a);
	kind->k = product->k;
	kind->m = product->m;
	kind->d = apart ? stored(&product->c) : p->d;
	kind->c = apart || !x->c ? kind->d : p->c;
	kind->type = (int32_t)product->a.type;
	kind->compute = (int32_t)compute;
	kind->alignment[0] = ac_lt_alignment(run->a);
	kind->alignment[1] = ac_lt_alignment(run->b);
	kind->alignment[2] = ac_lt_alignment(run->c);
	kind->alignment[3] = ac_lt_alignment(run->d);
	kind->alignment[4] = ac_lt_alignment(run->bias);
	kind->alignment[5] = ac_lt_alignment(run->aux);
	kind->epilogue = (uint8_t)(apart ? AC_EPILOGUE_DEFAULT : p->epilogue);
	kind->has_our_scalars = product->alpha != job->g->alpha;
}

/* The rest follows from the content, and from whose scalars they are. */
static void
complete(const struct ac_job *job, const struct ac_gemm *product,
    struct ac_lt_plan_key *kind)
{
	const struct ac_lt_decided *decided =
	    ((const struct lt_gemm *)job->g)->decided;

	kind->transa = (uint8_t)product->transa;
	kind->transb = (uint8_t)product->transb;
	memset(kind->reserved, 0, sizeof kind->reserved);
	kind->provider = job->site->binding.provider;
	kind->n = product->n;
	kind->b = stored(&product->b);
	kind->device = decided->device;
	kind->batch = (int32_t)product->batch;
	kind->sm_count_target = decided->content.sm_count_target;
	kind->pointer_mode = kind->has_our_scalars
	    ? (int32_t)CUBLASLT_POINTER_MODE_DEVICE
	    : (int32_t)decided->product.pointer_mode;
}

static enum ac_reason
issue(const struct ac_job *job, const struct ac_gemm *product,
    cublasComputeType_t compute, bool apart, cublasStatus_t *status_out)
{
	struct ac_lt_last *last =
	    ((const struct lt_gemm *)job->g)->decided->last;
	ac_lt_plan_hint *hint = last ? &last->plan : NULL;
	struct ac_lt_plan_key kind;
	struct ac_lt_run run;
	enum ac_reason reason;

	set_run(job, product, compute, apart, &kind, &run);
	if (ac_lt_plan_again(&kind, &run, hint, &reason, status_out))
		return reason;
	complete(job, product, &kind);
	return ac_lt_plan_run(&kind, &run, !job->call.place->capture, hint,
	    status_out);
}

static const struct ac_gemm_backend lt_backend = {
	.needs_place = true, .find_stream = find_stream,
	.pointer_mode = pointer_mode, .issue = issue
};

/* ---- A call -------------------------------------------------------------- */

/* The next calls will mostly name the same. Threads that name several together
 * may exceed the limit by as many as they are. */
static void
remember(struct ac_lt_last *last, const struct ac_lt_choice *choice)
{
	enum { MOST = 32 };  /* of 80 bytes each, of one content */
	struct ac_lt_choice *made;

	if (atomic_load_explicit(&last->choices, memory_order_relaxed) >= MOST)
		return;
	made = ac_mapped_take(sizeof *made);
	if (!made)
		return;
	*made = *choice;
	atomic_fetch_add_explicit(&last->choices, 1, memory_order_relaxed);
	atomic_store_explicit(&last->choice, made, memory_order_release);
}

static bool
is_same(const cublasLtMatmulAlgo_t *x, const cublasLtMatmulAlgo_t *y)
{
	_Static_assert(sizeof *x == 64, "four pairs");
	return ac_lt_is_none(ac_lt_xor(x, y, 0) | ac_lt_xor(x, y, 1)
	    | ac_lt_xor(x, y, 2) | ac_lt_xor(x, y, 3));
}

/* Of an algorithm and the room that it has: one that ran in another workspace
 * may not run in this one, which the program is to hear. Comparing takes a
 * third of the time that hashing does. */
static uint64_t
hash_of(const struct ac_lt_arguments *x, struct ac_lt_last *last)
{
	const struct ac_lt_choice *before = last ? atomic_load_explicit(
	    &last->choice, memory_order_acquire) : NULL;
	struct ac_lt_choice choice;

	if (!x->algorithm)
		return 0;
	choice.room = x->workspace ? 1 + x->workspace_bytes : 0;
	if (before && before->room == choice.room
	    && is_same(&before->algorithm, x->algorithm))
		return before->hash;
	choice.algorithm = *x->algorithm;
	choice.hash = ac_table_hash(&choice,
	    offsetof(struct ac_lt_choice, hash));
	if (last)
		remember(last, &choice);
	return choice.hash;
}

void
ac_lt_decided_prepare(struct ac_lt_decided *decided)
{
	const struct ac_lt_product *p = &decided->product;

	decided->gemm = (struct ac_gemm){
		.backend = &lt_backend,
		.transa = p->transa, .transb = p->transb,
		.m = p->m, .n = p->n, .k = p->k, .batch = p->batch,
		.a = { NULL, CUDA_R_32F, p->a.ld, p->a.stride },
		.b = { NULL, CUDA_R_32F, p->b.ld, p->b.stride },
		.c = { NULL, CUDA_R_32F, p->d.ld, p->d.stride }
	};
	decided->tail = (struct ac_gemm_tail){
		.follows = p->epilogue != AC_EPILOGUE_DEFAULT
	};
	if (p->epilogue < AC_EPILOGUE_INPUT_SUMS) {
		decided->tail.then.activation =
		    ac_lt_epilogues[p->epilogue].activation;
		decided->tail.writes_aux = ac_lt_epilogues[p->epilogue].aux
		    == AC_LT_AUX_OUT;
	}
}

/* C == D of one layout is what the output holds. */
static void
set_tail(struct lt_gemm *call)
{
	const struct ac_lt_arguments *x = call->x;
	const struct ac_lt_product *p = &call->decided->product;
	const struct ac_lt_epilogue *does = &ac_lt_epilogues[p->epilogue];
	struct ac_verified_tail *then = &call->tail.then;
	const int64_t stride = p->batch > 1 ? call->decided->content.bias_stride
	    : 0;

	call->tail = call->decided->tail;
	call->tail.algorithm = hash_of(x, call->decided->last);
	if (does->adds_bias) {
		then->bias = call->pointers.bias;
		then->bias_stride = stride;
	}
	if (does->sums_output) {
		then->sums = (float *)(uintptr_t)call->pointers.bias;
		then->sums_stride = stride;
	}
	if (does->aux != AC_LT_AUX_NO) {
		then->aux = (void *)(uintptr_t)call->pointers.aux;
		then->aux_ld = call->pointers.aux_ld;
		then->aux_stride = call->pointers.aux_stride;
	}
	if (x->c && (x->c != x->d || p->c.ld != p->d.ld
	    || p->c.stride != p->d.stride)) {
		call->tail.added = x->c;
		call->tail.added_ld = p->c.ld;
		call->tail.added_stride = p->c.stride;
	}
}

static void
set_gemm(struct lt_gemm *call)
{
	const struct ac_lt_arguments *x = call->x;
	const bool swapped = call->decided->product.swapped;
	struct ac_gemm *g = &call->gemm;

	*g = call->decided->gemm;
	g->handle = (cublasHandle_t)x->handle;
	g->alpha = x->alpha;
	g->beta = x->beta;
	g->a.data = swapped ? x->b : x->a;
	g->b.data = swapped ? x->a : x->b;
	g->c.data = x->d;
	g->tail = &call->tail;
}

/* As far as the host can see. */
static bool
reads_c(const struct lt_gemm *call)
{
	const float *beta = call->x->beta;

	return call->decided->product.pointer_mode == CUBLAS_POINTER_MODE_HOST
	    && beta && *beta != 0;
}

/* Whether the workspace can be used, and all that the product and its epilogue
 * read and write is there, where any algorithm can: else cublasLt has something
 * to say. */
static bool
is_complete(const struct lt_gemm *call)
{
	const struct ac_lt_epilogue *does =
	    &ac_lt_epilogues[call->decided->product.epilogue];

	return (call->pointers.bias || !(does->adds_bias || does->sums_output))
	    && (call->pointers.aux || does->aux == AC_LT_AUX_NO)
	    && (call->x->c || !reads_c(call))
	    && !((uintptr_t)call->x->workspace & WORKSPACE_MASK)
	    && !(((uintptr_t)call->pointers.bias
	    | (uintptr_t)call->pointers.aux) & VECTOR_MASK);
}

enum ac_outcome
ac_lt_recast(const struct ac_lt_arguments *x, const struct ac_lt_asked *asked,
    const struct ac_lt_decided *decided, struct ac_kept *kept_out,
    cublasStatus_t *status_out)
{
	struct lt_gemm call;

	/* What we do not understand has a site that is kept. */
	if (decided->product.epilogue >= AC_EPILOGUE_INPUT_SUMS) {
		ac_report_count_decided(decided->site->record);
		return AC_OUTCOME_KEPT;
	}
	call.x = x;
	call.decided = decided;
	if (!ac_lt_read_pointers(asked, &decided->content, decided->version,
	    &call.pointers) || !is_complete(&call)) {
		ac_report_count(decided->site->record, AC_REASON_UNSUPPORTED);
		return AC_OUTCOME_KEPT;
	}
	set_tail(&call);
	set_gemm(&call);
	return ac_gemm_recast(&call.gemm, decided->site, kept_out, status_out);
}
