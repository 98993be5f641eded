/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_stored.c -- cuBLAS calls on banded, packed,
 * Hermitian and complex symmetric matrices, each against plain loops on the
 * matrix as a whole; modified rotations. */
#include "test_emu_numbers.h"

enum { N = 5, M = 6, K = 2, LD = 8, SIZE = LD * LD, ARGUMENTS = 15 };
enum shape { GBMV, BAND_MV, PACKED_MV, FULL_MV, RANK_1, RANK_2, PACKED_1,
	PACKED_2, BAND_TURN, BAND_SOLVE, PACKED_TURN, PACKED_SOLVE, UNPACK,
	PACK, RANK_K, RANK_K_EX, RANK_2K, RANK_KX, SIDED };
enum kind { GEN, SYM, HERM, TRI };

/* Integers and pointers are handed over alike, as the ABIs of x86-64 and
 * aarch64 do; a function takes of them what it has. */
typedef int (*any)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
    int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
    int64_t);
struct row {
	const char *name;
	void (*narrow)(void), (*wide)(void);
	enum shape shape;
	enum kind kind;
	int type;
};
#define ROW(f, ...) { #f, (void (*)(void))f, (void (*)(void))f##_64,      \
	__VA_ARGS__ }
#define ALONE(f, ...) { #f, (void (*)(void))f, NULL, __VA_ARGS__ }
#define S_ T_FLOAT
#define D_ T_DOUBLE
#define C_ T_COMPLEX
#define Z_ T_DOUBLE_COMPLEX
static const struct row rows[] = {
#include "test_emu_stored.def"
};

static cublasHandle_t handle;
struct set {
	unsigned char host[SIZE * 16];
	char *device;
};
static struct set a, b, c;
static const struct test_type *type;

static void
put(const struct test_type *t, void *p, int64_t i, number x)
{
	const double part[2] = { creal(x), cimag(x) };

	for (int k = 0; k < t->parts; k++)
		if (t->bits == 24)
			((float *)p)[i * t->parts + k] = (float)part[k];
		else
			((double *)p)[i * t->parts + k] = part[k];
}

static void
move(struct set *s, bool up)
{
	OK(up ? cudaMemcpy(s->device, s->host, sizeof s->host,
	    cudaMemcpyHostToDevice) : cudaMemcpy(s->host, s->device,
	    sizeof s->host, cudaMemcpyDeviceToHost));
}

/* ---- Matrices as a whole ----------------------------------------------- */

enum form { FULL, BAND, PACKED, VECTOR };
struct whole {
	enum form form;
	enum kind kind;
	bool upper, unit;
	int rows, cols, below, above, step;
	number x[LD][LD];
	int64_t at[LD][LD];  /* where it is stored; -1: nowhere */
};

/* Walks the storage in its order. */
static void
place(struct whole *w)
{
	int64_t next = 0;

	for (int j = 0; j < w->cols; j++)
		for (int i = 0; i < w->rows; i++) {
			const bool mine = w->kind == GEN || i == j ||
			    (i < j) == w->upper;
			const bool near = i <= j + w->below &&
			    j <= i + w->above;

			w->at[i][j] = -1;
			if (w->form == VECTOR)
				w->at[i][0] = w->step > 0 ? i * w->step :
				    (w->rows - 1 - i) * -w->step;
			else if (w->form == PACKED && mine)
				w->at[i][j] = next++;
			else if (w->form == BAND && mine && near)
				w->at[i][j] = j * LD + w->above + (i - j);
			else if (w->form == FULL && mine)
				w->at[i][j] = j * LD + i;
		}
}

