/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/kernels.c -- the library's own kernels by themselves: an empty
 * launch (n4), how long they take to load, the cast's share of the copy's
 * speed, what a second pass costs, what a sample costs.
 *
 *   kernels load LABEL | cast | launch | passes | sample
 * Kernels that are refused: status 3, and the library's own message on
 * stderr. */
#include "gpu.h"

#include "kernels/load/load.h"
#include "kernels/recast/recast.h"

#include <stdio.h>
#include <string.h>

static const struct ac_kernels *kernels;

/* The three launches around one N x N x N product, without the product. */
struct recast {
	struct ac_recast params;
	bool   with_cast, forgetful; /* forgetful: no exponent is known */
};

static void *
zeros(size_t bytes)
{
	void *device = gpu_alloc(bytes);

	MUST(cudaMemsetAsync(device, 0, bytes, gpu.stream));
	MUST(cudaStreamSynchronize(gpu.stream));
	return device;
}

static void
operand_make(unsigned i, int n, struct ac_recast_operand *operand)
{
	const size_t count = (size_t)n * (size_t)n;

	*operand = (struct ac_recast_operand){
		.from = gpu_fill(gpu_pool_get(DATA_NORMAL, i), STORE_FP32,
		    count),
		.rows = n, .cols = n, .ld = n, .stride = 0, .batch = 1,
		.to = gpu_alloc(count * sizeof(uint16_t)),
		.ld_to = n, .cols_to = n,
		.marks = zeros(((size_t)n / 16 + 1) * sizeof(uint32_t)),
		.lines_are_cols = i
	};
}

static void
recast_make(int n, struct recast *r)
{
	struct ac_recast *p = &r->params;
	void *host, *device;

	memset(r, 0, sizeof *r);
	for (unsigned i = 0; i < 2; i++)
		operand_make(i, n, &p->operand[i]);
	p->output.c = zeros((size_t)n * (size_t)n * sizeof(float));
	p->output.ld = n;
	p->m = p->n = p->k = n;
	p->batch = 1;
	p->format = AC_FORMAT_FP16;
	p->scaled = 1;
	p->alpha.value = 1;
	p->state = zeros(sizeof *p->state);
	p->history = zeros(sizeof *p->history);
	p->before = zeros(AC_BEFORE * sizeof(float));
	MUST(cudaHostAlloc(&host, sizeof *p->post, cudaHostAllocMapped));
	MUST(cudaHostGetDevicePointer(&device, host, 0));
	p->post = device; /* as in every 64th call, which samples; else NULL */
	p->seed = 1;
	p->number = 1;
	r->with_cast = true;
}

static void
recast_free(struct recast *r)
{
	struct ac_recast *p = &r->params;

	for (int i = 0; i < 2; i++) {
		gpu_free((void *)(uintptr_t)p->operand[i].from);
		gpu_free(p->operand[i].to);
		gpu_free(p->operand[i].marks);
	}
	gpu_free(p->output.c);
	gpu_free(p->state);
	gpu_free(p->history);
	gpu_free(p->before);
}

static void
call(void *context)
{
	const struct recast *r = context;
	const ac_cu_stream stream = (ac_cu_stream)gpu.stream;

	if (r->forgetful)
		MUST(cudaMemsetAsync(r->params.history, 0,
		    sizeof *r->params.history, gpu.stream));
	if (r->with_cast)
		MUST(ac_recast_cast(kernels, &r->params, stream));
	MUST(ac_recast_settle(kernels, &r->params, stream));
	MUST(ac_recast_finish(kernels, &r->params, stream));
}

static void
call_product(void *context)
{
	const struct ac_recast *p = &((const struct recast *)context)->params;
	const float one = 1, zero = 0;
	const int n = (int)p->n;

	MUST(cublasGemmEx(gpu.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one,
	    p->operand[0].to, CUDA_R_16F, n, p->operand[1].to, CUDA_R_16F, n,
	    &zero, p->output.c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F,
	    CUBLAS_GEMM_DEFAULT));
}

/* ---- launch */

static const char empty_ptx[] =
	".version 6.0\n.target sm_70\n.address_size 64\n"
	".visible .entry empty()\n{\n\tret;\n}\n";

static void
call_empty(void *context)
{
	MUST(ac_driver_get()->cuLaunchKernel((ac_cu_function)context, 1, 1, 1,
	    32, 1, 1, 0, (ac_cu_stream)gpu.stream, NULL, NULL));
}

static void
launch(void)
{
	const struct ac_driver *driver = ac_driver_get();
	ac_cu_module module;
	ac_cu_function empty;
	struct recast r;
	double seconds;

	if (!driver->cuModuleLoadDataEx ||
	    driver->cuModuleLoadDataEx(&module, empty_ptx, 0, NULL, NULL) ||
	    driver->cuModuleGetFunction(&empty, module, "empty")) {
		row_unanswered("n4", "empty kernel",
		    "the driver took no PTX of ours");
	} else {
		seconds = gpu_time(call_empty, empty).median;
		row_item("n4", "empty kernel", seconds, "s",
		    seconds < 3e-6 ? "t0 as assumed, or less" :
		    "more than the 2.5e-6 assumed", "back to back");
	}
	recast_make(gpu.quick ? 64 : 4096, &r);
	r.with_cast = false;
	r.params.post = NULL;
	seconds = gpu_time(call, &r).median / 2;
	row_item("n4", "settle or finish with nothing to do", seconds, "s",
	    seconds < 3e-6 ? "t0 as assumed, or less" :
	    "more than the 2.5e-6 assumed", "N=%d", (int)r.params.n);
	recast_free(&r);
}

