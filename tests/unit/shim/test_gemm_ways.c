/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_gemm_ways.c -- what the conductor is given of a product,
 * and what the ways of a product do. */
#include "tests/unit/cases.h"
#include "tests/unit/shim/gemm_world.h"

#define ORIGIN ((struct ac_origin *)(uintptr_t)24)

/* Under a guard a site has an origin, and its variants are made. */
CASE(test_job)
{
	static struct ac_site_state guarded = { .origin = ORIGIN }, free;
	struct ac_gemm g = good();

	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_ptr_equal(seen.call.decision, &site.decision);
	assert_ptr_equal(seen.call.record, &record);
	assert_null(seen.call.origin);
	assert_int_equal(seen.call.device, 3);
	assert_ptr_equal(seen.owner, &provider);
	site.state = &free;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_null(seen.call.origin);
	assert_null(seen.call.variants);
	site.state = &guarded;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_ptr_equal(seen.call.origin, ORIGIN);
	assert_ptr_equal(seen.call.variants, &made_variants[0]);
	assert_int_equal(seen.call.pair, 0);
	/* What a library converts is verified on operands not met before. */
	made_variants[0].converted = 2;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_int_not_equal(seen.call.pair, 0);
	made_variants[0].converted = 0;
	site.state = NULL;
}

/* Where a cast takes longer to add to C: by beta. */
CASE(test_adds)
{
	static struct ac_site_state guarded = { .origin = ORIGIN };
	struct ac_decision *const d = &site.decision;
	const struct ac_decision before = *d;
	struct ac_gemm g = good();
	static const struct {
		struct ac_cast_scalar beta;
		enum ac_alike alike;
	} rows[] = {
		{ { .value = 0 }, AC_ALIKE_WRITE },
		{ { .value = 0.5f }, AC_ALIKE_ADD },
		{ { .device = (const float *)&made_variants }, AC_ALIKE_ADD }
	};

	site.state = &guarded;
	d->tactic = AC_TACTIC_CAST;
	d->keep_seconds = 10e-6;
	d->candidate[0].seconds = 8e-6;
	d->apart_seconds = 3e-6;
	for (size_t i = 0; i < 3; i++) {
		d->guard = AC_GUARD_ON;
		site.is_slower_apart = false;
		beta_read = rows[i].beta;
		assert_int_equal(reason_of(&g), AC_REASON_NONE);
		assert_ptr_equal(seen.call.variants, &made_variants[0]);
		site.is_slower_apart = true;
		assert_int_equal(reason_of(&g), AC_REASON_NONE);
		assert_ptr_equal(seen.call.variants,
		    &made_variants[rows[i].alike]);
		/* Without times, by what is predicted. */
		d->guard = AC_GUARD_OFF;
		guarded.origin = NULL;
		guarded.layout = NULL;
		assert_int_equal(reason_of(&g), rows[i].alike
		    == AC_ALIKE_ADD ? AC_REASON_NO_PROFIT : AC_REASON_NONE);
		d->candidate[0].seconds = 6e-6;
		assert_int_equal(reason_of(&g), AC_REASON_NONE);
		d->candidate[0].seconds = 8e-6;
		guarded.origin = ORIGIN;
	}
	beta_read = (struct ac_cast_scalar){ .value = 0 };
	*d = before;
	site.is_slower_apart = false;
	site.state = NULL;
}

CASE(test_ways)
{
	static const struct ac_candidate cast = { .tactic = AC_TACTIC_CAST },
	    library = { .tactic = AC_TACTIC_LIBRARY };
	cublasStatus_t status;
	struct ac_gemm g = good();
	ac_cu_stream stream;

	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_false(seen.call.needs_place);
	seen.status_out = &status;
	for (int i = 0; i < 2; i++) {
		ran_reason = i ? AC_REASON_WORKSPACE : AC_REASON_NONE;
		seen.call.candidate = &cast;
		assert_int_equal(ways.recast(&seen.call), ran_reason);
		assert_string_equal(ran, "cast");
		seen.call.candidate = &library;
		assert_int_equal(ways.recast(&seen.call), ran_reason);
		assert_string_equal(ran, "library");
		seen.call.turn->is_verified = true;
		assert_int_equal(ways.recast(&seen.call), ran_reason);
		assert_string_equal(ran, "cast");
		seen.call.turn->is_verified = false;
	}
	ran_reason = AC_REASON_NONE;
	assert_int_equal(ways.find_stream(&seen.call, &stream),
	    AC_REASON_NONE);
	assert_ptr_equal(stream, at(77));
	stream_status = CUBLAS_STATUS_NOT_INITIALIZED;
	assert_int_equal(ways.find_stream(&seen.call, &stream),
	    AC_REASON_REFUSED);
	stream_status = CUBLAS_STATUS_SUCCESS;
}

