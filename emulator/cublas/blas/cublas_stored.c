/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_stored.c -- computes on matrices that are stored
 * whole, as a band or packed: every element is a complex number of double
 * precision, whatever its type. Contracts are NVIDIA's. */
#include "emulator/cublas/blas/cublas_matrix.h"
#include "emulator/cublas/blas/cublas_stored.h"

#include <complex.h>

typedef double complex number;

/* ---- Elements ---------------------------------------------------------- */

static number
get(enum emu_real type, const void *p, int64_t i)
{
	switch (type) {
	case EMU_FLOAT:
		return (double)((const float *)p)[i];
	case EMU_DOUBLE:
		return ((const double *)p)[i];
	case EMU_COMPLEX:
		return (number)((const float complex *)p)[i];
	default:
		return ((const number *)p)[i];
	}
}

static void
put(enum emu_real type, const void *at, int64_t i, number value)
{
	void *const p = (void *)(uintptr_t)at;

	switch (type) {
	case EMU_FLOAT:
		((float *)p)[i] = (float)creal(value);
		break;
	case EMU_DOUBLE:
		((double *)p)[i] = creal(value);
		break;
	case EMU_COMPLEX:
		((float complex *)p)[i] = (float complex)value;
		break;
	default:
		((number *)p)[i] = value;
	}
}

/* Where element (i, j) is stored; -1: it is not. */
static int64_t
locate(const struct emu_stored *m, int64_t i, int64_t j)
{
	switch (m->form) {
	case EMU_VECTOR:
		return emu_at(i, m->rows, m->ld);
	case EMU_BANDED:
		return i - j > m->below || j - i > m->above ? -1 :
		    j * m->ld + m->above + i - j;
	case EMU_PACKED:
		return i + (m->upper ? j * (j + 1) / 2 :
		    j * (2 * m->cols - j - 1) / 2);
	default:
		return j * m->ld + i;
	}
}

static bool
is_stored(const struct emu_stored *m, int64_t i, int64_t j)
{
	return m->kind == EMU_GENERAL || i == j || (i < j) == m->upper;
}

static number
element(enum emu_real type, const struct emu_stored *m, int64_t i, int64_t j)
{
	const bool turned = !is_stored(m, i, j);
	const int64_t at = turned ? locate(m, j, i) : locate(m, i, j);
	number value;

	if (at < 0 || (turned && m->kind == EMU_TRIANGULAR))
		return 0;
	if (i == j && m->unit)
		return 1;
	value = get(type, m->at, at);
	if (m->kind == EMU_HERMITIAN)
		value = i == j ? creal(value) : turned ? conj(value) : value;
	return value;
}

/* Of op(M). A vector is not turned. */
static number
picked(const struct emu_stored_call *t, const struct emu_stored *m, int64_t i,
    int64_t j)
{
	if (t->op == CUBLAS_OP_N || m->form == EMU_VECTOR)
		return element(t->type, m, i, j);
	return t->op == CUBLAS_OP_T ? element(t->type, m, j, i) :
	    conj(element(t->type, m, j, i));
}

static number
scalar(const struct emu_scalar *s)
{
	return __builtin_complex(s->value, s->imaginary);
}

/* ---- Calls ------------------------------------------------------------- */

/* beta = 0 does not read C. */
static void
finish(const struct emu_stored_call *t, int64_t i, int64_t j, number sum)
{
	const int64_t at = locate(&t->c, i, j);
	const number beta = scalar(&t->beta);

	if (beta != 0)
		sum += beta * element(t->type, &t->c, i, j);
	put(t->type, t->c.at, at, t->c.kind == EMU_HERMITIAN && i == j ?
	    creal(sum) : sum);
}

static void
multiply(const struct emu_stored_call *t)
{
	const number alpha = scalar(&t->alpha);
	const int64_t inner = t->right || t->op != CUBLAS_OP_N ? t->a.rows :
	    t->a.cols;

	for (int64_t j = 0; j < t->c.cols; j++)
		for (int64_t i = 0; i < t->c.rows; i++) {
			number sum = 0;

			for (int64_t l = 0; alpha != 0 && l < inner; l++)
				sum += t->right ? element(t->type, &t->b, i,
				    l) * element(t->type, &t->a, l, j) :
				    picked(t, &t->a, i, l) *
				    element(t->type, &t->b, l, j);
			finish(t, i, j, alpha * sum);
		}
}

/* An element of op(A) op(B)'. */
static number
product(const struct emu_stored_call *t, const struct emu_stored *a,
    const struct emu_stored *b, int64_t i, int64_t j)
{
	number sum = 0;

	for (int64_t l = 0; l < t->k; l++) {
		const number other = picked(t, b, j, l);

		sum += picked(t, a, i, l) * (t->c.kind == EMU_HERMITIAN ?
		    conj(other) : other);
	}
	return sum;
}

static void
update(const struct emu_stored_call *t)
{
	const number alpha = scalar(&t->alpha);
	const number back = t->c.kind == EMU_HERMITIAN ? conj(alpha) : alpha;

	for (int64_t j = 0; j < t->c.cols; j++)
		for (int64_t i = 0; i < t->c.rows; i++) {
			number sum = 0;

			if (!is_stored(&t->c, i, j))
				continue;
			if (alpha != 0)
				sum = alpha * product(t, &t->a, &t->b, i, j);
			if (alpha != 0 && t->both)
				sum += back * product(t, &t->b, &t->a, i, j);
			finish(t, i, j, sum);
		}
}

