/* SPDX-License-Identifier: Apache-2.0 */
/* tests/api/everything.c -- names every public function, its type taken from
 * the prototype; in C and C++, linked and not, next to CUDA's headers. */
#ifdef CUDA_FIRST
#include <cuda_runtime_api.h>
#endif
#include "autocast_scaler.h"
#include "autocast_functions.h"
#ifdef CUDA_LAST
#include <cuda_runtime_api.h>
#endif

#include <stdio.h>

#if defined CUDA_FIRST || defined CUDA_LAST
/* A cudaStream_t is what the functions take, as it is. */
autocast_status with_stream(autocast_scaler *scaler, cudaStream_t stream);
autocast_status
with_stream(autocast_scaler *scaler, cudaStream_t stream)
{
	return autocast_scaler_update(scaler, stream);
}
#endif

#ifdef __cplusplus
autocast_status with_region(const char *name);
autocast_status
with_region(const char *name)
{
	autocast::region outer(name), inner(name, false, "tf32");

	return outer.status() == AUTOCAST_OK ? inner.status() : outer.status();
}
#endif

static const struct {
	const char *name;
	autocast_function function;
} everything[] = {
#define ROW(name) { "autocast_" #name, (autocast_function)autocast_##name },
	AUTOCAST_FUNCTION_LIST(ROW)
#undef ROW
};

static const autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof(everything) / sizeof(everything[0]); i++)
		if (everything[i].function != NULL)
			puts(everything[i].name);
	return options.size != sizeof(options);
}
