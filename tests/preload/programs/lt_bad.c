/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lt_bad.c -- calls of cublasLt that are wrong, or that
 * few programs make: null pointers, descriptors that nobody made, algorithms of
 * another product, workspaces too small, attributes that nobody knows. Each
 * comes from the place of eight good ones that it is like. A line each: what,
 * the status, a hash of all that was written. */
#include "lt_client.h"

enum { WORKSPACE = 1 << 20, GOOD = 8 };

static cublasLtHandle_t handle;
static unsigned char *workspace;
static int good = GOOD;

/* One call, which each case spoils. */
struct call {
	cublasLtHandle_t handle;
	cublasLtMatmulDesc_t operation;
	const void *alpha, *a, *b, *beta, *c;
	void *d;
	cublasLtMatrixLayout_t a_layout, b_layout, c_layout, d_layout;
	const cublasLtMatmulAlgo_t *algorithm;
	void *workspace;
	size_t bytes;
};
static struct lt_problem *problem;
static struct lt_descriptors made;
static struct call call;

static int
multiply(void)
{
	const int status = (int)cublasLtMatmul(call.handle, call.operation,
	    call.alpha, call.a, call.a_layout, call.b, call.b_layout,
	    call.beta, call.c, call.c_layout, call.d, call.d_layout,
	    call.algorithm, call.workspace, call.bytes, NULL);

	CUDA(cudaDeviceSynchronize());
	return status;
}

static void
begin_as(int kind, unsigned epilogue, const cublasLtMatmulAlgo_t *algorithm)
{
	const struct lt_wanted wanted = { .kind = &lt_kinds[kind], .m = 64,
		.n = 48, .k = 32, .batch = 1, .turn_a = true,
		.epilogue = epilogue, .alpha = 1, .beta = 0.5f };

	problem = lt_make(&wanted, 3);
	lt_describe(problem, &made);
	call = (struct call){ handle, made.operation, lt_alpha(problem),
		problem->a.device, problem->b.device, lt_beta(problem),
		lt_c(problem), problem->d.device, made.a, made.b, made.c,
		made.d, algorithm, workspace, WORKSPACE };
	for (int i = 0; i < good; i++)
		client_expect(!multiply(), "a good call succeeds");
	lt_renew(problem);
}

static void
begin(unsigned epilogue)
{
	begin_as(LT_FP32, epilogue, NULL);
}

static void
end(const char *what)
{
	const int status = multiply();

	(void)lt_check(problem);
	printf("%s: %d %016" PRIx64 "\n", what, status, lt_hash(problem));
	lt_undescribe(&made);
	lt_drop(problem);
}

#define BAD(what, change) BAD_BY(NULL, what, change)
#define BAD_BY(algorithm, what, change)                                   \
	do {                                                              \
		begin_as(LT_FP32, CUBLASLT_EPILOGUE_DEFAULT, algorithm);  \
		change;                                                   \
		end(what);                                                \
	} while (0)

