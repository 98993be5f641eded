/* SPDX-License-Identifier: Apache-2.0 */
/* tests/trust/rhythm.c -- a program with a rhythm of its own: products at one
 * place of the program, on data that alternate, turn, recur.
 *
 *   rhythm [OPTION=VALUE]... STEP...
 *
 * A step is LAYER[+LAYER...]:N, that many turns through its layers; a layer is
 * KIND or KIND*COUNT. Each layer of a step has its own operands. A step that
 * begins with graph: is captured once and replayed N times; graph:again:N does
 * so with the layers of the step before.
 *   m= n= k=    the size (64, 48, 96)
 *   batch=      matrices of a strided batch (1: cublasSgemm)
 *   odd=KIND@I  matrix I of a batch of kind odd has that kind
 *   split=      K in that many calls, added up by beta (1)
 *   places=     2: the calls of a split that add are at a place of their own
 *   sync=       wait for the device after so many units; 0: never (1)
 *   recycled=   operands are copied into so many pairs of buffers first, in
 *               turn (0)
 *   vary=       m grows by one with each turn, VARY sizes in all (1)
 *   drift=      A grows by that factor after each use (1)
 *   mask= bias= whole=  of the kinds of data (1e9, 1000, 50)
 *   lt=EPILOGUE the products go through cublasLt; that epilogue follows the
 *               last part of a split, none the others (cuBLAS)
 *   apart=      1: C is another matrix than D (0)
 *   lift= shift=  biases are up to lift times the product, about shift times
 *               it (1, 0)
 *   against=    of the kinds of data (1e-3)
 *   asks=       1: for an algorithm, at each call that is not captured (0)
 * Prints a line for each unit, a product or a split one, in order:
 *   NUMBER KIND ERROR WRONG SAME LAYER [graph]
 * NUMBER is that of its last call at the place that has more of them; a replay
 * counts as one, and says so. ERROR is against
 * the same calls in pedantic FP32: the worst matrix, by the norm of the result
 * or of what was added to C where C does not hide it (2^12), the worse of both.
 * Behind an epilogue it is that of D, as far as D shows the product, of AUX and
 * of a bias' gradient.
 * WRONG counts outputs that are whole numbers in FP32 and something else here,
 * of kinds that have such. SAME is 1 where all bits are those of pedantic FP32:
 * a kept call. LAYER numbers the layers, those of all sizes alike.
 * */
#include "tests/trust/rhythm.h"

#include <math.h>

enum { LAYERS = 4096, PAIRS = 8 };

struct rhythm_options rhythm = {
	.m = 64, .n = 48, .k = 96, .batch = 1, .split = 1, .places = 1,
	.sync = 1, .vary = 1, .odd_at = -1, .whole = 50, .drift = 1,
	.mask = 1e9, .bias = 1000, .lift = 1, .against = 1e-3
};
#define o rhythm /* in nearly every line */

static struct {
	cublasHandle_t handle, pedantic;
	cudaStream_t stream;
	struct layer *layers[LAYERS];
	int layer_count;
	struct layer **step;            /* those of the latest step */
	int step_count;
	struct unit *first, **end;
	float *a[PAIRS], *b[PAIRS];     /* that are recycled */
	int copied;
	float *apart;                   /* where every other part goes */
	bool capturing;
	long calls;
} s;

static size_t
count_a(void)
{
	return (size_t)o.batch * (size_t)(o.m + o.vary) * (size_t)o.k;
}

static size_t
count_b(void)
{
	return (size_t)o.batch * (size_t)o.k * (size_t)o.n;
}

/* ---- Products ---------------------------------------------------------- */

struct product {
	const struct layer *l;
	const float *a, *b;
	float *c;
	const struct unit *to;          /* NULL: nothing follows */
	int part;
};

#define MULTIPLY(handle, p, alpha, beta, from, depth) (o.batch == 1 \
	? cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, (p)->l->m, o.n,      \
	    depth, alpha, (p)->a + (size_t)(from) * (size_t)(p)->l->m,       \
	    (p)->l->m, (p)->b + (from), o.k, beta, (p)->c, (p)->l->m)        \
	: cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N,        \
	    (p)->l->m, o.n, depth, alpha,                                    \
	    (p)->a + (size_t)(from) * (size_t)(p)->l->m, (p)->l->m,          \
	    (long long)(p)->l->m * o.k, (p)->b + (from), o.k,                \
	    (long long)o.k * o.n, beta, (p)->c, (p)->l->m,                   \
	    (long long)(p)->l->m * o.n, o.batch))

