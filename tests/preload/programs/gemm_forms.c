/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/gemm_forms.c -- the spellings of a matrix product.
 * A new export is one CALL and one row of `forms`. */
#include "gemm_client.h"

#include <dlfcn.h>

/* A libcublas may lack any of these; form_exists() asks. */
#pragma weak cublasSgemm_v2_64
#pragma weak cublasSgemmEx
#pragma weak cublasSgemmEx_64
#pragma weak cublasGemmEx
#pragma weak cublasGemmEx_64
#pragma weak cublasSgemmStridedBatched
#pragma weak cublasSgemmStridedBatched_64
#pragma weak cublasGemmStridedBatchedEx
#pragma weak cublasGemmStridedBatchedEx_64
#pragma weak cublasSgemmBatched
#pragma weak cublasSgemmBatched_64
#pragma weak cublasGemmBatchedEx
#pragma weak cublasGemmBatchedEx_64
#pragma weak cublasSgemmGroupedBatched
#pragma weak cublasSgemmGroupedBatched_64
#pragma weak cublasGemmGroupedBatchedEx
#pragma weak cublasGemmGroupedBatchedEx_64

enum { GROUPS = 2 };

/* Pointer arrays in device memory. */
struct arrays {
	const float *const *a, *const *b;
	float *const *c;
};

/* What the grouped calls want: host arrays, one entry per group. */
#define GROUP_ARRAYS(index)                                               \
	const index first = p->batch > 1 ? p->batch / 2 : p->batch;       \
	const index sizes[GROUPS] = { first, (index)p->batch - first };   \
	const int groups = sizes[1] ? GROUPS : 1;                         \
	const cublasOperation_t ta[GROUPS] = { p->transa, p->transa };    \
	const cublasOperation_t tb[GROUPS] = { p->transb, p->transb };    \
	const index m[GROUPS] = { p->m, p->m };                           \
	const index n[GROUPS] = { p->n, p->n };                           \
	const index k[GROUPS] = { p->k, p->k };                           \
	const index lda[GROUPS] = { p->lda, p->lda };                     \
	const index ldb[GROUPS] = { p->ldb, p->ldb };                     \
	const index ldc[GROUPS] = { p->ldc, p->ldc };                     \
	const float alpha[GROUPS] = { p->alpha, p->alpha };               \
	const float beta[GROUPS] = { p->beta, p->beta }

#define HEAD handle, p->transa, p->transb, p->m, p->n, p->k, o->alpha
#define PLAIN(symbol) symbol(HEAD, o->a, p->lda, o->b, p->ldb, o->beta,   \
    o->c, p->ldc)
#define TYPED(symbol) symbol(HEAD, o->a, CUDA_R_32F, p->lda, o->b,        \
    CUDA_R_32F, p->ldb, o->beta, o->c, CUDA_R_32F, p->ldc)
#define EX(symbol) symbol(HEAD, o->a, CUDA_R_32F, p->lda, o->b,           \
    CUDA_R_32F, p->ldb, o->beta, o->c, CUDA_R_32F, p->ldc, p->compute,    \
    p->algo)
#define STRIDED(symbol) symbol(HEAD, o->a, p->lda, p->stride_a, o->b,     \
    p->ldb, p->stride_b, o->beta, o->c, p->ldc, p->stride_c, p->batch)
#define STRIDED_EX(symbol) symbol(HEAD, o->a, CUDA_R_32F, p->lda,         \
    p->stride_a, o->b, CUDA_R_32F, p->ldb, p->stride_b, o->beta, o->c,    \
    CUDA_R_32F, p->ldc, p->stride_c, p->batch, p->compute,                \
    p->algo)
#define POINTERS(symbol) symbol(HEAD, x->a, p->lda, x->b, p->ldb,         \
    o->beta, x->c, p->ldc, p->batch)
#define POINTERS_EX(symbol) symbol(HEAD, (const void *const *)x->a,       \
    CUDA_R_32F, p->lda, (const void *const *)x->b, CUDA_R_32F, p->ldb,    \
    o->beta, (void *const *)x->c, CUDA_R_32F, p->ldc, p->batch,           \
    p->compute, p->algo)
#define GROUPED(symbol) symbol(handle, ta, tb, m, n, k, alpha, x->a, lda, \
    x->b, ldb, beta, x->c, ldc, groups, sizes)
#define GROUPED_EX(symbol) symbol(handle, ta, tb, m, n, k, alpha,         \
    (const void *const *)x->a, CUDA_R_32F, lda,                           \
    (const void *const *)x->b, CUDA_R_32F, ldb, beta,                     \
    (void *const *)x->c, CUDA_R_32F, ldc, groups, sizes, p->compute)

#define CALL(name, before, expression)                                    \
static cublasStatus_t                                                     \
name(cublasHandle_t handle, const struct product *p,                      \
    const struct operands *o, const struct arrays *x)                     \
{                                                                         \
	before;                                                           \
	(void)o;                                                          \
	(void)x;                                                          \
	return expression;                                                \
}