static void
expand(struct whole *w, const struct set *s)
{
	place(w);
	for (int j = 0; j < w->cols; j++)
		for (int i = 0; i < w->rows; i++) {
			const int64_t other = w->kind == GEN ||
			    w->kind == TRI ? -1 : w->at[j][i];
			number x = 0;

			if (w->at[i][j] >= 0)
				x = test_get(type, s->host, w->at[i][j]);
			else if (other >= 0)
				x = test_get(type, s->host, other);
			if (w->at[i][j] < 0 && w->kind == HERM)
				x = conj(x);
			if (i == j && w->kind == HERM)
				x = creal(x);
			w->x[i][j] = i == j && w->unit ? 1 : x;
		}
}

static number
turned(const struct whole *w, int op, int i, int j)
{
	return op == CUBLAS_OP_N || w->form == VECTOR ? w->x[i][j] :
	    op == CUBLAS_OP_T ? w->x[j][i] : conj(w->x[j][i]);
}

static double
size(number x)
{
	return fabs(creal(x)) + fabs(cimag(x));
}

/* ---- One call ---------------------------------------------------------- */

struct way {
	bool wide, upper, unit, right, empty; /* empty: beta is 0 */
	int op, step;
};
struct test {
	const struct row *row;
	struct way way;
	struct whole a, b, c;
	number alpha, beta;
	bool both;
	double far[LD][LD];
};

/* The types of alpha and beta. */
static const struct test_type *
scalar_type(const struct row *row, bool beta)
{
	const bool real = row->kind == HERM && (row->shape == RANK_1 ||
	    row->shape == PACKED_1 || row->shape == RANK_K ||
	    row->shape == RANK_K_EX || (beta && (row->shape == RANK_2K ||
	    row->shape == RANK_KX)));

	return real ? &test_types[row->type == T_COMPLEX ? T_FLOAT : T_DOUBLE] :
	    type;
}

static int
call(const struct test *t, int uplo, int n)
{
	static unsigned char alpha[16], beta[16];
	const int64_t A = (int64_t)(intptr_t)a.device;
	const int64_t B = (int64_t)(intptr_t)b.device;
	const int64_t C = (int64_t)(intptr_t)c.device;
	const int64_t x = (int64_t)(intptr_t)alpha;
	const int64_t y = (int64_t)(intptr_t)beta;
	const int64_t inc = t->way.step, op = t->way.op, unit = t->way.unit;
	const int64_t half = n, side = t->way.right;
	const int64_t all[][ARGUMENTS - 1] = {
		[GBMV] = { uplo > 1 ? uplo : op, M, n, 1, K, x, A, LD, B, inc,
		    y, C, inc },
		[BAND_MV] = { uplo, half, K, x, A, LD, B, inc, y, C, inc },
		[PACKED_MV] = { uplo, half, x, A, B, inc, y, C, inc },
		[FULL_MV] = { uplo, half, x, A, LD, B, inc, y, C, inc },
		[RANK_1] = { uplo, half, x, A, inc, C, LD },
		[RANK_2] = { uplo, half, x, A, inc, B, inc, C, LD },
		[PACKED_1] = { uplo, half, x, A, inc, C },
		[PACKED_2] = { uplo, half, x, A, inc, B, inc, C },
		[BAND_TURN] = { uplo, op, unit, half, K, A, LD, C, inc },
		[BAND_SOLVE] = { uplo, op, unit, half, K, A, LD, C, inc },
		[PACKED_TURN] = { uplo, op, unit, half, A, C, inc },
		[PACKED_SOLVE] = { uplo, op, unit, half, A, C, inc },
		[UNPACK] = { uplo, half, A, C, LD },
		[PACK] = { uplo, half, A, LD, C },
		[RANK_K] = { uplo, op, half, K, x, A, LD, y, C, LD },
		[RANK_K_EX] = { uplo, op, half, K, x, A, CUDA_C_32F, LD, y, C,
		    CUDA_C_32F, LD },
		[RANK_2K] = { uplo, op, half, K, x, A, LD, B, LD, y, C, LD },
		[RANK_KX] = { uplo, op, half, K, x, A, LD, B, LD, y, C, LD },
		[SIDED] = { side, uplo, M, half, x, A, LD, B, LD, y, C, LD },
	};
	const int64_t *p = all[t->row->shape];
	const any function = (any)(t->way.wide ? t->row->wide :
	    t->row->narrow);

	put(scalar_type(t->row, false), alpha, 0, t->alpha);
	put(scalar_type(t->row, true), beta, 0, t->beta);
	return function((int64_t)(intptr_t)handle, p[0], p[1], p[2], p[3],
	    p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13]);
}