/* Parts go to C and the matrix next to it in turn, the last one to C. */
static float *
part_at(const struct product *p, int part)
{
	return o.apart && (o.split - 1 - part) % 2 ? s.apart : p->c;
}

static void
multiply_lt(cublasHandle_t handle, const struct product *p, float beta,
    int from, int depth)
{
	const int m = p->l->m;
	const struct rhythm_lt lt = {
		.handle = (cublasLtHandle_t)s.handle, .stream = s.stream,
		.compute = handle == s.handle ? CUBLAS_COMPUTE_32F
		    : CUBLAS_COMPUTE_32F_PEDANTIC,
		.m = m, .n = o.n, .k = depth, .lda = m, .ldb = o.k,
		.batch = o.batch, .stride_a = (int64_t)m * o.k,
		.stride_b = (int64_t)o.k * o.n,
		.a = p->a + (size_t)from * (size_t)m, .b = p->b + from,
		.c = beta == 0 ? NULL : p->part ? part_at(p, p->part - 1)
		    : o.apart ? p->l->before : p->c,
		.d = part_at(p, p->part), .beta = beta,
		.tail = p->to && p->part == o.split - 1 ? &p->l->tail : NULL,
		.aux_out = p->to ? p->to->aux : NULL,
		.sums = p->to ? p->to->sums : NULL,
		.asks = o.asks && !s.capturing
	};

	rhythm_lt_multiply(&lt);
	s.calls += handle == s.handle && (o.split == 1 || !lt.tail
	    || o.lt == CUBLASLT_EPILOGUE_DEFAULT);
}

/* One part of K; the two branches are two places of this program. */
static void
multiply_part(cublasHandle_t handle, const struct product *p)
{
	const int depth = o.k / o.split, from = p->part * depth;
	const float beta = p->part ? 1 : p->l->beta;

	if (o.lt) {
		multiply_lt(handle, p, beta, from, depth);
		return;
	}
	if (p->part && o.places == 2) {
		BLAS(MULTIPLY(handle, p, &one, &beta, from, depth));
	} else {
		BLAS(MULTIPLY(handle, p, &one, &beta, from, depth));
	}
	/* Of two places, the one that adds has more calls, or as many. */
	s.calls += handle == s.handle && (p->part || o.places == 1
	    || o.split == 1);
}

static void
multiply(cublasHandle_t handle, const struct layer *l, const float *a,
    const float *b, const struct unit *to, float *c)
{
	struct product p = { .l = l, .a = a, .b = b, .c = c, .to = to };

	if (l->before && !o.apart)
		CUDA(cudaMemcpyAsync(c, l->before, rhythm_count_c(l)
		    * sizeof *c, cudaMemcpyDeviceToDevice, s.stream));
	for (p.part = 0; p.part < o.split; p.part++)
		multiply_part(handle, &p);
}

/* ---- Layers ------------------------------------------------------------ */

/* Whether the epilogue's bias is that of the kind, and C is not. */
static bool
is_tail_bias(enum kind kind)
{
	return rhythm_tail_adds(o.lt) && (kind == KIND_bias
	    || kind == KIND_biasbad);
}

static struct unit *new_unit(const struct layer *l);
static void drop_unit(struct unit *u);

/* What pedantic FP32 makes of the layer. */
static void
want(struct layer *l)
{
	struct unit *u = new_unit(l);

	multiply(s.pedantic, l, l->a, l->b, u, u->c);
	CUDA(cudaStreamSynchronize(s.stream));
	client_host(l->wanted, u->c, rhythm_count_c(l));
	if (u->sums) {
		l->sums = client_allocate(rhythm_count_sums(l), sizeof(float));
		client_host(l->sums, u->sums, rhythm_count_sums(l));
	}
	drop_unit(u);
}

