/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_typed.c -- cuBLAS calls on vectors that are told
 * the types, against plain loops; those that the name tells, against these. */
#include "test_emu_numbers.h"

#include <float.h>

enum { MOST = 7, STEP = 3, ROOM = MOST * STEP };
enum call { AXPY, SCAL, COPY, SWAP, ROT, DOT, DOTC, NRM2, ASUM, AMAX, AMIN,
	CALLS };
static cublasHandle_t handle;

/* Of a test: what goes in, and what is to come out. */
struct vectors {
	unsigned char x[ROOM * 16], y[ROOM * 16];
};
static struct vectors was, got;
static number want_x[ROOM], want_y[ROOM];
static double slack;           /* what the reference may be off by itself */
static void *dx, *dy;

static int64_t
where(int64_t i, int64_t n, int64_t increment)
{
	return increment < 0 ? (n - 1 - i) * -increment : i * increment;
}

/* The execution type, the scalars', that of norms and that of c and s, as
 * NVIDIA's manual has them. */
static const struct rules {
	int execution, scalar, norm, norms, turn[2];
} rules[T_TYPES] = {
	{ T_FLOAT, T_FLOAT, T_HALF, T_FLOAT, { T_HALF, T_HALF } },
	{ T_FLOAT, T_FLOAT, T_BFLOAT, T_FLOAT, { T_BFLOAT, T_BFLOAT } },
	{ T_FLOAT, T_FLOAT, T_FLOAT, T_FLOAT, { T_FLOAT, T_FLOAT } },
	{ T_DOUBLE, T_DOUBLE, T_DOUBLE, T_DOUBLE, { T_DOUBLE, T_DOUBLE } },
	{ T_COMPLEX, T_COMPLEX, T_FLOAT, T_FLOAT, { T_FLOAT, T_COMPLEX } },
	{ T_DOUBLE_COMPLEX, T_DOUBLE_COMPLEX, T_DOUBLE, T_DOUBLE,
	    { T_DOUBLE, T_DOUBLE_COMPLEX } }
};

/* One call, with numbers of test_types; `other` is told in place of the right
 * one for argument `wrong` (1, 2...). */
struct form {
	enum call call;
	int type, n, incx, incy, turn, wrong, other;
	bool wide;              /* _64 */
	const void *alpha, *s;
	void *result;
};

static cudaDataType
told(const struct form *f, int argument, int type)
{
	return test_types[f->wrong == argument ? f->other : type].type;
}

#define EITHER(name, ...) (f->wide ? name##_64(handle, f->n, __VA_ARGS__) : \
	name(handle, f->n, __VA_ARGS__))
#define X dx, told(f, 1, f->type), f->incx
#define Y dy, told(f, 2, f->type), f->incy
static cublasStatus_t
make(const struct form *f)
{
	const struct rules *r = &rules[f->type];
	const cudaDataType scalar = told(f, 3, r->scalar);
	const cudaDataType execution = told(f, 4, r->execution);
	const cudaDataType norm = told(f, 3, r->norm);
	const cudaDataType norms = told(f, 4, r->norms);
	const cudaDataType turn = told(f, 3, r->turn[f->turn]);
	const cudaDataType result = told(f, 3, f->type);

	switch (f->call) {
	case AXPY:
		return EITHER(cublasAxpyEx, f->alpha, scalar, X, Y, execution);
	case SCAL:
		return EITHER(cublasScalEx, f->alpha, scalar, X, execution);
	case COPY:
		return EITHER(cublasCopyEx, X, Y);
	case SWAP:
		return EITHER(cublasSwapEx, X, Y);
	case ROT:
		return EITHER(cublasRotEx, X, Y, f->alpha, f->s, turn,
		    execution);
	case DOT:
		return EITHER(cublasDotEx, X, Y, f->result, result, execution);
	case DOTC:
		return EITHER(cublasDotcEx, X, Y, f->result, result, execution);
	case NRM2:
		return EITHER(cublasNrm2Ex, X, f->result, norm, norms);
	case ASUM:
		return EITHER(cublasAsumEx, X, f->result, norm, norms);
	case AMAX:
		return f->wide ? cublasIamaxEx_64(handle, f->n, X, f->result)
		    : cublasIamaxEx(handle, f->n, X, f->result);
	default:
		return f->wide ? cublasIaminEx_64(handle, f->n, X, f->result)
		    : cublasIaminEx(handle, f->n, X, f->result);
	}
}

