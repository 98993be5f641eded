/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_hold.c -- when the driver says that nothing is left of a
 * capture, and what it is asked for that. */
#include "shim/device/hold.h"
#include "tests/unit/cases.h"

enum { HELD = 128 };

/* A driver with objects of one reference each, which a graph takes over. */
static struct object {
	void (*destroy)(void *);
	void *data;
} object[2 * HELD];
static unsigned made, moved, released;
static bool refuses_objects, refuses_graphs;
static int mode;

bool
ac_scratch_relax(const struct ac_driver *driver, int *mode_out)
{
	mode++;
	*mode_out = 0;
	return true;
}

void
ac_scratch_restore(const struct ac_driver *driver, int before)
{
	assert_int_equal(before, 0);
	mode--;
}

static ac_cu_result
create(ac_cu_object *object_out, void *data, void (*destroy)(void *),
    unsigned references, unsigned flags)
{
	assert_int_equal(mode, 1);
	assert_int_equal(references, 1);
	assert_int_equal(flags, AC_CU_OBJECT_NO_DESTRUCTOR_SYNC);
	if (refuses_objects)
		return 1;
	object[made] = (struct object){ destroy, data };
	*object_out = (ac_cu_object)(void *)&object[made++];
	return 0;
}

static void
end(struct object *of)
{
	of->destroy(of->data);
}

static ac_cu_result
retain(ac_cu_graph graph, ac_cu_object of, unsigned count, unsigned flags)
{
	assert_int_equal(mode, 1);
	assert_int_equal((uintptr_t)graph, 64);
	assert_non_null(of);
	assert_int_equal(count, 1);
	assert_int_equal(flags, AC_CU_OBJECT_MOVE);
	if (refuses_graphs)
		return 1;
	moved++;
	return 0;
}

static ac_cu_result
drop(ac_cu_object of, unsigned count)
{
	assert_int_equal(count, 1);
	released++;
	end((struct object *)(void *)of);
	return 0;
}

static const struct ac_driver full = {
	.cuUserObjectCreate = create, .cuUserObjectRelease = drop,
	.cuGraphRetainUserObject = retain,
};
static const struct ac_driver old;

static bool
begin(const struct ac_driver *driver, uint64_t capture, uintptr_t graph)
{
	const struct ac_place place = { .driver = driver, .capture = capture,
		.graph = (ac_cu_graph)graph };

	return ac_hold_begin(&place);
}

CASE(test_until_the_end)
{
	assert_false(ac_hold_is_live(1));
	assert_true(begin(&full, 1, 64));
	assert_true(begin(&full, 1, 64)); /* with the same object */
	assert_true(begin(&full, 2, 64));
	assert_int_equal(made, 2);
	assert_int_equal(moved, 2);
	assert_true(ac_hold_is_live(1) && ac_hold_is_live(2));
	end(&object[0]);
	assert_true(!ac_hold_is_live(1) && ac_hold_is_live(2));
	end(&object[1]);
	assert_false(ac_hold_is_live(2));
	assert_int_equal(released, 0);
}

CASE(test_refusals)
{
	made = 0;
	assert_false(begin(&old, 3, 64));
	assert_false(begin(&full, 3, 0));
	refuses_objects = true;
	assert_false(begin(&full, 3, 64));
	assert_false(ac_hold_is_live(3));
	refuses_objects = false;
	refuses_graphs = true;
	assert_false(begin(&full, 3, 64));
	assert_int_equal(released, 1);
	assert_false(ac_hold_is_live(3));
	refuses_graphs = false;
	assert_int_equal(mode, 0);
}

CASE(test_too_many)
{
	made = 0;
	for (uint64_t i = 0; i < HELD; i++)
		assert_true(begin(&full, 10 + i, 64));
	assert_false(begin(&full, 9, 64));
	assert_int_equal(made, HELD);
	end(&object[50]);
	assert_true(begin(&full, 9, 64));
	assert_true(ac_hold_is_live(9));
	for (unsigned i = 0; i <= HELD; i++)
		if (i != 50)
			end(&object[i]);
}

CASES_RUN(NULL, NULL)