static void
oppose(struct layer *l, double size, uint64_t *seed)
{
	const size_t count = rhythm_count_c(l);

	client_expect(!l->start, "the kind has no C of its own");
	l->start = client_allocate(count, sizeof *l->start);
	for (size_t i = 0; i < count; i++) {
		l->start[i] = (float)(o.against * size * (2 * client_uniform(
		    seed) - 1 + o.shift) - (double)l->plain[i]);
		l->plain[i] += l->start[i];
	}
	l->before = client_device(l->start, count);
	CUDA(cudaDeviceSynchronize());
	l->beta = 1;
}

/* What follows, of biases as large as the product, and the product without. */
static void
make_tail(struct layer *l, uint64_t *seed)
{
	const size_t count = rhythm_count_c(l);
	struct unit *u = new_unit(l);
	float *bias = client_allocate(rhythm_count_sums(l), sizeof *bias);
	double square = 0;

	multiply(s.pedantic, l, l->a, l->b, NULL, u->c);
	CUDA(cudaStreamSynchronize(s.stream));
	l->plain = client_allocate(count, sizeof(float));
	client_host(l->plain, u->c, count);
	drop_unit(u);
	for (size_t i = 0; i < count; i++) {
		const double x = (double)l->plain[i]
		    - (l->beta != 0 ? (double)l->start[i] : 0);

		square += x * x / (double)count;
	}
	for (size_t i = 0; i < rhythm_count_sums(l); i++) {
		const size_t at = i / (size_t)l->m * (size_t)(l->m * o.n)
		    + i % (size_t)l->m;

		if (is_tail_bias(l->kind))
			bias[i] = l->start[at];
		else if (l->kind == KIND_opposed)
			bias[i] = (float)(o.against * sqrt(square)
			    * (2 * client_uniform(seed) - 1 + o.shift)
			    - (double)l->plain[at]);
	}
	l->tail = rhythm_tail_draw(o.lt, l->m, o.n, o.batch,
	    rhythm_counts(l) ? 0 : o.lift * sqrt(square),
	    o.shift * sqrt(square), is_tail_bias(l->kind)
	    || l->kind == KIND_opposed ? bias : NULL,
	    seed);
	free(bias);
	if (l->kind == KIND_opposed && !rhythm_tail_adds(o.lt))
		oppose(l, sqrt(square), seed);
}

static void
make_layer(enum kind kind, int m, int number)
{
	struct layer *l = client_allocate(1, sizeof *l);
	uint64_t seed = 1000 * (uint64_t)kind + 77 * (uint64_t)s.layer_count +
	    1;
	const bool adds = rhythm_kind_adds(kind);
	float *a, *b, *c;

	*l = (struct layer){
		.kind = kind, .m = m, .number = number,
		.beta = adds && !is_tail_bias(kind)
	};
	a = client_allocate(count_a(), sizeof *a);
	b = client_allocate(count_b(), sizeof *b);
	c = client_allocate(rhythm_count_c(l), sizeof *c);
	for (int i = 0; i < o.batch; i++) {
		const struct rhythm_data data = {
			.kind = kind != KIND_odd ? kind
			    : i == o.odd_at ? o.odd : KIND_good,
			.m = m, .n = o.n, .k = o.k, .whole = o.whole,
			.mask = o.mask, .bias = o.bias,
			.a = a + (size_t)i * (size_t)m * (size_t)o.k,
			.b = b + (size_t)i * (size_t)(o.k * o.n),
			.c = adds ? c + (size_t)i * (size_t)(m * o.n) : NULL,
		};

		rhythm_data_draw(&data, &seed);
		for (int j = 1; kind == KIND_opposed && rhythm_tail_adds(o.lt)
		    && j < o.n; j++)
			memcpy(data.b + (size_t)j * (size_t)o.k, data.b,
			    (size_t)o.k * sizeof *b);
	}
	l->a = client_device(a, count_a());
	l->b = client_device(b, count_b());
	l->start = adds ? c : NULL;
	l->before = adds ? client_device(c, rhythm_count_c(l)) : NULL;
	l->wanted = client_allocate(rhythm_count_c(l), sizeof(float));
	free(a);
	free(b);
	/* Copies from the host end before the copy to the device does. */
	CUDA(cudaDeviceSynchronize());
	if (o.lt)
		make_tail(l, &seed);
	want(l);
	client_expect(s.layer_count < LAYERS, "so many layers");
	s.layers[s.layer_count++] = l;
}

