/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/scan.cu -- a prefix sum in one pass, with decoupled
 * look-back: blocks take their numbers from a counter, publish their sums, and
 * wait for those before them by polling. Integers: exact. */
#include "user.h"

enum { COUNT = 100000, THREADS = 128, EACH = 8, PART = THREADS * EACH,
	PARTS = (COUNT + PART - 1) / PART };

/* The state in the upper half: 0 nothing, 1 the part's sum, 2 all up to it. */
typedef unsigned long long word;

__global__ void
scan(const unsigned *in, unsigned *out, volatile word *state, unsigned *next)
{
	__shared__ unsigned part, before, warps[THREADS / 32];
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	unsigned x[EACH], sum = 0, up, base = 0;

	if (!threadIdx.x)
		part = atomicAdd(next, 1);
	__syncthreads();
	for (int i = 0; i < EACH; i++) {
		const unsigned at = part * PART + threadIdx.x * EACH + i;

		x[i] = sum += at < COUNT ? in[at] : 0;
	}
	up = sum;
	for (int d = 1; d < 32; d *= 2) {
		const unsigned y = __shfl_up_sync(0xffffffff, up, d);

		if (lane >= d)
			up += y;
	}
	if (lane == 31)
		warps[warp] = up;
	__syncthreads();
	for (unsigned w = 0; w < warp; w++)
		base += warps[w];
	if (threadIdx.x == THREADS - 1) {
		const unsigned all = base + up;
		unsigned sum_before = 0;

		state[part] = (word)(part ? 1 : 2) << 32 | all;
		for (int look = (int)part - 1; look >= 0; look--) {
			word found;

			while (!((found = state[look]) >> 32))
				__threadfence();
			sum_before += (unsigned)found;
			if (found >> 32 == 2)
				break;
		}
		__threadfence();
		state[part] = (word)2 << 32 | (sum_before + all);
		before = sum_before;
	}
	__syncthreads();
	base += before + up - sum;
	for (int i = 0; i < EACH; i++) {
		const unsigned at = part * PART + threadIdx.x * EACH + i;

		if (at < COUNT)
			out[at] = base + x[i];
	}
}

int
main()
{
	std::vector<unsigned> in(COUNT);
	unsigned *din, *out, *next, sum = 0, bad = 0;
	word *state;

	for (unsigned &x : in)
		x = (unsigned)(1000 * fabs(uniform()));
	din = upload(in);
	CHECK(cudaMalloc(&out, COUNT * 4));
	state = upload(std::vector<word>(PARTS));
	next = upload(std::vector<unsigned>(1));
	scan<<<PARTS, THREADS>>>(din, out, state, next);
	const auto back = download(out, COUNT);
	for (int i = 0; i < COUNT; i++)
		bad += back[i] != (sum += in[i]);
	expect("sums that differ", bad, 0);
	return wrong;
}
