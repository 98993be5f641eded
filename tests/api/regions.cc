// SPDX-License-Identifier: Apache-2.0
// tests/api/regions.cc -- the region object of C++: closed by every way out of
// its block, and only if it was opened.
#include "autocast.h"

#include <cstdio>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

static_assert(!std::is_copy_constructible<autocast::region>::value, "");
static_assert(!std::is_copy_assignable<autocast::region>::value, "");
static_assert(std::is_nothrow_constructible<autocast::region, const char *>::value,
    "");
static_assert(!std::is_convertible<const char *, autocast::region>::value, "");

static int number;

static void
check(const char *what, bool good)
{
	std::printf("%s %d - %s\n", good ? "ok" : "not ok", ++number, what);
}

// How many regions are open on this thread; closes them.
static int
count_open()
{
	int count = 0;

	while (count < 999 && autocast_region_pop() == AUTOCAST_OK)
		count++;
	return count;
}

static void
throw_from(int depth)
{
	autocast::region here("deep", depth % 2 == 0, "tf32");

	if (here.status() != AUTOCAST_OK || depth == 0)
		throw std::runtime_error("enough");
	throw_from(depth - 1);
}

static autocast_status
leave_early(bool early)
{
	autocast::region here("early");

	if (early)
		return here.status();
	return AUTOCAST_E_REGION;
}

int
main()
{
	{
		autocast::region outer("outer"), inner("inner", false);
		check("opened", outer.status() == AUTOCAST_OK
		    && inner.status() == AUTOCAST_OK);
	}
	check("closed at the end of the block", count_open() == 0);
	check("a return closes it", leave_early(true) == AUTOCAST_OK
	    && count_open() == 0);

	autocast_region_push("kept", 1, nullptr);
	try {
		throw_from(20);
	} catch (const std::runtime_error &) {
	}
	check("an exception closes what it leaves", count_open() == 1);

	autocast_region_push("kept", 1, nullptr);
	try {
		throw_from(200); // more than may be open
	} catch (const std::runtime_error &) {
	}
	check("what was not opened is not closed", count_open() == 1);

	autocast_region_push("kept", 1, nullptr);
	{
		autocast::region bad("a name with spaces"), none(nullptr);
		check("a bad name is said", bad.status() == AUTOCAST_E_INVALID
		    && none.status() == AUTOCAST_E_INVALID
		    && autocast_last_error()[0] != '\0');
	}
	check("and closes nothing", count_open() == 1);

	autocast_region_push("kept", 1, nullptr);
	{
		std::vector<std::thread> threads;
		int open[4] = { -1, -1, -1, -1 };

		for (int i = 0; i < 4; i++)
			threads.emplace_back([&open, i] {
				autocast::region here("thread");
				open[i] = count_open();
			});
		for (auto &thread : threads)
			thread.join();
		check("each thread has its own", open[0] == 1 && open[1] == 1
		    && open[2] == 1 && open[3] == 1);
	}
	check("and leaves others' alone", count_open() == 1);
	std::printf("1..%d\n", number);
	return 0;
}