/* ---- Units ------------------------------------------------------------- */

static void
print_all(void)
{
	CUDA(cudaStreamSynchronize(s.stream));
	while (s.first) {
		struct unit *u = s.first;

		rhythm_print(u, "");
		s.first = u->next;
		drop_unit(u);
	}
	s.end = &s.first;
}

static float *
new_floats(size_t count)
{
	void *floats;

	CUDA(cudaMalloc(&floats, count * sizeof(float)));
	return floats;
}

static struct unit *
new_unit(const struct layer *l)
{
	struct unit *u = client_allocate(1, sizeof *u);

	u->layer = l;
	u->c = new_floats(rhythm_count_c(l));
	if (rhythm_tail_writes(o.lt))
		u->aux = new_floats(rhythm_tail_room(l->m, o.n, o.batch));
	if (rhythm_tail_sums(o.lt))
		u->sums = new_floats(rhythm_count_sums(l));
	return u;
}

static void
drop_unit(struct unit *u)
{
	CUDA(cudaFree(u->c));
	CUDA(cudaFree(u->wanted));
	CUDA(cudaFree(u->plain));
	CUDA(cudaFree(u->aux));
	CUDA(cudaFree(u->sums));
	free(u);
}

/* It will be printed. */
static struct unit *
next_unit(const struct layer *l)
{
	struct unit *u = new_unit(l);

	*s.end = u;
	s.end = &u->next;
	return u;
}

/* What is wanted of this unit alone, AUX included; then A grows. */
static void
drift(const struct layer *l, struct unit *u, const float *a, const float *b)
{
	const float factor = (float)o.drift;

	u->wanted = new_floats(rhythm_count_c(l));
	multiply(s.pedantic, l, a, b, u, u->wanted);
	if (o.lt) {
		u->plain = new_floats(rhythm_count_c(l));
		multiply(s.pedantic, l, a, b, NULL, u->plain);
	}
	BLAS(cublasSscal(s.handle, (int)count_a(), &factor, l->a, 1));
}

static void
run_unit(const struct layer *l, struct unit *u)
{
	const float *a = l->a, *b = l->b;

	if (o.recycled) {
		float *to_a = s.a[s.copied % o.recycled];
		float *to_b = s.b[s.copied++ % o.recycled];

		CUDA(cudaMemcpyAsync(to_a, l->a, count_a() * sizeof(float),
		    cudaMemcpyDeviceToDevice, s.stream));
		CUDA(cudaMemcpyAsync(to_b, l->b, count_b() * sizeof(float),
		    cudaMemcpyDeviceToDevice, s.stream));
		a = to_a;
		b = to_b;
	}
	multiply(s.handle, l, a, b, u, u->c);
	u->number = s.calls;
	if (o.drift != 1)
		drift(l, u, a, b);
}

/* ---- Steps ------------------------------------------------------------- */

static enum kind
kind_of(const char *word, size_t length)
{
	for (int i = 0; i < KIND_COUNT; i++)
		if (strlen(rhythm_kinds[i]) == length
		    && !strncmp(word, rhythm_kinds[i], length))
			return (enum kind)i;
	exit(EXIT_USAGE);
}

/* One size of the layers that `word` names, numbered from `first`; returns how
 * many. */
static int
make_layers(const char *word, int m, int first)
{
	int count = 0;

	for (;; word++) {
		const size_t length = strcspn(word, "*+:");
		const enum kind kind = kind_of(word, length);
		int times = 1;

		word += length;
		if (*word == '*') {
			times = atoi(++word);
			word += strspn(word, "0123456789");
		}
		for (; times; times--, count++)
			make_layer(kind, m, first + count);
		if (*word != '+')
			return count;
	}
}

