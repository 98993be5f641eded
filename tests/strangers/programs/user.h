/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/user.h -- what these programs share: calls that must
 * succeed, random numbers, and how a program says what came out. */
#ifndef AC_STRANGERS_USER_H
#define AC_STRANGERS_USER_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                       \
	do {                                                              \
		const int status_ = (int)(call);                          \
		if (status_) {                                            \
			fprintf(stderr, "%s:%d: %s: %d\n", __FILE__,      \
			    __LINE__, #call, status_);                    \
			exit(1);                                          \
		}                                                         \
	} while (0)

/* Uniform in [-1, 1). */
static inline float
uniform()
{
	static unsigned long long state = 1;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (float)((double)(state >> 40) * 0x1p-23 - 1.0);
}

static inline std::vector<float>
uniforms(size_t count)
{
	std::vector<float> all(count);

	for (float &x : all)
		x = uniform();
	return all;
}

template <class T>
static T *
upload(const std::vector<T> &from)
{
	T *to;

	CHECK(cudaMalloc(&to, from.size() * sizeof(T)));
	CHECK(cudaMemcpy(to, from.data(), from.size() * sizeof(T),
	    cudaMemcpyHostToDevice));
	return to;
}

template <class T>
static std::vector<T>
download(const T *from, size_t count)
{
	std::vector<T> to(count);

	CHECK(cudaMemcpy(to.data(), from, count * sizeof(T),
	    cudaMemcpyDeviceToHost));
	return to;
}

static int wrong;

/* One line for what was checked: an error and its bound. */
static inline void
expect(const char *what, double error, double bound)
{
	if (!(error <= bound))
		wrong = 1;
	printf("%s: %s (%.3g of %.3g)\n", what, error <= bound ? "right" :
	    "WRONG", error, bound);
}

/* What a product may be off by, relative to its norm: the tolerance that the
 * runner allows the library (TOLERANCE), and half as much again, since the
 * library judges samples. FP32's own error is far less. */
static inline double
product_error()
{
	const char *const given = getenv("TOLERANCE");

	return 1.5 * (given ? atof(given) : 1e-3);
}

#endif
