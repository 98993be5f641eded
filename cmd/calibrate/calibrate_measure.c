/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/calibrate/calibrate_measure.c -- the experiments. Events
 * around work that is queued at once give the device time; a rate is the median
 * of its samples. Operands are random: zeros draw less power, so the GPU would
 * run faster than it does for a program. */
#include "cmd/calibrate/calibrate.h"
#include "cmd/compare/compare.h"

#include <stdlib.h>
#include <string.h>

enum {
	COMPUTE_32F = 68, COMPUTE_TF32 = 77, /* cublasComputeType */
	BLOCK_BYTES = 1 << 22, MOST_SAMPLES = 15, FEWEST_SAMPLES = 5
};

/* How much is measured, and for how long. An emulated GPU shows only that all
 * this works; its products must be small. */
struct effort {
	int    sizes[3];             /* of square products, largest first */
	size_t copied_bytes;         /* at least, past any cache */
	int    launches;             /* queued at once: the driver takes 1024 */
	double sample_seconds;       /* of device time, at least */
	double seconds, warm_seconds; /* per experiment, at most; before it */
};
static const struct effort for_real = { { 8192, 4096, 2048 }, 128 << 20, 500,
	5e-3, 1.5, 0.2 };
static const struct effort emulated = { { 1024, 0, 0 }, 0, 50, 0, 0, 0 };

struct bench {
	struct ac_gpu *gpu;
	struct effort  effort;
	size_t         bytes;        /* of each buffer */
	ac_gpu_address a, b, c;      /* operands, result */
	void  *module, *kernel;      /* one that does nothing */
	double         samples[MOST_SAMPLES];
	size_t         count;
	double         until;        /* when the experiment ends */
};

/* ---- Samples ----------------------------------------------------------- */

static void
begin(struct bench *b)
{
	b->count = 0;
	b->until = ac_say_clock() + b->effort.seconds;
}

static bool
wants_more(const struct bench *b)
{
	return b->count < FEWEST_SAMPLES ||
	    (b->count < MOST_SAMPLES && ac_say_clock() < b->until);
}

static struct ac_measured_rate
summary(const double *samples, size_t count)
{
	const double median = ac_compare_median(samples, count);

	return (struct ac_measured_rate){ .value = median,
	    .samples = (unsigned)count,
	    .spread = ac_compare_spread(samples, count) / median };
}

static bool
record(struct bench *b, void *event)
{
	return ac_gpu_check(b->gpu, b->gpu->cuEventRecord(event,
	    b->gpu->stream), "cuEventRecord");
}

/* Between the events, in seconds, once the second has come. */
static bool
elapsed(struct bench *b, double *seconds_out)
{
	struct ac_gpu *gpu = b->gpu;
	float milliseconds = 0;

	if (!ac_gpu_check(gpu, gpu->cuEventSynchronize(gpu->end),
	    "cuEventSynchronize") ||
	    !ac_gpu_check(gpu, gpu->cuEventElapsedTime(&milliseconds,
	    gpu->start, gpu->end), "cuEventElapsedTime"))
		return false;
	*seconds_out = (double)milliseconds * 1e-3;
	return true;
}

/* ---- Products and copies ----------------------------------------------- */

/* Something that is queued many times. */
struct work {
	bool (*queue)(struct bench *b, const struct work *work);
	double amount;               /* FLOP or bytes of one */
	int    size, type, compute;  /* of a product */
};

static bool
queue_product(struct bench *b, const struct work *w)
{
	static const float one = 1, zero = 0;
	struct ac_gpu *gpu = b->gpu;

	return ac_gpu_check(gpu, gpu->cublasGemmEx(gpu->handle, 0, 0, w->size,
	    w->size, w->size, &one, (const void *)(uintptr_t)b->a, w->type,
	    w->size, (const void *)(uintptr_t)b->b, w->type, w->size, &zero,
	    (void *)(uintptr_t)b->c, TYPE_F32, w->size, w->compute, -1),
	    "cublasGemmEx");
}

static bool
queue_copy(struct bench *b, const struct work *w)
{
	(void)w;
	return ac_gpu_check(b->gpu, b->gpu->cuMemcpyDtoDAsync_v2(b->c, b->a,
	    b->bytes, b->gpu->stream), "cuMemcpyDtoDAsync");
}

/* Seconds that `times` of it take. */
static bool
take(struct bench *b, const struct work *w, int times, double *seconds_out)
{
	if (!record(b, b->gpu->start))
		return false;
	for (int i = 0; i < times; i++)
		if (!w->queue(b, w))
			return false;
	return record(b, b->gpu->end) && elapsed(b, seconds_out);
}

/* How often it must be queued to fill a sample; runs it for `warm` seconds,
 * too, so that the clock of an idle GPU has time to rise. */
