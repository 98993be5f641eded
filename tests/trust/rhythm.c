/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/trust/rhythm.c -- a program with a rhythm of its own: products at one
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
 *   recycled=   1: operands are copied into one pair of buffers first (0)
 *   vary=       m grows by one with each turn, VARY sizes in all (1)
 *   drift=      A grows by that factor after each use (1)
 *   mask= bias= whole=  of the kinds of data (1e9, 1000, 50)
 * Prints a line for each unit, a product or a split one, in order:
 *   NUMBER KIND ERROR WRONG SAME LAYER [graph]
 * NUMBER is that of its last call at the place that has more of them; a replay
 * counts as one, and says so. ERROR is against
 * the same calls in pedantic FP32: the worst matrix, by the norm of the result
 * or of what was added to C where C does not hide it (2^12), the worse of both.
 * WRONG counts outputs that are whole numbers in FP32 and something else here,
 * of kinds that have such. SAME is 1 where all bits are those of pedantic FP32:
 * a kept call. LAYER numbers the layers, those of all sizes alike.
 * */
#include "tests/preload/programs/client.h"
#include "tests/trust/rhythm_data.h"

#include <math.h>

enum { LAYERS = 4096, HIDES = 1 << 12 };

static struct options {
	int m, n, k, batch, split, places, sync, recycled, vary;
	enum kind odd;
	int odd_at, whole;
	double drift, mask, bias;
} o = { 64, 48, 96, 1, 1, 1, 1, 0, 1, KIND_good, -1, 50, 1, 1e9, 1000 };

/* The operands of one layer at one size, and what FP32 makes of them. */
struct layer {
	enum kind kind;
	int m, number;
	float beta;                     /* of its first call */
	float *a, *b;                   /* on the device */
	float *before;                  /* C's start; NULL: beta is 0 */
	float *wanted, *start;          /* on the host */
};

struct unit {
	const struct layer *layer;
	long number;
	float *c, *wanted;              /* wanted: NULL, the layer's */
	struct unit *next;
};

static struct {
	cublasHandle_t handle, pedantic;
	cudaStream_t stream;
	struct layer *layers[LAYERS];
	int layer_count;
	struct layer **step;            /* those of the latest step */
	int step_count;
	struct unit *first, **end;
	float *a, *b;                   /* the recycled pair */
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

static size_t
count_c(const struct layer *l)
{
	return (size_t)o.batch * (size_t)l->m * (size_t)o.n;
}

/* ---- Products ---------------------------------------------------------- */

struct product {
	const struct layer *l;
	const float *a, *b;
	float *c;
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

/* One part of K; the two branches are two places of this program. */
static void
multiply_part(cublasHandle_t handle, const struct product *p)
{
	const int depth = o.k / o.split, from = p->part * depth;
	const float one = 1, beta = p->part ? 1 : p->l->beta;

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
    const float *b, float *c)
{
	struct product p = { .l = l, .a = a, .b = b, .c = c };

	if (l->before)
		CUDA(cudaMemcpyAsync(c, l->before, count_c(l) * sizeof *c,
		    cudaMemcpyDeviceToDevice, s.stream));
	for (p.part = 0; p.part < o.split; p.part++)
		multiply_part(handle, &p);
}

/* ---- Layers ------------------------------------------------------------ */

static void
make_layer(enum kind kind, int m, int number)
{
	struct layer *l = client_allocate(1, sizeof *l);
	uint64_t seed = 1000 * (uint64_t)kind + 77 * (uint64_t)s.layer_count +
	    1;
	const bool adds = rhythm_kind_adds(kind);
	float *a, *b, *c;

	*l = (struct layer){
		.kind = kind, .m = m, .number = number, .beta = adds
	};
	a = client_allocate(count_a(), sizeof *a);
	b = client_allocate(count_b(), sizeof *b);
	c = client_allocate(count_c(l), sizeof *c);
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
	}
	l->a = client_device(a, count_a());
	l->b = client_device(b, count_b());
	l->start = adds ? c : NULL;
	l->before = adds ? client_device(c, count_c(l)) : NULL;
	l->wanted = client_allocate(count_c(l), sizeof(float));
	free(a);
	free(b);
	c = client_device(c, count_c(l));
	/* Copies from the host end before the copy to the device does. */
	CUDA(cudaDeviceSynchronize());
	multiply(s.pedantic, l, l->a, l->b, c);
	CUDA(cudaStreamSynchronize(s.stream));
	client_host(l->wanted, c, count_c(l));
	CUDA(cudaFree(c));
	client_expect(s.layer_count < LAYERS, "so many layers");
	s.layers[s.layer_count++] = l;
}

/* ---- Units ------------------------------------------------------------- */

struct sums {
	double wrong, result, added;
	double wrong_added;
	long inexact;
};

static void
add_output(const struct layer *l, size_t at, double wanted, float c,
    struct sums *sums)
{
	const double before = l->start ? (double)l->start[at] : 0;
	const double wrong = (double)c - wanted, added = wanted - before;