/* ---- The reference ------------------------------------------------------ */

static double
size(number x)
{
	return fabs(creal(x)) + fabs(cimag(x));
}

/* Of the calls that change vectors: c, or alpha, and s are `one`, `two`. */
static void
change(const struct form *f, number one, number two)
{
	const struct test_type *t = &test_types[f->type];

	for (int i = 0; i < f->n; i++) {
		const int64_t at_x = where(i, f->n, f->incx);
		const int64_t at_y = where(i, f->n, f->incy);
		const number x = test_get(t, was.x, at_x);
		const number y = test_get(t, was.y, at_y);

		switch (f->call) {
		case AXPY:
			want_y[at_y] = one * x + y;
			break;
		case SCAL:
			want_x[at_x] = one * x;
			break;
		case COPY:
			want_y[at_y] = x;
			break;
		case SWAP:
			want_y[at_y] = x;
			want_x[at_x] = y;
			break;
		default:
			want_x[at_x] = one * x + two * y;
			want_y[at_y] = one * y - conj(two) * x;
		}
	}
}

static number
reduce(const struct form *f)
{
	const struct test_type *t = &test_types[f->type];
	number sum = 0;
	int best = f->n > 0;

	for (int i = 0; i < f->n; i++) {
		const number x = test_get(t, was.x, where(i, f->n, f->incx));
		const number y = test_get(t, was.y, where(i, f->n, f->incy));
		const number b = test_get(t, was.x, where(best - 1, f->n,
		    f->incx));

		if (f->call == DOT)
			sum += x * y;
		else if (f->call == DOTC)
			sum += conj(x) * y;
		else if (f->call == NRM2)
			sum += creal(x * conj(x));
		else
			sum += size(x);
		if (f->call == AMAX ? size(x) > size(b) : size(x) < size(b))
			best = i + 1;
	}
	if (f->call == NRM2)
		return sqrt(creal(sum));
	return f->call >= AMAX ? (number)best : sum;
}

/* A number is rounded to its type once, and before that to FP32 if it is a
 * narrow one: by half an epsilon of each. */
static void
near(const struct test_type *t, number is, number wanted)
{
	const double epsilon = ldexp(1, -t->bits) + (t->bits < 24 ? 0x1p-24 :
	    0);

	if (!(fabs(creal(is) - creal(wanted)) <= epsilon *
	    fabs(creal(wanted)) + slack) || !(fabs(cimag(is) -
	    cimag(wanted)) <= epsilon * fabs(cimag(wanted)) + slack))
		fail_msg("got %.17g,%.17g, want %.17g,%.17g", creal(is),
		    cimag(is), creal(wanted), cimag(wanted));
}

/* Elements that nobody names keep their bits. */
static void
compare(const struct test_type *t, const unsigned char *is,
    const unsigned char *before, const number *wanted)
{
	const size_t bytes = test_bytes(t);

	for (int i = 0; i < ROOM; i++)
		if (isnan(creal(wanted[i])))
			assert_memory_equal(is + (size_t)i * bytes,
			    before + (size_t)i * bytes, bytes);
		else
			near(t, test_get(t, is, i), wanted[i]);
}

/* ---- All of them --------------------------------------------------------- */

