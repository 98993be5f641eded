/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_rotate.c -- cuBLAS calls: rotg, which makes a
 * rotation that makes b zero. Contracts are NVIDIA's. */
#include "emulator/cublas/blas/cublas_matrix.h"

#include <math.h>

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
