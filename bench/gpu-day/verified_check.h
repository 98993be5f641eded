/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/verified_check.h -- a family of data through the kernels of
 * verified.cu, which includes this: against FP64, against SGEMM, against the
 * CPU twins. */
#ifndef AC_BENCH_VERIFIED_CHECK_H
#define AC_BENCH_VERIFIED_CHECK_H

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

struct emu_twin_launch;
typedef void twin(const struct emu_twin_launch *, void **);
extern "C" {
twin ac_twin_verified_probe, ac_twin_verified_cast, ac_twin_verified_verify,
    ac_twin_verified_mend;
/* What twins.c has, which would need all the others. */
unsigned long ac_twin_bytes_read, ac_twin_bytes_written;
void (*ac_twin_moved)(unsigned long, unsigned long, double);
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

	product_make(p, m, n, k, 1, q.alpha, a, b, c, ta, tb);
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

#endif