/* From the end at which op(A) has one element left. */
static void
solve(const struct emu_stored_call *t)
{
	const bool upper = t->a.upper != (t->op != CUBLAS_OP_N);
	const int64_t n = t->c.rows;

	for (int64_t s = 0; s < n; s++) {
		const int64_t i = upper ? n - 1 - s : s;
		const int64_t high = upper ? n : i;
		number sum = element(t->type, &t->c, i, 0);

		for (int64_t j = upper ? i + 1 : 0; j < high; j++)
			sum -= picked(t, &t->a, i, j) *
			    element(t->type, &t->c, j, 0);
		put(t->type, t->c.at, locate(&t->c, i, 0),
		    t->a.unit ? sum : sum / picked(t, &t->a, i, i));
	}
}

/* In the order in which no element is needed any more. */
static void
turn(const struct emu_stored_call *t)
{
	const bool upper = t->a.upper != (t->op != CUBLAS_OP_N);
	const int64_t n = t->c.rows;

	for (int64_t s = 0; s < n; s++) {
		const int64_t i = upper ? s : n - 1 - s;
		const int64_t high = upper ? n : i + 1;
		number sum = 0;

		for (int64_t j = upper ? i : 0; j < high; j++)
			sum += picked(t, &t->a, i, j) *
			    element(t->type, &t->c, j, 0);
		put(t->type, t->c.at, locate(&t->c, i, 0), sum);
	}
}

static void
copy(const struct emu_stored_call *t)
{
	for (int64_t j = 0; j < t->c.cols; j++)
		for (int64_t i = 0; i < t->c.rows; i++)
			if (is_stored(&t->c, i, j))
				put(t->type, t->c.at, locate(&t->c, i, j),
				    get(t->type, t->a.at, locate(&t->a, i,
				    j)));
}

static void
run(void *arguments)
{
	static void (*const all[])(const struct emu_stored_call *t) = {
		[EMU_MULTIPLY] = multiply, [EMU_UPDATE] = update,
		[EMU_SOLVE] = solve, [EMU_TURN] = turn, [EMU_COPY] = copy
	};
	struct emu_stored_call *t = arguments;

	emu_scalar_fetch(&t->alpha);
	emu_scalar_fetch(&t->beta);
	all[t->what](t);
}

/* ---- Queueing ---------------------------------------------------------- */

/* One that the call does not have is all zero. */
static bool
is_valid(const struct emu_stored *m)
{
	const int64_t least = m->form == EMU_BANDED ?
	    m->below + m->above + 1 : m->rows;

	if (m->rows < 0 || m->cols < 0 || m->below < 0 || m->above < 0)
		return false;
	switch (m->form) {
	case EMU_VECTOR:
		return m->ld != 0;
	case EMU_PACKED:
		return true;
	default:
		return m->ld >= 1 && m->ld >= least;
	}
}

static int
check(enum emu_real type, const struct emu_stored *m, const char *argument)
{
	struct emu_shape shape = { m->rows, m->cols, m->ld, 1, 0,
		emu_real_bytes(type) };

	if (m->form == EMU_BANDED) {
		shape.rows = m->below + m->above + 1;
	} else if (m->form == EMU_PACKED) {
		shape.rows = m->rows * (m->rows + 1) / 2;
		shape.cols = 1;
		shape.ld = shape.rows;
	} else if (m->form == EMU_VECTOR) {
		shape.rows = 1;
		shape.cols = m->rows;
		shape.ld = m->ld < 0 ? -m->ld : m->ld;
	}
	return emu_memory_check_matrix(m->at, &shape, argument);
}

static cublasStatus_t
take(cublasHandle_t handle, const void *pointer, enum emu_real type,
    const char *argument, struct emu_scalar *out)
{
	out->value = 1;
	return type == EMU_REALS ? CUBLAS_STATUS_SUCCESS :
	    emu_scalar_take(handle, pointer, type, argument, out);
}

static int
check_all(const struct emu_stored_call *t)
{
	int bad = EMU_OK;

	if (!emu_scalar_is_zero(&t->alpha)) {
		bad = check(t->type, &t->a, t->a.form == EMU_VECTOR ? "x" :
		    t->a.form == EMU_PACKED ? "AP" : "A");
		if (!bad && t->b.at)
			bad = check(t->type, &t->b,
			    t->b.form == EMU_VECTOR ? "x or y" : "B");
	}
	return bad ? bad : check(t->type, &t->c, "the result");
}

cublasStatus_t
emu_stored_submit(cublasHandle_t handle, struct emu_stored_call *call,
    const void *alpha, enum emu_real alpha_type, const void *beta,
    enum emu_real beta_type)
{
	struct emu_stored_call *task;
	cublasStatus_t status;

	if (call->bad || call->k < 0 || !is_valid(&call->a) ||
	    !is_valid(&call->c) || (call->b.ld && !is_valid(&call->b)))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!call->c.rows || !call->c.cols)
		return CUBLAS_STATUS_SUCCESS;
	status = take(handle, alpha, alpha_type, "alpha", &call->alpha);
	if (!status)
		status = take(handle, beta, beta_type, "beta", &call->beta);
	if (!status)
		status = emu_blas_status(check_all(call));
	if (status)
		return status;
	task = emu_task_new(run, sizeof *task);
	if (task)
		*task = *call;
	return emu_blas_submit(handle, task);
}
