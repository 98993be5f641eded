/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/base/test_elf.c -- our symbol walk against the loader's own
 * answers. */

#include "base/elf.h"
#include "tests/unit/cases.h"

#include <dlfcn.h>
#include <unistd.h>

CASE(finds_its_own_object)
{
	struct ac_elf_object object;
	int local;

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
CASE(defines_what_dlsym_finds)
{
	static const char *const names[] = {
		"getpid", "printf", "malloc", "strtod", "pthread_mutex_lock",
		"environ", "qsort", "fopen", "realpath", "memcpy"
	};
	struct ac_elf_object libc;
	void *handle;

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

CASE(knows_which_library_a_reference_wants)
{
	struct ac_elf_object self;

	assert_true(ac_elf_object_at((const void *)(uintptr_t)
	    knows_which_library_a_reference_wants, &self));
	assert_true(getppid() > 0);   /* so that the reference exists */
	assert_string_equal(ac_elf_needed_file(&self, "getppid"), "libc.so.6");
	assert_null(ac_elf_needed_file(&self, "no_such_function_anywhere"));
}

static bool
count_objects(const struct ac_elf_object *object, void *context)
{
	++*(unsigned *)context;
	return false;
}

static bool
stop_at_once(const struct ac_elf_object *object, void *context)
{
	++*(unsigned *)context;
	return true;
}

CASE(visits_all_or_stops)
{
	unsigned all = 0, one = 0;

	assert_false(ac_elf_each(count_objects, &all));
	assert_true(ac_elf_each(stop_at_once, &one));
	assert_true(all >= 3);
	assert_int_equal(one, 1);
}

CASE(finds_the_next_definition)
{
	assert_ptr_equal(ac_elf_next("getppid"),
	    dlsym(RTLD_DEFAULT, "getppid"));
	assert_null(ac_elf_next("no_such_function_anywhere"));
}

/* dlsym() would set it; a program that checks dlerror() must not see us. */
CASE(leaves_dlerror_alone)
{
	struct ac_elf_object object;

	dlerror();
	assert_false(ac_elf_find_object("libnothing.so", &object));
	assert_null(ac_elf_next("no_such_function_anywhere"));
	assert_null(dlerror());
}

CASES_RUN(NULL, NULL)
