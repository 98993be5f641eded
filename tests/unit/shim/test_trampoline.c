/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_trampoline.c -- which libraries are found to pass calls
 * on, by a table of loaded objects that is made up. */
#include "shim/bind/trampoline.h"

#include "tests/unit/cases.h"
#include "tests/unit/shim/loader_world.h"

enum { OURS = 1, LOADER, CUBLAS, FRAMEWORK };

static const enum ac_entry creating = ENTRY_cublasCreate_v2;
static const int one, other;

static void
load(unsigned number, const char *soname, const char *defines)
{
	objects[number] = (struct made_up){ .soname = soname,
		.defines = defines };
}

static struct ac_provider *
bound(unsigned at)
{
	return ac_provider_bind(ENTRY_cublasSgemm_v2, in(FRAMEWORK, at),
	    0).provider;
}

/* The program calls the framework and is given the handle `given`; within that
 * call, cuBLAS made `made`. */
static void
create(const void *given, const void *made)
{
	const struct ac_wrapped program = { .outermost = true,
		.binding = ac_provider_bind(creating, in(FRAMEWORK, 0), 0) };
	const struct ac_wrapped within = {
		.binding = ac_provider_bind(creating, in(CUBLAS, 0), 0) };
	const struct ac_provider *maker;

	assert_null(program.binding.provider);
	ac_trampoline_begin(&program);
	assert_null(ac_trampoline_maker(&within, creating, made));
	maker = ac_trampoline_maker(&program, creating, given);
	assert_ptr_equal(maker, given && given == made
	    ? within.binding.provider : NULL);
}

/* It looks like a copy, until a handle tells. */
CASE(test_found)
{
	struct ac_provider *provider;

	create(&one, &other);
	create(NULL, NULL);
	assert_null(bound(0));
	create(&one, &one);
	provider = bound(1);
	assert_non_null(provider);
	assert_ptr_equal(provider, ac_provider_bind(creating, in(CUBLAS, 1),
	    0).provider);
	assert_null(ac_provider_bind(ENTRY_cublasLtMatmul, in(FRAMEWORK, 2),
	    0).provider);
	ac_trampoline_forget(NULL);
	assert_ptr_equal(bound(3), provider);
	ac_trampoline_forget(provider);
	assert_null(bound(4));
}

/* What was made while nobody waited, before another library lies there. */
CASE(test_another)
{
	const struct ac_wrapped within = {
		.binding = ac_provider_bind(creating, in(CUBLAS, 0), 0) };

	create(&one, &one);
	assert_non_null(bound(5));
	assert_null(ac_trampoline_maker(&within, creating, &other));
	objects[FRAMEWORK].soname = NULL;
	ac_trampoline_forget(NULL);
	load(FRAMEWORK, "libeverything.so", "cublas");
	assert_null(bound(6));
	create(&other, &one);
	assert_null(bound(7));
}

int
main(void)
{
	objects[OURS] = (struct made_up){ .soname = "libautocast.so",
		.defines = "cu", .is_ours = true };
	load(LOADER, "ld-linux-x86-64.so.2", NULL);
	load(CUBLAS, "libcublas.so.12", "cublas");
	load(FRAMEWORK, "libframework.so", "cublas");
	return cases_run(NULL, NULL);
}