static void
replay(struct layer **layers, int count, int turns)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	struct unit *units[LAYERS];

	for (int i = 0; i < count; i++)
		units[i] = next_unit(layers[i]);
	s.capturing = true;
	CUDA(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < count; i++)
		run_unit(layers[i], units[i]);
	CUDA(cudaStreamEndCapture(s.stream, &graph));
	s.capturing = false;
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < turns; i++) {
		CUDA(cudaGraphLaunch(exec, s.stream));
		CUDA(cudaStreamSynchronize(s.stream));
		for (int j = 0; j < count; j++) {
			s.calls += o.split;
			units[j]->number = s.calls;
			rhythm_print(units[j], " graph");
		}
	}
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
	s.first = NULL;
	s.end = &s.first;
}

static void
step(const char *word)
{
	const bool graph = !strncmp(word, "graph:", 6);
	const char *kinds = word + (graph ? 6 : 0), *colon = strchr(kinds, ':');
	struct layer **layers = s.layers + s.layer_count;
	const int first = s.layer_count;
	int turns, count = s.step_count, units = 0;

	if (!colon)
		exit(EXIT_USAGE);
	turns = atoi(colon + 1);
	if (strncmp(kinds, "again:", 6)) {
		s.step = layers;
		for (int v = 0; v < o.vary; v++)
			count = make_layers(kinds, o.m + v, first);
		s.step_count = count;
	}
	if (graph) {
		print_all();
		replay(s.step, count, turns);
		return;
	}
	for (int i = 0; i < turns; i++)
		for (int j = 0; j < count; j++) {
			const struct layer *l = layers[i % o.vary * count + j];

			run_unit(l, next_unit(l));
			if (o.sync && ++units % o.sync == 0)
				print_all();
		}
}

static bool
option(const char *word)
{
	static const struct { const char *name; int *to; } numbers[] = {
		{ "m", &o.m }, { "n", &o.n }, { "k", &o.k },
		{ "batch", &o.batch }, { "split", &o.split },
		{ "places", &o.places }, { "sync", &o.sync },
		{ "recycled", &o.recycled }, { "vary", &o.vary },
		{ "whole", &o.whole }, { "apart", &o.apart },
		{ "asks", &o.asks },
	};
	static const struct { const char *name; double *to; } reals[] = {
		{ "drift=", &o.drift }, { "mask=", &o.mask },
		{ "bias=", &o.bias }, { "lift=", &o.lift },
		{ "shift=", &o.shift }, { "against=", &o.against },
	};
	const size_t length = strcspn(word, "=");

	if (!word[length])
		return false;
	if (!strncmp(word, "lt=", 3)) {
		o.lt = rhythm_lt_epilogue(word + 3);
		if (!o.lt)
			exit(EXIT_USAGE);
		return true;
	}
	if (!strncmp(word, "odd=", 4)) {
		const size_t kind = strcspn(word + 4, "@");

		o.odd = kind_of(word + 4, kind);
		o.odd_at = atoi(word + 4 + kind + 1);
		return true;
	}
	for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
		if (!strncmp(word, reals[i].name, length + 1)) {
			*reals[i].to = atof(word + length + 1);
			return true;
		}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (strlen(numbers[i].name) == length
		    && !strncmp(numbers[i].name, word, length)) {
			*numbers[i].to = atoi(word + length + 1);
			return true;
		}
	exit(EXIT_USAGE);
}

int
main(int argc, char **argv)
{
	int at = 1;

	while (at < argc && option(argv[at]))
		at++;
	if (at == argc || o.recycled > PAIRS)
		return EXIT_USAGE;
	s.end = &s.first;
	CUDA(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
	BLAS(cublasCreate(&s.handle));
	BLAS(cublasCreate(&s.pedantic));
	BLAS(cublasSetStream(s.handle, s.stream));
	BLAS(cublasSetStream(s.pedantic, s.stream));
	BLAS(cublasSetMathMode(s.pedantic, CUBLAS_PEDANTIC_MATH));
	for (int i = 0; i < o.recycled; i++) {
		CUDA(cudaMalloc((void **)&s.a[i], count_a() * sizeof(float)));
		CUDA(cudaMalloc((void **)&s.b[i], count_b() * sizeof(float)));
	}
	s.apart = new_floats((size_t)o.batch * (size_t)(o.m + o.vary)
	    * (size_t)o.n);
	for (; at < argc; at++)
		step(argv[at]);
	print_all();
	BLAS(cublasDestroy(s.handle));
	BLAS(cublasDestroy(s.pedantic));
	return EXIT_SUCCESS;
}