/* One form with scalars of its types, here or on the device. */
static void
run(struct form *f, bool device, uint64_t *seed)
{
	const struct test_type *t = &test_types[f->type];
	const struct rules *r = &rules[f->type];
	const int scalar = f->call == ROT ? r->turn[f->turn] : r->scalar;
	const int norm = f->call == NRM2 || f->call == ASUM ? r->norm : f->type;
	const bool reduces = f->call >= DOT;
	const struct form asked = *f;
	unsigned char scalars[32], result[16];
	void *const on_device = test_device(sizeof scalars + sizeof result);
	number one, two;

	test_draw(t, was.x, ROOM, seed);
	test_draw(t, was.y, ROOM, seed);
	test_draw(&test_types[scalar], scalars, 1, seed);
	test_draw(&test_types[scalar], scalars + 16, 1, seed);
	memset(result, 0x5a, sizeof result);
	one = test_get(&test_types[scalar], scalars, 0);
	two = test_get(&test_types[scalar], scalars + 16, 0);
	OK(cudaMemcpy(dx, was.x, sizeof was.x, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(dy, was.y, sizeof was.y, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(on_device, scalars, sizeof scalars,
	    cudaMemcpyHostToDevice));
	f->alpha = device ? on_device : scalars;
	f->s = (const char *)f->alpha + 16;
	f->result = device ? (char *)on_device + 32 : (void *)result;
	OK(cublasSetPointerMode(handle, device ? CUBLAS_POINTER_MODE_DEVICE :
	    CUBLAS_POINTER_MODE_HOST));
	OK(make(f));
	OK(cudaMemcpy(got.x, dx, sizeof got.x, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(got.y, dy, sizeof got.y, cudaMemcpyDeviceToHost));
	if (device && reduces)
		OK(cudaMemcpy(result, f->result, sizeof result,
		    cudaMemcpyDeviceToHost));
	OK(cudaFree(on_device));
	if (f->n < 0 || (f->incx < 0 && (f->call == SCAL || f->call >= NRM2)))
		f->n = 0;
	for (int i = 0; i < ROOM; i++)
		want_x[i] = want_y[i] = NAN;
	if (!reduces)
		change(f, one, two);
	compare(t, got.x, was.x, want_x);
	compare(t, got.y, was.y, want_y);
	if (f->call >= AMAX)
		assert_int_equal(f->wide ? *(int64_t *)(void *)result :
		    *(int *)(void *)result, (int)creal(reduce(f)));
	else if (reduces)
		near(&test_types[norm], test_get(&test_types[norm], result, 0),
		    reduce(f));
	*f = asked;
}

/* Numbers and scalars are below 2: a sum of MOST products of parts is below 8
 * MOST, and each of its operations is off by half an epsilon of double. */
static void
every_form(void **state)
{
	static const int counts[] = { MOST, 1, 2, 0, -1 };
	static const int steps[][2] = {
		{ 1, 1 }, { 2, -STEP }, { -1, 2 }, { -STEP, -1 }
	};
	uint64_t seed = 5;

	(void)state;
	slack = 4 * MOST * 8 * MOST * DBL_EPSILON;
	for (int call = 0; call < CALLS; call++)
		for (int type = 0; type < T_TYPES; type++)
			for (int k = 0; k < 5 * 4 * 8; k++) {
				struct form f = { .call = (enum call)call,
					.type = type, .n = counts[k / 32],
					.incx = steps[k % 4][0],
					.incy = steps[k % 4][1],
					.turn = k / 4 % 2,
					.wide = k / 8 % 2 };

				run(&f, k / 16 % 2, &seed);
			}
	OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
}

/* One type that does not go with the others. */
static void
types(void **state)
{
	static const int told_of[CALLS] = { 4, 4, 2, 2, 4, 4, 4, 4, 4, 1, 1 };
	double zeros[4] = { 0 };
	int failed = 0;

	(void)state;
	for (int call = 0; call < CALLS; call++)
		for (int type = 0; type < T_TYPES; type++)
			for (int wrong = 2; wrong <= told_of[call]; wrong++) {
				struct form f = { .call = (enum call)call,
					.type = type, .n = 1, .incx = 1,
					.incy = 1, .wrong = wrong,
					.other = (type + 1) % 4 + type / 4 * 2,
					.alpha = zeros, .s = zeros,
					.result = zeros };

				if (wrong == 2 && (call == SCAL ||
				    call >= NRM2))
					continue;
				if (wrong >= 3 && f.other == T_FLOAT)
					f.other = T_DOUBLE;
				assert_int_equal(make(&f),
				    CUBLAS_STATUS_NOT_SUPPORTED);
				failed++;
			}
	assert_true(failed > 100);
	assert_int_equal(cublasIamaxEx(handle, 1, dx, CUDA_R_8I, 1,
	    (int *)(void *)zeros), CUBLAS_STATUS_NOT_SUPPORTED);
}

static void
arguments(void **state)
{
	const float one = 1;
	float host[4] = { 1, 2, 3, 4 }, result;
	int index;

	(void)state;
	for (int call = 0; call < CALLS; call++) {
		struct form f = { .call = (enum call)call, .type = T_FLOAT,
			.n = 4, .incx = 1, .incy = 1, .alpha = &one,
			.s = &one, .result = &result };
		void *const kept = dx;

		f.result = call >= AMAX ? (void *)&index : (void *)&result;
		OK(make(&f));
		dx = host;      /* is not the device's */
		assert_int_equal(make(&f), CUBLAS_STATUS_EXECUTION_FAILED);
		dx = kept;
		f.alpha = f.result = NULL;
		assert_int_equal(make(&f), call == COPY || call == SWAP ?
		    CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE);
	}
	assert_int_equal(cublasDotEx(NULL, 1, dx, CUDA_R_32F, 1, dy,
	    CUDA_R_32F, 1, &result, CUDA_R_32F, CUDA_R_32F),
	    CUBLAS_STATUS_NOT_INITIALIZED);
	assert_int_equal(cublasAxpyEx(handle, 1, &one, CUDA_R_32F, dx,
	    CUDA_R_32F, 1, NULL, CUDA_R_32F, 1, CUDA_R_32F),
	    CUBLAS_STATUS_EXECUTION_FAILED);
}

/* Captured once, it runs each time. A host result cannot be captured. */
static void
capture(void **state)
{
	const float two = 2, start[] = { 1, 1, 1, 1 };
	float back[4];
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec;
	cudaStream_t stream;

	(void)state;
	OK(cudaMemcpy(dx, start, sizeof start, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(dy, start, sizeof start, cudaMemcpyHostToDevice));
	OK(cudaStreamCreate(&stream));
	OK(cublasSetStream(handle, stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cublasAxpyEx(handle, 4, &two, CUDA_R_32F, dx, CUDA_R_32F, 1, dy,
	    CUDA_R_32F, 1, CUDA_R_32F));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(back, dy, sizeof back, cudaMemcpyDeviceToHost));
	assert_true(back[0] == 5 && back[3] == 5);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	assert_int_not_equal(cublasNrm2Ex(handle, 4, dx, CUDA_R_32F, 1, back,
	    CUDA_R_32F, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
	assert_int_not_equal(cudaStreamEndCapture(stream, &graph), 0);
	OK(cublasSetStream(handle, NULL));
}

/* ---- Those of a name ----------------------------------------------------- */

/* The same bits as the form that is told the types: `named` with `typed`. */
static void
alike(const struct form *f, cublasStatus_t (*named)(const struct form *f))
{
	static struct vectors other;
	unsigned char result[16] = { 0 }, again[16] = { 0 };
	struct form mine = *f;

	for (int pass = 0; pass < 2; pass++) {
		struct vectors *const to = pass ? &other : &got;

		mine.result = pass ? again : result;
		OK(cudaMemcpy(dx, was.x, sizeof was.x,
		    cudaMemcpyHostToDevice));
		OK(cudaMemcpy(dy, was.y, sizeof was.y,
		    cudaMemcpyHostToDevice));
		OK(pass ? named(&mine) : make(&mine));
		OK(cudaMemcpy(to->x, dx, sizeof to->x,
		    cudaMemcpyDeviceToHost));
		OK(cudaMemcpy(to->y, dy, sizeof to->y,
		    cudaMemcpyDeviceToHost));
	}
	assert_memory_equal(got.x, other.x, sizeof got.x);
	assert_memory_equal(got.y, other.y, sizeof got.y);
	assert_memory_equal(result, again, sizeof result);
}

#define PX dx, f->incx
#define PY dy, f->incy
#define NAMED(L, l, r, norm, T, R)                                        \
static cublasStatus_t                                                     \
named_##L(const struct form *f)                                           \
{                                                                         \
	const T *const alpha = f->alpha, *const s = f->s;                 \
	switch (f->call) {                                                \
	case AXPY:                                                        \
		return EITHER(cublas##L##axpy, alpha, PX, PY);            \
	case SCAL:                                                        \
		return EITHER(cublas##L##scal, alpha, PX);                \
	case COPY:                                                        \
		return EITHER(cublas##L##copy, PX, PY);                   \
	case SWAP:                                                        \
		return EITHER(cublas##L##swap, PX, PY);                   \
	case ROT:                                                         \
		return f->turn ? EITHER(cublas##L##rot, PX, PY,           \
		    f->alpha, s) : EITHER(cublas##L##r##rot, PX, PY,      \
		    f->alpha, f->s);                                      \
	case DOT:                                                         \
		return EITHER(cublas##L##dotu, PX, PY, f->result);        \
	case DOTC:                                                        \
		return EITHER(cublas##L##dotc, PX, PY, f->result);        \
	case NRM2:                                                        \
		return EITHER(cublas##norm##nrm2, PX, f->result);         \
	case ASUM:                                                        \
		return EITHER(cublas##norm##asum, PX, f->result);         \
	case AMAX:                                                        \
		return f->wide ? cublasI##l##amax_64(handle, f->n, PX,    \
		    f->result) : cublasI##l##amax(handle, f->n, PX,       \
		    f->result);                                           \
	default:                                                          \
		return f->wide ? cublasI##l##amin_64(handle, f->n, PX,    \
		    f->result) : cublasI##l##amin(handle, f->n, PX,       \
		    f->result);                                           \
	}                                                                 \
}                                                                         \
/* A complex number by a real one. */                                     \
static cublasStatus_t                                                     \
part_##L(const struct form *f)                                            \
{                                                                         \
	return EITHER(cublas##L##r##scal, (const R *)f->alpha, PX);       \
}
NAMED(C, c, s, Sc, cuComplex, float)
NAMED(Z, z, d, Dz, cuDoubleComplex, double)

static void
names(void **state)
{
	const float floats[4] = { -1.5f, 0, 0.5f, 0 };
	const double doubles[4] = { -1.5, 0, 0.5, 0 };
	uint64_t seed = 8;

	(void)state;
	for (int k = 0; k < 4 * CALLS; k++) {
		const bool wide = k % 2, z = k / 2 % 2;
		const int type = z ? T_DOUBLE_COMPLEX : T_COMPLEX;
		const struct form f = { .call = (enum call)(k / 4),
			.type = type, .n = MOST, .incx = 2,
			.incy = -1, .wide = wide, .turn = wide,
			.alpha = z ? (const void *)doubles : floats,
			.s = z ? (const void *)(doubles + 2) : floats + 2 };

		test_draw(&test_types[type], was.x, ROOM, &seed);
		test_draw(&test_types[type], was.y, ROOM, &seed);
		/* of the complex s the second part is 0, as is c's */
		alike(&f, z ? named_Z : named_C);
		if (f.call == SCAL)
			alike(&f, z ? part_Z : part_C);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form),
		cmocka_unit_test(types),
		cmocka_unit_test(arguments),
		cmocka_unit_test(capture),
		cmocka_unit_test(names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	OK(cublasCreate_v2(&handle));
	dx = test_device(sizeof was.x);
	dy = test_device(sizeof was.y);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