CALL(sgemm, , PLAIN(cublasSgemm))
CALL(sgemm64, , PLAIN(cublasSgemm_64))
CALL(sgemmex, , TYPED(cublasSgemmEx))
CALL(sgemmex64, , TYPED(cublasSgemmEx_64))
CALL(gemmex, , EX(cublasGemmEx))
CALL(gemmex64, , EX(cublasGemmEx_64))
CALL(strided, , STRIDED(cublasSgemmStridedBatched))
CALL(strided64, , STRIDED(cublasSgemmStridedBatched_64))
CALL(stridedex, , STRIDED_EX(cublasGemmStridedBatchedEx))
CALL(stridedex64, , STRIDED_EX(cublasGemmStridedBatchedEx_64))
CALL(batched, , POINTERS(cublasSgemmBatched))
CALL(batched64, , POINTERS(cublasSgemmBatched_64))
CALL(batchedex, , POINTERS_EX(cublasGemmBatchedEx))
CALL(batchedex64, , POINTERS_EX(cublasGemmBatchedEx_64))
CALL(grouped, GROUP_ARRAYS(int), GROUPED(cublasSgemmGroupedBatched))
CALL(grouped64, GROUP_ARRAYS(int64_t), GROUPED(cublasSgemmGroupedBatched_64))
CALL(groupedex, GROUP_ARRAYS(int), GROUPED_EX(cublasGemmGroupedBatchedEx))
CALL(groupedex64, GROUP_ARRAYS(int64_t),
    GROUPED_EX(cublasGemmGroupedBatchedEx_64))

enum kind { ONE, MANY, POINTED };

struct form {
	const char *name;
	cublasStatus_t (*call)(cublasHandle_t, const struct product *,
	    const struct operands *, const struct arrays *);
	void (*linked)(void); /* NULL where nobody exports it */
	const char *symbol;
	enum kind kind;
};

/* cublas_v2.h renames some: NAME_OF() tells the name that is exported. */
#define NAME_OF_(symbol) #symbol
#define NAME_OF(symbol) NAME_OF_(symbol)
#define FORM(name, symbol, kind)                                          \
	{ #name, name, (void (*)(void))symbol, NAME_OF(symbol), kind }

static const struct form forms[] = {
	FORM(sgemm, cublasSgemm, ONE),
	FORM(sgemm64, cublasSgemm_64, ONE),
	FORM(sgemmex, cublasSgemmEx, ONE),
	FORM(sgemmex64, cublasSgemmEx_64, ONE),
	FORM(gemmex, cublasGemmEx, ONE),
	FORM(gemmex64, cublasGemmEx_64, ONE),
	FORM(strided, cublasSgemmStridedBatched, MANY),
	FORM(strided64, cublasSgemmStridedBatched_64, MANY),
	FORM(stridedex, cublasGemmStridedBatchedEx, MANY),
	FORM(stridedex64, cublasGemmStridedBatchedEx_64, MANY),
	FORM(batched, cublasSgemmBatched, POINTED),
	FORM(batched64, cublasSgemmBatched_64, POINTED),
	FORM(batchedex, cublasGemmBatchedEx, POINTED),
	FORM(batchedex64, cublasGemmBatchedEx_64, POINTED),
	FORM(grouped, cublasSgemmGroupedBatched, POINTED),
	FORM(grouped64, cublasSgemmGroupedBatched_64, POINTED),
	FORM(groupedex, cublasGemmGroupedBatchedEx, POINTED),
	FORM(groupedex64, cublasGemmGroupedBatchedEx_64, POINTED),
};

enum { FORMS = sizeof forms / sizeof *forms };

const struct form *
form_find(const char *name)
{
	for (int i = 0; i < FORMS; i++)
		if (!strcmp(forms[i].name, name))
			return &forms[i];
	return NULL;
}

void
form_list(FILE *out)
{
	for (int i = 0; i < FORMS; i++)
		fprintf(out, "%s\n", forms[i].name);
}

/* A preload may export what the library behind it lacks. */
bool
form_exists(const struct form *form)
{
	Dl_info where;
	void *library;
	bool exists;

	if (!form->linked ||
	    !dladdr(dlsym(RTLD_DEFAULT, "cublasGetVersion_v2"), &where))
		return false;
	library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return false;
	exists = dlsym(library, form->symbol);
	dlclose(library);
	return exists;
}

bool
form_is_batched(const struct form *form)
{
	return form->kind != ONE;
}

static void *
pointers(const float *base, long long stride, int64_t batch)
{
	const size_t count = batch > 0 ? (size_t)batch : 0;
	const float **host = client_allocate(count, sizeof *host);
	void *device = NULL;

	for (size_t i = 0; i < count; i++)
		host[i] = base + (long long)i * stride;
	CUDA(cudaMalloc(&device, (count ? count : 1) * sizeof *host));
	CUDA(cudaMemcpy(device, host, count * sizeof *host,
	    cudaMemcpyHostToDevice));
	free(host);
	return device;
}

cublasStatus_t
form_call(const struct form *form, cublasHandle_t handle,
    const struct product *p, const struct operands *o)
{
	struct arrays x = { NULL, NULL, NULL };
	void *a = NULL, *b = NULL, *c = NULL;
	cublasStatus_t status;

	if (form->kind == POINTED) {
		x.a = a = pointers(o->a, p->stride_a, p->batch);
		x.b = b = pointers(o->b, p->stride_b, p->batch);
		x.c = c = pointers(o->c, p->stride_c, p->batch);
	}
	status = form->call(handle, p, o, &x);
	if (form->kind == POINTED) {
		CUDA(cudaDeviceSynchronize());
		CUDA(cudaFree(a));
		CUDA(cudaFree(b));
		CUDA(cudaFree(c));
	}
	return status;
}
