/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/kernels.c -- the library's own kernels by themselves: an empty
 * launch (n4), how long they take to load, the cast's share of the copy's
 * speed, what a check costs.
 *
 *   kernels load LABEL | cast | casts | launch | check
 * Kernels that are refused: status 3, and the library's own message on
 * stderr. */
#include "gpu.h"

#include "kernels/load/load.h"
#include "kernels/verified/verified.h"

#include <stdio.h>
#include <string.h>

static const struct ac_kernels *kernels;

/* Of the four launches around one N x N x N product, without the product: */
enum { PROBE = 1, CAST = 2, VERIFY = 4, MEND = 8, CHECK = PROBE | VERIFY | MEND,
	ALL = CHECK | CAST };
struct verified {
	struct ac_verified params;
	unsigned launches;
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
operand_make(unsigned i, struct ac_verified *v)
{
	const size_t n = (size_t)v->n, count = n * n;

	v->operand[i] = (struct ac_verified_operand){
		.from = gpu_fill(gpu_pool_get(DATA_NORMAL, i), STORE_FP32,
		    count),
		.lines = v->n, .ld = v->n, .lines_are_cols = i,
		.to = gpu_alloc(count * sizeof(uint16_t)), .ld_to = v->n,
		.sums = zeros(AC_VERIFIED_VECTORS * n * sizeof(double)),
		.parts = zeros((size_t)ac_verified_slices(v)
		    * AC_VERIFIED_VALUES * n * sizeof(float)),
		.flags = zeros((size_t)ac_verified_words(v->n)
		    * sizeof(uint32_t)),
		.words = zeros((size_t)ac_verified_words(v->n)
		    * sizeof(struct ac_verified_word)),
	};
}

static void
verified_make(int n, unsigned launches, struct verified *made)
{
	struct ac_verified *v = &made->params;

	memset(made, 0, sizeof *made);
	v->m = v->n = v->k = n;
	v->batch = 1;
	v->slice = ac_verified_slice(n, n, n, 1);
	v->format = AC_FORMAT_FP16;
	v->tol = 1e-3f;
	v->alpha.value = 1;
	v->output.product = zeros((size_t)n * (size_t)n * sizeof(float));
	v->output.ld = n;
	v->state = zeros(sizeof *v->state);
	v->record = zeros(sizeof *v->record);
	for (unsigned i = 0; i < 2; i++)
		operand_make(i, v);
	made->launches = launches;
}

static void
verified_free(struct verified *made)
{
	struct ac_verified *v = &made->params;

	for (int i = 0; i < 2; i++) {
		struct ac_verified_operand *o = &v->operand[i];

		gpu_free((void *)(uintptr_t)o->from);
		gpu_free(o->to);
		gpu_free(o->sums);
		gpu_free(o->parts);
		gpu_free(o->flags);
		gpu_free(o->words);
	}
	gpu_free(v->output.product);
	gpu_free(v->state);
	gpu_free(v->record);
}

static void
call(void *context)
{
	const struct verified *made = context;
	const struct ac_verified *v = &made->params;
	const ac_cu_stream stream = (ac_cu_stream)gpu.stream;

	if (made->launches & PROBE)
		MUST(ac_verified_probe(kernels, v, stream));
	if (made->launches & CAST)
		MUST(ac_verified_cast(kernels, v, stream));
	if (made->launches & VERIFY)
		MUST(ac_verified_verify(kernels, v, stream));
	if (made->launches & MEND)
		MUST(ac_verified_mend(kernels, v, stream));
}

static void
call_product(void *context)
{
	const struct ac_verified *v
	    = &((const struct verified *)context)->params;
	const float *alpha = &v->state->alpha, *zero = &v->state->zero;
	const int n = (int)v->n;

	MUST(cublasSetPointerMode(gpu.handle, CUBLAS_POINTER_MODE_DEVICE));
	MUST(cublasGemmEx(gpu.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, alpha,
	    v->operand[0].to, CUDA_R_16F, n, v->operand[1].to, CUDA_R_16F, n,
	    zero, v->output.product, CUDA_R_32F, n, CUBLAS_COMPUTE_32F,
	    CUBLAS_GEMM_DEFAULT));
	MUST(cublasSetPointerMode(gpu.handle, CUBLAS_POINTER_MODE_HOST));
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
	struct verified v;
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
	verified_make(gpu.quick ? 64 : 4096, MEND, &v);
	seconds = gpu_time(call, &v).median;
	row_item("n4", "mend with nothing to do", seconds, "s",
	    seconds < 3e-6 ? "t0 as assumed, or less" :
	    "more than the 2.5e-6 assumed", "N=%d", (int)v.params.n);
	verified_free(&v);
}

/* ---- cast, casts */

/* 4 bytes are read of each element, 2 are written. */
static double
cast_of(int n, double rate)
{
	struct verified v;
	double seconds, share;

	verified_make(n, CAST, &v);
	seconds = gpu_time(call, &v).median;
	verified_free(&v);
	share = 6 * 2.0 * n * n / seconds / rate;
	row("cast", "case=%d\tcast=%.6g\tshare=%.4g", n, seconds, share);
	return seconds;
}

static void
casts(void)
{
	static const int sizes[] = { 8192, 4096, 2048, 1024 };
	const double rate = gpu_copy_rate();

	row("rate", "what=copy\tbytes_per_second=%.5g", rate);
	if (gpu.quick)
		(void)cast_of(128, rate);
	for (int i = 0; !gpu.quick && i < 4 && !gpu_is_late(); i++)
		(void)cast_of(sizes[i], rate);
}

static void
cast(void)
{
	const int n = gpu.quick ? 128 : 8192;
	const double copy = gpu_copy_rate();
	const double rate = 6 * 2.0 * n * n / cast_of(n, copy);

	row_value("copy", 1e-9 * copy, "GB/s", "read and written");
	row_value("cast", 1e-9 * rate, "GB/s",
	    "N=%d, two operands; %.3g of the copy's", n, rate / copy);
}

/* ---- load */

/* Until every kernel is on the device: PTX is compiled there, or taken from the
 * driver's cache; what is loaded at the first launch is in the second
 * number. */
static int
load(const char *label)
{
	const double begin = gpu_now();
	const enum ac_kernels_status status = ac_kernels_get(
	    &ac_recast_module, &kernels);
	const double loaded = gpu_now();
	double first, launched;
	struct verified v;
	char name[80];

	if (status) {
		fprintf(stderr, "kernels: refused, status %d\n", (int)status);
		return 3;
	}
	verified_make(64, ALL, &v);
	first = gpu_now();
	call(&v);
	MUST(cudaStreamSynchronize(gpu.stream));
	launched = gpu_now();
	snprintf(name, sizeof name, "loading kernels, %s", label);
	row_value(name, 1e3 * (loaded - begin), "ms",
	    "until the driver has them");
	snprintf(name, sizeof name, "first four launches, %s", label);
	row_value(name, 1e3 * (launched - first), "ms", "and what they load");
	verified_free(&v);
	return 0;
}

/* ---- check */

/* The product is there, so that nothing is flagged. */
static void
check(void)
{
	const int n = gpu.quick ? 128 : 4096;
	struct verified v;
	double product, checked;

	verified_make(n, PROBE | CAST, &v);
	call(&v);
	product = gpu_time(call_product, &v).median;
	v.launches = CHECK;
	checked = gpu_time(call, &v).median;
	row("check", "case=%d\tproduct=%.6g\tcheck=%.6g\tshare=%.4g", n,
	    product, checked, checked / product);
	verified_free(&v);
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
	else if (!strcmp(what, "casts"))
		casts();
	else if (!strcmp(what, "launch"))
		launch();
	else if (!strcmp(what, "check"))
		check();
	else
		gpu_must(2, "kernels: no such question");
	return 0;
}
