/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/gradients.cu -- conjugate gradients in one
 * cooperative kernel: a grid that synchronizes, dot products by shuffles and
 * atomics in double, a Laplace operator in three dimensions. The residual must
 * be what was asked for, and the solution the one that was put in. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "user.h"

namespace cg = cooperative_groups;

enum { N = 12, COUNT = N * N * N, MOST = 200 };

struct vectors {
	double *x, *r, *p, *q, *sums; /* sums: one per step, twice */
	int *steps;
};

__device__ double
laplace(const double *p, int i)
{
	const int x = i % N, y = i / N % N, z = i / N / N;

	return 6 * p[i] - (x ? p[i - 1] : 0) - (x < N - 1 ? p[i + 1] : 0) -
	    (y ? p[i - N] : 0) - (y < N - 1 ? p[i + N] : 0) -
	    (z ? p[i - N * N] : 0) - (z < N - 1 ? p[i + N * N] : 0);
}

__device__ void
add_up(double *to, double part)
{
	const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
	const double sum = cg::reduce(warp, part, cg::plus<double>());

	if (!warp.thread_rank())
		atomicAdd(to, sum);
}

__global__ void
solve(vectors v, double enough)
{
	cg::grid_group grid = cg::this_grid();
	const int first = (int)grid.thread_rank(), step = (int)grid.size();
	double before = 0, part = 0;

	for (int i = first; i < COUNT; i += step)
		part += v.r[i] * v.r[i];
	add_up(&v.sums[0], part);
	grid.sync();
	before = v.sums[0];
	for (int n = 0; n < MOST && before > enough; n++) {
		double *const pq = &v.sums[2 * n + 1], *const rr = pq + 1;
		double now;

		part = 0;
		for (int i = first; i < COUNT; i += step) {
			v.q[i] = laplace(v.p, i);
			part += v.p[i] * v.q[i];
		}
		add_up(pq, part);
		grid.sync();
		part = 0;
		for (int i = first; i < COUNT; i += step) {
			v.x[i] += before / *pq * v.p[i];
			v.r[i] -= before / *pq * v.q[i];
			part += v.r[i] * v.r[i];
		}
		add_up(rr, part);
		grid.sync();
		now = *rr;
		for (int i = first; i < COUNT; i += step)
			v.p[i] = v.r[i] + now / before * v.p[i];
		before = now;
		if (!first)
			*v.steps = n + 1;
		grid.sync();
	}
}

static double
at(const std::vector<double> &p, int x, int y, int z)
{
	return x < 0 || y < 0 || z < 0 || x >= N || y >= N || z >= N ? 0 :
	    p[(z * N + y) * N + x];
}

int
main()
{
	std::vector<double> wanted(COUNT), b(COUNT);
	double enough, norm = 0, off = 0;
	int blocks, device = 0, cooperative;
	cudaDeviceProp about;
	vectors v;

	CHECK(cudaGetDeviceProperties(&about, device));
	CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch,
	    device));
	expect("cooperative launches are there", !cooperative, 0);
	for (double &x : wanted)
		x = uniform();
	for (int i = 0; i < COUNT; i++) {
		const int x = i % N, y = i / N % N, z = i / N / N;

		b[i] = 6 * wanted[i] - at(wanted, x - 1, y, z) -
		    at(wanted, x + 1, y, z) - at(wanted, x, y - 1, z) -
		    at(wanted, x, y + 1, z) - at(wanted, x, y, z - 1) -
		    at(wanted, x, y, z + 1);
		norm += b[i] * b[i];
	}
	v.x = upload(std::vector<double>(COUNT));
	v.r = upload(b);
	v.p = upload(b);
	v.q = upload(b);
	v.sums = upload(std::vector<double>(2 * MOST + 2));
	v.steps = upload(std::vector<int>(1));
	enough = norm * 1e-20;
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, solve, 128,
	    0));
	blocks = std::min(blocks * about.multiProcessorCount, 8);
	void *arguments[] = { &v, &enough };
	CHECK(cudaLaunchCooperativeKernel((void *)solve, blocks, 128,
	    arguments, 0, 0));
	CHECK(cudaDeviceSynchronize());
	const auto x = download(v.x, COUNT);
	for (int i = 0; i < COUNT; i++)
		off = fmax(off, fabs(x[i] - wanted[i]));
	/* The smallest eigenvalue is 12 sin^2(pi / 26) = 0.17. */
	expect("solution", off, sqrt(enough) / 0.17);
	expect("steps, fewer than the most", download(v.steps, 1)[0], MOST - 1);
	return wrong;
}
