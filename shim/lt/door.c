/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/door.c -- how a recast product goes through cublasLt: on the
 * program's handle and stream, in its workspace, with an algorithm of our own
 * (shim/lt/plan.h). */
#include "shim/lt/call.h"

#include "shim/gemm/recipe.h"
#include "shim/lt/plan.h"

/* cublasLt wants 256 bytes (manual of cublasLtMatmul()). */
enum { WORKSPACE_MASK = 255 };

/* A call as a product; the first member is what the recipes know of it. */
struct lt_gemm {
	struct ac_gemm                gemm;
	struct ac_gemm_tail           tail;
	const struct ac_lt_arguments *x;
	const struct ac_lt_use       *use;
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
	*mode_out = ((const struct lt_gemm *)program)->use
	    ->product.pointer_mode;
	return true;
}

/* ---- One product issued -------------------------------------------------- */

static struct ac_lt_stored
stored(const struct ac_operand *operand)
{
	return (struct ac_lt_stored){ operand->ld, operand->stride };
}

/* What is alike next to C and in its place. */
static void
describe(const struct ac_job *job, const struct lt_gemm *call,
    const struct ac_gemm *product, cublasComputeType_t compute,
    struct ac_lt_kind *kind, struct ac_lt_run *run)
{
	const bool casts = product->a.type != CUDA_R_32F;

	*run = (struct ac_lt_run){
		.handle = call->x->handle, .alpha = product->alpha,
		.a = product->a.data, .b = product->b.data,
		.beta = product->beta,
		.workspace = call->x->workspace,
		.stream = job->call.place->stream,
		.driver = job->call.place->driver
	};
	*kind = (struct ac_lt_kind){
		.provider = job->site->binding.provider,
		.m = product->m, .n = product->n, .k = product->k,
		.a = stored(&product->a), .b = stored(&product->b),
		.workspace_bytes = run->workspace ? call->x->workspace_bytes
		    : 0,
		.device = call->use->device, .batch = (int32_t)product->batch,
		.sm_count_target = call->use->content.sm_count_target,
		.type = (int32_t)product->a.type, .compute = (int32_t)compute,
		.pointer_mode = casts ? (int32_t)CUBLASLT_POINTER_MODE_DEVICE
		    : (int32_t)call->use->product.pointer_mode,
		.transa = (uint8_t)product->transa,
		.transb = (uint8_t)product->transb
	};
}

static void
align(struct ac_lt_kind *kind, const struct ac_lt_run *run)
{
	const void *const addresses[6] = { run->a, run->b, run->c, run->d,
		run->bias, run->aux };

	for (unsigned i = 0; i < 6; i++)
		kind->alignment[i] = ac_lt_alignment(addresses[i]);
}

static void
go_beside(const struct ac_gemm *product, struct ac_lt_kind *kind,
    struct ac_lt_run *run)
{
	kind->c = kind->d = stored(&product->c);
	run->d = (void *)(uintptr_t)product->c.data;
	run->c = run->d;
	align(kind, run);
}

/* Without a C, beta is 0, and D does as well as any. */
static void
go_in_place(const struct lt_gemm *call, struct ac_lt_kind *kind,
    struct ac_lt_run *run)
{
	const struct ac_lt_product *p = &call->use->product;

	kind->d = p->d;
	kind->c = call->x->c ? p->c : p->d;
	run->d = call->x->d;
	run->c = call->x->c ? call->x->c : call->x->d;
	kind->epilogue = (uint8_t)p->epilogue;
	run->bias = call->pointers.bias;
	run->aux = call->pointers.aux;
	if (ac_lt_epilogues[p->epilogue].aux != AC_LT_AUX_NO) {
		kind->aux_ld = call->pointers.aux_ld;
		kind->aux_stride = call->pointers.aux_stride;
	}
	kind->bias_stride = call->tail.epilogue.bias_stride;
	align(kind, run);
}

/* A try looks for what will run in C's place, too: the call after it may be
 * captured, where nothing is looked for. */
static enum ac_reason
issue(const struct ac_job *job, const struct ac_gemm *product,
    cublasComputeType_t compute, bool beside, cublasStatus_t *status_out)
{
	const struct lt_gemm *call = (const struct lt_gemm *)job->g;
	const bool may_make = !job->call.place->capture;
	struct ac_lt_kind kind;
	struct ac_lt_run run;

	describe(job, call, product, compute, &kind, &run);
	go_in_place(call, &kind, &run);
	if (beside && may_make)
		ac_lt_plan_make(&kind, &run);
	if (beside) {
		describe(job, call, product, compute, &kind, &run);
		go_beside(product, &kind, &run);
	}
	return ac_lt_plan_run(&kind, &run, may_make, call->use->hint,
	    status_out);
}

