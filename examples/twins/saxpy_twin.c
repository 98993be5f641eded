/* SPDX-License-Identifier: Apache-2.0 */
/* examples/twins/saxpy_twin.c -- what saxpy.cu's kernel does, for the CPU.
 *
 * A twin runs once per launch, on the stream's thread, and must do what all
 * threads of the grid would. params[i] points at the i-th argument; `sizes`
 * are their bytes. The name is the kernel's as the compiler mangled it, which
 * the emulated GPU prints when a kernel has no twin. */
#include <stddef.h>

struct launch {
	unsigned grid[3], block[3];
};

/* Of the emulated libcuda.so.1; elsewhere this library does nothing. */
__attribute__((weak))
void emuTwinRegister(const char *name,
    void (*run)(const struct launch *launch, void **params),
    const size_t *sizes, size_t count);

static void
saxpy(const struct launch *launch, void **params)
{
	const int count = *(const int *)params[0];
	const float a = *(const float *)params[1];
	const float *x = *(const float *const *)params[2];
	float *y = *(float *const *)params[3];
	const long threads = (long)launch->grid[0] * launch->block[0];

	for (long i = 0; i < threads && i < count; i++)
		y[i] = a * x[i] + y[i];
}

__attribute__((constructor))
static void
bring(void)
{
	static const size_t sizes[] = { sizeof(int), sizeof(float),
		sizeof(float *), sizeof(float *) };

	if (emuTwinRegister)
		emuTwinRegister("_Z5saxpyifPKfPf", saxpy, sizes, 4);
}