/* ---- What it should make ----------------------------------------------- */

static struct whole
matrix(enum form form, enum kind kind, const struct test *t, int rows_,
    int cols)
{
	struct whole w = { .form = form, .kind = kind, .rows = rows_,
		.cols = cols, .upper = t->way.upper, .step = t->way.step };

	w.below = kind == GEN ? 1 : w.upper ? 0 : K;
	w.above = kind == GEN || w.upper ? K : 0;
	return w;
}

static void
describe(struct test *t)
{
	const enum kind kind = t->row->kind;
	const int op = t->way.op, n = t->way.right ? N : M;
	const int r = op ? K : N, k = op ? N : K;
	static const struct { enum form a, b, c; } forms[] = {
		[GBMV] = { BAND, VECTOR, VECTOR },
		[BAND_MV] = { BAND, VECTOR, VECTOR },
		[PACKED_MV] = { PACKED, VECTOR, VECTOR },
		[FULL_MV] = { FULL, VECTOR, VECTOR },
		[RANK_1] = { VECTOR, VECTOR, FULL },
		[RANK_2] = { VECTOR, VECTOR, FULL },
		[PACKED_1] = { VECTOR, VECTOR, PACKED },
		[PACKED_2] = { VECTOR, VECTOR, PACKED },
		[BAND_TURN] = { BAND, VECTOR, VECTOR },
		[BAND_SOLVE] = { BAND, VECTOR, VECTOR },
		[PACKED_TURN] = { PACKED, VECTOR, VECTOR },
		[PACKED_SOLVE] = { PACKED, VECTOR, VECTOR },
		[UNPACK] = { PACKED, VECTOR, FULL },
		[PACK] = { FULL, VECTOR, PACKED },
		[RANK_K] = { FULL, FULL, FULL },
		[RANK_K_EX] = { FULL, FULL, FULL },
		[RANK_2K] = { FULL, FULL, FULL },
		[RANK_KX] = { FULL, FULL, FULL },
		[SIDED] = { FULL, FULL, FULL },
	};
	const enum shape s = t->row->shape;
	const bool factors = s >= RANK_K && s <= RANK_KX;

	t->a = matrix(forms[s].a, kind, t, N, N);
	t->b = matrix(forms[s].b, GEN, t, N, 1);
	t->c = matrix(forms[s].c, forms[s].c == VECTOR ? GEN : kind, t, N,
	    forms[s].c == VECTOR ? 1 : N);
	if (s == GBMV) {
		t->a.rows = M;
		t->b.rows = op ? M : N;
		t->c.rows = op ? N : M;
	}
	if (forms[s].a == VECTOR)
		t->a = matrix(VECTOR, GEN, t, N, 1);
	if (factors)
		t->a = t->b = matrix(FULL, GEN, t, r, k);
	if (s == SIDED) {
		t->a = matrix(FULL, kind, t, n, n);
		t->b = t->c = matrix(FULL, GEN, t, M, N);
	}
	t->a.unit = t->a.kind == TRI && t->way.unit;
	t->both = s == RANK_2 || s == PACKED_2 || s == RANK_2K;
}