static bool
warm_up(struct bench *b, const struct work *w, double warm, int *times_out)
{
	const double until = ac_say_clock() + warm;
	double seconds = 0;
	int times = 1;

	do {
		if (!take(b, w, times, &seconds))
			return false;
		if (seconds < b->effort.sample_seconds && times < 512)
			times *= 2;
	} while (ac_say_clock() < until ||
	    (seconds < b->effort.sample_seconds && times < 512));
	*times_out = times;
	return true;
}

/* A rate, the time of one launch taken off each: it is counted by itself. */
static bool
measure(struct bench *b, const struct work *w, double warm, double launch,
    struct ac_measured_rate *rate_out)
{
	double seconds;
	int times;

	if (!warm_up(b, w, warm, &times))
		return false;
	for (begin(b); wants_more(b);) {
		if (!take(b, w, times, &seconds))
			return false;
		seconds = seconds / times - launch;
		if (!(seconds > 0))
			return ac_gpu_fail(b->gpu, "a sample took no time");
		b->samples[b->count++] = w->amount / seconds;
	}
	*rate_out = summary(b->samples, b->count);
	return true;
}

/* One arithmetic, and what takes it. */
struct arithmetic {
	enum ac_rate which;
	int type, compute, sm;
};

/* Of the sizes that fit, the one at which it runs best. */
static bool
measure_products(struct bench *b, const struct arithmetic *arithmetic,
    const struct ac_rates *known, double launch,
    struct ac_measured_rate *rate_out)
{
	struct ac_measured_rate rate, best = { .value = 0 };
	double size = 0;

	for (size_t i = 0; i < 3 && b->effort.sizes[i]; i++) {
		const double n = b->effort.sizes[i];
		const struct work work = { .queue = queue_product,
			.amount = 2 * n * n * n, .size = b->effort.sizes[i],
			.type = arithmetic->type,
			.compute = arithmetic->compute };

		if (!measure(b, &work, i ? 0 : b->effort.warm_seconds,
		    launch, &rate))
			return false;
		if (rate.value > best.value) {
			best = rate;
			size = n;
		}
	}
	/* The emulated clock cuts nothing into tiles. */
	if (!b->gpu->is_emulated)
		best.value = ac_profit_rate(known, arithmetic->which, size,
		    2 * size * size * size / best.value);
	*rate_out = best;
	return true;
}

/* ---- Launches ---------------------------------------------------------- */

/* Not a fill of a few bytes: less than half as long on an H100. */
static const char empty_ptx[] = ".version 7.0\n.target sm_50\n"
	".address_size 64\n.visible .entry empty()\n{\n\tret;\n}\n";

/* Queued while copies keep the GPU busy: their time on the host is that of
 * queueing, on the device that of one after the other. */
static bool
take_launches(struct bench *b, const struct work *copy, int copies,
    double *host_out, double *device_out, bool *was_busy_out)
{
	struct ac_gpu *gpu = b->gpu;
	double start;

	for (int i = 0; i < copies; i++)
		if (!copy->queue(b, copy))
			return false;
	if (!record(b, gpu->start))
		return false;
	start = ac_say_clock();
	for (int i = 0; i < b->effort.launches; i++)
		if (!ac_gpu_check(gpu, gpu->cuLaunchKernel(b->kernel, 1, 1, 1,
		    32, 1, 1, 0, gpu->stream, NULL, NULL), "cuLaunchKernel"))
			return false;
	*host_out = (ac_say_clock() - start) / b->effort.launches;
	*was_busy_out = gpu->cuEventQuery(gpu->start) != 0;
	if (!record(b, gpu->end) || !elapsed(b, device_out))
		return false;
	*device_out /= b->effort.launches;
	return true;
}

static bool
measure_launches(struct bench *b, const struct work *copy,
    struct ac_measured_rate *device_out, struct ac_measured_rate *host_out)
{
	double hosts[MOST_SAMPLES], host, device;
	int copies = 8, times;

	if (!ac_gpu_check(b->gpu, b->gpu->cuModuleLoadData(&b->module,
	    empty_ptx), "cuModuleLoadData") ||
	    !ac_gpu_check(b->gpu, b->gpu->cuModuleGetFunction(&b->kernel,
	    b->module, "empty"), "cuModuleGetFunction"))
		return false;
	if (!warm_up(b, copy, b->effort.warm_seconds, &times))
		return false;
	for (begin(b); wants_more(b);) {
		bool was_busy;

		if (!take_launches(b, copy, copies, &host, &device, &was_busy))
			return false;
		/* Else the GPU waited for the host. */
		if (!was_busy && copies < 256 && !b->gpu->is_emulated) {
			copies *= 2;
			continue;
		}
		hosts[b->count] = host;
		b->samples[b->count++] = device;
	}
	*device_out = summary(b->samples, b->count);
	*host_out = summary(hosts, b->count);
	return true;
}

/* ---- Operands ---------------------------------------------------------- */

