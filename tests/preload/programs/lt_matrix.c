/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lt_matrix.c -- every product of cublasLt that the
 * emulated GPU knows: epilogues, types, orders, batches, C and beta, where the
 * scalars are. A line each: name, status, a hash of all that was written, the
 * worst error against FP64.
 *
 *   lt_matrix [epilogue=NAME] [kind=NAME] [order=NAME] [batch=NAME] [c=NAME]
 *       [scalars=NAME] [size=MxNxK] [pad=N] [calls=N] [bits=N] [data=KIND]
 *       [algo=null] [via=gemm]
 * `bits`: what a recast keeps of FP32 inputs at least (24: all). `calls`: of
 * each product, from the same place; the last is looked at. `data`: inf, nan,
 * tiny (1e-30), large (1e30). `via=gemm`: by cuBLAS, what it can do, too. Exit
 * status 1: an error is beyond its bound, or
 * something was written that must not be. */
#include "lt_client.h"

#include <math.h>

static const struct {
	const char *name;
	bool turn_a, turn_b, row_a, row_b, row_d;
} orders[] = {
	{ "nn", false, false, false, false, false },
	{ "tn", true, false, false, false, false },
	{ "nt", false, true, false, false, false },
	{ "tt", true, true, false, false, false },
	{ "row-ab", false, false, true, true, false },
	{ "row-d", false, false, false, false, true },
	{ "row-abd", false, false, true, true, true }
};
static const struct {
	const char *name;
	int batch;
	bool broadcast_b;
} batches[] = {
	{ "one", 1, false }, { "three", 3, false }, { "shared", 3, true }
};
static const struct {
	const char *name;
	bool no_c, reads, apart;
} sources[] = {
	{ "none", true, false, false }, { "unread", false, false, false },
	{ "same", false, true, false }, { "apart", false, true, true }
};
static const char *const modes[] = { "host", "device" };
enum { ORDERS = 7, BATCHES = 3, SOURCES = 4, MODES = 2, TN = 1,
	WORKSPACE = 4 << 20 };

struct options {
	const char *epilogue, *kind, *order, *batch, *source, *mode, *data;
	int m, n, k, pad, calls, bits;
	bool no_algo, by_cublas;
};

static cublasHandle_t blas;
static cublasLtHandle_t handle;
static void *workspace;
static bool broken;

/* ---- one product --------------------------------------------------------- */