	sums->wrong += wrong * wrong;
	sums->result += wanted * wanted;
	if (fabs(before) <= HIDES * fabs(added)) {
		sums->wrong_added += wrong * wrong;
		sums->added += added * added;
	}
	sums->inexact += wanted == rint(wanted) && wanted != 0
	    && (rhythm_kind_counts(l->kind) || (l->kind == KIND_odd
	    && rhythm_kind_counts(o.odd)))
	    && !(fabs(wrong) <= 1e-6 * fabs(wanted));
}

static double
ratio(double wrong, double size)
{
	if (!(wrong >= 0))
		return 1e9;
	return size > 0 ? sqrt(wrong / size) : sqrt(wrong);
}

static void
print_unit(const struct unit *u, const char *how)
{
	const struct layer *l = u->layer;
	const size_t count = count_c(l), each = count / (size_t)o.batch;
	float *c = client_allocate(count, sizeof *c), *wanted = l->wanted;
	double worst = 0;
	long inexact = 0;

	client_host(c, u->c, count);
	if (u->wanted) {
		wanted = client_allocate(count, sizeof *wanted);
		client_host(wanted, u->wanted, count);
	}
	for (size_t at = 0; at < count; at += each) {
		struct sums sums = { 0 };

		for (size_t i = at; i < at + each; i++)
			add_output(l, i, (double)wanted[i], c[i], &sums);
		worst = fmax(worst, fmax(ratio(sums.wrong, sums.result),
		    ratio(sums.wrong_added, sums.added)));
		inexact += sums.inexact;
	}
	printf("%ld %s %.3e %ld %d %d%s\n", u->number, rhythm_kinds[l->kind],
	    worst, inexact, !memcmp(c, wanted, count * sizeof *c), l->number,
	    how);
	if (u->wanted)
		free(wanted);
	free(c);
}

static void
print_all(void)
{
	CUDA(cudaStreamSynchronize(s.stream));
	while (s.first) {
		struct unit *u = s.first;

		print_unit(u, "");
		CUDA(cudaFree(u->c));
		CUDA(cudaFree(u->wanted));
		s.first = u->next;
		free(u);
	}
	s.end = &s.first;
}

static struct unit *
new_unit(const struct layer *l)
{
	struct unit *u = client_allocate(1, sizeof *u);

	u->layer = l;
	CUDA(cudaMalloc((void **)&u->c, count_c(l) * sizeof(float)));
	*s.end = u;
	s.end = &u->next;
	return u;
}

/* What is wanted of this unit alone; then A grows. */
static void
drift(const struct layer *l, struct unit *u, const float *a, const float *b)
{
	const float factor = (float)o.drift;

	CUDA(cudaMalloc((void **)&u->wanted, count_c(l) * sizeof(float)));
	multiply(s.pedantic, l, a, b, u->wanted);
	BLAS(cublasSscal(s.handle, (int)count_a(), &factor, l->a, 1));
}

static void
run_unit(const struct layer *l, struct unit *u)
{
	const float *a = l->a, *b = l->b;

	if (o.recycled) {
		CUDA(cudaMemcpyAsync(s.a, l->a, count_a() * sizeof(float),
		    cudaMemcpyDeviceToDevice, s.stream));
		CUDA(cudaMemcpyAsync(s.b, l->b, count_b() * sizeof(float),
		    cudaMemcpyDeviceToDevice, s.stream));
		a = s.a;
		b = s.b;
	}
	multiply(s.handle, l, a, b, u->c);
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
		units[i] = new_unit(layers[i]);
	CUDA(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < count; i++)
		run_unit(layers[i], units[i]);
	CUDA(cudaStreamEndCapture(s.stream, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < turns; i++) {
		CUDA(cudaGraphLaunch(exec, s.stream));
		CUDA(cudaStreamSynchronize(s.stream));
		for (int j = 0; j < count; j++) {
			s.calls += o.split;
			units[j]->number = s.calls;
			print_unit(units[j], " graph");
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

			run_unit(l, new_unit(l));
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
		{ "whole", &o.whole },
	};
	static const struct { const char *name; double *to; } reals[] = {
		{ "drift=", &o.drift }, { "mask=", &o.mask },
		{ "bias=", &o.bias },
	};
	const size_t length = strcspn(word, "=");

	if (!word[length])
		return false;
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
	if (at == argc)
		return EXIT_USAGE;
	s.end = &s.first;
	CUDA(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
	BLAS(cublasCreate(&s.handle));
	BLAS(cublasCreate(&s.pedantic));
	BLAS(cublasSetStream(s.handle, s.stream));
	BLAS(cublasSetStream(s.pedantic, s.stream));
	BLAS(cublasSetMathMode(s.pedantic, CUBLAS_PEDANTIC_MATH));
	CUDA(cudaMalloc((void **)&s.a, count_a() * sizeof(float)));
	CUDA(cudaMalloc((void **)&s.b, count_b() * sizeof(float)));
	for (; at < argc; at++)
		step(argv[at]);
	print_all();
	BLAS(cublasDestroy(s.handle));
	BLAS(cublasDestroy(s.pedantic));
	return EXIT_SUCCESS;
}
