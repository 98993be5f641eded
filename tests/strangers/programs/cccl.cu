/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/cccl.cu -- Thrust and CUB as programs use them:
 * sort, sort by key, reduce, transform, scan, unique; DeviceReduce,
 * DeviceRadixSort, DeviceScan, DeviceHistogram. Integers: exact. */
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>

#include "user.h"

static const int COUNT = 20000;

struct affine {
	int a, b;
	__host__ __device__ int
	operator()(int x) const
	{
		return a * x + b;
	}
};

static std::vector<int>
integers(int range)
{
	std::vector<int> all(COUNT);

	for (int &x : all)
		x = (int)(range * uniform());
	return all;
}

static void
by_thrust()
{
	std::vector<int> host = integers(1000), sums(COUNT);
	thrust::device_vector<int> d(host.begin(), host.end()), order(COUNT),
	    e(COUNT);
	std::vector<int> back(COUNT);

	thrust::transform(d.begin(), d.end(), e.begin(), affine{ 3, 7 });
	for (int &x : host)
		x = 3 * x + 7;
	expect("thrust::reduce", abs(thrust::reduce(e.begin(), e.end(), 0) -
	    std::accumulate(host.begin(), host.end(), 0)), 0);
	thrust::inclusive_scan(e.begin(), e.end(), d.begin());
	std::partial_sum(host.begin(), host.end(), sums.begin());
	thrust::copy(d.begin(), d.end(), back.begin());
	expect("thrust::inclusive_scan", back != sums, 0);
	thrust::sequence(order.begin(), order.end());
	thrust::stable_sort_by_key(e.begin(), e.end(), order.begin());
	thrust::copy(order.begin(), order.end(), back.begin());
	std::vector<int> wanted(COUNT);
	std::iota(wanted.begin(), wanted.end(), 0);
	std::stable_sort(wanted.begin(), wanted.end(), [&](int a, int b) {
		return host[a] < host[b];
	});
	expect("thrust::stable_sort_by_key", back != wanted, 0);
	std::sort(host.begin(), host.end());
	const int unique = (int)(thrust::unique(e.begin(), e.end()) -
	    e.begin());
	expect("thrust::unique", abs(unique - (int)(std::unique(host.begin(),
	    host.end()) - host.begin())), 0);
	thrust::sort(d.begin(), d.end(), thrust::greater<int>());
	std::sort(sums.begin(), sums.end(), std::greater<int>());
	thrust::copy(d.begin(), d.end(), back.begin());
	expect("thrust::sort", back != sums, 0);
}

/* As CUB's manual has it: ask for the size, then run. */
#define CUB(call, ...)                                                    \
	do {                                                              \
		void *temporary = NULL;                                   \
		size_t bytes = 0;                                         \
		CHECK(call(temporary, bytes, __VA_ARGS__));               \
		CHECK(cudaMalloc(&temporary, bytes));                     \
		CHECK(call(temporary, bytes, __VA_ARGS__));               \
		CHECK(cudaFree(temporary));                               \
	} while (0)

static void
by_cub()
{
	const std::vector<int> host = integers(1 << 20);
	int *in = upload(host), *out = upload(host), *one = upload(
	    std::vector<int>(1));
	std::vector<int> wanted = host, counts(16);

	CUB(cub::DeviceReduce::Max, in, one, COUNT);
	expect("cub::DeviceReduce::Max", abs(download(one, 1)[0] -
	    *std::max_element(host.begin(), host.end())), 0);
	CUB(cub::DeviceScan::ExclusiveSum, in, out, COUNT);
	std::exclusive_scan(host.begin(), host.end(), wanted.begin(), 0);
	expect("cub::DeviceScan::ExclusiveSum", download(out, COUNT) != wanted,
	    0);
	CUB(cub::DeviceRadixSort::SortKeys, in, out, COUNT);
	wanted = host;
	std::sort(wanted.begin(), wanted.end());
	expect("cub::DeviceRadixSort::SortKeys", download(out, COUNT) !=
	    wanted, 0);
	int *bins = upload(counts);
	CUB(cub::DeviceHistogram::HistogramEven, in, bins, 17, -(1 << 20),
	    1 << 20, COUNT);
	for (int x : host)
		counts[(x + (1 << 20)) >> 17]++;
	expect("cub::DeviceHistogram", download(bins, 16) != counts, 0);
}

int
main()
{
	by_thrust();
	by_cub();
	return wrong;
}
