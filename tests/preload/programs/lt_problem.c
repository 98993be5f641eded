/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lt_problem.c -- products of cublasLt: matrices,
 * descriptors, the call. */
#include "lt_client.h"

enum { AROUND = 256 }; /* bytes before and after a matrix */

const struct lt_kind lt_kinds[LT_KINDS] = {
#define KIND(id, name, compute, scale, in, out, bits)                     \
	[LT_##id] = { name, CUBLAS_COMPUTE_##compute, CUDA_R_##scale,     \
	    CUDA_R_##in, CUDA_R_##out, bits },
	KIND( FP32,      "fp32",      32F,           32F, 32F,  32F,  24 )
	KIND( PEDANTIC,  "pedantic",  32F_PEDANTIC,  32F, 32F,  32F,  24 )
	KIND( FAST_TF32, "fast-tf32", 32F_FAST_TF32, 32F, 32F,  32F,  11 )
	KIND( FAST_16F,  "fast-16f",  32F_FAST_16F,  32F, 32F,  32F,  11 )
	KIND( FAST_16BF, "fast-16bf", 32F_FAST_16BF, 32F, 32F,  32F,   8 )
	KIND( FP16_FP32, "fp16-fp32", 32F,           32F, 16F,  32F,  24 )
	KIND( BF16_FP32, "bf16-fp32", 32F,           32F, 16BF, 32F,  24 )
	KIND( FP16,      "fp16",      32F,           32F, 16F,  16F,  24 )
	KIND( BF16,      "bf16",      32F,           32F, 16BF, 16BF, 24 )
	KIND( INT8,      "int8",      32I,           32I, 8I,   32I,  24 )
#undef KIND
};

const struct lt_epilogue lt_epilogues[LT_EPILOGUES] = {
#define EPILOGUE(name) { #name, CUBLASLT_EPILOGUE_##name },
	EPILOGUE( DEFAULT ) EPILOGUE( BIAS ) EPILOGUE( RELU )
	EPILOGUE( RELU_BIAS ) EPILOGUE( GELU ) EPILOGUE( GELU_BIAS )
	EPILOGUE( RELU_AUX ) EPILOGUE( RELU_AUX_BIAS )
	EPILOGUE( GELU_AUX ) EPILOGUE( GELU_AUX_BIAS )
	EPILOGUE( DRELU ) EPILOGUE( DRELU_BGRAD )
	EPILOGUE( DGELU ) EPILOGUE( DGELU_BGRAD )
	EPILOGUE( BGRADA ) EPILOGUE( BGRADB )
#undef EPILOGUE
};

/* ---- memory -------------------------------------------------------------- */

static size_t
width(cudaDataType_t type)
{
	return type == CUDA_R_8I ? 1 : type == CUDA_R_16F ||
	    type == CUDA_R_16BF ? 2 : 4;
}

static int64_t
columns(const struct lt_matrix *x)
{
	return x->row ? x->rows : x->cols;
}

static size_t
elements(const struct lt_matrix *x)
{
	return (size_t)((x->batch - 1) * x->stride + x->ld * columns(x));
}

/* A multiple of 1/64 below 2, or 0, as FP16: normal, ten bits at most. */
static uint16_t
as_half(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return x == 0 ? 0 : (uint16_t)((bits >> 16 & 0x8000) |
	    (((bits >> 23 & 255) - 112) << 10) | (bits >> 13 & 1023));
}

static void
store(unsigned char *at, cudaDataType_t type, double value)
{
	const float single = (float)value;
	const int32_t whole = (int32_t)value;
	const uint16_t half = as_half(single);
	uint32_t bits;

	memcpy(&bits, &single, sizeof bits);
	if (type == CUDA_R_32F) {
		memcpy(at, &single, sizeof single);
	} else if (type == CUDA_R_16F) {
		memcpy(at, &half, sizeof half);
	} else if (type == CUDA_R_16BF) {
		const uint16_t top = (uint16_t)(bits >> 16);
		memcpy(at, &top, sizeof top);
	} else if (type == CUDA_R_8I) {
		*at = (unsigned char)whole;
	} else {
		memcpy(at, &whole, sizeof whole);
	}
}

static double
drawn(cudaDataType_t type, uint64_t *seed)
{
	const double x = 2 * client_uniform(seed) - 1;

	switch (type) {
	case CUDA_R_8I:
		return (double)(int)(100 * x);
	case CUDA_R_32I:
		return (double)(int)(100000 * x);
	case CUDA_R_32F:
		return x;
	default:
		return (double)(int)(64 * x) / 64;
	}
}

/* A small copy returns before it is done; other streams do not wait for it. */
static void
upload(struct lt_buffer *b)
{
	CUDA(cudaMemcpy(b->memory, b->before, b->bytes,
	    cudaMemcpyHostToDevice));
	CUDA(cudaStreamSynchronize(NULL));
}

/* Every byte is 0xff: NaN in all formats of floating point. */
static void
make_empty(struct lt_matrix *x)
{
	const size_t size = width(x->type);
	struct lt_buffer *buffer = &x->buffer;
	void *memory;

	buffer->bytes = elements(x) * size + 2 * AROUND;
	buffer->before = client_allocate(buffer->bytes, 1);
	buffer->after = client_allocate(buffer->bytes, 1);
	memset(buffer->before, 0xff, buffer->bytes);
	CUDA(cudaMalloc(&memory, buffer->bytes));
	buffer->memory = memory;
	x->device = buffer->memory + AROUND;
	upload(buffer);
}

static void
fill(struct lt_matrix *x, uint64_t *seed)
{
	const size_t size = width(x->type);

	make_empty(x);
	for (int b = 0; b < (x->stride ? x->batch : 1); b++)
		for (int64_t j = 0; j < columns(x); j++)
			for (int64_t i = 0; i < (x->row ? x->cols : x->rows);
			    i++)
				store(x->buffer.before + AROUND + (size_t)(
				    b * x->stride + j * x->ld + i) * size,
				    x->type, drawn(x->type, seed));
	upload(&x->buffer);
}

static struct lt_matrix
matrix(const struct lt_wanted *w, int64_t rows, int64_t cols, bool row,
    cudaDataType_t type, bool broadcast)
{
	struct lt_matrix x = { .type = type, .rows = rows, .cols = cols,
		.ld = (row ? cols : rows) + w->pad, .batch = w->batch,
		.row = row };

	x.stride = broadcast ? 0 : x.ld * columns(&x);
	return x;
}

static void
release(struct lt_matrix *x)
{
	if (x->buffer.memory)
		CUDA(cudaFree(x->buffer.memory));
	free(x->buffer.before);
	free(x->buffer.after);
}

/* Columns of a mask are multiples of 128 bits, of numbers of 8. */
static void
make_aux(struct lt_problem *p, uint64_t *seed)
{
	const bool mask = p->w.epilogue & (LT_RELU | LT_DRELU);
	const int64_t unit = mask ? 128 : 8;
	struct lt_matrix *x = &p->aux;

	p->aux_ld = (p->w.m + unit - 1) / unit * unit;
	p->aux_stride = p->aux_ld * p->w.n;
	*x = (struct lt_matrix){ .type = mask ? CUDA_R_8I : p->w.kind->out,
		.rows = mask ? (p->w.m + 7) / 8 : p->w.m, .cols = p->w.n,
		.ld = mask ? p->aux_ld / 8 : p->aux_ld, .batch = p->w.batch,
		.stride = mask ? p->aux_stride / 8 : p->aux_stride };
	fill(x, seed);
}

struct lt_problem *
lt_make(const struct lt_wanted *w, uint64_t seed)
{
	struct lt_problem *p = client_allocate(1, sizeof *p);
	const float scalars[2] = { w->alpha, w->beta };

	p->w = *w;
	p->a = matrix(w, w->turn_a ? w->k : w->m, w->turn_a ? w->m : w->k,
	    w->row_a, w->kind->in, false);
	p->b = matrix(w, w->turn_b ? w->n : w->k, w->turn_b ? w->k : w->n,
	    w->row_b, w->kind->in, w->broadcast_b);
	p->d = matrix(w, w->m, w->n, w->row_d, w->kind->out, false);
	fill(&p->a, &seed);
	fill(&p->b, &seed);
	if (w->beta == 0 || w->apart)
		make_empty(&p->d);
	else
		fill(&p->d, &seed);
	if (w->apart) {
		p->c = matrix(w, w->m, w->n, w->row_d, w->kind->out, false);
		fill(&p->c, &seed);
	}
	if (w->epilogue & (LT_BIAS | LT_BGRAD | LT_BGRADA | LT_BGRADB)) {
		p->vector = matrix(w, w->epilogue & LT_BGRADB ? w->n : w->m,
		    1, false, w->kind->out, false);
		fill(&p->vector, &seed);
	}
	if (w->epilogue & LT_AUX)
		make_aux(p, &seed);
	if (w->on_device)
		p->scalars = client_device(scalars, 2);
	if (w->on_device && w->kind->scale == CUDA_R_32I) {
		const int32_t whole[2] = { (int32_t)w->alpha,
			(int32_t)w->beta };
		CUDA(cudaMemcpy(p->scalars, whole, sizeof whole,
		    cudaMemcpyHostToDevice));
	}
	return p;
}

void
lt_renew(struct lt_problem *p)
{
	upload(&p->d.buffer);
	if (p->vector.buffer.memory)
		upload(&p->vector.buffer);
	if (p->aux.buffer.memory)
		upload(&p->aux.buffer);
}

void
lt_put(struct lt_matrix *x, size_t at, const float *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		store(x->buffer.before + AROUND + (at + i) * width(x->type),
		    x->type, (double)values[i]);
	upload(&x->buffer);
}

void
lt_drop(struct lt_problem *p)
{
	release(&p->a);
	release(&p->b);
	release(&p->c);
	release(&p->d);
	release(&p->vector);
	release(&p->aux);
	if (p->scalars)
		CUDA(cudaFree(p->scalars));
	free(p);
}

/* ---- descriptors --------------------------------------------------------- */

cublasLtMatrixLayout_t
lt_layout(const struct lt_matrix *x)
{
	const int32_t order = x->row ? CUBLASLT_ORDER_ROW :
	    CUBLASLT_ORDER_COL;
	const int32_t batch = x->batch;
	cublasLtMatrixLayout_t made;

	BLAS(cublasLtMatrixLayoutCreate(&made, x->type, (uint64_t)x->rows,
	    (uint64_t)x->cols, x->ld));
	LT_LAYOUT_SET(made, ORDER, order);
	LT_LAYOUT_SET(made, BATCH_COUNT, batch);
	LT_LAYOUT_SET(made, STRIDED_BATCH_OFFSET, x->stride);
	return made;
}

void
lt_describe(const struct lt_problem *p, struct lt_descriptors *out)
{
	const struct lt_wanted *w = &p->w;
	const int32_t ta = w->turn_a ? CUBLAS_OP_T : CUBLAS_OP_N;
	const int32_t tb = w->turn_b ? CUBLAS_OP_T : CUBLAS_OP_N;
	const int32_t mode = CUBLASLT_POINTER_MODE_DEVICE;

	BLAS(cublasLtMatmulDescCreate(&out->operation, w->kind->compute,
	    w->kind->scale));
	LT_SET(out->operation, TRANSA, ta);
	LT_SET(out->operation, TRANSB, tb);
	LT_SET(out->operation, EPILOGUE, w->epilogue);
	if (w->on_device)
		LT_SET(out->operation, POINTER_MODE, mode);
	if (p->vector.device) {
		LT_SET(out->operation, BIAS_POINTER, p->vector.device);
		LT_SET(out->operation, BIAS_BATCH_STRIDE, p->vector.stride);
	}
	if (p->aux.device) {
		LT_SET(out->operation, EPILOGUE_AUX_POINTER, p->aux.device);
		LT_SET(out->operation, EPILOGUE_AUX_LD, p->aux_ld);
		LT_SET(out->operation, EPILOGUE_AUX_BATCH_STRIDE,
		    p->aux_stride);
	}
	out->a = lt_layout(&p->a);
	out->b = lt_layout(&p->b);
	out->c = lt_layout(w->apart ? &p->c : &p->d);
	out->d = lt_layout(&p->d);
}

void
lt_undescribe(struct lt_descriptors *d)
{
	BLAS(cublasLtMatmulDescDestroy(d->operation));
	BLAS(cublasLtMatrixLayoutDestroy(d->a));
	BLAS(cublasLtMatrixLayoutDestroy(d->b));
	BLAS(cublasLtMatrixLayoutDestroy(d->c));
	BLAS(cublasLtMatrixLayoutDestroy(d->d));
}

/* ---- the call ------------------------------------------------------------ */

/* Whole numbers of INT8 products; a thread has its own. */
static _Thread_local int32_t whole_alpha, whole_beta;

const void *
lt_alpha(const struct lt_problem *p)
{
	if (p->w.on_device)
		return p->scalars;
	whole_alpha = (int32_t)p->w.alpha;
	return p->w.kind->scale == CUDA_R_32I ? (const void *)&whole_alpha :
	    &p->w.alpha;
}

const void *
lt_beta(const struct lt_problem *p)
{
	if (p->w.on_device)
		return p->scalars + 1;
	whole_beta = (int32_t)p->w.beta;
	return p->w.kind->scale == CUDA_R_32I ? (const void *)&whole_beta :
	    &p->w.beta;
}

const void *
lt_c(const struct lt_problem *p)
{
	return p->w.no_c ? NULL : p->w.apart ? p->c.device : p->d.device;
}

cublasStatus_t
lt_multiply(cublasLtHandle_t handle, const struct lt_problem *p,
    const struct lt_descriptors *d, const cublasLtMatmulAlgo_t *algo,
    void *workspace, size_t bytes, cudaStream_t stream)
{
	return cublasLtMatmul(handle, d->operation, lt_alpha(p), p->a.device,
	    d->a, p->b.device, d->b, lt_beta(p), lt_c(p), d->c, p->d.device,
	    d->d, algo, workspace, bytes, stream);
}
