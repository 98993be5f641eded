/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_rotate.c -- cuBLAS calls: rotg, which makes a
 * rotation that makes b zero; rotm and rotmg, modified rotations. Contracts are
 * NVIDIA's. */
#include "emulator/cublas/blas/cublas_matrix.h"

#include <math.h>
#include <string.h>

struct generator {
	bool wide;
	void *a, *b, *c, *s;
};

/* As in the reference BLAS: b becomes z, which encodes c and s. */
static void
generate(const struct generator *g)
{
	const double a = emu_get(g->a, g->wide, 0);
	const double b = emu_get(g->b, g->wide, 0);
	const bool a_leads = fabs(a) > fabs(b);
	const double r = copysign(hypot(a, b), a_leads ? a : b);
	double c = 1, s = 0, z = 0;

	if (r != 0) {
		c = a / r;
		s = b / r;
		z = a_leads ? s : c != 0 ? 1 / c : 1;
	}
	emu_put(g->a, g->wide, 0, r);
	emu_put(g->b, g->wide, 0, z);
	emu_put(g->c, g->wide, 0, c);
	emu_put(g->s, g->wide, 0, s);
}

static void
run_rotg(void *arguments)
{
	generate(arguments);
}

/* Host scalars are computed on the host, as in cuBLAS. */
static cublasStatus_t
rotg(cublasHandle_t handle, const struct generator *g)
{
	void *const scalar[] = { g->a, g->b, g->c, g->s };
	static const char *const names[] = { "a", "b", "c", "s" };
	struct generator *task;
	int bad = EMU_OK;

	if (!g->a || !g->b || !g->c || !g->s)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) {
		generate(g);
		return CUBLAS_STATUS_SUCCESS;
	}
	for (int i = 0; !bad && i < 4; i++)
		bad = emu_memory_check(scalar[i], g->wide ? 8 : 4, names[i]);
	if (bad)
		return emu_blas_status(bad);
	task = emu_task_new(run_rotg, sizeof *task);
	if (task)
		*task = *g;
	return emu_blas_submit(handle, task);
}

#define ROTG(symbol, T)                                                   \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, T *a, T *b, T *c, T *s)                     \
{                                                                         \
	const struct generator g = { sizeof(T) == 8, a, b, c, s };        \
	BLAS_ENTER(handle);                                               \
	return rotg(handle, &g);                                          \
}

ROTG(cublasSrotg_v2, float)
ROTG(cublasDrotg_v2, double)

/* ---- Modified rotations ------------------------------------------------ */

/* param[0] says which of H's elements the other four replace. */
struct modified {
	bool wide;
	int64_t n, incx, incy;
	void *x, *y;
	const void *param;     /* NULL: h is known */
	double h[5];           /* flag, h11, h21, h12, h22 */
};

static void
read_h(struct modified *t, const void *param)
{
	static const double fixed[3][5] = {
		{ -2, 1, 0, 0, 1 }, { 0, 1, NAN, NAN, 1 },
		{ 1, NAN, -1, 1, NAN }
	};

	t->h[0] = emu_get(param, t->wide, 0);
	for (int i = 1; i < 5; i++) {
		t->h[i] = emu_get(param, t->wide, i);
		for (int flag = 0; flag < 3; flag++)
			if (t->h[0] == fixed[flag][0] && !isnan(fixed[flag][i]))
				t->h[i] = fixed[flag][i];
	}
}

static void
run_rotm(void *arguments)
{
	struct modified *t = arguments;

	if (t->param) {
		emu_announce_read(t->param, t->wide ? 40 : 20);
		read_h(t, t->param);
	}
	for (int64_t i = 0; i < t->n; i++) {
		const int64_t at_x = emu_at(i, t->n, t->incx);
		const int64_t at_y = emu_at(i, t->n, t->incy);
		const double x = emu_get(t->x, t->wide, at_x);
		const double y = emu_get(t->y, t->wide, at_y);

		emu_put(t->x, t->wide, at_x, t->h[1] * x + t->h[3] * y);
		emu_put(t->y, t->wide, at_y, t->h[2] * x + t->h[4] * y);
	}
}

static cublasStatus_t
rotm(cublasHandle_t handle, struct modified *t)
{
	struct modified *task;
	int bad;

	if (t->n <= 0)
		return CUBLAS_STATUS_SUCCESS;
	if (!t->param)
		return CUBLAS_STATUS_INVALID_VALUE;
	bad = emu_check_vector(t->x, t->n, t->incx, t->wide, "x");
	if (!bad)
		bad = emu_check_vector(t->y, t->n, t->incy, t->wide, "y");
	if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) {
		read_h(t, t->param);
		t->param = NULL;
	} else if (!bad) {
		bad = emu_memory_check(t->param, t->wide ? 40 : 20, "param");
	}
	if (bad)
		return emu_blas_status(bad);
	task = emu_task_new(run_rotm, sizeof *task);
	if (task)
		*task = *t;
	return emu_blas_submit(handle, task);
}

