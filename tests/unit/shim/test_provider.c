/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_provider.c -- which library a call belongs to, by a
 * table of loaded objects that is made up. */
#include "shim/bind/provider.h"

#include "shim/bind/thunk.h"
#include "tests/unit/cases.h"
#include "tests/unit/shim/loader_world.h"

#include <pthread.h>

enum { THREADS = 8 };

static void *forgotten[OBJECTS];
static unsigned forgotten_count;

static void
note_forgotten(struct ac_provider *provider)
{
	forgotten[forgotten_count++] = provider;
}

/* ---- What most cases begin with ---------------------------------------- */

static const enum ac_entry gemm = ENTRY_cublasSgemm_v2;

enum { PROGRAM, OURS, FIRST, SECOND, LOADER, OPENED, LATER, LAST };

static int
clear(void **state)
{
	memset(objects, 0, sizeof objects);
	forgotten_count = 0;
	ac_provider_forget_unloaded(note_forgotten);
	objects[PROGRAM] = (struct made_up){ .soname = "" };
	objects[OURS] = (struct made_up){ .soname = "libautocast.so",
		.defines = "cu", .is_ours = true };
	objects[LOADER] = (struct made_up){ .soname = "ld-linux-x86-64.so.2" };
	forgotten_count = 0;
	walks = 0;
	definitions = 0;
	return 0;
}

static void
load(unsigned number, const char *soname, const char *defines)
{
	objects[number] = (struct made_up){ .soname = soname,
		.defines = defines };
}

static struct ac_binding
bind(const void *caller)
{
	return ac_provider_bind(gemm, caller, 0);
}

/* The call that returns to `caller` reaches the object `next`; what else is
 * called for it, `provider` (-1: there is none). */
static void
expect(const void *caller, unsigned next, int provider)
{
	const struct ac_binding binding = bind(caller);

	assert_ptr_equal(binding.next, own(next, gemm));
	if (provider < 0)
		assert_null(binding.provider);
	else
		assert_ptr_equal(ac_provider_get(binding.provider,
		    ENTRY_cublasSetMathMode), own((unsigned)provider,
		    ENTRY_cublasSetMathMode));
}

/* ---- Which one --------------------------------------------------------- */

CASE_WITH(test_without_one, clear, NULL)
{
	struct ac_binding binding;

	binding = bind(in(PROGRAM, 0));
	assert_null(binding.provider);
	assert_int_equal(((int (*)(void))binding.next)(),
	    CUBLAS_STATUS_NOT_INITIALIZED);
#ifdef AC_HAVE_CUDNN
	binding = ac_provider_bind(ENTRY_cudnnConvolutionForward,
	    in(PROGRAM, 0), 0);
	assert_int_equal(((int (*)(void))binding.next)(), 1001);
#endif
	/* It is looked for at each call, until it is there. */
	load(OPENED, "libcublas.so.12", "cublas");
	expect(in(PROGRAM, 0), OPENED, OPENED);
}

CASE_WITH(test_the_first_after_us, clear, NULL)
{
	/* Before us: who calls that one does not come to us. */
	objects[PROGRAM].defines = "cublas";
	load(FIRST, "libcublas.so.12", "cublas");
	load(SECOND, "libcublas.so.11", "cublas");
	expect(in(PROGRAM, 0), FIRST, FIRST);
	expect(in(SECOND, 0), FIRST, FIRST);
	/* Code that is in no object, a JIT's for one. */
	expect((const void *)(uintptr_t)64, FIRST, FIRST);
}

/* Somebody else's interposer is called, and the provider is behind it. */
CASE_WITH(test_an_interposer, clear, NULL)
{
	load(FIRST, "libcounter.so", "cublasSgemm");
	load(SECOND, "libcublas.so.12", "cublas");
	expect(in(PROGRAM, 0), FIRST, SECOND);
	/* Also of a caller that wants a version, which that one has not. */
	objects[PROGRAM].file = "libcublas.so.12";
	objects[SECOND].is_versioned = true;
	expect(in(PROGRAM, 1), FIRST, SECOND);
	/* Behind the provider it is not reached. */
	objects[LAST] = objects[FIRST];
	objects[FIRST] = objects[SECOND];
	objects[SECOND] = objects[LAST];
	objects[LAST].soname = NULL;
	ac_provider_forget_unloaded(note_forgotten);
	expect(in(PROGRAM, 2), FIRST, FIRST);
}

