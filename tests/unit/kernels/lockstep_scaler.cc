/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/lockstep_scaler.cc -- the .cu files of scaler.ptx on the CPU. */
#include "tests/unit/kernels/lockstep.h"

#include "tests/unit/kernels/lockstep_threads.h"

#include "kernels/scaler/scaler.cu"
#include "kernels/scaler/scaler_sums.cu"

static void **arguments;

template <class type> static const type &
argument(int i)
{
	return *(const type *)arguments[i];
}

static void
run_kernel()
{
	if (!strcmp(running, "ac_scaler_multiply"))
		ac_scaler_multiply(argument<struct ac_scaler_product>(0));
	else if (!strcmp(running, "ac_scaler_unscale"))
		ac_scaler_unscale(argument<struct ac_scaler_pass>(0));
	else if (!strcmp(running, "ac_scaler_clip"))
		ac_scaler_clip(argument<struct ac_scaler_pass>(0));
	else if (!strcmp(running, "ac_scaler_norm"))
		ac_scaler_norm(argument<struct ac_scaler_pass>(0),
		    argument<uint32_t>(1));
	else if (!strcmp(running, "ac_scaler_add"))
		ac_scaler_add(argument<struct ac_scaler_sum>(0));
	else
		abort();
}

void
lockstep_run_scaler(const char *name, void **params, unsigned blocks)
{
	arguments = params;
	run_grid(name, blocks, 1);
}
