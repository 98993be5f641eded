/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/verified_time.h -- what each launch of a verified product
 * takes: a part of verified.cu, which includes this. */

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

/* What mend writes where the product is apart and good. */
static void
time_apart(const product &p)
{
	const struct ac_verified &v = p.v;
	static const struct {
		const char *name;
		uint32_t activation;
		bool bias, beta, sums;
	} cases[] = {
		{ "apart: bias", AC_ACTIVATION_NONE, true, false, false },
		{ "apart: beta C", AC_ACTIVATION_NONE, false, true, false },
		{ "apart: bias, ReLU", AC_ACTIVATION_RELU, true, false,
		  false },
		{ "apart: bias, GELU", AC_ACTIVATION_GELU, true, false,
		  false },
		{ "apart: sums of rows", AC_ACTIVATION_NONE, false, false,
		  true },
	};
	product q;

	q.v = v;
	q.v.output.d = q.get<float>(v.m * v.n);
	q.v.output.c = q.v.output.d;
	q.v.output.d_ld = q.v.output.c_ld = v.m;
	for (const auto &c : cases) {
		struct ac_verified_tail &t = q.v.output.tail;

		t = {};
		t.activation = c.activation;
		q.v.output.beta.value = c.beta ? 0.5f : 0;
		if (c.bias)
			t.bias = q.get<float>(v.m);
		if (c.sums) {
			t.sums = q.get<float>(v.m);
			t.partials = q.get<double>(ac_verified_partials(v.m,
			    v.n, 1));
			t.arrived = q.get<uint32_t>(v.m / 128 + 2);
		}
		say(c.name, time_of([&] { mend(q); }));
	}
	float *d = q.v.output.d;

	say("copy of the product", time_of([&] { MUST(cudaMemcpyAsync(d,
	    v.output.product, v.m * v.n * 4, cudaMemcpyDeviceToDevice,
	    0)); }));
	product_free(q);
}

static void
time_size(int64_t m, int64_t n, int64_t k, int64_t batch, bool ta, bool tb)
{
	std::vector<float> a(m * k * batch), b(k * n * batch);
	verified_problem pool;
	product p;

	verified_problem_make(0, 251, 1, 257, 1, &pool); /* normal */
	for (size_t i = 0; i < a.size(); i++)
		a[i] = pool.a[i % 64507];
	for (size_t i = 0; i < b.size(); i++)
		b[i] = pool.a[(i * 3 + 5) % 64507];
	verified_problem_free(&pool);
	float *da = upload(a), *db = upload(b);
	const int64_t count = (m + n) * k * batch;
	float *c = (float *)zeros(m * n * batch * 4);
	float *d = (float *)zeros(count * 8);

	product_make(p, m, n, k, batch, 1, da, db, c, ta, tb);
	printf("%lld x %lld x %lld %c%c, %lld of them, slices of %lld\n",
	    (long long)m, (long long)n, (long long)k, ta ? 'T' : 'N',
	    tb ? 'T' : 'N', (long long)batch, (long long)p.v.slice);
	run_all(p);
	MUST(cudaDeviceSynchronize());
	const struct ac_verified_state s = download(p.v.state, 1)[0];

	printf("  flagged %u %u all %u\n", s.flagged[0], s.flagged[1], s.all);
	say("probe", time_of([&] { probe(p); }));
	say("cast", time_of([&] { cast(p); }));
	/* Read and written: 3 bytes for each of the 6 of cast. */
	say("copy of cast's bytes", time_of([&] { MUST(cudaMemcpyAsync(d,
	    d + count, 3 * count, cudaMemcpyDeviceToDevice, 0)); }));
	say("product in FP16", time_of([&] { multiply_casts(p); }));
	say("verify", time_of([&] { verify(p); }));
	run_all(p);
	say("mend nothing", time_of([&] { mend(p); }));
	if (batch == 1)
		time_apart(p);
	say("all five", time_of([&] { run_all(p); }));
	say("SGEMM", time_of([&] { sgemm(p, c); }));
	if (batch == 1)
		time_mends(p);
	product_free(p);
	for (float *device : { da, db, c, d })
		MUST(cudaFree(device));
}