struct modifier {
	bool wide;
	void *d1, *d2, *x1;
	const void *y1;
	void *param;
};

/* d and a row of H, so that d is neither too large nor too small for its
 * square root. */
static void
scale(double *d, double *row1, double *row2, double *x1)
{
	enum { STEP = 4096 };

	while (*d != 0 && (fabs(*d) <= 1.0 / STEP / STEP ||
	    fabs(*d) >= (double)STEP * STEP)) {
		const bool small = fabs(*d) < 1;
		const double by = small ? 1.0 / STEP : STEP;

		*d /= by * by;
		*row1 *= by;
		*row2 *= by;
		if (x1)
			*x1 *= by;
	}
}

/* As in the reference BLAS, which writes what its flag does not imply. */
static void
write_h(const struct modifier *g, const double *h)
{
	const int flag = (int)h[0];

	emu_put(g->param, g->wide, 0, h[0]);
	for (int i = 1; flag != -2 && i < 5; i++)
		if (flag < 0 || (flag == 0) == (i == 2 || i == 3))
			emu_put(g->param, g->wide, i, h[i]);
}

static void
modify(const struct modifier *g)
{
	double d1 = emu_get(g->d1, g->wide, 0), d2 = emu_get(g->d2, g->wide, 0);
	double x = emu_get(g->x1, g->wide, 0), y = emu_get(g->y1, g->wide, 0);
	const double p1 = d1 * x, p2 = d2 * y;
	const double q1 = p1 * x, q2 = p2 * y;
	double h[5] = { -1, 0, 0, 0, 0 };

	if (d1 >= 0 && p2 == 0) {
		h[0] = -2;
		write_h(g, h);
		return;
	}
	if (d1 >= 0 && fabs(q1) > fabs(q2)) {
		const double u = 1 + q2 / q1;

		memcpy(h, (double[]){ 0, 1, -y / x, p2 / p1, 1 }, sizeof h);
		d1 /= u;
		d2 /= u;
		x *= u;
	} else if (d1 >= 0 && q2 >= 0) {
		const double u = 1 + q1 / q2, old = d1;

		memcpy(h, (double[]){ 1, p1 / p2, -1, 1, x / y }, sizeof h);
		d1 = d2 / u;
		d2 = old / u;
		x = y * u;
	} else {
		d1 = d2 = x = 0;
	}
	if (d1 != 0 || d2 != 0) {
		const double before1 = d1, before2 = d2;

		scale(&d1, &h[1], &h[3], &x);
		scale(&d2, &h[2], &h[4], NULL);
		if (d1 != before1 || d2 != before2)
			h[0] = -1;
	}
	write_h(g, h);
	emu_put(g->d1, g->wide, 0, d1);
	emu_put(g->d2, g->wide, 0, d2);
	emu_put(g->x1, g->wide, 0, x);
}

static void
run_rotmg(void *arguments)
{
	modify(arguments);
}

static cublasStatus_t
rotmg(cublasHandle_t handle, const struct modifier *g)
{
	const void *const at[] = { g->d1, g->d2, g->x1, g->y1, g->param };
	static const char *const names[] = { "d1", "d2", "x1", "y1", "param" };
	struct modifier *task;
	int bad = EMU_OK;

	for (int i = 0; i < 5; i++)
		if (!at[i])
			return CUBLAS_STATUS_INVALID_VALUE;
	if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) {
		modify(g);
		return CUBLAS_STATUS_SUCCESS;
	}
	for (int i = 0; !bad && i < 5; i++)
		bad = emu_memory_check(at[i], (g->wide ? 8u : 4u) *
		    (i == 4 ? 5u : 1u), names[i]);
	if (bad)
		return emu_blas_status(bad);
	task = emu_task_new(run_rotmg, sizeof *task);
	if (task)
		*task = *g;
	return emu_blas_submit(handle, task);
}

#define ROTM(L, T, suffix, index)                                         \
cublasStatus_t                                                            \
cublas##L##rotm_v2##suffix(cublasHandle_t handle, index n, T *x,          \
    index incx, T *y, index incy, const T *param)                         \
{                                                                         \
	struct modified t = { sizeof(T) == 8, n, incx, incy, x, y, param, \
	    { 0 } };                                                      \
	BLAS_ENTER(handle);                                               \
	return rotm(handle, &t);                                          \
}
#define ROTMG(L, T)                                                       \
cublasStatus_t                                                            \
cublas##L##rotmg_v2(cublasHandle_t handle, T *d1, T *d2, T *x1,           \
    const T *y1, T *param)                                                \
{                                                                         \
	const struct modifier g = { sizeof(T) == 8, d1, d2, x1, y1, param }; \
	BLAS_ENTER(handle);                                               \
	return rotmg(handle, &g);                                         \
}

ROTM(S, float, , int)
ROTM(D, double, , int)
ROTM(S, float, _64, int64_t)
ROTM(D, double, _64, int64_t)
ROTMG(S, float)
ROTMG(D, double)