static const struct ac_gemm_door lt_door = {
	.needs_place = true, .find_stream = find_stream,
	.pointer_mode = pointer_mode, .issue = issue
};

/* ---- A call -------------------------------------------------------------- */

/* Of an algorithm and the room that it has: one that ran in another workspace
 * may not run in this one, which the program is to hear. */
static uint64_t
hash_of(const struct ac_lt_arguments *x)
{
	struct {
		cublasLtMatmulAlgo_t algorithm;
		uint64_t             room;
	} choice;

	if (!x->algorithm)
		return 0;
	choice.algorithm = *x->algorithm;
	choice.room = x->workspace ? 1 + x->workspace_bytes : 0;
	return ac_table_hash(&choice, sizeof choice);
}

/* C == D of one layout is what the output holds. */
static void
set_tail(struct lt_gemm *call)
{
	const struct ac_lt_product *p = &call->use->product;
	const struct ac_lt_epilogue *does = &ac_lt_epilogues[p->epilogue];
	const bool apart = call->x->c && (call->x->c != call->x->d
	    || p->c.ld != p->d.ld || p->c.stride != p->d.stride);
	const bool reads_aux = does->aux == AC_LT_AUX_IN;

	call->tail = (struct ac_gemm_tail){
		.epilogue = {
			.activation = does->activation,
			.is_set = p->epilogue != AC_EPILOGUE_DEFAULT,
			.bias = does->adds_bias ? call->pointers.bias : NULL,
			.bias_stride = p->batch > 1
			    ? call->use->content.bias_stride : 0,
			.aux = reads_aux ? call->pointers.aux : NULL,
			.aux_ld = reads_aux ? call->pointers.aux_ld : 0,
			.aux_stride = reads_aux ? call->pointers.aux_stride : 0
		},
		.algorithm = hash_of(call->x)
	};
	if (apart)
		call->tail.added = (struct ac_recast_added){
			call->x->c, p->c.ld, p->c.stride
		};
}

static void
set_gemm(struct lt_gemm *call)
{
	const struct ac_lt_arguments *x = call->x;
	const struct ac_lt_product *p = &call->use->product;

	call->gemm = (struct ac_gemm){
		.door = &lt_door, .handle = (cublasHandle_t)x->handle,
		.transa = p->transa, .transb = p->transb,
		.m = p->m, .n = p->n, .k = p->k, .batch = p->batch,
		.alpha = x->alpha, .beta = x->beta,
		.a = { p->swapped ? x->b : x->a, CUDA_R_32F, p->a.ld,
			p->a.stride },
		.b = { p->swapped ? x->a : x->b, CUDA_R_32F, p->b.ld,
			p->b.stride },
		.c = { x->d, CUDA_R_32F, p->d.ld, p->d.stride },
		.tail = &call->tail
	};
}

/* As far as the host can see. */
static bool
reads_c(const struct lt_gemm *call)
{
	const float *beta = call->x->beta;

	return call->use->product.pointer_mode == CUBLAS_POINTER_MODE_HOST
	    && beta && *beta != 0;
}

/* Whether the workspace can be used, and all that the product and its epilogue
 * read and write is there: else cublasLt has something to say. */
static bool
is_complete(const struct lt_gemm *call)
{
	const struct ac_lt_epilogue *does =
	    &ac_lt_epilogues[call->use->product.epilogue];

	return (call->pointers.bias || !(does->adds_bias || does->sums_output))
	    && (call->pointers.aux || does->aux == AC_LT_AUX_NO)
	    && (call->x->c || !reads_c(call))
	    && !((uintptr_t)call->x->workspace & WORKSPACE_MASK);
}

static bool
read_pointers(struct lt_gemm *call, struct ac_provider *provider)
{
	const struct ac_lt_asked asked = {
		.provider = provider, .desc = call->x->operation
	};

	return ac_lt_read_pointers(&asked, &call->use->content,
	    call->use->sort, &call->pointers) && is_complete(call);
}

enum ac_outcome
ac_lt_recast(const struct ac_lt_arguments *x, const struct ac_lt_use *use,
    struct ac_provider *provider, struct ac_kept *kept_out,
    cublasStatus_t *status_out)
{
	struct lt_gemm call = { .x = x, .use = use };

	/* What we do not understand has a site that is kept. */
	if (use->product.epilogue >= AC_EPILOGUE_INPUT_SUMS) {
		ac_report_count_decided(use->site->record);
		return AC_OUTCOME_KEPT;
	}
	if (!read_pointers(&call, provider)) {
		ac_report_count(use->site->record, AC_REASON_UNSUPPORTED);
		return AC_OUTCOME_KEPT;
	}
	set_tail(&call);
	set_gemm(&call);
	return ac_gemm_recast(&call.gemm, use->site, kept_out, status_out);
}