static bool
fill(struct bench *b, int type)
{
	unsigned char *block = malloc(BLOCK_BYTES);
	bool done = block != NULL;

	if (!block)
		return ac_gpu_fail(b->gpu, "out of memory");
	ac_calibrate_operand(block, BLOCK_BYTES, type);
	for (size_t at = 0; at < b->bytes && done; at += BLOCK_BYTES) {
		const size_t left = b->bytes - at;
		const size_t bytes = left < BLOCK_BYTES ? left : BLOCK_BYTES;

		done = ac_gpu_check(b->gpu, b->gpu->cuMemcpyHtoD_v2(b->a + at,
		    block, bytes), "cuMemcpyHtoD") &&
		    ac_gpu_check(b->gpu, b->gpu->cuMemcpyHtoD_v2(b->b + at,
		    block, bytes), "cuMemcpyHtoD");
	}
	free(block);
	return done;
}

/* Three buffers for the largest products that fit in free memory. */
static bool
allocate(struct bench *b)
{
	struct ac_gpu *gpu = b->gpu;
	size_t available = 0, total;

	if (!ac_gpu_check(gpu, gpu->cuMemGetInfo_v2(&available, &total),
	    "cuMemGetInfo"))
		return false;
	while (b->effort.sizes[0]) {
		b->bytes = 4 * (size_t)b->effort.sizes[0] *
		    (size_t)b->effort.sizes[0];
		if (b->bytes < available / 6)
			break;
		memmove(b->effort.sizes, b->effort.sizes + 1,
		    2 * sizeof *b->effort.sizes);
		b->effort.sizes[2] = 0;
	}
	if (!b->effort.sizes[0])
		return ac_gpu_fail(gpu, "too little device memory is free");
	return ac_gpu_check(gpu, gpu->cuMemAlloc_v2(&b->a, b->bytes),
	    "cuMemAlloc") &&
	    ac_gpu_check(gpu, gpu->cuMemAlloc_v2(&b->b, b->bytes),
	    "cuMemAlloc") &&
	    ac_gpu_check(gpu, gpu->cuMemAlloc_v2(&b->c, b->bytes),
	    "cuMemAlloc");
}

/* ---- All of it --------------------------------------------------------- */

static bool
measure_all(struct bench *b, struct ac_calibration *calibration,
    void (*measured)(enum ac_rate which, const struct ac_measured_rate *rate))
{
	static const struct arithmetic rows[] = {
		{ AC_RATE_FP32, TYPE_F32, COMPUTE_32F, 0 },
		{ AC_RATE_TF32, TYPE_F32, COMPUTE_TF32, 80 },
		{ AC_RATE_FP16, TYPE_F16, COMPUTE_32F, 70 },
		{ AC_RATE_BF16, TYPE_BF16, COMPUTE_32F, 80 },
	};
	const struct work copy = { queue_copy, 2 * (double)b->bytes, 0, 0, 0 };
	struct ac_measured_rate *rate = calibration->rate;
	const struct ac_rates *built_in = ac_rates_find(b->gpu->name,
	    b->gpu->sm);
	struct ac_rates known = { .sm = 0 };
	int filled = TYPE_F32;

	if (!fill(b, filled) || !measure_launches(b, &copy,
	    &rate[AC_RATE_LAUNCH], &rate[AC_RATE_HOST_LAUNCH]))
		return false;
	measured(AC_RATE_LAUNCH, &rate[AC_RATE_LAUNCH]);
	measured(AC_RATE_HOST_LAUNCH, &rate[AC_RATE_HOST_LAUNCH]);
	if (b->bytes >= b->effort.copied_bytes) {
		if (!measure(b, &copy, 0, rate[AC_RATE_LAUNCH].value,
		    &rate[AC_RATE_BANDWIDTH]))
			return false;
		measured(AC_RATE_BANDWIDTH, &rate[AC_RATE_BANDWIDTH]);
	}
	if (built_in)
		ac_calibration_apply(calibration, &known);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (b->gpu->sm < rows[i].sm)
			continue;
		if ((rows[i].type != filled && !fill(b, rows[i].type)) ||
		    !measure_products(b, &rows[i], &known,
		    rate[AC_RATE_LAUNCH].value, &rate[rows[i].which]))
			return false;
		filled = rows[i].type;
		measured(rows[i].which, &rate[rows[i].which]);
	}
	return true;
}

bool
ac_calibrate_measure(struct ac_gpu *gpu, struct ac_calibration *calibration,
    void (*measured)(enum ac_rate which, const struct ac_measured_rate *rate))
{
	struct bench b = { .gpu = gpu,
		.effort = gpu->is_emulated ? emulated : for_real };
	const bool done = allocate(&b) && measure_all(&b, calibration,
	    measured);

	(void)gpu->cuStreamSynchronize(gpu->stream);
	(void)gpu->cuMemFree_v2(b.a); /* NULL: nothing happens */
	(void)gpu->cuMemFree_v2(b.b);
	(void)gpu->cuMemFree_v2(b.c);
	(void)(b.module && gpu->cuModuleUnload(b.module));
	return done;
}
