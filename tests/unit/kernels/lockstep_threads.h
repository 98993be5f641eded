/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/lockstep_threads.h -- a GPU's threads on the CPU, for the
 * .cu files that are included after it: each thread of a block is a context of
 * its own, switched where threads wait for each other. Who includes it, defines
 * run_kernel().
 *
 * Blocks run one after the other, in no natural order, and so do the threads
 * between two barriers; of each block one warp comes only when all others wait,
 * so that they are as far ahead of it as the text lets them: a barrier that is
 * missing shows. What it cannot show is how memory behaves that threads share
 * on a real GPU. */
#ifndef AC_TESTS_LOCKSTEP_THREADS_H
#define AC_TESTS_LOCKSTEP_THREADS_H

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

using std::max;
using std::min;

enum { THREADS = 256, WARP_SIZE = 32, STACK = 1 << 17 };

/* ---- Threads ----------------------------------------------------------- */

static ucontext_t contexts[THREADS], scheduler;
static bool ended[THREADS];
static int current, alive, threads = THREADS; /* of a block */
static uint64_t progress;      /* grows when a thread gets somewhere */

/* Where `wanted` threads meet. */
struct meeting {
	int round, arrived, any, result;
	uint64_t values[WARP_SIZE];
};
static struct meeting of_block, of_warp[THREADS / WARP_SIZE];

static int
meet(struct meeting &meeting, const int &wanted, int value)
{
	const int round = meeting.round;

	meeting.arrived++;
	meeting.any |= value;
	progress++;
	while (meeting.round == round) {
		if (meeting.arrived < wanted) {
			swapcontext(&contexts[current], &scheduler);
			continue;
		}
		meeting.result = meeting.any;
		meeting.arrived = meeting.any = 0;
		meeting.round++;
	}
	return meeting.result;
}

/* ---- What CUDA has ----------------------------------------------------- */

struct three {
	unsigned x, y, z;
};
static struct three threadIdx, blockIdx, gridDim;

#define __device__
#define __global__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __noinline__
#define __align__(bytes) __attribute__((aligned(bytes)))

static void
__syncthreads()
{
	meet(of_block, alive, 0);
}

static void
__syncwarp()
{
	static const int wanted = WARP_SIZE;

	meet(of_warp[threadIdx.x / WARP_SIZE], wanted, 0);
}

static int
__syncthreads_or(int value)
{
	return meet(of_block, alive, value != 0);
}

template <class value> static value
__shfl_xor_sync(unsigned, value own, int away)
{
	static const int wanted = WARP_SIZE;
	struct meeting &warp = of_warp[threadIdx.x / WARP_SIZE];
	const int lane = threadIdx.x % WARP_SIZE;
	value other;

	memcpy(&warp.values[lane], &own, sizeof own);
	meet(warp, wanted, 0);
	memcpy(&other, &warp.values[lane ^ away], sizeof other);
	meet(warp, wanted, 0);
	return other;
}

static unsigned
__ballot_sync(unsigned, bool own)
{
	static const int wanted = WARP_SIZE;
	struct meeting &warp = of_warp[threadIdx.x / WARP_SIZE];
	unsigned all = 0;

	warp.values[threadIdx.x % WARP_SIZE] = own;
	meet(warp, wanted, 0);
	for (int i = 0; i < WARP_SIZE; i++)
		all |= (unsigned)warp.values[i] << i;
	meet(warp, wanted, 0);
	return all;
}

static int
__popc(unsigned bits)
{
	return __builtin_popcount(bits);
}

static int
__ffs(int bits)
{
	return __builtin_ffs(bits);
}

#define ATOMIC(name, expression) \
template <class word, class value> static word \
name(word *at, value operand) \
{ \
	const word old = *at, by = (word)operand; \
	*at = (expression); \
	return old; \
}
ATOMIC(atomicAdd, old + by)
ATOMIC(atomicAnd, old & by)
ATOMIC(atomicOr, old | by)
ATOMIC(atomicMax, old > by ? old : by)

static void
__threadfence()
{
}

static void
__threadfence_system()
{
}

template <class value> static value
__ldg(const value *at)
{
	return *at;
}

template <class value> static value
__ldcg(const value *at)
{
	return *at;
}

template <class value> static void
__stcg(value *at, value from)
{
	*at = from;
}

struct alignas(16) float4 {
	float x, y, z, w;
};
struct alignas(16) uint4 {
	unsigned x, y, z, w;
};
struct alignas(8) uint2 {
	unsigned x, y;
};
struct alignas(16) ulonglong2 {
	unsigned long long x, y;
};

static struct uint4
make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
	const struct uint4 made = { x, y, z, w };

	return made;
}

static struct uint2
make_uint2(unsigned x, unsigned y)
{
	const struct uint2 made = { x, y };

	return made;
}

static struct float4
make_float4(float x, float y, float z, float w)
{
	const struct float4 made = { x, y, z, w };

	return made;
}

/* ---- Launches ---------------------------------------------------------- */

static const char *running;    /* the kernel's name */
static void run_kernel();

static void
run_thread()
{
	run_kernel();
	ended[current] = true;
	alive--;
	progress++;
	swapcontext(&contexts[current], &scheduler);
	abort(); /* nobody comes back */
}

/* Each thread of the warp that is held back, or of the others, goes on until it
 * has to wait. */
static void
run_threads(unsigned order, bool held)
{
	for (int i = 0; i < threads; i++) {
		current = (i * 37 + (int)(order % THREADS)) % threads;
		if (ended[current] || held != (current / WARP_SIZE
		    == (int)(order % (unsigned)(threads / WARP_SIZE))))
			continue;
		threadIdx.x = current;
		swapcontext(&scheduler, &contexts[current]);
	}
}

static void
run_others(unsigned order)
{
	uint64_t before;

	do {
		before = progress;
		run_threads(order, false);
	} while (progress != before);
}

static void
run_block(unsigned order)
{
	static char stacks[THREADS][STACK];

	alive = threads;
	of_block = meeting();
	std::fill(of_warp, of_warp + THREADS / WARP_SIZE, meeting());
	for (int t = 0; t < threads; t++) {
		getcontext(&contexts[t]);
		contexts[t].uc_stack.ss_sp = stacks[t];
		contexts[t].uc_stack.ss_size = STACK;
		contexts[t].uc_link = NULL;
		makecontext(&contexts[t], run_thread, 0);
		ended[t] = false;
	}
	while (alive) {
		const uint64_t before = progress;

		run_others(order);
		run_threads(order, true);
		if (progress != before)
			continue;
		printf("Bail out! %s: its threads wait for ever\n",
		    running);
		exit(1);
	}
}

/* No block waits for another, so any order will do. */
static void
run_grid(const char *name, unsigned blocks, unsigned rows)
{
	const unsigned count = blocks * rows;

	running = name;
	gridDim.x = blocks;
	gridDim.y = rows;
	gridDim.z = 1;
	for (unsigned i = 0; i < count; i++) {
		const unsigned block = (i * 7919 + 3) % count; /* 7919: prime */

		blockIdx.x = block % blocks;
		blockIdx.y = block / blocks;
		run_block(i);
	}
}

#endif
