/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_site.c -- what a call asks for and of what types it is;
 * when a site is recast, stored, found, decided again, given an
 * origin. */
#include "shim/site/site.c" /* its limit */
#include "tests/unit/shim/site_world.h"

static int handle_of, memory;
static const cublasHandle_t handle = (cublasHandle_t)&handle_of;
static const char here[1]; /* where calls return to */
static struct ac_site scratch;

/* Of one size more at each call: a site of its own. */
static int64_t fresh = 1000;

static const struct ac_site *
site_of(int64_t m, uint64_t form)
{
	return AC_SITE_OF(handle, here, 0, m, 12, 13, 14, form, &scratch);
}

static const struct ac_site *
a_product(void)
{
	return site_of(++fresh, ac_form_of(ENTRY_cublasGemmEx, CUBLAS_OP_N,
	    CUBLAS_OP_T, AC_TYPE_F32, AC_ASKED_FP32));
}

/* The policy says `rung`. */
static void
say(enum ac_rung rung)
{
	world.answer.rung = rung;
	world.answer.reason = rung == AC_RUNG_KEEP ? AC_REASON_RULE
	    : AC_REASON_NONE;
	world.answer.guard = AC_GUARD_ON;
}

/* ---- What identifies a call ---------------------------------------------- */

CASE_WITH(test_compute, begin, NULL)
{
	static const struct { int compute; enum ac_asked asked; } rows[] = {
		{ CUBLAS_COMPUTE_32F, AC_ASKED_UNSAID },
		{ CUBLAS_COMPUTE_32F_FAST_TF32, AC_ASKED_TF32 },
		{ CUBLAS_COMPUTE_32F_FAST_16F, AC_ASKED_FAST16F },
		{ CUBLAS_COMPUTE_32F_FAST_16BF, AC_ASKED_FAST16BF },
		{ CUBLAS_COMPUTE_32F_PEDANTIC, AC_ASKED_PEDANTIC },
		{ 78, AC_ASKED_EMULATED },
		{ CUBLAS_COMPUTE_64F, AC_ASKED_UNSAID },
		{ CUBLAS_COMPUTE_16F, AC_ASKED_UNSAID },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(ac_asked_by_compute(rows[i].compute),
		    rows[i].asked);
}

CASE_WITH(test_types, begin, NULL)
{
	static const struct {
		cudaDataType a, b, c;
		int compute;
		enum ac_type_class type;
	} rows[] = {
		{ CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F,
		    AC_TYPE_F32 },
		{ CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
		    CUBLAS_COMPUTE_32F_FAST_TF32, AC_TYPE_F32 },
		{ CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
		    CUBLAS_COMPUTE_32F_PEDANTIC, AC_TYPE_F32 },
		{ CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F,
		    AC_TYPE_C32 },
		{ CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_64F,
		    AC_TYPE_OTHER },
		{ CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_64F,
		    AC_TYPE_OTHER },
		{ CUDA_R_32F, CUDA_R_32F, CUDA_R_16F, CUBLAS_COMPUTE_32F,
		    AC_TYPE_OTHER },
		{ CUDA_C_32F, CUDA_C_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F,
		    AC_TYPE_OTHER },
		{ CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F,
		    AC_TYPE_OTHER },
		{ CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F,
		    AC_TYPE_F16 },
		{ CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F,
		    AC_TYPE_BF16 },
		{ CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F,
		    AC_TYPE_F64 },
		{ CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F,
		    AC_TYPE_OTHER },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(ac_type_class_of(rows[i].a, rows[i].b,
		    rows[i].c, rows[i].compute), rows[i].type);
}

/* The mode of the handle where the call says nothing; a pedantic one always. */
CASE_WITH(test_modes, begin, NULL)
{
	static const struct {
		unsigned mode;
		enum ac_asked said, asked;
	} rows[] = {
		{ CUBLAS_DEFAULT_MATH, AC_ASKED_UNSAID, AC_ASKED_FP32 },
		{ CUBLAS_TENSOR_OP_MATH, AC_ASKED_UNSAID, AC_ASKED_FAST16F },
		{ CUBLAS_PEDANTIC_MATH, AC_ASKED_UNSAID, AC_ASKED_PEDANTIC },
		{ CUBLAS_TF32_TENSOR_OP_MATH, AC_ASKED_UNSAID, AC_ASKED_TF32 },
		{ CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
		    | CUBLAS_TF32_TENSOR_OP_MATH, AC_ASKED_UNSAID,
		    AC_ASKED_TF32 },
		{ 4, AC_ASKED_UNSAID, AC_ASKED_EMULATED },
		{ 5, AC_ASKED_UNSAID, AC_ASKED_EMULATED },
		{ 7, AC_ASKED_UNSAID, AC_ASKED_EMULATED },
		{ 8, AC_ASKED_UNSAID, AC_ASKED_FP32 },
		{ 9, AC_ASKED_UNSAID, AC_ASKED_EMULATED },
		{ 15, AC_ASKED_UNSAID, AC_ASKED_EMULATED },
		{ CUBLAS_DEFAULT_MATH, AC_ASKED_TF32, AC_ASKED_TF32 },
		{ CUBLAS_TENSOR_OP_MATH, AC_ASKED_TF32, AC_ASKED_TF32 },
		{ CUBLAS_PEDANTIC_MATH, AC_ASKED_TF32, AC_ASKED_PEDANTIC },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		world.mode = (cublasMath_t)rows[i].mode;
		assert_int_equal(ac_site_form((uint64_t)rows[i].said << 20,
		    handle), (uint64_t)rows[i].asked << 20
		    | (uint64_t)DEVICE << 32);
	}
	world.handle.device = -1;
	assert_int_equal(ac_site_form((uint64_t)AC_ASKED_TF32 << 20, handle),
	    (uint64_t)AC_ASKED_PEDANTIC << 20 | UINT64_C(0xff) << 32);
}

/* ---- Deciding ------------------------------------------------------------ */

CASE_WITH(test_feasible, begin, NULL)
{
	static const struct {
		enum ac_rung rung;
		enum ac_asked asked;
		enum ac_asked_guard guard;
		bool doubtful, complete;
		enum ac_reason reason;
	} rows[] = {
		{ AC_RUNG_FP16, AC_ASKED_FP32, AC_GUARD_ON, false, true,
		    AC_REASON_NONE },
		{ AC_RUNG_KEEP, AC_ASKED_TF32, AC_GUARD_OFF, true, false,
		    AC_REASON_RULE },
		{ AC_RUNG_FP16, AC_ASKED_FP32, AC_GUARD_ON, false, false,
		    AC_REASON_UNSUPPORTED },
		{ AC_RUNG_TF32, AC_ASKED_TF32, AC_GUARD_ON, false, true,
		    AC_REASON_NO_PROFIT },
		{ AC_RUNG_TF32, AC_ASKED_FP32, AC_GUARD_ON, false, true,
		    AC_REASON_NONE },
		{ AC_RUNG_FP16, AC_ASKED_TF32, AC_GUARD_ON, false, true,
		    AC_REASON_NONE },
		{ AC_RUNG_FP16, AC_ASKED_FP32, AC_GUARD_OFF, true, true,
		    AC_REASON_NO_PROFIT },
		{ AC_RUNG_FP16, AC_ASKED_FP32, AC_GUARD_ON, true, true,
		    AC_REASON_NONE },
		{ AC_RUNG_FP16, AC_ASKED_FP32, AC_GUARD_OFF, false, true,
		    AC_REASON_NONE },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ac_site *site;

		begin(state);
		say(rows[i].rung);
		world.answer.guard = rows[i].guard;
		world.answer.is_doubtful = rows[i].doubtful;
		world.is_complete = rows[i].complete;
		site = site_of(++fresh, ac_form_of(ENTRY_cublasGemmEx,
		    CUBLAS_OP_N, CUBLAS_OP_N, AC_TYPE_F32, rows[i].asked));
		assert_int_equal(site->decision.reason, rows[i].reason);
		assert_int_equal(site->decision.rung,
		    rows[i].reason == AC_REASON_NONE ? rows[i].rung
		    : AC_RUNG_KEEP);
		assert_int_equal(world.decision.reason, rows[i].reason);
		assert_ptr_equal(site->record, &world.record[0]);
	}
}

/* What is told of a call, to the report and to whoever binds it. */
CASE_WITH(test_told, begin, NULL)
{
	const struct ac_site *site;

	site = AC_SITE_OF(handle, here, UINT64_C(0x200)
	    | (uint64_t)REGION << AC_REGION_SHIFT, 21, 22, 23, 24,
	    ac_form_of(ENTRY_cublasGemmEx, CUBLAS_OP_N, CUBLAS_OP_T,
	    AC_TYPE_F32, AC_ASKED_FP32), &scratch);
	assert_int_equal(world.bound_entry, ENTRY_cublasGemmEx);
	assert_ptr_equal(world.bound_caller, here);
	assert_int_equal(world.bound_via, 0x200);
	assert_ptr_equal(site->binding.next, world.binding.next);
	assert_ptr_equal(site->binding.provider, world.binding.provider);
	assert_string_equal(world.key.symbol, "cublasGemmEx");
	assert_int_equal(world.key.m, 21);
	assert_int_equal(world.key.n, 22);
	assert_int_equal(world.key.k, 23);
	assert_int_equal(world.key.batch, 24);
	assert_string_equal(world.told_region.name, "loss");
	assert_int_equal(world.machine_sm, 90);
}

/* A kept site that nothing else is done for. */
CASE_WITH(test_plain, begin, NULL)
{
	static const struct {
		enum ac_rung rung;
		bool solves, ranges;
		enum ac_entry entry;
		enum ac_type_class type;
		bool plain;
	} rows[] = {
		{ AC_RUNG_KEEP, false, false, ENTRY_cublasGemmEx, AC_TYPE_F32,
		    true },
		{ AC_RUNG_FP16, false, false, ENTRY_cublasGemmEx, AC_TYPE_F32,
		    false },
		{ AC_RUNG_KEEP, true, false, ENTRY_cublasGemmEx, AC_TYPE_F32,
		    false },
		{ AC_RUNG_KEEP, false, true, ENTRY_cublasGemmEx, AC_TYPE_F32,
		    false },
		{ AC_RUNG_KEEP, false, true, ENTRY_cublasGemmEx, AC_TYPE_F64,
		    true },
#if CUBLAS_VERSION >= 120500
		{ AC_RUNG_KEEP, false, true, ENTRY_cublasSgemmGroupedBatched,
		    AC_TYPE_F32, false },
#endif
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ac_elf_object self;
		const struct ac_site *site;

		begin(state);
		say(rows[i].rung);
		assert_true(ac_elf_object_at(here, &self));
		world.solver_base = rows[i].solves ? self.base : 0;
		ac_shim_ranges = rows[i].ranges;
		if (rows[i].solves && !self.base)
			continue; /* not position-independent: see solver.h */
		site = site_of(++fresh, ac_form_of(rows[i].entry, CUBLAS_OP_N,
		    CUBLAS_OP_N, rows[i].type, AC_ASKED_FP32));
		assert_int_equal(site->is_plain, rows[i].plain);
		assert_int_equal(site->state == NULL, rows[i].plain);
		assert_ptr_equal(site->solver, rows[i].solves ? &world.solver
		    : NULL);
		if (site->state && rows[i].rung == AC_RUNG_KEEP) {
			assert_null(site->state->origin);
			assert_int_equal(world.origins, 0);
			assert_null(ac_site_variants(site, AC_ALIKE_ALL));
		}
	}
}

/* ---- The table ----------------------------------------------------------- */

CASE_WITH(test_found, begin, NULL)
{
	const uint64_t form = ac_form_of(ENTRY_cublasGemmEx, CUBLAS_OP_N,
	    CUBLAS_OP_T, AC_TYPE_F32, AC_ASKED_FP32);
	const struct ac_site *site = site_of(++fresh, form);

	assert_ptr_not_equal(site, &scratch);
	assert_int_equal(world.binds, 1);
	assert_ptr_equal(site_of(fresh, form), site);
	assert_ptr_equal(ac_site_search(site->query.caller, site->query.mn,
	    site->query.kb, site->query.form), site);
	assert_int_equal(world.binds, 1);
	/* Each of what is asked tells sites apart. */
	assert_ptr_not_equal(site_of(++fresh, form), site);
	fresh--;
	assert_ptr_not_equal(AC_SITE_OF(handle, here, 0, fresh, 11, 13, 14,
	    form, &scratch), site);
	assert_ptr_not_equal(AC_SITE_OF(handle, here, 0, fresh, 12, 12, 14,
	    form, &scratch), site);
	assert_ptr_not_equal(AC_SITE_OF(handle, here, 0, fresh, 12, 13, 15,
	    form, &scratch), site);
	assert_ptr_not_equal(AC_SITE_OF(handle, here + 1, 0, fresh, 12, 13, 14,
	    form, &scratch), site);
	assert_ptr_not_equal(AC_SITE_OF(handle, here, 0x100, fresh, 12, 13, 14,
	    form, &scratch), site);
	assert_ptr_not_equal(site_of(fresh, form | 1 << 16), site);
	assert_int_equal(world.binds, 8);
	fresh++;
}

/* Decided at each call, into the wrapper's memory. */
CASE_WITH(test_not_stored, begin, NULL)
{
	const uint64_t form = ac_form_of(ENTRY_cublasGemmEx, CUBLAS_OP_N,
	    CUBLAS_OP_T, AC_TYPE_F32, AC_ASKED_FP32);

	say(AC_RUNG_FP16);
	memset(&scratch, 0x55, sizeof scratch);
	/* Sizes of more than 32 bits, and what looks like them cut. */
	for (unsigned i = 1; i <= 2; i++) {
		assert_ptr_equal(site_of(INT64_C(1) << 32 | 5, form), &scratch);
		assert_int_equal(world.key.m, INT64_C(1) << 32 | 5);
		assert_int_equal(scratch.decision.rung, AC_RUNG_FP16);
		assert_null(scratch.state);
		assert_int_equal(world.binds, i);
	}
	/* No provider: there may be one at the next call. */
	begin(state);
	world.binding.provider = NULL;
	say(AC_RUNG_FP16);
	assert_ptr_equal(site_of(++fresh, form), &scratch);
	assert_int_equal(world.binds, 1);
	assert_int_equal(scratch.decision.reason, AC_REASON_UNSUPPORTED);
	begin(state);
	assert_ptr_not_equal(site_of(fresh, form), &scratch);
	/* No memory: decided once, not twice. */
	begin(state);
	world.has_no_memory = true;
	assert_ptr_equal(site_of(++fresh, form), &scratch);
	assert_int_equal(world.binds, 1);
	begin(state);
	assert_ptr_not_equal(site_of(fresh, form), &scratch);
}

CASE_WITH(test_limit, begin, NULL)
{
	const unsigned used = sites.table.used;

	assert_int_equal(SITE_LIMIT, 100000);
	sites.table.used = SITE_LIMIT;
	assert_ptr_equal(a_product(), &scratch);
	assert_int_equal(world.binds, 1);
	sites.table.used = SITE_LIMIT - 1;
	assert_ptr_not_equal(a_product(), &scratch);
	sites.table.used = used + 1;
}

/* A module was unloaded: decided again, and stored again if it is not what it
 * was. */
CASE_WITH(test_decided_again, begin, NULL)
{
	const uint64_t form = ac_form_of(ENTRY_cublasGemmEx, CUBLAS_OP_N,
	    CUBLAS_OP_T, AC_TYPE_F32, AC_ASKED_FP32);
	const struct ac_site *site, *other;
	struct ac_elf_object self;

	say(AC_RUNG_FP16);
	site = site_of(++fresh, form);
	assert_true(ac_elf_object_at(here, &self));
	ac_binding_generation++;
	assert_null(ac_site_search(site->query.caller, site->query.mn,
	    site->query.kb, site->query.form));
	assert_ptr_equal(site_of(fresh, form), site);
	assert_int_equal(world.binds, 2);
	assert_ptr_equal(site_of(fresh, form), site);
	assert_int_equal(world.binds, 2);
	ac_binding_generation++;
	world.next_record = 1;
	other = site_of(fresh, form);
	assert_ptr_not_equal(other, site);
	assert_ptr_equal(other->record, &world.record[1]);
	assert_ptr_not_equal(other->state, site->state);
	assert_ptr_equal(site_of(fresh, form), other);
	/* The library is elsewhere, as what is known of the calls is not. */
	ac_binding_generation++;
	world.binding.next = (ac_fn)begin;
	site = site_of(fresh, form);
	assert_ptr_not_equal(site, other);
	assert_true(site->binding.next == (ac_fn)begin);
	assert_non_null(site->state);
	assert_ptr_equal(site->state, other->state);
	assert_ptr_equal(site_of(fresh, form), site);
	if (self.base) {
		ac_binding_generation++;
		world.solver_base = self.base;
		other = site_of(fresh, form);
		assert_ptr_not_equal(other, site);
		assert_ptr_equal(other->solver, &world.solver);
		site = other;
	}
	/* Another provider at the same address. */
	ac_binding_generation++;
	((struct ac_site *)(uintptr_t)site)->binding.provider =
	    (struct ac_provider *)&memory;
	other = site_of(fresh, form);
	assert_ptr_not_equal(other, site);
	assert_ptr_not_equal(other->state, site->state);
}

/* ---- Origins ------------------------------------------------------------- */

CASE_WITH(test_origin, begin, NULL)
{
	const struct ac_site *site;

	say(AC_RUNG_FP16);
	site = a_product();
	assert_ptr_equal(site->state->origin, world.origin);
	assert_int_equal(world.origin_place[0], (uintptr_t)here);
	assert_int_equal(world.origin_place[1], site->query.form);
	assert_int_equal(world.made, 0); /* not before it is called */
	/* Another size, the same place. */
	site = a_product();
	assert_int_equal(world.origin_place[0], (uintptr_t)here);
	assert_int_equal(world.origin_place[1], site->query.form);
	/* Without a guard, or where the table is full, there is none. */
	for (int full = 0; full < 2; full++) {
		begin(state);
		say(AC_RUNG_FP16);
		if (full)
			world.origin = NULL;
		else
			world.answer.guard = AC_GUARD_OFF;
		site = a_product();
		assert_int_equal(world.origins, full);
		assert_non_null(site->state);
		assert_null(site->state->origin);
		assert_null(ac_site_variants(site, AC_ALIKE_ALL));
		assert_int_equal(world.made, 0);
	}
}

CASE_WITH(test_variants, begin, NULL)
{
	struct ac_variants *const first = (struct ac_variants *)&memory;
	struct ac_variants *const second = (struct ac_variants *)&scratch;
	const struct ac_site *site;

	say(AC_RUNG_FP16);
	world.answer.apart_seconds = 7e-6;
	world.may_time = true;
	site = a_product();
	/* No memory: asked again. */
	assert_null(ac_site_variants(site, AC_ALIKE_ALL));
	assert_int_equal(world.made, 1);
	assert_int_equal(world.timed_device, DEVICE);
	assert_true(world.variants_may_time);
	world.variants = first;
	world.may_time = false;
	assert_ptr_equal(ac_site_variants(site, AC_ALIKE_ALL), first);
	assert_false(world.variants_may_time);
	assert_ptr_equal(ac_site_variants(site, AC_ALIKE_ALL), first);
	assert_int_equal(world.made, 2);
	/* Calls that add to C are others, and slower. */
	assert_true(world.variants_more == 0);
	world.variants = second;
	assert_ptr_equal(ac_site_variants(site, AC_ALIKE_ADD), second);
	assert_true(world.variants_more == 7e-6);
	assert_ptr_equal(ac_site_variants(site, AC_ALIKE_ADD), second);
	assert_ptr_equal(ac_site_variants(site, AC_ALIKE_ALL), first);
	assert_int_equal(world.made, 3);
	/* Another thread was first. */
	begin(state);
	say(AC_RUNG_FP16);
	world.other = second;
	for (int i = 0; i < 2; i++) {
		site = a_product();
		world.variants = i ? NULL : first;
		world.state = site->state;
		assert_ptr_equal(ac_site_variants(site, AC_ALIKE_ALL), second);
		assert_ptr_equal(ac_site_variants(site, AC_ALIKE_ALL), second);
	}
#if CUBLAS_VERSION >= 120500
	/* The original of a group is a part of a call. */
	begin(state);
	say(AC_RUNG_FP16);
	world.may_time = true;
	assert_null(ac_site_variants(site_of(++fresh, ac_form_of(
	    ENTRY_cublasSgemmGroupedBatched, CUBLAS_OP_N, CUBLAS_OP_N,
	    AC_TYPE_F32, AC_ASKED_FP32)), AC_ALIKE_ALL));
	assert_false(world.variants_may_time);
#endif
}

CASE_WITH(test_autotune, begin, NULL)
{
	const struct ac_site *site;

	site = a_product();
	ac_site_note_autotune(site);
	assert_int_equal(world.markers, 0);
	assert_int_equal(world.marker.calls, 0);
	world.answer.reproducible = true;
	site = a_product();
	ac_site_note_autotune(site);
	ac_site_note_autotune(site);
	assert_int_equal(world.markers, 1);
	assert_int_equal(world.warnings, 1);
	assert_int_equal(world.marker.calls, 2);
	assert_string_equal(world.marker.symbol,
	    "CUBLAS_GEMM_AUTOTUNE despite reproducible=on");
}

CASES_RUN(NULL, NULL)