static number
term(struct test *t, int i, int j, int l)
{
	const int op = t->way.op;
	const enum shape s = t->row->shape;
	const struct whole *one = &t->a, *two = s == RANK_1 || s == PACKED_1 ||
	    s == RANK_K || s == RANK_K_EX ? one : &t->b;
	const bool herm = t->row->kind == HERM;
	number x, y;

	if (s == SIDED)
		return t->way.right ? t->b.x[i][l] * t->a.x[l][j] :
		    t->a.x[i][l] * t->b.x[l][j];
	if (s <= FULL_MV)
		return turned(one, op, i, l) * t->b.x[l][0];
	if (s == BAND_TURN || s == PACKED_TURN)
		return turned(one, op, i, l) * t->c.x[l][0];
	x = turned(two, op, j, l);
	x = turned(one, op, i, l) * (herm ? conj(x) : x) * t->alpha;
	if (!t->both)
		return x;
	y = turned(one, op, j, l);
	return x + (herm ? conj(t->alpha) : t->alpha) * turned(two, op, i, l) *
	    (herm ? conj(y) : y);
}

/* C, and how far each element may be off: its own rounding, and those of sums
 * of up to 16 terms in double precision, in whatever order. */
static void
work(struct test *t)
{
	static number out[LD][LD];
	const enum shape s = t->row->shape;
	const bool update = (s >= RANK_1 && s <= PACKED_2) ||
	    (s >= RANK_K && s <= RANK_KX);
	const bool turn = s == BAND_TURN || s == PACKED_TURN;
	const int inner = s == SIDED ? t->a.rows : s <= FULL_MV ? t->b.rows :
	    s >= RANK_K ? K : turn ? N : 1;

	for (int j = 0; j < t->c.cols; j++)
		for (int i = 0; i < t->c.rows; i++) {
			number sum = 0;
			double most = size(t->beta * t->c.x[i][j]);

			for (int l = 0; l < inner; l++) {
				const number x = term(t, i, j, l) *
				    (update || turn ? 1 : t->alpha);

				sum += x;
				most += size(x);
			}
			if (!turn && !t->way.empty)
				sum += t->beta * t->c.x[i][j];
			if (s == UNPACK || s == PACK)
				sum = t->a.x[i][j];
			out[i][j] = sum;
			t->far[i][j] = size(sum) * ldexp(1, -type->bits) +
			    64 * most * 0x1p-53;
		}
	memcpy(t->c.x, out, sizeof out);
}

/* ---- Comparing --------------------------------------------------------- */

static void
same(const struct test *t, const struct set *before)
{
	struct set wanted = *before;
	static double far[SIZE];

	memset(far, 0, sizeof far);
	for (int j = 0; j < t->c.cols; j++)
		for (int i = 0; i < t->c.rows; i++)
			if (t->c.at[i][j] >= 0) {
				number x = t->c.x[i][j];

				if (t->c.kind == HERM && i == j)
					x = creal(x);
				put(type, wanted.host, t->c.at[i][j], x);
				far[t->c.at[i][j]] = t->far[i][j];
			}
	for (int i = 0; i < SIZE; i++) {
		const number x = test_get(type, c.host, i);
		const number y = test_get(type, wanted.host, i);

		if (isnan(creal(x)) && isnan(creal(y)))
			continue;
		if (!(size(x - y) <= far[i] * 2))
			fail_msg("%s: upper %d unit %d right %d op %d step %d "
			    "wide %d: %d is %g,%g, not %g,%g", t->row->name,
			    t->way.upper, t->way.unit, t->way.right,
			    t->way.op, t->way.step, t->way.wide, i, creal(x),
			    cimag(x), creal(y), cimag(y));
	}
}

/* A solution times op(A) is what was there, but for the rounding of each of its
 * elements and of the sums. */
static void
solved(const struct test *t)
{
	struct whole x = t->c;

	expand(&x, &c);
	for (int i = 0; i < N; i++) {
		number sum = 0;
		double most = 0;

		for (int j = 0; j < N; j++) {
			sum += turned(&t->a, t->way.op, i, j) * x.x[j][0];
			most += size(turned(&t->a, t->way.op, i, j)) *
			    size(x.x[j][0]);
		}
		if (!(size(sum - t->c.x[i][0]) <= most * 4 *
		    ldexp(1, -type->bits)))
			fail_msg("%s: upper %d unit %d op %d: %d is %g off",
			    t->row->name, t->way.upper, t->way.unit,
			    t->way.op, i, size(sum - t->c.x[i][0]));
	}
}

