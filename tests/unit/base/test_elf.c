/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/base/test_elf.c -- our symbol walk against the loader's own
 * answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/elf.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
finds_its_own_object(void **state)
{
	struct ac_elf_object object;
	int local;

	(void)state;
	assert_true(ac_elf_object_at((const void *)(uintptr_t)
	    finds_its_own_object, &object));
	assert_string_equal(object.path, "");
	assert_true(ac_elf_is_ours(&object));
	/* The stack belongs to no object. */
	assert_false(ac_elf_object_at(&local, &object));
	assert_false(ac_elf_object_at(NULL, &object));
}

/* A look-up that misses a symbol, or finds another version of it, would make
 * every wrapper useless or wrong. */
static void
defines_what_dlsym_finds(void **state)
{
	static const char *const names[] = {
		"getpid", "printf", "malloc", "strtod", "pthread_mutex_lock",
		"environ", "qsort", "fopen", "realpath", "memcpy"
	};
	struct ac_elf_object libc;
	void *handle;

	(void)state;
	assert_true(ac_elf_find_object("libc.so", &libc));
	handle = dlopen(libc.soname, RTLD_LAZY | RTLD_NOLOAD);
	assert_non_null(handle);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_ptr_equal(ac_elf_definition(&libc, names[i]),
		    dlsym(handle, names[i]));
	assert_null(ac_elf_definition(&libc, "no_such_function_anywhere"));
	assert_null(ac_elf_definition(&libc, ""));
	dlclose(handle);
}

static void
knows_which_library_a_reference_wants(void **state)
{
	struct ac_elf_object self;

	(void)state;
	assert_true(ac_elf_object_at((const void *)(uintptr_t)
	    knows_which_library_a_reference_wants, &self));
	assert_true(getppid() > 0);   /* so that the reference exists */
	assert_string_equal(ac_elf_needed_file(&self, "getppid"), "libc.so.6");
	assert_null(ac_elf_needed_file(&self, "no_such_function_anywhere"));
}

static bool
count_objects(const struct ac_elf_object *object, void *context)
{
	(void)object;
	++*(unsigned *)context;
	return false;
}

static bool
stop_at_once(const struct ac_elf_object *object, void *context)
{
	(void)object;
	++*(unsigned *)context;
	return true;
}

static void
visits_all_or_stops(void **state)
{
	unsigned all = 0, one = 0;

	(void)state;
	assert_false(ac_elf_each(count_objects, &all));
	assert_true(ac_elf_each(stop_at_once, &one));
	assert_true(all >= 3);
	assert_int_equal(one, 1);
}

static void
finds_the_next_definition(void **state)
{
	(void)state;
	assert_ptr_equal(ac_elf_next("getppid"),
	    dlsym(RTLD_DEFAULT, "getppid"));
	assert_null(ac_elf_next("no_such_function_anywhere"));
}

/* dlsym() would set it; a program that checks dlerror() must not see us. */
static void
leaves_dlerror_alone(void **state)
{
	struct ac_elf_object object;

	(void)state;
	dlerror();
	assert_false(ac_elf_find_object("libnothing.so", &object));
	assert_null(ac_elf_next("no_such_function_anywhere"));
	assert_null(dlerror());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_its_own_object),
		cmocka_unit_test(defines_what_dlsym_finds),
		cmocka_unit_test(knows_which_library_a_reference_wants),
		cmocka_unit_test(visits_all_or_stops),
		cmocka_unit_test(finds_the_next_definition),
		cmocka_unit_test(leaves_dlerror_alone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
