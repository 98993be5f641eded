/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/plugin.h -- what plugin_host looks up in plugin. */
#ifndef TESTS_PRELOAD_PROGRAMS_PLUGIN_H
#define TESTS_PRELOAD_PROGRAMS_PLUGIN_H

#include <stdint.h>

/* Multiply `products` times; the hash of the last result. Exits on failure. */
__attribute__((visibility("default")))
uint64_t plugin_multiply(int products);

#endif