static void
try(const struct row *row, struct way way, uint64_t *seed)
{
	static struct test t;
	const bool solves = row->shape == BAND_SOLVE ||
	    row->shape == PACKED_SOLVE;
	struct set before;

	t = (struct test){ .row = row, .way = way, .alpha =
	    test_number(0.75, -0.5), .beta = test_number(-0.5, 0.25) };
	type = &test_types[row->type];
	if (type->parts == 1 || scalar_type(row, false)->parts == 1)
		t.alpha = creal(t.alpha);
	if (type->parts == 1 || scalar_type(row, true)->parts == 1)
		t.beta = creal(t.beta);
	if (row->shape >= RANK_1 && row->shape <= PACKED_2)
		t.beta = 1; /* these have none */
	else if (way.empty)
		t.beta = 0;
	test_draw(type, a.host, SIZE, seed);
	test_draw(type, b.host, SIZE, seed);
	test_draw(type, c.host, SIZE, seed);
	describe(&t);
	place(&t.a);
	for (int i = 0; solves && i < N; i++)
		put(type, a.host, t.a.at[i][i], 3);
	if (t.beta == 0 && row->shape != BAND_SOLVE)
		memset(c.host, 0xff, sizeof c.host);
	expand(&t.a, &a);
	expand(&t.b, &b);
	expand(&t.c, &c);
	if (t.beta == 0)
		memset(t.c.x, 0, sizeof t.c.x);
	before = c;
	move(&a, true);
	move(&b, true);
	move(&c, true);
	assert_int_equal(call(&t, way.upper, N), CUBLAS_STATUS_SUCCESS);
	move(&c, false);
	if (solves) {
		solved(&t);
		return;
	}
	work(&t);
	same(&t, &before);
	assert_int_equal(call(&t, 7, N), CUBLAS_STATUS_INVALID_VALUE);
	assert_int_equal(call(&t, way.upper, -1), CUBLAS_STATUS_INVALID_VALUE);
	assert_int_equal(call(&t, way.upper, 0), CUBLAS_STATUS_SUCCESS);
}

static bool
is_wrong(const struct row *row, int op)
{
	return row->shape >= RANK_K && row->shape <= RANK_KX &&
	    ((row->kind == HERM && op == CUBLAS_OP_T) || (row->kind == SYM &&
	    test_types[row->type].parts == 2 && op == CUBLAS_OP_C));
}

static void
stored(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int n = 0; n < 48; n++) {
			const bool has_op = rows[i].shape == GBMV ||
			    rows[i].kind == TRI || (rows[i].shape >= RANK_K &&
			    rows[i].shape <= RANK_KX);
			struct way way = { .upper = n & 1, .unit = n & 2 &&
			    rows[i].kind == TRI, .right = n & 2 &&
			    rows[i].shape == SIDED, .step = n & 4 ? -2 : 1,
			    .empty = n & 8 && rows[i].kind != TRI &&
			    (rows[i].shape < RANK_1 || rows[i].shape >= RANK_K),
			    .op = has_op ? n / 16 : 0,
			    .wide = n & 8 && rows[i].wide };

			if (way.step < 0)
				way.step = n & 8 ? -1 : 2;
			if (!is_wrong(&rows[i], way.op))
				try(&rows[i], way, &seed);
		}
}

