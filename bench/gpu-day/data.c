/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/data.c -- operands made of repeated pools of random values, and
 * products held against FP64. */
#include "gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Primes: no matrix's columns line up with the pool. */
enum { POOL = 4194301, QUICK_POOL = 65521, POOLS = 20, SIDE = 256 };

static uint64_t
mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Number `i` of stream `seed`, in (0, 1). */
static double
uniform(uint64_t seed, uint64_t i)
{
	return ((double)(mix(seed << 40 ^ i) >> 11) + 0.5) * 0x1p-53;
}

static float
value(enum gpu_data data, unsigned seed, uint64_t i)
{
	static const double scale[] = { [DATA_NORMAL] = 1, [DATA_TINY] = 1e-30,
		[DATA_LARGE] = 1e5, [DATA_SHORT] = 1 };
	uint32_t bits;
	float x;

	if (data == DATA_UNIT)
		return (float)uniform(seed, i);
	x = (float)(scale[data] * sqrt(-2 * log(uniform(seed, 2 * i))) *
	    cos(2 * M_PI * uniform(seed, 2 * i + 1)));
	if (data != DATA_SHORT)
		return x;
	memcpy(&bits, &x, sizeof bits);
	bits &= 0xffff0000;
	memcpy(&x, &bits, sizeof x);
	return x;
}

const struct gpu_pool *
gpu_pool_get(enum gpu_data data, unsigned seed)
{
	static struct gpu_pool pools[POOLS];
	struct gpu_pool *pool = &pools[(unsigned)data * 4 + seed % 4];

	if (pool->values)
		return pool;
	pool->count = gpu.quick ? QUICK_POOL : POOL;
	pool->values = malloc(pool->count * sizeof *pool->values);
	gpu_must(!pool->values, "malloc");
	for (size_t i = 0; i < pool->count; i++)
		pool->values[i] = value(data, seed, i);
	return pool;
}

/* FP16, nearest even; for magnitudes in its range. */
static uint16_t
to_half(float x)
{
	const uint16_t sign = signbit(x) ? 0x8000 : 0;
	int exponent;

	x = fabsf(x);
	if (!(x < 65520))
		return sign | 0x7c00;
	if (x < 0x1p-14f)
		return sign | (uint16_t)nearbyintf(x * 0x1p24f);
	frexpf(x, &exponent);
	return (uint16_t)(sign + ((exponent + 13) << 10) +
	    (int)nearbyintf(ldexpf(x, 11 - exponent)));
}

static float
of_half(uint16_t bits)
{
	const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
	const float x = exponent == 31 ? INFINITY :
	    exponent ? ldexpf((float)(fraction | 0x400), exponent - 25) :
	    ldexpf((float)fraction, -24);

	return bits & 0x8000 ? -x : x;
}

static uint16_t
stored_half(float x, enum gpu_store store)
{
	uint16_t high;

	if (store == STORE_FP16)
		return to_half(x);
	x = ldexpf(x, GPU_SPLIT_SHIFT);
	high = to_half(x);
	return store == STORE_FP16_HIGH ? high : to_half(x - of_half(high));
}

float
gpu_rounded(float x, enum gpu_store store)
{
	return store == STORE_FP32 ? x : of_half(stored_half(x, store));
}