/* It stays, while the provider behind it is another one. */
CASE_WITH(test_behind_an_interposer, clear, NULL)
{
	load(FIRST, "libcounter.so", "cublasSgemm");
	load(OPENED, "libcublas.so.12", "cublas");
	expect(in(PROGRAM, 0), FIRST, OPENED);
	load(SECOND, "libcublas.so.11", "cublas");
	ac_provider_forget_unloaded(note_forgotten);
	for (int i = 0; i < 2; i++)
		expect(in(PROGRAM, 0), FIRST, SECOND);
}

CASE_WITH(test_the_version_asked_for, clear, NULL)
{
	load(FIRST, "libcublas.so.11", "cublas");
	load(SECOND, "libcublas.so.12", "cublas");
	objects[FIRST].is_versioned = objects[SECOND].is_versioned = true;
	objects[PROGRAM].file = "libcublas.so.12";
	expect(in(PROGRAM, 0), SECOND, SECOND);
	objects[PROGRAM].file = "libcublas.so.11";
	expect(in(PROGRAM, 1), FIRST, FIRST);
	/* One that is not there: the loader takes what it finds, we do not
	 * know what it is. */
	objects[PROGRAM].file = "libcublas.so.13";
	expect(in(PROGRAM, 2), FIRST, -1);
	/* One that is no provider; behind it is one without versions. */
	load(FIRST, "libeverything.so", "cublas");
	objects[FIRST].is_versioned = true;
	objects[SECOND].is_versioned = false;
	objects[PROGRAM].file = "libeverything.so";
	expect(in(PROGRAM, 3), FIRST, SECOND);
	/* The same of what was opened later. */
	objects[FIRST].soname = objects[SECOND].soname = NULL;
	objects[PROGRAM].file = "libcublas.so.13";
	load(OPENED, "libcublas.so.13", "cublas");
	objects[OPENED].is_versioned = true;
	expect(in(PROGRAM, 4), OPENED, OPENED);
}

/* What was opened is its opener's and its dependents'. */
CASE_WITH(test_opened_later, clear, NULL)
{
	load(OPENED, "libcublas.so.11", "cublas");
	load(LATER, "libcublas.so.12", "cublas");
	load(LAST, "plugin.so", NULL);
	expect(in(LAST, 0), OPENED, OPENED);
	objects[LAST].needs = "libcublas.so.12";
	expect(in(LAST, 1), LATER, LATER);
	expect(in(LATER, 0), LATER, LATER);
	/* From the start comes before all of them. */
	load(FIRST, "libcublas.so.10", "cublas");
	objects[FIRST].is_versioned = true;
	expect(in(LAST, 2), FIRST, FIRST);
}

/* A library with a copy of its own, or with something else of that name. */
CASE_WITH(test_a_copy_of_its_own, clear, NULL)
{
	load(OPENED, "libcublas.so.12", "cublas");
	load(LATER, "libeverything.so", "cublas");
	expect(in(LATER, 0), LATER, -1);
	expect(in(PROGRAM, 0), OPENED, OPENED);
	objects[OPENED] = (struct made_up){ .soname = NULL };
	expect(in(PROGRAM, 1), LATER, -1);
	/* A library without a name is no provider. */
	load(LATER, "", "cublas");
	expect(in(PROGRAM, 2), LATER, -1);
	load(LATER, "libcublasLt.so.12", "cublas");
	expect(in(PROGRAM, 3), LATER, -1);
}

/* The program opened us when its libraries were there. */
CASE_WITH(test_opened_ourselves, clear, NULL)
{
	struct ac_binding binding;

	objects[LAST] = objects[OURS];
	/* Alone, what is before us would call us back. */
	load(OURS, "libcounter.so", "cublasSgemm");
	binding = bind(in(PROGRAM, 0));
	assert_null(binding.provider);
	assert_int_equal(((int (*)(void))binding.next)(),
	    CUBLAS_STATUS_NOT_INITIALIZED);
	load(SECOND, "libcublas.so.12", "cublas");
	expect(in(PROGRAM, 0), OURS, SECOND);
	/* Where the loader does not list us, too. */
	objects[LAST].soname = NULL;
	expect(in(PROGRAM, 1), OURS, SECOND);
}