/* An attribute by number, with a value of its own. */
#define ODD(epilogue, number, type, value)                                \
	do {                                                              \
		const type value_ = value;                                \
		begin(epilogue);                                          \
		printf("set %d: ", (int)cublasLtMatmulDescSetAttribute(   \
		    made.operation,                                       \
		    (cublasLtMatmulDescAttributes_t)(number), &value_,    \
		    sizeof value_));                                      \
		end("attribute " #number " = " #value);                   \
	} while (0)
#define ODD_LAYOUT(which, number, type, value)                            \
	do {                                                              \
		const type value_ = value;                                \
		begin(CUBLASLT_EPILOGUE_DEFAULT);                         \
		printf("set %d: ", (int)cublasLtMatrixLayoutSetAttribute( \
		    made.which,                                           \
		    (cublasLtMatrixLayoutAttribute_t)(number), &value_,   \
		    sizeof value_));                                      \
		end("layout " #which " " #number " = " #value);           \
	} while (0)

static void
nulls(void)
{
	BAD("as it should be", (void)0);
	BAD("no handle", call.handle = NULL);
	BAD("no operation", call.operation = NULL);
	BAD("no alpha", call.alpha = NULL);
	BAD("no A", call.a = NULL);
	BAD("no layout of A", call.a_layout = NULL);
	BAD("no B", call.b = NULL);
	BAD("no layout of B", call.b_layout = NULL);
	BAD("no beta", call.beta = NULL);
	BAD("no C", call.c = NULL);
	BAD("no layout of C", call.c_layout = NULL);
	BAD("no D", call.d = NULL);
	BAD("no layout of D", call.d_layout = NULL);
	BAD("no workspace", call.workspace = NULL);
	ODD(CUBLASLT_EPILOGUE_BIAS, 8, void *, NULL);
	ODD(CUBLASLT_EPILOGUE_GELU_AUX, 11, void *, NULL);
	ODD(CUBLASLT_EPILOGUE_GELU_AUX, 12, int64_t, 4);
	ODD(CUBLASLT_EPILOGUE_RELU_AUX, 12, int64_t, 8);
}

/* Wrong from the first call on: nothing may be read by it before cublasLt has
 * refused. */
static void
first(void)
{
	good = 0;
	ODD(CUBLASLT_EPILOGUE_DGELU, 12, int64_t, -(INT64_C(1) << 32));
	ODD(CUBLASLT_EPILOGUE_DRELU, 12, int64_t, -(INT64_C(1) << 36));
	good = GOOD;
}

static void
garbage(void)
{
	static cublasLtMatmulDescOpaque_t zeroed, filled;
	static cublasLtMatrixLayoutOpaque_t zero_layout;

	memset(&filled, 0xa5, sizeof filled);
	BAD("a zeroed operation", call.operation = &zeroed);
	BAD("an operation of garbage", call.operation = &filled);
	BAD("a zeroed layout", call.a_layout = &zero_layout);
	BAD("misaligned A", call.a = (const char *)call.a + 4);
	BAD("A and B of different sizes", call.a_layout = call.d_layout);
	BAD("a misaligned workspace", call.workspace = workspace + 16);
}

static void
algorithms(void)
{
	static cublasLtMatmulAlgo_t filled;
	cublasLtMatmulHeuristicResult_t results[8], other;
	cublasLtMatmulPreference_t preference;
	const uint64_t much = WORKSPACE;
	int count = 0, found = 0;

	memset(&filled, 0xa5, sizeof filled);
	BAD("an algorithm of garbage", call.algorithm = &filled);
	BLAS(cublasLtMatmulPreferenceCreate(&preference));
	BLAS(cublasLtMatmulPreferenceSetAttribute(preference,
	    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &much, sizeof much));
	begin_as(LT_FP16_FP32, CUBLASLT_EPILOGUE_DEFAULT, NULL);
	BLAS(cublasLtMatmulAlgoGetHeuristic(handle, made.operation, made.a,
	    made.b, made.c, made.d, preference, 1, &other, &found));
	end("of FP16");
	BAD("an algorithm of another product", call.algorithm = &other.algo);
	begin(CUBLASLT_EPILOGUE_DEFAULT);
	BLAS(cublasLtMatmulAlgoGetHeuristic(handle, made.operation, made.a,
	    made.b, made.c, made.d, preference, 8, results, &count));
	end("of FP32");
	for (int i = 0; i < count; i++)
		if (results[i].workspaceSize) {
			BAD_BY(&results[i].algo, "an algorithm in its "
			    "workspace", (void)0);
			BAD_BY(&results[i].algo, "in one too small",
			    call.bytes = results[i].workspaceSize - 1);
			BAD_BY(&results[i].algo, "in none",
			    call.workspace = NULL);
		}
	BLAS(cublasLtMatmulPreferenceDestroy(preference));
}

/* Numbers of cublasLtMatmulDescAttributes_t and of the layouts' attributes. */
static void
attributes(void)
{
	const unsigned plain = CUBLASLT_EPILOGUE_DEFAULT;

	ODD(plain, 2, int32_t, CUBLASLT_POINTER_MODE_DEVICE_VECTOR);
	ODD(plain, 2, int32_t, 77);
	ODD(plain, 0, int32_t, CUBLAS_COMPUTE_16F);
	ODD(plain, 1, int32_t, CUDA_R_64F);
	ODD(plain, 3, int32_t, CUBLAS_OP_N);
	ODD(plain, 3, int32_t, 9);
	ODD(plain, 5, int32_t, CUBLAS_OP_T);
	ODD(plain, 6, int32_t, CUBLAS_FILL_MODE_LOWER);
	ODD(plain, 7, uint32_t, 12345);
	ODD(plain, 10, int64_t, 64);
	ODD(plain, 14, int64_t, 64);
	ODD(plain, 15, int32_t, 2);
	ODD(plain, 16, int32_t, 1);
	ODD(plain, 17, void *, workspace);
	ODD(plain, 20, void *, workspace);
	ODD(plain, 21, void *, workspace);
	ODD(plain, 22, int32_t, CUDA_R_32F);
	ODD(plain, 25, int8_t, 1);
	ODD(CUBLASLT_EPILOGUE_BIAS, 26, int32_t, CUDA_R_32F);
	ODD(CUBLASLT_EPILOGUE_BIAS, 26, int32_t, CUDA_R_16F);
	ODD(CUBLASLT_EPILOGUE_GELU_AUX, 22, int32_t, CUDA_R_16F);
	ODD(plain, 31, int32_t, 1);
	ODD(plain, 38, void *, workspace);
	ODD(plain, 63, int32_t, 1);
	ODD_LAYOUT(a, 0, uint32_t, CUDA_R_16F);
	ODD_LAYOUT(a, 1, int32_t, CUBLASLT_ORDER_COL32);
	ODD_LAYOUT(a, 4, int64_t, 3);
	ODD_LAYOUT(a, 5, int32_t, 2);
	ODD_LAYOUT(a, 7, int64_t, 64);
	ODD_LAYOUT(a, 8, uint32_t, 1);
	ODD_LAYOUT(c, 4, int64_t, 72);
	ODD_LAYOUT(d, 1, int32_t, CUBLASLT_ORDER_ROW);
	ODD_LAYOUT(d, 2, uint64_t, 0);
	ODD_LAYOUT(d, 63, int32_t, 1);
}

int
main(void)
{
	void *memory;

	BLAS(cublasLtCreate(&handle));
	CUDA(cudaMalloc(&memory, WORKSPACE));
	workspace = memory;
	first();
	nulls();
	garbage();
	algorithms();
	attributes();
	CUDA(cudaFree(workspace));
	BLAS(cublasLtDestroy(handle));
	return EXIT_SUCCESS;
}