size_t
gpu_store_bytes(enum gpu_store store)
{
	return store == STORE_FP32 ? sizeof(float) : sizeof(uint16_t);
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The whole pool as halves, converted once: never freed. */
static const uint16_t *
halves_of(const struct gpu_pool *pool, enum gpu_store store)
{
	static struct {
		const struct gpu_pool *pool;
		enum gpu_store store;
		uint16_t *values;
	} kept[POOLS * 3];
	int i = 0;

	while (kept[i].pool && (kept[i].pool != pool || kept[i].store != store))
		i++;
	if (kept[i].pool)
		return kept[i].values;
	kept[i].values = malloc(pool->count * sizeof *kept[i].values);
	gpu_must(!kept[i].values, "malloc");
	for (size_t j = 0; j < pool->count; j++)
		kept[i].values[j] = stored_half(pool->values[j], store);
	kept[i].pool = pool;
	kept[i].store = store;
	return kept[i].values;
}

void *
gpu_fill(const struct gpu_pool *pool, enum gpu_store store, size_t count)
{
	const size_t size = gpu_store_bytes(store);
	char *device = gpu_alloc(count * size);
	size_t done = least(count, pool->count);
	const void *values = store == STORE_FP32 ? (const void *)pool->values :
	    halves_of(pool, store);

	MUST(cudaMemcpyAsync(device, values, done * size,
	    cudaMemcpyHostToDevice, gpu.stream));
	MUST(cudaStreamSynchronize(gpu.stream));
	/* What is there is a whole number of pools, or all. */
	for (size_t more; done < count; done += more) {
		more = least(done, count - done);
		MUST(cudaMemcpyAsync(device + done * size, device, more * size,
		    cudaMemcpyDeviceToDevice, gpu.stream));
	}
	MUST(cudaStreamSynchronize(gpu.stream));
	return device;
}

/* ---- Errors */

/* Number i of `picks` out of `count`: all of them, or spread evenly. */
static int64_t
pick(int64_t i, int64_t picks, int64_t count)
{
	return picks == count ? i : i * (count - 1) / (picks - 1);
}

static double *
upload(const double *host, size_t count)
{
	double *device = gpu_alloc(count * sizeof *host);

	MUST(cudaMemcpyAsync(device, host, count * sizeof *host,
	    cudaMemcpyHostToDevice, gpu.stream));
	MUST(cudaStreamSynchronize(gpu.stream));
	return device;
}

static double
element(const struct gpu_pool *pool, enum gpu_store store, int64_t index)
{
	return gpu_rounded(pool->values[(size_t)index % pool->count], store);
}

/* rows x columns outputs in FP64: to be freed. */
static double *
reference(const struct gpu_product *p, int64_t rows, int64_t columns)
{
	const size_t count = (size_t)(rows * columns);
	const double one = 1, zero = 0;
	double *a = malloc((size_t)(rows * p->k) * sizeof *a);
	double *b = malloc((size_t)(columns * p->k) * sizeof *b);
	double *c = malloc(count * sizeof *c), *on_a, *on_b, *on_c;

	gpu_must(!a || !b || !c, "malloc");
	for (int64_t l = 0; l < p->k; l++)
		for (int64_t i = 0; i < rows; i++)
			a[l * rows + i] = element(p->a, p->store,
			    p->trans_a ? l + pick(i, rows, p->m) * p->k :
			    pick(i, rows, p->m) + l * p->m);
	for (int64_t j = 0; j < columns; j++)
		for (int64_t l = 0; l < p->k; l++)
			b[j * p->k + l] = element(p->b, p->store,
			    p->trans_b ? pick(j, columns, p->n) + l * p->n :
			    l + pick(j, columns, p->n) * p->k);
	on_a = upload(a, (size_t)(rows * p->k));
	on_b = upload(b, (size_t)(columns * p->k));
	on_c = gpu_alloc(count * sizeof *c);
	MUST(cublasDgemm(gpu.handle, CUBLAS_OP_N, CUBLAS_OP_N, (int)rows,
	    (int)columns, (int)p->k, &one, on_a, (int)rows, on_b, (int)p->k,
	    &zero, on_c, (int)rows));
	MUST(cudaMemcpyAsync(c, on_c, count * sizeof *c,
	    cudaMemcpyDeviceToHost, gpu.stream));
	MUST(cudaStreamSynchronize(gpu.stream));
	gpu_free(on_a);
	gpu_free(on_b);
	gpu_free(on_c);
	free(a);
	free(b);
	return c;
}

struct gpu_error
gpu_error_of(const struct gpu_product *p, const float *c)
{
	const int64_t rows = p->m < SIDE ? p->m : SIDE;
	const int64_t columns = p->n < SIDE ? p->n : SIDE;
	double *expected = reference(p, rows, columns);
	float *column = malloc((size_t)p->m * sizeof *column);
	double off = 0, norm = 0, sum = 0, magnitude = 0, worst = 0;
	struct gpu_error error = { INFINITY, INFINITY, INFINITY };

	gpu_must(!column, "malloc");
	for (int64_t j = 0; j < columns; j++) {
		double column_off = 0, column_norm = 0;

		MUST(cudaMemcpyAsync(column, c + pick(j, columns, p->n) * p->m,
		    (size_t)p->m * sizeof *column, cudaMemcpyDeviceToHost,
		    gpu.stream));
		MUST(cudaStreamSynchronize(gpu.stream));
		for (int64_t i = 0; i < rows; i++) {
			const double right = expected[j * rows + i];
			const double d = column[pick(i, rows, p->m)] /
			    p->scale - right;

			column_off += d * d;
			column_norm += right * right;
			sum += d;
			magnitude += fabs(right);
		}
		off += column_off;
		norm += column_norm;
		if (column_off > worst * column_norm)
			worst = column_off / column_norm;
	}
	if (isfinite(off)) {
		error.norm = sqrt(off / norm);
		error.bias = sum / magnitude;
		error.column = sqrt(worst);
	}
	free(expected);
	free(column);
	return error;
}