/* ---- What is remembered ------------------------------------------------ */

CASE_WITH(test_resolved_once, clear, NULL)
{
	unsigned before;

	load(FIRST, "libcublas.so.12", "cublas");
	expect(in(PROGRAM, 0), FIRST, FIRST);
	before = walks;
	expect(in(PROGRAM, 0), FIRST, FIRST);
	assert_int_equal(walks, before);
	expect(in(PROGRAM, 1), FIRST, FIRST);
	assert_int_equal(walks, before + 1);
	assert_ptr_equal(ac_provider_bind(ENTRY_cublasCgemm_v2, in(PROGRAM, 0),
	    0).next, own(FIRST, ENTRY_cublasCgemm_v2));
	assert_int_equal(walks, before + 2);
	/* What was loaded since is not looked for. */
	load(LOADER, "libcublas.so.11", "cublas");
	objects[PROGRAM].file = "libcublas.so.11";
	expect(in(PROGRAM, 0), FIRST, FIRST);
	ac_provider_forget_unloaded(note_forgotten);
	assert_int_equal(forgotten_count, 0);
	objects[FIRST].is_versioned = objects[LOADER].is_versioned = true;
	expect(in(PROGRAM, 0), LOADER, LOADER);
	/* As before: remembered again. */
	ac_provider_forget_unloaded(note_forgotten);
	expect(in(PROGRAM, 0), LOADER, LOADER);
	before = walks;
	expect(in(PROGRAM, 0), LOADER, LOADER);
	assert_int_equal(walks, before);
}

/* Each number below SPAN / 2 in turn, in no order. */
static unsigned
scattered(unsigned at)
{
	return (at * 4005 + 12345) % (SPAN / 2);
}

/* More calls than are remembered, again and again: each is bound all the same,
 * and what was unloaded makes room. */
CASE_WITH(test_many_callers, clear, NULL)
{
	enum { CALLERS = 6000, FEW = 1000 };
	unsigned before, at = 0;

	load(FIRST, "libcublas.so.12", "cublas");
	for (unsigned i = 0; i < CALLERS; i++, at = scattered(at))
		expect(in(PROGRAM, at), FIRST, FIRST);
	before = walks;
	at = 0;
	for (unsigned i = 0; i < CALLERS; i++, at = scattered(at))
		expect(in(PROGRAM, at), FIRST, FIRST);
	assert_in_range(walks - before, CALLERS - 4096, CALLERS - 3500);
	for (int round = 0; round < 6; round++) {
		ac_provider_forget_unloaded(note_forgotten);
		for (unsigned i = 0; i < FEW; i++)
			expect(in(SECOND + round, i), FIRST, FIRST);
		before = walks;
		for (unsigned i = 0; i < FEW; i++)
			expect(in(SECOND + round, i), FIRST, FIRST);
		assert_int_equal(walks, before);
	}
}

CASE_WITH(test_many_functions, clear, NULL)
{
	load(FIRST, "libcublas.so.12", "cu");
	for (int round = 0; round < 2; round++)
		for (unsigned i = 0; i < ENTRY_WRAPPED; i++)
			if (strstr(ac_entries[i].provider, "libcublas.so"))
				assert_ptr_equal(ac_provider_bind(
				    (enum ac_entry)i, in(PROGRAM, 0), 0).next,
				    own(FIRST, (enum ac_entry)i));
}

