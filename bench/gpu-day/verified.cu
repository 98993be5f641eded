/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/verified.cu -- the kernels of verified products by themselves,
 * on a real GPU.
 *
 *   verified check [M N K [SEEDS]]   families of data against FP64 and SGEMM
 *   verified time [M N K]            what each launch takes
 *
 * Not part of a build; from the top folder, with CUDA:
 *   nvcc -O3 -fmad=false -Xcompiler -ffp-contract=off,-fno-math-errno \
 *       -arch=sm_90 -I. -o verified bench/gpu-day/verified.cu \
 *       tests/unit/kernels/verified_families.c kernels/twins/twins_verified*.c \
 *       -lcublas */
#include "kernels/verified/verified_probe.cu"
#include "kernels/verified/verified_cast.cu"
#include "kernels/verified/verified_verify.cu"
#include "kernels/verified/verified_mend.cu"
#include "tests/unit/kernels/verified_families.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <vector>

#define MUST(call) must((int)(call), #call)

static const float tol = 1e-3f;
static cublasHandle_t handle;
static int sm_count;

static void
must(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "%s failed: %d\n", what, failed);
	exit(1);
}

static void *
zeros(size_t bytes)
{
	void *device;

	MUST(cudaMalloc(&device, bytes + 256));
	MUST(cudaMemset(device, 0, bytes + 256));
	return device;
}

/* ---- One product on the device ----------------------------------------- */

struct product {
	struct ac_verified v;
	cublasOperation_t trans[2];
	std::vector<void *> memory;

	template <class type> type *
	get(size_t count)
	{
		memory.push_back(zeros(count * sizeof(type)));
		return (type *)memory.back();
	}
};

/* `trans`: what is stored is op(X) transposed. */
static void
operand_make(product &p, int side, const float *from, bool trans)
{
	struct ac_verified &v = p.v;
	struct ac_verified_operand &o = v.operand[side];
	const int64_t lines = side ? v.n : v.m;

	o.from = from;
	o.lines = lines;
	o.lines_are_cols = trans != (side == 1);
	o.ld = o.lines_are_cols ? v.k : lines;
	o.ld_to = (o.ld + 7) / 8 * 8;
	o.to = p.get<uint16_t>(o.ld_to * (o.lines_are_cols ? lines : v.k));
	o.sums = p.get<double>(AC_VERIFIED_VECTORS * v.k);
	o.parts = p.get<float>(ac_verified_slices(&v)
	    * AC_VERIFIED_VALUES * lines);
	o.flags = p.get<uint32_t>(ac_verified_words(lines));
	o.words = p.get<ac_verified_word>(ac_verified_words(lines));
	p.trans[side] = trans ? CUBLAS_OP_T : CUBLAS_OP_N;
}

static void
product_make(product &p, int64_t m, int64_t n, int64_t k, float alpha,
    const float *a, const float *b, float *c, bool ta, bool tb)
{
	struct ac_verified &v = p.v;

	v = {};
	v.m = m, v.n = n, v.k = k, v.batch = 1;
	v.slice = ac_verified_slice(m, n, k, 1);
	v.format = AC_FORMAT_FP16;
	v.tol = tol;
	v.alpha.value = alpha;
	v.output.product = c;
	v.output.ld = m;
	v.state = p.get<struct ac_verified_state>(1);
	v.record = p.get<struct ac_verified_record>(1);
	v.spread = p.get<float>(ac_verified_spread(m, n));
	v.arrived = p.get<uint32_t>((m + n) / AC_VERIFIED_SIDE + 2);
	operand_make(p, 0, a, ta);
	operand_make(p, 1, b, tb);
}

static void
product_free(product &p)
{
	for (void *device : p.memory)
		MUST(cudaFree(device));
	p.memory.clear();
}

static void
probe(const product &p)
{
	ac_verified_probe<<<(unsigned)ac_verified_probe_blocks(&p.v),
	    AC_CAST_BLOCK>>>(p.v);
}

static void
cast(const product &p)
{
	ac_verified_cast<<<(unsigned)ac_verified_cast_blocks(&p.v),
	    AC_CAST_BLOCK>>>(p.v);
}

