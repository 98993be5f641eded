/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_rotate.c -- cuBLAS calls: rot, rotg. Contracts
 * are NVIDIA's. */
#include "emulator/cublas/blas/cublas_matrix.h"

#include <math.h>

/* ---- rot: x = c x + s y, y = c y - s x ----------------------------------- */

struct rotation {
	bool wide;
	int64_t n, incx, incy;
	void *x, *y;
	struct emu_scalar c, s;
};

static void
run_rot(void *arguments)
{
	struct rotation *t = arguments;

	emu_scalar_fetch(&t->c);
	emu_scalar_fetch(&t->s);
	for (int64_t i = 0; i < t->n; i++) {
		const int64_t at_x = emu_at(i, t->n, t->incx);
		const int64_t at_y = emu_at(i, t->n, t->incy);
		const double x = emu_get(t->x, t->wide, at_x);
		const double y = emu_get(t->y, t->wide, at_y);

		emu_put(t->x, t->wide, at_x, t->c.value * x + t->s.value * y);
		emu_put(t->y, t->wide, at_y, t->c.value * y - t->s.value * x);
	}
}

static cublasStatus_t
rot(cublasHandle_t handle, struct rotation *t, const void *c, const void *s)
{
	const enum emu_real real = t->wide ? EMU_DOUBLE : EMU_FLOAT;
	struct rotation *task;
	cublasStatus_t status;
	int bad;

	if (t->n <= 0)
		return CUBLAS_STATUS_SUCCESS;
	status = emu_scalar_take(handle, c, real, "c", &t->c);
	if (!status)
		status = emu_scalar_take(handle, s, real, "s", &t->s);
	if (status)
		return status;
	bad = emu_check_vector(t->x, t->n, t->incx, t->wide, "x");
	if (!bad)
		bad = emu_check_vector(t->y, t->n, t->incy, t->wide, "y");
	if (bad)
		return emu_blas_status(bad);
	task = emu_task_new(run_rot, sizeof *task);
	if (task)
		*task = *t;
	return emu_blas_submit(handle, task);
}

/* ---- rotg: the rotation that makes b zero ------------------------------- */

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

#define ROT(symbol, index, T)                                             \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, T *x, index incx, T *y, index incy, \
    const T *c, const T *s)                                               \
{                                                                         \
	struct rotation t = { .wide = sizeof(T) == 8, .n = n,             \
	    .incx = incx, .incy = incy, .x = x, .y = y };                 \
	BLAS_ENTER(handle);                                               \
	return rot(handle, &t, c, s);                                     \
}
#define ROTG(symbol, T)                                                   \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, T *a, T *b, T *c, T *s)                     \
{                                                                         \
	const struct generator g = { sizeof(T) == 8, a, b, c, s };        \
	BLAS_ENTER(handle);                                               \
	return rotg(handle, &g);                                          \
}

ROT(cublasSrot_v2, int, float)
ROT(cublasDrot_v2, int, double)
ROTG(cublasSrotg_v2, float)
ROTG(cublasDrotg_v2, double)
ROT(cublasSrot_v2_64, int64_t, float)
ROT(cublasDrot_v2_64, int64_t, double)