CASE_WITH(test_unloaded, clear, NULL)
{
	struct ac_provider *provider, *other;

	load(OPENED, "libcublas.so.12", "cublas");
	load(LATER, "libcublas.so.11", "cublas");
	objects[LAST] = (struct made_up){ .soname = "plugin.so",
		.needs = "libcublas.so.11" };
	provider = bind(in(PROGRAM, 0)).provider;
	other = bind(in(LAST, 0)).provider;
	assert_ptr_not_equal(provider, other);
	objects[OPENED].soname = NULL;
	ac_provider_forget_unloaded(note_forgotten);
	assert_int_equal(forgotten_count, 1);
	assert_ptr_equal(forgotten[0], provider);
	assert_null(ac_provider_get(provider, gemm));
	ac_provider_forget_unloaded(note_forgotten);
	assert_int_equal(forgotten_count, 1);
	/* The other stayed where it was, and the slot is used again. */
	assert_ptr_equal(bind(in(LAST, 0)).provider, other);
	expect(in(PROGRAM, 0), LATER, LATER);
	load(FIRST, "libcublas.so.10", "cublas");
	assert_ptr_equal(bind(in(PROGRAM, 1)).provider, provider);
	expect(in(PROGRAM, 1), FIRST, FIRST);
	/* Another library in the place of one whose unloading we missed. */
	load(FIRST, "libcublas.so.9", "cublas");
	assert_ptr_not_equal(bind(in(PROGRAM, 2)).provider, provider);
	/* A larger object where one was. */
	forgotten_count = 0;
	load(OPENED, "data.so", NULL);
	objects[OPENED].is_wide = true;
	objects[LATER].soname = NULL;
	ac_provider_forget_unloaded(note_forgotten);
	assert_int_equal(forgotten_count, 1);
	assert_ptr_equal(forgotten[0], other);
}

/* ---- Providers --------------------------------------------------------- */

CASE_WITH(test_no_slot_left, clear, NULL)
{
	bool is_provider = false;
	struct ac_binding binding;
	struct ac_provider *slot[AC_THUNK_SLOTS];

	for (unsigned i = 0; i < AC_THUNK_SLOTS + 1; i++) {
		load(LATER + i, "libcublas.so.12", "cublas");
		binding = bind(in(LATER + i, 0));
		assert_ptr_equal(binding.next, own(LATER + i, gemm));
		if (i == AC_THUNK_SLOTS)
			break;
		slot[i] = binding.provider;
		assert_non_null(slot[i]);
		assert_in_range(ac_provider_slot(slot[i]), 0,
		    AC_THUNK_SLOTS - 1);
		for (unsigned j = 0; j < i; j++)
			assert_int_not_equal(ac_provider_slot(slot[i]),
			    ac_provider_slot(slot[j]));
	}
	assert_null(binding.provider);
	assert_null(ac_provider_at((void *)(uintptr_t)own(LATER
	    + AC_THUNK_SLOTS, gemm), gemm, &is_provider));
	assert_true(is_provider);
	clear(NULL);
	load(FIRST, "libcublas.so.12.and.a.name.that.is.far.too.long.to.keep",
	    "cublas");
	assert_null(bind(in(PROGRAM, 0)).provider);
	load(FIRST, "libcublas.so.a.name.that.is.as.long.as.one.may", "cublas");
	assert_non_null(bind(in(PROGRAM, 0)).provider);
}

CASE_WITH(test_functions_of_one, clear, NULL)
{
	static const char *const needed[] = { "cublasSetMathMode",
		"cublasGemmEx", "cublasGemmStridedBatchedEx" };
	struct ac_provider *provider;
	unsigned before;

	load(FIRST, "libcublas.so.12", "cublas");
	objects[FIRST].lacks = "cublasGetAtomicsMode";
	provider = bind(in(PROGRAM, 0)).provider;
	before = definitions;
	for (int i = 0; i < 2; i++) {
		assert_null(ac_provider_get(provider,
		    ENTRY_cublasGetAtomicsMode));
		assert_ptr_equal(ac_provider_get(provider,
		    ENTRY_cublasSetAtomicsMode), own(FIRST,
		    ENTRY_cublasSetAtomicsMode));
	}
	assert_int_equal(definitions, before + 2);
	assert_true(ac_provider_is_complete(provider));
	for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++) {
		clear(NULL);
		load(FIRST, "libcublas.so.12", "cublas");
		objects[FIRST].lacks = needed[i];
		provider = bind(in(PROGRAM, 0)).provider;
		assert_false(ac_provider_is_complete(provider));
	}
}

