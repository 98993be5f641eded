/* SPDX-License-Identifier: Apache-2.0 */
/* autocast_functions.h -- the public functions as one table, for programs that
 * look them up instead of linking. libautocast-api.so and libautocast.so both
 * export one function that returns theirs.
 *
 * What includes this: the library's table, and autocast_dynamic.h. */
#ifndef AUTOCAST_FUNCTIONS_H
#define AUTOCAST_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What these headers ask for. */
#define AUTOCAST_ABI 1

/* Every public function, without its autocast_. Rows are only ever appended,
 * and each has the type of its prototype for good. */
#define AUTOCAST_FUNCTION_LIST(FUNCTION)                                      \
FUNCTION(status_string)                                                       \
FUNCTION(last_error)                                                          \
FUNCTION(region_push)                                                         \
FUNCTION(region_pop)                                                          \
FUNCTION(scaler_create)                                                       \
FUNCTION(scaler_destroy)                                                      \
FUNCTION(scaler_prepare)                                                      \
FUNCTION(scaler_scale)                                                        \
FUNCTION(scaler_pointers)                                                     \
FUNCTION(group_create)                                                        \
FUNCTION(group_destroy)                                                       \
FUNCTION(group_set_gradients)                                                 \
FUNCTION(group_pointers)                                                      \
FUNCTION(scaler_unscale)                                                      \
FUNCTION(group_norm)                                                          \
FUNCTION(group_clip)                                                          \
FUNCTION(scaler_step)                                                         \
FUNCTION(scaler_step_async)                                                   \
FUNCTION(scaler_axpy)                                                         \
FUNCTION(scaler_update)                                                       \
FUNCTION(scaler_update_to)                                                    \
FUNCTION(scaler_set_reduce)                                                   \
FUNCTION(scaler_get)                                                          \
FUNCTION(scaler_get_counters)                                                 \
FUNCTION(scaler_set_growth)                                                   \
FUNCTION(scaler_set_backoff)                                                  \
FUNCTION(scaler_set_interval)                                                 \
FUNCTION(scaler_get_growth)                                                   \
FUNCTION(scaler_get_backoff)                                                  \
FUNCTION(scaler_get_interval)                                                 \
FUNCTION(scaler_save)                                                         \
FUNCTION(scaler_load)

/* To be cast to the type of the function's prototype. */
typedef void (*autocast_function)(void);

struct autocast_functions {
	size_t   size;     /* of this struct, as the library knows it */
	uint32_t abi;      /* the newest that the library knows */
	uint32_t reserved; /* 0 */
#define AUTOCAST_FUNCTION_MEMBER(name) autocast_function name;
	AUTOCAST_FUNCTION_LIST(AUTOCAST_FUNCTION_MEMBER)
#undef AUTOCAST_FUNCTION_MEMBER
};

/* The table for a program that knows `abi`, AUTOCAST_ABI of its headers. A
 * library that is older returns the table it has, which is shorter: look at
 * `size`. NULL: `abi` is 0, or so old that the library no longer serves it.
 * Static and constant; any thread, at any time. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
extern const struct autocast_functions *autocast_functions_get(uint32_t abi);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
