// SPDX-License-Identifier: Apache-2.0
// tests/api/ages.cc -- another file of the program in ages.c, in C++.
#include "autocast.h"

extern "C" const struct autocast_functions *found_elsewhere(void);

const struct autocast_functions *
found_elsewhere(void)
{
	return autocast_functions_find();
}