/* The program's own choice: what the heuristics say first, if anything. */
static const cublasLtMatmulAlgo_t *
algorithm(const struct lt_descriptors *d, const struct options *o,
    cublasLtMatmulHeuristicResult_t *result)
{
	const uint64_t bytes = WORKSPACE;
	cublasLtMatmulPreference_t preference;
	cublasStatus_t status;
	int found = 0;

	if (o->no_algo)
		return NULL;
	BLAS(cublasLtMatmulPreferenceCreate(&preference));
	BLAS(cublasLtMatmulPreferenceSetAttribute(preference,
	    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
	status = cublasLtMatmulAlgoGetHeuristic(handle, d->operation, d->a,
	    d->b, d->c, d->d, preference, 1, result, &found);
	BLAS(cublasLtMatmulPreferenceDestroy(preference));
	return status || !found ? NULL : &result->algo;
}

/* Trouble in a few elements of the first matrix of A, or other numbers in all
 * of them: FP16 has one exponent for a batch. */
static void
trouble(struct lt_problem *p, const char *data)
{
	const float bad = !strcmp(data, "nan") ? NAN : INFINITY;
	const float size = !strcmp(data, "tiny") ? 1e-30f : 1e30f;
	const size_t elements = (size_t)((p->a.batch - 1) * p->a.stride +
	    p->a.ld * (p->a.row ? p->a.rows : p->a.cols));
	float *values;

	if (p->a.type != CUDA_R_32F)
		return;
	if (!strcmp(data, "nan") || !strcmp(data, "inf")) {
		lt_put(&p->a, 2, &bad, 1);
		lt_put(&p->a, (size_t)(3 * p->a.ld + 5), &bad, 1);
		return;
	}
	values = client_allocate(elements, sizeof *values);
	for (int64_t i = 0; i < (int64_t)elements; i++)
		values[i] = size * (float)(i * 7 % 31 - 15) / 16;
	lt_put(&p->a, 0, values, elements);
	free(values);
}

/* The same by cuBLAS: of FP32, in column order, without an epilogue, C in
 * place. */
static cublasStatus_t
multiply_plainly(const struct lt_problem *p)
{
	const struct lt_wanted *w = &p->w;

	BLAS(cublasSetPointerMode(blas, w->on_device ?
	    CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
	return cublasSgemmStridedBatched(blas, w->turn_a ? CUBLAS_OP_T :
	    CUBLAS_OP_N, w->turn_b ? CUBLAS_OP_T : CUBLAS_OP_N, (int)w->m,
	    (int)w->n, (int)w->k, lt_alpha(p), p->a.device, (int)p->a.ld,
	    p->a.stride, p->b.device, (int)p->b.ld, p->b.stride, lt_beta(p),
	    p->d.device, (int)p->d.ld, p->d.stride, w->batch);
}

static void
run(const struct lt_wanted *w, const struct options *o, const char *name)
{
	struct lt_problem *p = lt_make(w, 17);
	cublasLtMatmulHeuristicResult_t result;
	struct lt_descriptors d;
	struct lt_error error = { 0, NULL };
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

	if (o->data)
		trouble(p, o->data);
	lt_describe(p, &d);
	for (int i = 0; i < o->calls; i++) {
		lt_renew(p);
		status = o->by_cublas ? multiply_plainly(p) :
		    lt_multiply(handle, p, &d, algorithm(&d, o, &result),
		    workspace, WORKSPACE, NULL);
		CUDA(cudaDeviceSynchronize());
	}
	error = lt_check(p);
	printf("%s status=%d hash=%016" PRIx64, name, (int)status,
	    lt_hash(p));
	if (!status)
		printf(" worst=%.3g", error.worst);
	if (!status && !(error.worst <= lt_bound(p, o->bits))) {
		printf(" BEYOND=%.3g%s%s", lt_bound(p, o->bits),
		    error.broken ? " " : "", error.broken ? error.broken : "");
		broken = true;
	}
	putchar('\n');
	lt_undescribe(&d);
	lt_drop(p);
}

/* ---- all of them --------------------------------------------------------- */

static bool
asked(const char *wanted, const char *name)
{
	return !wanted || !strcmp(wanted, name);
}

/* Types but FP32 are tried in one order, with the batches and C of FP32's. */
static void
run_case(const struct options *o, const struct lt_kind *kind, int e,
    int order, int batch, int source, int mode)
{
	const bool whole = kind->in == CUDA_R_8I;
	struct lt_wanted w = { .kind = kind, .m = o->m, .n = o->n, .k = o->k,
		.batch = batches[batch].batch, .pad = o->pad,
		.turn_a = orders[order].turn_a,
		.turn_b = orders[order].turn_b, .row_a = orders[order].row_a,
		.row_b = orders[order].row_b, .row_d = orders[order].row_d,
		.broadcast_b = batches[batch].broadcast_b,
		.epilogue = lt_epilogues[e].value, .alpha = whole ? 2 : 0.75f,
		.beta = !sources[source].reads ? 0 : whole ? -3 : -1.5f,
		.apart = sources[source].apart, .no_c = sources[source].no_c,
		.on_device = mode };
	char name[160];

	snprintf(name, sizeof name, "%s/%s/%s/%s/%s/%s",
	    lt_epilogues[e].name, kind->name, orders[order].name,
	    batches[batch].name, sources[source].name, modes[mode]);
	run(&w, o, name);
}

static void
run_kind(const struct options *o, const struct lt_kind *kind, int e)
{
	for (int order = 0; order < ORDERS; order++)
		for (int batch = 0; batch < BATCHES; batch++)
			for (int source = 0; source < SOURCES; source++)
				for (int mode = 0; mode < MODES; mode++)
					if ((kind == &lt_kinds[LT_FP32] ||
					    order == TN) &&
					    asked(o->order,
					    orders[order].name) &&
					    asked(o->batch,
					    batches[batch].name) &&
					    asked(o->source,
					    sources[source].name) &&
					    asked(o->mode, modes[mode]))
						run_case(o, kind, e, order,
						    batch, source, mode);
}

/* ---- words --------------------------------------------------------------- */

static const char *
word(const char *argument, const char *name)
{
	const size_t length = strlen(name);

	return !strncmp(argument, name, length) && argument[length] == '=' ?
	    argument + length + 1 : NULL;
}

static bool
take(struct options *o, const char *argument)
{
	static const struct {
		const char *name;
		size_t at;
		bool is_number;
	} known[] = {
#define WORD(name, member, is_number)                                     \
		{ name, offsetof(struct options, member), is_number },
		WORD("epilogue", epilogue, false) WORD("kind", kind, false)
		WORD("order", order, false) WORD("batch", batch, false)
		WORD("c", source, false) WORD("scalars", mode, false)
		WORD("data", data, false) WORD("pad", pad, true)
		WORD("calls", calls, true) WORD("bits", bits, true)
#undef WORD
	};
	const char *value = word(argument, "size");

	if (value)
		return sscanf(value, "%dx%dx%d", &o->m, &o->n, &o->k) == 3;
	if (!strcmp(argument, "algo=null"))
		return o->no_algo = true;
	if (!strcmp(argument, "via=gemm"))
		return o->by_cublas = true;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		void *member = (char *)o + known[i].at;
		const int number = (value = word(argument, known[i].name)) ?
		    atoi(value) : 0;

		if (!value)
			continue;
		if (known[i].is_number)
			memcpy(member, &number, sizeof number);
		else
			memcpy(member, &value, sizeof value);
		return true;
	}
	return false;
}

int
main(int argc, char **argv)
{
	struct options o = { .m = 32, .n = 24, .k = 40, .calls = 1,
		.bits = 24 };
	void *memory;

	for (int i = 1; i < argc; i++)
		if (!take(&o, argv[i])) {
			fprintf(stderr, "lt_matrix: %s\n", argv[i]);
			return EXIT_USAGE;
		}
	BLAS(cublasCreate(&blas));
	BLAS(cublasLtCreate(&handle));
	CUDA(cudaMalloc(&memory, WORKSPACE));
	workspace = memory;
	for (int e = 0; e < LT_EPILOGUES; e++)
		for (int kind = 0; kind < LT_KINDS; kind++)
			if (asked(o.epilogue, lt_epilogues[e].name) &&
			    asked(o.kind, lt_kinds[kind].name))
				run_kind(&o, &lt_kinds[kind], e);
	CUDA(cudaFree(workspace));
	BLAS(cublasLtDestroy(handle));
	BLAS(cublasDestroy(blas));
	return broken;
}