/* ---- passes */

static void
passes_of(int n, double rate)
{
	const double elements = 2.0 * n * n;
	struct recast r;
	double once, twice, idle, cast, share;
	char part[64];

	recast_make(n, &r);
	r.params.post = NULL;
	once = gpu_time(call, &r).median;
	r.forgetful = true;
	twice = gpu_time(call, &r).median;
	r.forgetful = r.with_cast = false;
	idle = gpu_time(call, &r).median;
	cast = once - idle;
	share = 6 * elements / cast / rate;
	row("cast", "case=%d\tone_pass=%.6g\ttwo_passes=%.6g\tidle=%.6g\t"
	    "cast=%.6g\tshare=%.4g", n, once, twice, idle, cast, share);
	snprintf(part, sizeof part, "second pass, N=%d", n);
	/* The second pass reads 4 and writes 2 bytes; found in the cache, it
	 * beats the copy. */
	row_item("n4", part, 6 * elements / (twice - once) / rate,
	    "of the copy's speed", 6 * elements / (twice - once) > 1.1 * rate ?
	    "from the cache" : "from memory", "%.4g s and %.4g s", once,
	    twice);
	recast_free(&r);
}

static void
passes(void)
{
	static const int sizes[] = { 8192, 4096, 2048, 1024 };
	const double rate = gpu_copy_rate();

	row("rate", "what=copy\tbytes_per_second=%.5g", rate);
	if (gpu.quick)
		passes_of(128, rate);
	for (int i = 0; !gpu.quick && i < 4 && !gpu_is_late(); i++)
		passes_of(sizes[i], rate);
}

/* ---- load, cast */

/* Until every kernel is on the device: PTX is compiled there, or taken from the
 * driver's cache; what is loaded at the first launch is in the second
 * number. */
static int
load(const char *label)
{
	const double begin = gpu_now();
	const enum ac_kernels_status status = ac_kernels_get(&ac_recast_module,
	    &kernels);
	const double loaded = gpu_now();
	double first, launched;
	struct recast r;
	char name[80];

	if (status) {
		fprintf(stderr, "kernels: refused, status %d\n", (int)status);
		return 3;
	}
	recast_make(64, &r);
	first = gpu_now();
	call(&r);
	MUST(cudaStreamSynchronize(gpu.stream));
	launched = gpu_now();
	snprintf(name, sizeof name, "loading kernels, %s", label);
	row_value(name, 1e3 * (loaded - begin), "ms",
	    "until the driver has them");
	snprintf(name, sizeof name, "first three launches, %s", label);
	row_value(name, 1e3 * (launched - first), "ms", "and what they load");
	recast_free(&r);
	return 0;
}

static void
cast(void)
{
	const int n = gpu.quick ? 128 : 8192;
	const double copy = gpu_copy_rate(), elements = 2.0 * n * n;
	struct recast r;
	double with, without;

	recast_make(n, &r);
	r.params.post = NULL;
	with = gpu_time(call, &r).median;
	r.with_cast = false;
	without = gpu_time(call, &r).median;
	recast_free(&r);
	row_value("copy", 1e-9 * copy, "GB/s", "read and written");
	row_value("cast", 6e-9 * elements / (with - without), "GB/s",
	    "N=%d, two operands; %.3g of the copy's", n,
	    6 * elements / (with - without) / copy);
	row_value("settle and finish", 1e6 * without, "us",
	    "N=%d, nothing to do", n);
}

/* ---- sample */

static void
sample(void)
{
	const int n = gpu.quick ? 128 : 4096;
	struct ac_recast_post *post;
	struct recast r;
	double unsampled, sampled, product;

	recast_make(n, &r);
	call(&r);
	product = gpu_time(call_product, &r).median;
	/* It is the cast that says whether a sample is due. */
	post = r.params.post;
	r.params.post = NULL;
	unsampled = gpu_time(call, &r).median;
	r.params.post = post;
	r.params.sampled = 1;
	sampled = gpu_time(call, &r).median;
	row("sample", "case=%d\tproduct=%.6g\tunsampled=%.6g\tsampled=%.6g\t"
	    "amortised=%.4g", n, product, unsampled, sampled,
	    (sampled - unsampled) / 64 / product);
	recast_free(&r);
}

static void
take(int option, const char *value)
{
	(void)option, (void)value;
}

int
main(int argc, char **argv)
{
	const int first = gpu_start(argc, argv, "", take);
	const char *what = first < argc ? argv[first] : "";

	if (!strcmp(what, "load"))
		return load(first + 1 < argc ? argv[first + 1] : "kernels");
	MUST(ac_kernels_get(&ac_recast_module, &kernels));
	if (!strcmp(what, "cast"))
		cast();
	else if (!strcmp(what, "launch"))
		launch();
	else if (!strcmp(what, "passes"))
		passes();
	else if (!strcmp(what, "sample"))
		sample();
	else
		gpu_must(2, "kernels: no such question");
	return 0;
}
