/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/gpu.h -- what the measuring programs share: the device, data,
 * times by events, errors against FP64, rows on stdout.
 *
 * A row is one line of tab-separated KEY=VALUE fields, `row=KIND` first. All
 * sizes are elements, all times seconds, matrices column-major and packed. A
 * failing call ends the program with status 1 and says which on stderr. */
#ifndef AC_BENCH_GPU_H
#define AC_BENCH_GPU_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu {
	cublasHandle_t handle, tf32; /* default math; TF32 math mode */
	cudaStream_t   stream;       /* of both handles; non-blocking */
	bool   quick;                /* sizes and samples for a try-out */
	double deadline;             /* of gpu_now(): start nothing after it */
	int    warm;                 /* calls before the first sample */
};
extern struct gpu gpu;

/* Options of every program: -q quick, -b SECONDS budget, -w CALLS to warm up.
 * `more` is getopt's string of the program's own, handed to `take`. Returns the
 * index of the first word that is no option. The GPU's clocks are up by then:
 * it worked for 0.2 s, in FP64. */
int gpu_start(int argc, char **argv, const char *more,
    void (*take)(int option, const char *value));
double gpu_now(void);
bool gpu_is_late(void);
/* Whether it fits in what is free, with some to spare. */
bool gpu_has_room(double bytes);

void gpu_must(int failed, const char *what);
#define MUST(call) gpu_must((int)(call), #call)

/* ---- Rows */
#define FORMAT(f, a) __attribute__((format(printf, f, a)))
FORMAT(2, 3) void row(const char *kind, const char *format, ...);
/* An answer: to question `id`, a `part` of it, in `unit`. */
FORMAT(6, 7) void row_item(const char *id, const char *part, double value,
    const char *unit, const char *verdict, const char *note, ...);
/* A number that no question asks for. */
FORMAT(4, 5) void row_value(const char *name, double value, const char *unit,
    const char *note, ...);
/* "No answer", and why. */
void row_unanswered(const char *id, const char *part, const char *reason);

/* ---- Data: element i of a matrix is value i % count of a pool. */
enum gpu_data {
	DATA_NORMAL,
	DATA_UNIT,   /* uniform in (0, 1) */
	DATA_TINY,   /* normal times 1e-30 */
	DATA_LARGE,  /* normal times 1e5 */
	DATA_SHORT   /* normal, in BF16 */
};
enum gpu_store {
	STORE_FP32,
	STORE_FP16,
	STORE_FP16_HIGH,  /* of x 2^GPU_SPLIT_SHIFT, its FP16 ... */
	STORE_FP16_LOW    /* ... and the FP16 of what that leaves */
};
enum { GPU_SPLIT_SHIFT = 10 };

struct gpu_pool {
	size_t count;     /* a prime */
	float *values;
};
/* The same values for the same `data` and `seed`, everywhere. Never freed. */
const struct gpu_pool *gpu_pool_get(enum gpu_data data, unsigned seed);
size_t gpu_store_bytes(enum gpu_store store);
/* Device memory with `count` elements of the pool; gpu_free() it. */
void *gpu_fill(const struct gpu_pool *pool, enum gpu_store store, size_t count);
void *gpu_alloc(size_t bytes);
void gpu_free(void *device);
float gpu_rounded(float x, enum gpu_store store); /* as FP16 would hold it */

/* ---- Times */
struct gpu_timing {
	double median, low, high; /* of one call; quartiles */
	int    samples, calls;    /* calls in each sample */
};
typedef void (*gpu_call)(void *context);
/* The event time of `call`, which queues on gpu.stream. */
struct gpu_timing gpu_time(gpu_call call, void *context);
/* Bytes per second, read plus written, of a large copy on the device. */
double gpu_copy_rate(void);

/* ---- Errors */
struct gpu_product {
	int64_t m, n, k, batch;
	const struct gpu_pool *a, *b;
	enum gpu_store store;     /* not FP32: compare with the product of the
	                           * rounded operands */
	double scale;             /* of C as stored over A B; 1 */
	bool trans_a, trans_b;    /* A lies as k x m, B as n x k */
};
struct gpu_error {
	double norm;   /* Frobenius, relative */
	double bias;   /* mean of C - AB over mean of |AB| */
	double column; /* the worst column, as norm */
};
/* Of up to 256 x 256 outputs of the first matrix of C, spread over it; the
 * reference is cublasDgemm's. An inf or NaN in C gives infinite errors. */
struct gpu_error gpu_error_of(const struct gpu_product *p, const float *c);

#endif