static void
multiply_casts(const product &p)
{
	const struct ac_verified &v = p.v;

	MUST(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
	MUST(cublasGemmEx(handle, p.trans[0], p.trans[1], (int)v.m, (int)v.n,
	    (int)v.k, &v.state->alpha, v.operand[0].to, CUDA_R_16F,
	    (int)v.operand[0].ld_to, v.operand[1].to, CUDA_R_16F,
	    (int)v.operand[1].ld_to, &v.state->zero, v.output.product,
	    CUDA_R_32F, (int)v.output.ld, CUBLAS_COMPUTE_32F,
	    CUBLAS_GEMM_DEFAULT));
}

static void
verify(const product &p)
{
	ac_verified_verify<<<(unsigned)ac_verified_verify_blocks(&p.v),
	    AC_CAST_BLOCK>>>(p.v);
}

static void
mend(const product &p)
{
	ac_verified_mend<<<4 * sm_count, MEND_BLOCK>>>(p.v);
}

static void
run_all(const product &p)
{
	probe(p);
	cast(p);
	multiply_casts(p);
	verify(p);
	mend(p);
}

static void
sgemm(const product &p, float *c)
{
	const float alpha = p.v.alpha.value, beta = 0;

	MUST(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
	MUST(cublasSgemm(handle, p.trans[0], p.trans[1], (int)p.v.m,
	    (int)p.v.n, (int)p.v.k, &alpha, p.v.operand[0].from,
	    (int)p.v.operand[0].ld, p.v.operand[1].from,
	    (int)p.v.operand[1].ld, &beta, c, (int)p.v.m));
}

/* ---- Memory ------------------------------------------------------------ */

static float *
upload(const std::vector<float> &x)
{
	float *device = (float *)zeros(x.size() * sizeof(float));

	MUST(cudaMemcpy(device, x.data(), x.size() * sizeof(float),
	    cudaMemcpyHostToDevice));
	return device;
}

template <class type> static std::vector<type>
download(const type *device, size_t count)
{
	std::vector<type> x(count);

	MUST(cudaMemcpy(x.data(), device, count * sizeof(type),
	    cudaMemcpyDeviceToHost));
	return x;
}

static std::vector<float>
stored(const float *x, int rows, int cols, bool trans)
{
	std::vector<float> y((size_t)rows * cols);

	for (int j = 0; j < cols; j++)
		for (int i = 0; i < rows; i++)
			y[trans ? (size_t)i * cols + j : (size_t)j * rows + i] =
			    x[(size_t)j * rows + i];
	return y;
}

/* ---- Twins ------------------------------------------------------------- */

struct ac_twin_launch;
typedef void twin(const struct ac_twin_launch *, void **);
extern "C" {
twin ac_twin_verified_probe, ac_twin_verified_cast, ac_twin_verified_verify,
    ac_twin_verified_mend;
/* What twins.c has, which would need all the others. */
unsigned long ac_twin_bytes_read, ac_twin_bytes_written;
thread_local unsigned long ac_twin_bytes_here;
bool ac_twin_plain;
}

/* Words that differ; NaNs are alike. */
template <class type> static long
differences(const type *device, const std::vector<type> &host)
{
	const std::vector<type> x = download(device, host.size());
	long count = 0;

	for (size_t i = 0; i < x.size(); i++)
		count += memcmp(&x[i], &host[i], sizeof x[i])
		    && (x[i] == x[i] || host[i] == host[i]);
	return count;
}

/* The same product by the twins, with the device's own in between. Says what
 * is not the same. */
static bool
agrees(const product &p, const std::vector<float> &a,
    const std::vector<float> &b, std::vector<float> c, const float *mended)
{
	struct ac_verified v = p.v;
	struct ac_verified_state state = {};
	struct ac_verified_record record = {};
	std::vector<uint16_t> to[2];
	std::vector<double> sums[2];
	std::vector<float> parts[2];
	std::vector<uint32_t> flags[2];
	std::vector<ac_verified_word> words[2];
	void *params[] = { &v };
	long found[5] = {}, all = 0;

	v.state = &state;
	v.record = &record;
	v.output.product = c.data();
	for (int i = 0; i < 2; i++) {
		struct ac_verified_operand &o = v.operand[i];

		to[i].resize(o.ld_to * (o.lines_are_cols ? o.lines : v.k));
		sums[i].resize(AC_VERIFIED_VECTORS * v.k);
		parts[i].resize(ac_verified_slices(&v) * AC_VERIFIED_VALUES
		    * o.lines);
		flags[i].resize(ac_verified_words(o.lines));
		words[i].resize(flags[i].size());
		o.from = i ? b.data() : a.data();
		o.to = to[i].data();
		o.sums = sums[i].data();
		o.parts = parts[i].data();
		o.flags = flags[i].data();
		o.words = words[i].data();
	}
	for (twin *run : { ac_twin_verified_probe, ac_twin_verified_cast,
	    ac_twin_verified_verify, ac_twin_verified_mend })
		run(NULL, params);
	for (int i = 0; i < 2; i++) {
		const struct ac_verified_operand &o = p.v.operand[i];

		found[0] += differences(o.sums, sums[i]);
		found[1] += differences(o.to, to[i]);
		found[2] += differences(o.parts, parts[i]);
		found[3] += differences(o.flags, flags[i]);
		for (size_t w = 0; w < words[i].size(); w++) {
			const ac_verified_word x = download(o.words + w, 1)[0];

			found[3] += memcmp(&x, &words[i][w], sizeof x) != 0;
		}
	}
	found[4] = differences(mended, c);
	for (long count : found)
		all += count;
	if (all)
		printf("  the twins differ: sums %ld, casts %ld, parts %ld, "
		    "flags %ld, outputs %ld\n", found[0], found[1], found[2],
		    found[3], found[4]);
	return !all;
}

/* ---- Errors ------------------------------------------------------------- */

static std::vector<double>
exact(const verified_problem &p)
{
	const size_t of_a = (size_t)p.m * p.k, of_b = (size_t)p.k * p.n;
	std::vector<double> a(p.a, p.a + of_a), b(p.b, p.b + of_b);
	double *da = (double *)zeros(of_a * 8), *db = (double *)zeros(of_b * 8);
	double *dc = (double *)zeros((size_t)p.m * p.n * 8);
	const double alpha = p.alpha, beta = 0;

	MUST(cudaMemcpy(da, a.data(), of_a * 8, cudaMemcpyHostToDevice));
	MUST(cudaMemcpy(db, b.data(), of_b * 8, cudaMemcpyHostToDevice));
	MUST(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
	MUST(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, p.m, p.n, p.k,
	    &alpha, da, p.m, db, p.k, &beta, dc, p.m));
	std::vector<double> c = download(dc, (size_t)p.m * p.n);
	for (double *device : { da, db, dc })
		MUST(cudaFree(device));
	return c;
}

static int
kind_of(float x)
{
	return std::isnan(x) ? 3 : std::isinf(x) ? x > 0 ? 1 : 2 : 0;
}

/* Errors of the whole and by line (rows, then columns), relative. */
struct errors {
	double whole = 0, worst = 0;
	std::vector<double> line;
};

static errors
errors_of(const std::vector<float> &c, const std::vector<double> &t, int m)
{
	const int n = (int)(t.size() / m);
	std::vector<double> d(m + n), e(m + n);
	double whole[2] = {};
	errors out;

	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			const double x = t[i + (size_t)j * m];
			const double off = c[i + (size_t)j * m] - x;
			const double d2 = std::isfinite(off) ? off * off
			    : 1e300;

			if (!(fabs(x) < 3.4e38))
				continue;
			d[i] += d2, d[m + j] += d2, whole[0] += d2;
			e[i] += x * x, e[m + j] += x * x, whole[1] += x * x;
		}
	out.whole = whole[0] > 0 ? sqrt(whole[0] / whole[1]) : 0;
	for (int l = 0; l < m + n; l++) {
		out.line.push_back(d[l] > 0 ? sqrt(d[l] / std::max(e[l],
		    1e-300)) : 0);
		out.worst = std::max(out.worst, out.line[l]);
	}
	return out;
}

static bool
is_flagged(const product &p, int line)
{
	const struct ac_verified_operand &o = p.v.operand[line >= p.v.m];
	const int at = line < p.v.m ? line : line - (int)p.v.m;
	const uint32_t word = download(o.flags + at / 32, 1)[0];

	return word >> at % 32 & 1;
}

struct totals {
	int bad, missed, vain, classes, alls, worse, differ;
	unsigned long long hash;
};

static void
check(int family, const int (&size)[3], int seed, totals &total)
{
	const int m = size[0], n = size[1], k = size[2];
	const bool ta = seed & 1, tb = seed & 2;
	verified_problem q;
	product p;

	verified_problem_make(family, m, n, k, seed, &q);
	const std::vector<float> own[2] = { stored(q.a, m, k, ta),
		stored(q.b, k, n, tb) };
	float *a = upload(own[0]), *b = upload(own[1]);
	float *c = (float *)zeros((size_t)m * n * 4);
	float *plain = (float *)zeros((size_t)m * n * 4);

	product_make(p, m, n, k, q.alpha, a, b, c, ta, tb);
	probe(p), cast(p), multiply_casts(p);
	const std::vector<float> before = download(c, (size_t)m * n);
	verify(p), mend(p);
	sgemm(p, plain);
	MUST(cudaDeviceSynchronize());
	const std::vector<float> after = download(c, (size_t)m * n);
	const std::vector<float> fp32 = download(plain, (size_t)m * n);
	const std::vector<double> t = exact(q);
	const struct ac_verified_state s = download(p.v.state, 1)[0];
	const errors e[3] = { errors_of(before, t, m), errors_of(after, t, m),
		errors_of(fp32, t, m) };
	int bad = 0, missed = 0, vain = 0, classes = 0;

	for (size_t i = 0; i < after.size(); i++)
		classes += kind_of(after[i]) != kind_of(fp32[i]);
	for (int l = 0; l < m + n; l++) {
		bad += e[0].line[l] > tol && e[0].line[l] > 4 * e[2].line[l];
		missed += e[1].line[l] > 2 * tol
		    && e[1].line[l] > 4 * e[2].line[l];
		vain += e[0].line[l] < 0.7 * tol
		    && (s.all || is_flagged(p, l));
	}
	for (const float &x : after)
		total.hash = (total.hash ^ *(const uint32_t *)&x)
		    * 1099511628211ull;
	printf("%-12s %c%c whole %.1e %.1e %.1e line %.1e %.1e %.1e lines "
	    "%d bad %d missed %d vain; flagged %u %u%s; classes %d\n",
	    verified_family_names[family], ta ? 'T' : 'N', tb ? 'T' : 'N',
	    e[0].whole, e[1].whole, e[2].whole, e[0].worst, e[1].worst,
	    e[2].worst, bad, missed, vain, s.flagged[0], s.flagged[1],
	    s.all ? " all" : "", classes);
	total.bad += bad, total.missed += missed, total.vain += vain;
	total.classes += classes != 0, total.alls += s.all;
	total.differ += !agrees(p, own[0], own[1], before, c);
	total.worse += s.all && e[1].whole > 1.5 * e[2].whole;
	product_free(p);
	verified_problem_free(&q);
	for (float *device : { a, b, c, plain })
		MUST(cudaFree(device));
}

/* ---- Times ------------------------------------------------------------- */

template <class call> static double
time_of(call run)
{
	cudaEvent_t from, to;
	std::vector<float> times;
	int calls = 1;

	MUST(cudaEventCreate(&from));
	MUST(cudaEventCreate(&to));
	for (int sample = -3; sample < 15; sample++) {
		float ms;

		MUST(cudaEventRecord(from, 0));
		for (int i = 0; i < calls; i++)
			run();
		MUST(cudaEventRecord(to, 0));
		MUST(cudaEventSynchronize(to));
		MUST(cudaEventElapsedTime(&ms, from, to));
		if (sample < 0) /* a sample takes 2 ms at least */
			calls = (int)std::max(1.f, std::min(2000.f,
			    2 * calls / std::max(ms, 1e-4f)));
		else
			times.push_back(1e3f * ms / calls);
	}
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

static void
say(const char *what, double us)
{
	printf("  %-28s %9.2f us\n", what, us);
	fflush(stdout);
}

/* Flags as if verify had set them: `lines` rows, or columns. */
static void
flag(const product &p, int side, int lines)
{
	struct ac_verified_state s = download(p.v.state, 1)[0];
	std::vector<uint32_t> words(ac_verified_words(p.v.operand[side].lines));

	for (int i = 0; i < lines; i++)
		words[(size_t)i * words.size() / lines] |= 1u << i % 32;
	MUST(cudaMemcpy(p.v.operand[side].flags, words.data(),
	    words.size() * 4, cudaMemcpyHostToDevice));
	s.flagged[0] = s.flagged[1] = 0;
	s.flagged[side] = lines;
	s.all = lines < 0;
	MUST(cudaMemcpy(p.v.state, &s, sizeof s, cudaMemcpyHostToDevice));
}

static void
time_mends(const product &p)
{
	static const int counts[] = { 1, 16, 64, -1 };

	for (int side = 0; side < 2; side++)
		for (int count : counts) {
			char name[40];

			if (count < 0 && side)
				continue;
			flag(p, side, count);
			snprintf(name, sizeof name, count < 0 ? "mend all"
			    : "mend %d %s", count, side ? "columns" : "rows");
			say(name, time_of([&] { mend(p); }));
		}
}

static void
time_size(int64_t m, int64_t n, int64_t k, bool ta, bool tb)
{
	std::vector<float> a(m * k), b(k * n);
	verified_problem pool;
	product p;

	verified_problem_make(0, 251, 1, 257, 1, &pool); /* normal */
	for (size_t i = 0; i < a.size(); i++)
		a[i] = pool.a[i % 64507];
	for (size_t i = 0; i < b.size(); i++)
		b[i] = pool.a[(i * 3 + 5) % 64507];
	verified_problem_free(&pool);
	float *da = upload(a), *db = upload(b);
	float *c = (float *)zeros(m * n * 4), *d = (float *)zeros((m + n) * k
	    * 8);

	product_make(p, m, n, k, 1, da, db, c, ta, tb);
	printf("%lld x %lld x %lld %c%c, slices of %lld\n", (long long)m,
	    (long long)n, (long long)k, ta ? 'T' : 'N', tb ? 'T' : 'N',
	    (long long)p.v.slice);
	run_all(p);
	MUST(cudaDeviceSynchronize());
	const struct ac_verified_state s = download(p.v.state, 1)[0];

	printf("  flagged %u %u all %u\n", s.flagged[0], s.flagged[1], s.all);
	say("probe", time_of([&] { probe(p); }));
	say("cast", time_of([&] { cast(p); }));
	/* Read and written: 3 bytes for each of the 6 of cast. */
	say("copy of cast's bytes", time_of([&] { MUST(cudaMemcpyAsync(d,
	    d + (m + n) * k, 3 * (m + n) * k, cudaMemcpyDeviceToDevice,
	    0)); }));
	say("product in FP16", time_of([&] { multiply_casts(p); }));
	say("verify", time_of([&] { verify(p); }));
	run_all(p);
	say("mend nothing", time_of([&] { mend(p); }));
	say("all five", time_of([&] { run_all(p); }));
	say("SGEMM", time_of([&] { sgemm(p, c); }));
	time_mends(p);
	product_free(p);
	for (float *device : { da, db, c, d })
		MUST(cudaFree(device));
}

int
main(int argc, char **argv)
{
	static const int sizes[][3] = { { 317, 289, 203 }, { 1000, 33, 130 },
		{ 64, 64, 64 }, { 129, 1, 300 }, { 150, 140, 8192 },
		{ 1000, 900, 1000 } };
	static const int64_t times[][3] = { { 1024, 1024, 1024 },
		{ 2048, 2048, 2048 }, { 4096, 4096, 4096 },
		{ 128, 4096, 4096 }, { 8192, 8192, 8192 } };
	const bool given = argc > 4;
	totals total = {};

	MUST(cublasCreate(&handle));
	MUST(cudaDeviceGetAttribute(&sm_count,
	    cudaDevAttrMultiProcessorCount, 0));
	if (argc > 1 && argv[1][0] == 't') {
		for (const int64_t (&t)[3] : times) {
			time_size(t[0], t[1], t[2], false, false);
			time_size(t[0], t[1], t[2], true, false);
		}
		return 0;
	}
	for (const int (&s)[3] : sizes) {
		const int own[3] = { given ? atoi(argv[2]) : s[0],
			given ? atoi(argv[3]) : s[1],
			given ? atoi(argv[4]) : s[2] };

		for (int f = 0; f < VERIFIED_FAMILIES; f++)
			for (int i = 0; i < (argc > 5 ? atoi(argv[5]) : 1); i++)
				check(f, own, f + i, total);
		if (given)
			break;
	}
	printf("total: bad %d, missed %d, in vain %d; classes differ in %d; "
	    "all %d times; worse than 1.5 SGEMM %d times; twins differ %d times; "
	    "hash %016llx\n", total.bad, total.missed, total.vain, total.classes, total.alls,
	    total.worse, total.differ, total.hash);
	return 0;
}