/* A library's product that failed halfway gives way to the original if C was
 * not to be read, which is asked once. */
CASE(test_failed_halfway)
{
	static const struct ac_candidate library = {
		.tactic = AC_TACTIC_LIBRARY
	};
	static const struct ac_gemm_tail apart = { .added =
	    (const float *)(uintptr_t)(4 * C_AT), .added_ld = M };
	static const struct ac_place place;
	static const struct {
		float beta;
		bool on_device, is_complex, is_apart, original;
	} rows[] = {
		{ 0, false, false, false, true },
		{ 1, false, false, false, false },
		{ 0, true, false, false, false },
		{ 0, false, true, false, false },
		{ 1, true, false, true, true },
	};
	cublasStatus_t status;

	ran_status = CUBLAS_STATUS_EXECUTION_FAILED;
	for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		struct ac_gemm g = good();

		g.tail = rows[i / 2].is_apart ? &apart : NULL;
		assert_int_equal(reason_of(&g), AC_REASON_NONE);
		if (rows[i / 2].is_complex)
			g.c.type = CUDA_C_32F;
		seen.status_out = &status;
		seen.call.candidate = &library;
		seen.call.place = i % 2 ? &place : NULL;
		seen.beta = beta_read = (struct ac_cast_scalar){
			rows[i / 2].beta, 0,
			rows[i / 2].on_device ? at(8) : NULL
		};
		reads = 0;
		assert_int_equal(ways.recast(&seen.call),
		    rows[i / 2].original ? AC_REASON_REFUSED : AC_REASON_NONE);
		assert_int_equal(reads, i % 2 == 0 && !g.tail);
	}
	ran_status = CUBLAS_STATUS_SUCCESS;
}

/* What a call of an origin writes, and whether it adds to that, as beta says.
 * Of C apart from D: what it holds counts, D begins. */
CASE(test_writes)
{
	static const struct ac_place place;
	static const struct ac_gemm_tail apart = { .added =
	    (const float *)(uintptr_t)(4 * C_AT), .added_ld = M },
	    same = { .follows = true };
	static const struct ac_gemm_tail *const tails[] = {
		NULL, &same, &apart
	};

	for (unsigned i = 0; i < 18; i++) {
		const bool adds = i % 3 > 0, arrays = i / 9;
		struct ac_gemm g = good();

		g.in_arrays = arrays;
		g.tail = tails[i / 3 % 3];
		assert_int_equal(reason_of(&g), AC_REASON_NONE);
		seen.call.origin = ORIGIN;
		seen.call.place = &place;
		beta_read = (struct ac_cast_scalar){ i % 3 == 1, 0,
			i % 3 == 2 ? at(8) : NULL };
		writes = reads = 0;
		read_c = NULL;
		ways.prepare(&seen.call);
		assert_true(writes == 1 && reads == 1);
		assert_ptr_equal(written[0].c, arrays ? NULL : at(C_AT));
		assert_int_equal(written[0].adds, adds && g.tail != &apart);
		assert_ptr_equal(read_c, adds && g.tail == &apart
		    ? apart.added : NULL);
		/* All of it: others may add to a part. */
		assert_int_equal(written[0].bytes, M * N * sizeof(float));
		if (read_c)
			assert_int_equal(read_bytes, M * N * sizeof(float));
		/* Without an origin nobody asks; without a place, not even for
		 * the scalars, unless it is one of the first calls. */
		seen.call.origin = NULL;
		ways.prepare(&seen.call);
		assert_true(writes == 1 && reads == 2);
		seen.call.origin = ORIGIN;
		seen.call.place = NULL;
		seen.call.turn->reason = AC_REASON_NO_PROFIT;
		ways.prepare(&seen.call);
		assert_true(writes == 1 && reads == 2);
		seen.call.turn->reason = AC_REASON_OWN;
		ways.prepare(&seen.call);
		assert_true(writes == 2 && reads == 3);
		seen.call.turn->reason = AC_REASON_NONE;
	}
}

CASES_RUN(NULL, NULL)