/* A modified rotation makes y1 zero, and keeps d1 x^2 + d2 y^2. */
static void
rotations(void **state)
{
	static const double cases[][4] = { { 2, 3, 4, 1 }, { 2, 3, 1, 4 },
		{ 1e-9, 2e8, 3, 5 }, { 4, -1, 5, 2 }, { 1e9, 1e9, 1, 7 },
		{ 1, 2, 3, 0 }, { -1, 2, 3, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double d1 = cases[i][0], d2 = cases[i][1], x = cases[i][2];
		const double y = cases[i][3], *old = cases[i];
		double h[5] = { 9, 9, 9, 9, 9 }, v[2] = { x, y };
		float fd1 = (float)d1, fd2 = (float)d2, fx = (float)x, fh[5];
		const float fy = (float)y;
		double *at = test_device(sizeof v);

		OK(cublasDrotmg_v2(handle, &d1, &d2, &x, &y, h));
		OK(cudaMemcpy(at, v, sizeof v, cudaMemcpyHostToDevice));
		OK(i & 1 ? cublasDrotm_v2_64(handle, 1, at, 1, at + 1, 1, h) :
		    cublasDrotm_v2(handle, 1, at, 1, at + 1, 1, h));
		OK(cudaMemcpy(v, at, sizeof v, cudaMemcpyDeviceToHost));
		OK(cublasSrotmg_v2(handle, &fd1, &fd2, &fx, &fy, fh));
		assert_true((double)fh[0] == h[0]);
		assert_true(fabs((double)fx - x) <= 0x1p-20 * fabs(x));
		if (h[0] == -2) {
			assert_true(v[0] == old[2] && v[1] == y);
		} else if (old[0] < 0) {
			assert_true(d1 == 0 && x == 0 && v[0] == 0);
		} else {
			const double was = old[0] * old[2] * old[2] + old[1] *
			    y * y;

			assert_true(fabs(v[0] - x) <= 0x1p-50 * fabs(x));
			assert_true(fabs(v[1]) <= 0x1p-48 * (fabs(h[2] *
			    old[2]) + fabs(h[4] * y)));
			assert_true(fabs(d1 * x * x - was) <= 0x1p-46 *
			    (fabs(old[0]) * old[2] * old[2] + fabs(old[1]) * y *
			    y));
			assert_true(d1 > 0x1p-24 && d1 < 0x1p24);
		}
		OK(cudaFree(at));
	}
}

/* The same where the scalars are on the device. */
static void
on_the_device(void **state)
{
	const float numbers[10] = { 2, 3, 4, 1, 0, 0, 0, 0, 0, 0 };
	float here[10], there[10], *at = test_device(sizeof numbers);

	(void)state;
	memcpy(here, numbers, sizeof here);
	OK(cublasSrotmg_v2(handle, here, here + 1, here + 2, here + 3,
	    here + 5));
	OK(cudaMemcpy(at, numbers, sizeof numbers, cudaMemcpyHostToDevice));
	OK(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE));
	OK(cublasSrotmg_v2(handle, at, at + 1, at + 2, at + 3, at + 5));
	OK(cudaMemcpy(there, at, sizeof there, cudaMemcpyDeviceToHost));
	assert_memory_equal(here, there, sizeof here);
	OK(cublasSrotm_v2(handle, 1, at, 1, at + 1, 1, at + 5));
	OK(cublasSrotm_v2_64(handle, 0, NULL, 1, NULL, 1, NULL));
	OK(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_HOST));
	OK(cudaMemcpy(there, at, sizeof there, cudaMemcpyDeviceToHost));
	assert_true(fabs((double)(there[0] - (here[0] + here[8] * here[1]))) <
	    1e-6);
	assert_int_equal(cublasSrotm_v2(handle, 1, at, 1, at + 1, 1, NULL),
	    CUBLAS_STATUS_INVALID_VALUE);
	OK(cudaFree(at));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stored),
		cmocka_unit_test(rotations),
		cmocka_unit_test(on_the_device),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	OK(cublasCreate_v2(&handle));
	a.device = test_device(sizeof a.host);
	b.device = test_device(sizeof b.host);
	c.device = test_device(sizeof c.host);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
