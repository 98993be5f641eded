/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/gemm_arguments.c -- gemm_client's command line. */
#include "gemm_client.h"

enum { POSITIONALS = 15 };

struct word {
	const char *name;
	int value;
};

static const struct word computes[] = {
	{ "32f", CUBLAS_COMPUTE_32F },
	{ "32f-pedantic", CUBLAS_COMPUTE_32F_PEDANTIC },
	{ "32f-fast-16f", CUBLAS_COMPUTE_32F_FAST_16F },
	{ "32f-fast-16bf", CUBLAS_COMPUTE_32F_FAST_16BF },
	{ "32f-fast-tf32", CUBLAS_COMPUTE_32F_FAST_TF32 },
	{ NULL, 0 },
};

static const struct word maths[] = {
	{ "default", CUBLAS_DEFAULT_MATH },
	{ "tensor", 1 /* CUBLAS_TENSOR_OP_MATH, deprecated */ },
	{ "pedantic", CUBLAS_PEDANTIC_MATH },
	{ "tf32", CUBLAS_TF32_TENSOR_OP_MATH },
	{ "no-reduced", CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION },
	{ NULL, 0 },
};

static const struct word operations[] = {
	{ "n", CUBLAS_OP_N }, { "t", CUBLAS_OP_T }, { "c", CUBLAS_OP_C },
	{ "bad", 17 }, { NULL, 0 },
};

void
arguments_reject(const char *what, const char *value)
{
	fprintf(stderr, "gemm_client: %s%s\n"
	    "usage: gemm_client FORM TA TB M N K LDA LDB LDC BATCH ALPHA BETA "
	    "DIST SEED OUT [OPTION...]\n"
	    "       gemm_client forms\n"
	    "TA, TB: n t c. A leading dimension 0 is the smallest one. OUT - "
	    "is none.\n"
	    "options: reference device-scalars alias=ab|ac|bc compute=C "
	    "algo=N math=M gap=N offset=N\n"
	    "         stride-a=0 stride-b=0 stream workspace=BYTES repeat=N "
	    "nan-c\n", what, value);
	exit(EXIT_USAGE);
}

static int
find_word(const struct word *words, const char *name)
{
	for (; words->name; words++)
		if (!strcmp(words->name, name))
			return words->value;
	arguments_reject("unknown word ", name);
	return 0;
}

static int64_t
to_integer(const char *text)
{
	char *end;
	long long value = strtoll(text, &end, 0);

	if (end == text || *end)
		arguments_reject("not an integer: ", text);
	return value;
}

static float
to_float(const char *text)
{
	char *end;
	float value = strtof(text, &end);

	if (end == text || *end)
		arguments_reject("not a number: ", text);
	return value;
}

static void
parse_option(const char *text, struct options *opt, struct product *p)
{
	const size_t name = strcspn(text, "=");
	const char *value = text + name + (text[name] == '=');
#define IS(word) (name == sizeof word - 1 && !strncmp(text, word, name))
	if (IS("reference"))
		opt->reference = true;
	else if (IS("device-scalars"))
		opt->device_scalars = true;
	else if (IS("stream"))
		opt->stream = true;
	else if (IS("nan-c"))
		opt->nan_c = true;
	else if (IS("alias"))
		opt->alias = value;
	else if (IS("compute"))
		p->compute = find_word(computes, value);
	else if (IS("algo"))
		p->algo = (cublasGemmAlgo_t)to_integer(value);
	else if (IS("math"))
		opt->math = find_word(maths, value);
	else if (IS("gap"))
		opt->gap = to_integer(value);
	else if (IS("offset"))
		opt->offset = to_integer(value);
	else if (IS("stride-a"))
		opt->share_a = !to_integer(value);
	else if (IS("stride-b"))
		opt->share_b = !to_integer(value);
	else if (IS("workspace"))
		opt->workspace = to_integer(value);
	else if (IS("repeat"))
		opt->repeat = to_integer(value);
	else
		arguments_reject("unknown option ", text);
#undef IS
}

static struct product
parse_product(char **arg)
{
	struct product p = { .compute = CUBLAS_COMPUTE_32F,
		.algo = CUBLAS_GEMM_DEFAULT };

	p.transa = (cublasOperation_t)find_word(operations, arg[2]);
	p.transb = (cublasOperation_t)find_word(operations, arg[3]);
	p.m = to_integer(arg[4]);
	p.n = to_integer(arg[5]);
	p.k = to_integer(arg[6]);
	p.lda = to_integer(arg[7]);
	p.ldb = to_integer(arg[8]);
	p.ldc = to_integer(arg[9]);
	p.batch = to_integer(arg[10]);
	p.alpha = to_float(arg[11]);
	p.beta = to_float(arg[12]);
	if (!p.lda)
		p.lda = largest(stored(p.transa, p.m, p.k).rows, 1);
	if (!p.ldb)
		p.ldb = largest(stored(p.transb, p.k, p.n).rows, 1);
	if (!p.ldc)
		p.ldc = largest(p.m, 1);
	return p;
}

struct arguments
arguments_parse(int argc, char **argv)
{
	struct arguments args = { .options = { .repeat = 1 } };

	if (argc == 2 && !strcmp(argv[1], "forms")) {
		form_list(stdout);
		exit(EXIT_SUCCESS);
	}
	if (argc <= POSITIONALS)
		arguments_reject("too few arguments", "");
	args.product = parse_product(argv);
	for (int i = POSITIONALS + 1; i < argc; i++)
		parse_option(argv[i] + strspn(argv[i], "-"), &args.options,
		    &args.product);
	args.form = form_find(argv[1]);
	if (!args.form)
		arguments_reject("unknown form ", argv[1]);
	if (!form_is_batched(args.form))
		args.product.batch = 1;
	args.distribution = distribution_find(argv[13]);
	if (!args.distribution)
		arguments_reject("unknown distribution ", argv[13]);
	args.seed = (uint64_t)to_integer(argv[14]);
	args.out = argv[15];
	return args;
}
