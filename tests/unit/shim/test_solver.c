/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_solver.c -- a module counts as a solver while more than
 * one in 1,000 of its products comes with a solve, lately; and how often that
 * changes what sites were decided. */
#include "shim/bind/solver.h"
#include "tests/unit/cases.h"

#include "base/elf.h"
#include "shim/site/site.h"

/* ---- Modules, 4096 bytes each ------------------------------------------ */

static unsigned decisions_forgotten;
static uintptr_t gone; /* the module that was unloaded; 0: none */

void
ac_binding_forget_decisions(void)
{
	decisions_forgotten++;
}

bool
ac_elf_object_at(const void *address, struct ac_elf_object *object_out)
{
	*object_out = (struct ac_elf_object){
		.base = (uintptr_t)address & ~(uintptr_t)4095
	};
	return true;
}

bool
ac_elf_each(bool (*visit)(const struct ac_elf_object *, void *), void *context)
{
	for (uintptr_t base = 0; base < 80 * 4096; base += 4096) {
		const struct ac_elf_object object = { .base = base };

		if (base != gone && visit(&object, context))
			return true;
	}
	return false;
}

static struct ac_solver *
solve(uintptr_t base)
{
	ac_solver_mark((const void *)(base + 64));
	return ac_solver_of(base);
}

static void
multiply(struct ac_solver *solver, unsigned times)
{
	while (times--)
		ac_solver_multiplied(solver);
}

/* ---- The ratio --------------------------------------------------------- */

/* One solve, and no other ever: a thousand products later it is forgotten. */
CASE(test_once)
{
	struct ac_solver *solver;

	assert_null(ac_solver_of(4096));
	assert_false(ac_solver_counts(NULL));
	solver = solve(4096);
	assert_true(ac_solver_counts(solver));
	assert_int_equal(decisions_forgotten, 1);
	multiply(solver, 999);
	assert_true(ac_solver_counts(solver));
	assert_int_equal(decisions_forgotten, 1);
	multiply(solver, 1);
	assert_false(ac_solver_counts(solver));
	assert_int_equal(decisions_forgotten, 2);
	multiply(solver, 1000000);
	assert_false(ac_solver_counts(solver));
	assert_int_equal(decisions_forgotten, 2);
	/* One more among so many does not count. */
	assert_ptr_equal(solve(4096), solver);
	assert_false(ac_solver_counts(solver));
	assert_int_equal(decisions_forgotten, 2);
}

/* One in 500, for ever, or at once and then none: the past fades, of 8192
 * products half. 17 windows, as 100,000 solves are less than 2^17. */
CASE(test_lately)
{
	struct ac_solver *solver = NULL;

	decisions_forgotten = 0;
	for (int i = 0; i < 1000; i++) {
		solver = solve(2 * 4096);
		multiply(solver, 500);
		assert_true(ac_solver_counts(solver));
	}
	assert_int_equal(decisions_forgotten, 1);
	for (int i = 0; i < 100000; i++)
		(void)solve(2 * 4096);
	multiply(solver, 17 * 8192);
	assert_false(ac_solver_counts(solver));
	assert_int_equal(decisions_forgotten, 2);
}

/* One in 2,000 is none; other modules are not meant. */
CASE(test_rarely)
{
	struct ac_solver *solver = solve(3 * 4096);
	unsigned before;

	multiply(solver, 2000);
	before = decisions_forgotten;
	for (int i = 0; i < 1000; i++) {
		(void)solve(3 * 4096);
		assert_false(ac_solver_counts(solver));
		multiply(solver, 2000);
	}
	assert_int_equal(decisions_forgotten, before);
	assert_null(ac_solver_of(4 * 4096));
}

/* Who goes to and fro too often stays: each change costs trials. */
CASE(test_changes)
{
	struct ac_solver *solver = NULL;

	decisions_forgotten = 0;
	for (int i = 0; i < 1000; i++) {
		for (int j = 0; j < 20; j++)
			solver = solve(5 * 4096);
		multiply(solver, 100000);
	}
	assert_true(ac_solver_counts(solver));
	assert_int_equal(decisions_forgotten, 65);
}

/* What comes to lie where another was is judged by itself; and of more modules
 * than there is room for, some are not known. */
CASE(test_modules)
{
	struct ac_solver *solver = solve(6 * 4096);

	gone = 6 * 4096;
	ac_solver_forget_unloaded();
	assert_null(ac_solver_of(6 * 4096));
	assert_false(ac_solver_counts(solver));
	gone = 0;
	assert_true(ac_solver_counts(solve(6 * 4096)));
	for (uintptr_t i = 0; i < 79; i++)
		(void)solve(i * 4096);
	assert_non_null(ac_solver_of(0));
	assert_null(ac_solver_of(78 * 4096));
}

CASES_RUN(NULL, NULL)