/* Of another library other functions are needed. */
CASE_WITH(test_a_complete_cublaslt, clear, NULL)
{
	const enum ac_entry product = ENTRY_cublasLtMatmul;
	struct ac_provider *provider;

	load(FIRST, "libcublasLt.so.13", "cublasLt");
	provider = ac_provider_bind(product, in(PROGRAM, 0), 0).provider;
	assert_true(ac_provider_is_complete(provider));
	clear(NULL);
	load(FIRST, "libcublasLt.so.13", "cublasLt");
	objects[FIRST].lacks = "cublasLtMatmulAlgoGetHeuristic";
	provider = ac_provider_bind(product, in(PROGRAM, 0), 0).provider;
	assert_false(ac_provider_is_complete(provider));
	/* cuBLAS is complete without them. */
	clear(NULL);
	load(FIRST, "libcublas.so.13", "cublasS");
	assert_false(ac_provider_is_complete(bind(in(PROGRAM, 0)).provider));
	clear(NULL);
	load(FIRST, "libcublas.so.13", "cublas");
	objects[FIRST].lacks = "cublasLtMatmulAlgoGetHeuristic";
	assert_true(ac_provider_is_complete(bind(in(PROGRAM, 0)).provider));
}

CASE_WITH(test_by_an_address, clear, NULL)
{
	bool is_provider = false;
	struct ac_provider *provider;
	const void *address = (const void *)(uintptr_t)own(FIRST, gemm);
	uint32_t via;

	assert_null(ac_provider_at(address, gemm, &is_provider));
	load(SECOND, "libcounter.so", "cublas");
	assert_null(ac_provider_at((const void *)(uintptr_t)own(SECOND, gemm),
	    gemm, &is_provider));
	load(FIRST, "libcublas.so.12", "cublas");
	assert_null(ac_provider_at(address, ENTRY_cublasCgemm_v2,
	    &is_provider));
	assert_false(is_provider);
	provider = ac_provider_at(address, gemm, &is_provider);
	assert_non_null(provider);
	assert_true(is_provider);
	assert_true(ac_provider_is_any());
	/* Through its thunk, whoever calls. */
	via = (ac_provider_slot(provider) + 1) << AC_THUNK_SHIFT;
	assert_ptr_equal(ac_provider_bind(gemm, in(PROGRAM, 0), via).provider,
	    provider);
	assert_ptr_equal(ac_provider_bind(gemm, in(PROGRAM, 0), via).next,
	    own(FIRST, gemm));
	assert_int_equal(walks, 0);
	objects[FIRST].lacks = "cublasCgemm_v2";
	assert_int_equal(((int (*)(void))ac_provider_bind(ENTRY_cublasCgemm_v2,
	    in(PROGRAM, 0), via).next)(), CUBLAS_STATUS_NOT_INITIALIZED);
}

CASE_WITH(test_decisions_are_forgotten, clear, NULL)
{
	const uint32_t before = ac_binding_generation;

	ac_binding_forget_decisions();
	assert_int_equal(ac_binding_generation, before + 1);
}

/* ---- Threads ----------------------------------------------------------- */

static void *
bind_all(void *number)
{
	const unsigned mine = (unsigned)(uintptr_t)number;
	uintptr_t wrong = 0;

	for (unsigned i = 0; i < 2000; i++) {
		const unsigned from = i % 2 ? LATER : PROGRAM;
		const struct ac_binding binding = bind(in(from,
		    i % 4 ? i : i * THREADS + mine));

		wrong += binding.next != own(i % 2 ? LATER : FIRST, gemm)
		    || !binding.provider;
	}
	return (void *)wrong;
}

CASE_WITH(test_threads, clear, NULL)
{
	pthread_t thread[THREADS];
	void *wrong;

	load(FIRST, "libcublas.so.11", "cublas");
	load(LATER, "libcublas.so.12", "cublas");
	objects[FIRST].is_versioned = true;
	objects[LATER].is_versioned = true;
	objects[LATER].file = "libcublas.so.12";
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, bind_all,
		    (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &wrong);
		assert_null(wrong);
	}
	assert_int_not_equal(ac_provider_slot(bind(in(PROGRAM, 1)).provider),
	    ac_provider_slot(bind(in(LATER, 1)).provider));
}

CASES_RUN(NULL, NULL)
