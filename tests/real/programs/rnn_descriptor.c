/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/rnn_descriptor.c -- descriptors of recurrent networks,
 * set rightly and wrongly and read back: a line each, by tables. With an
 * argument, it makes device 0 of that driver current first, so that there is a
 * GPU for all that a policy knows. Built with -DBEHIND it is a library that is
 * preloaded behind the tested one instead, and says what reaches cuDNN. */
#include <cudnn.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE(table) (sizeof(table) / sizeof *(table))

#ifdef BEHIND

__attribute__((visibility("default"))) cudnnStatus_t CUDNNWINAPI
cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnn, cudnnRNNAlgo_t algo,
    cudnnRNNMode_t cell, cudnnRNNBiasMode_t bias,
    cudnnDirectionMode_t direction, cudnnRNNInputMode_t input_mode,
    cudnnDataType_t type, cudnnDataType_t precision, cudnnMathType_t math,
    int32_t input, int32_t hidden, int32_t projection, int32_t layers,
    cudnnDropoutDescriptor_t dropout, uint32_t flags)
{
	const __typeof__(&cudnnSetRNNDescriptor_v8) set = (__typeof__(set))
	    (uintptr_t)dlsym(RTLD_NEXT, "cudnnSetRNNDescriptor_v8");
	const __typeof__(&cudnnGetRNNDescriptor_v8) get = (__typeof__(get))
	    (uintptr_t)dlsym(RTLD_NEXT, "cudnnGetRNNDescriptor_v8");
	const cudnnStatus_t status = set(rnn, algo, cell, bias, direction,
	    input_mode, type, precision, math, input, hidden, projection,
	    layers, dropout, flags);
	cudnnMathType_t has = (cudnnMathType_t)77;

	get(rnn, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &has, NULL, NULL,
	    NULL, NULL, NULL, NULL);
	fprintf(stderr, "reached %d: %d, has %d\n", (int)math, (int)status,
	    (int)has);
	return status;
}

#else

/* ---- networks ---------------------------------------------------------- */

enum { ALGO, CELL, BIAS, DIRECTION, INPUT_MODE, TYPE, PRECISION, MATH, INPUT,
	HIDDEN, PROJECTION, LAYERS, FLAGS, FIELDS };
static const int usual[FIELDS] = { 0, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, 0, 0,
	0, 0, 0, 8, 8, 8, 2, CUDNN_RNN_PADDED_IO_ENABLED };
static cudnnRNNDescriptor_t rnn;

static int
set(const int *f)
{
	return (int)cudnnSetRNNDescriptor_v8(rnn, (cudnnRNNAlgo_t)f[ALGO],
	    (cudnnRNNMode_t)f[CELL], (cudnnRNNBiasMode_t)f[BIAS],
	    (cudnnDirectionMode_t)f[DIRECTION],
	    (cudnnRNNInputMode_t)f[INPUT_MODE], (cudnnDataType_t)f[TYPE],
	    (cudnnDataType_t)f[PRECISION], (cudnnMathType_t)f[MATH], f[INPUT],
	    f[HIDDEN], f[PROJECTION], f[LAYERS], NULL, (uint32_t)f[FLAGS]);
}

/* Without output number `none`; what is not written stays 77. */
static void
get(int none)
{
	int f[FIELDS];
	cudnnDropoutDescriptor_t dropout = (cudnnDropoutDescriptor_t)77;
	int status;

	for (int i = 0; i < FIELDS; i++)
		f[i] = 77;
#define OUT(i) (none == i ? NULL : (void *)&f[i])
	status = (int)cudnnGetRNNDescriptor_v8(rnn, OUT(ALGO), OUT(CELL),
	    OUT(BIAS), OUT(DIRECTION), OUT(INPUT_MODE), OUT(TYPE),
	    OUT(PRECISION), OUT(MATH), OUT(INPUT), OUT(HIDDEN),
	    OUT(PROJECTION), OUT(LAYERS), none == FIELDS ? NULL : &dropout,
	    OUT(FLAGS));
	printf(" get %d:", status);
	for (int i = 0; i < FIELDS; i++)
		printf(" %d", f[i]);
	printf(" %s\n", dropout ? "untouched" : "null");
}

/* Each field by itself. Two of them together: see combinations(). */
static void
fields(void)
{
	static const int values[] = { -1, 0, 1, 2, 3, 4, 5, 7, 9, 16, 99,
		INT32_MAX };

	for (int field = 0; field < FIELDS; field++)
		for (size_t i = 0; i < SIZE(values); i++) {
			int f[FIELDS];

			memcpy(f, usual, sizeof f);
			f[field] = values[i];
			if (set(usual))
				exit(98);
			printf("%d = %d: set %d", field, values[i], set(f));
			get(-1);
		}
}

static void
combinations(void)
{
	static const int types[] = { CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE,
		CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16 };
	int f[FIELDS];

	for (int i = 0; i < 4 * 4 * 4; i++) {
		memcpy(f, usual, sizeof f);
		f[TYPE] = types[i % 4];
		f[PRECISION] = types[i / 4 % 4];
		f[MATH] = i / 16;
		printf("types %d %d, math %d: set %d", f[TYPE], f[PRECISION],
		    f[MATH], set(f));
		get(-1);
	}
	for (int i = 0; i < 4 * 2 * 4 * 2; i++) {
		memcpy(f, usual, sizeof f);
		f[CELL] = i % 4;
		f[PROJECTION] = i / 4 % 2 ? 4 : 8;
		f[ALGO] = i / 8 % 4;
		f[DIRECTION] = i / 32;
		printf("cell %d, projection %d, algo %d, direction %d: set %d",
		    f[CELL], f[PROJECTION], f[ALGO], f[DIRECTION], set(f));
		get(-1);
	}
	/* What is wrong and what is not supported: the first counts. */
	memcpy(f, usual, sizeof f);
	f[TYPE] = CUDNN_DATA_DOUBLE;
	f[LAYERS] = 0;
	printf("wrong, and not supported: set %d", set(f));
	get(-1);
}

static void
life(void)
{
	cudnnRNNDescriptor_t other;
	int f[FIELDS];

	memcpy(f, usual, sizeof f);
	printf("create nowhere: %d\n", (int)cudnnCreateRNNDescriptor(NULL));
	printf("destroy none: %d\n", (int)cudnnDestroyRNNDescriptor(NULL));
	for (int none = -1; none <= FIELDS; none++) {
		printf("without output %d:", none);
		get(none);
	}
	other = rnn;
	rnn = NULL;
	printf("of none: set %d", set(usual));
	get(-1);
	for (int i = 0; i < 16; i++) {
		f[MATH] = i % 4;
		if (cudnnCreateRNNDescriptor(&rnn))
			exit(98);
		printf("a new one:");
		get(-1);
		printf("then: set %d", set(f));
		get(-1);
		f[MATH] = i / 4;
		printf("and: set %d", set(f));
		get(-1);
		printf("destroy: %d\n", (int)cudnnDestroyRNNDescriptor(rnn));
	}
	rnn = other;
	printf("the old one:");
	get(-1);
}

/* ---- sequences --------------------------------------------------------- */

static void
sequences(void)
{
	static const int lengths[][3] = { { 4, 3, 1 }, { 3, 4, 1 },
		{ 4, 0, 1 }, { 4, 3, -1 }, { 3, 3, 3 }, { 0, 0, 0 },
		{ 5, 1, 1 } };
	cudnnRNNDataDescriptor_t data;
	float fill = 5;

	printf("data create nowhere: %d\n",
	    (int)cudnnCreateRNNDataDescriptor(NULL));
	printf("data destroy none: %d\n",
	    (int)cudnnDestroyRNNDataDescriptor(NULL));
	if (cudnnCreateRNNDataDescriptor(&data))
		exit(98);
#define DATA(type, layout, steps, batch, vector, length) \
	(int)cudnnSetRNNDataDescriptor(data, (cudnnDataType_t)(type), \
	    (cudnnRNNDataLayout_t)(layout), steps, batch, vector, length, &fill)
	for (int type = -1; type < 24; type++)
		printf("data type %d: %d\n", type, DATA(type, 0, 4, 3, 2,
		    lengths[0]));
	for (int layout = -1; layout < 4; layout++)
		for (size_t i = 0; i < SIZE(lengths); i++)
			printf("layout %d, lengths %zu: %d\n", layout, i,
			    DATA(0, layout, 4, 3, 2, lengths[i]));
	for (int i = -1; i < 2; i++)
		printf("sizes of %d: %d %d %d\n", i, DATA(0, 0, i, 3, 2,
		    lengths[5]), DATA(0, 0, 4, i, 2, lengths[0]),
		    DATA(0, 0, 4, 3, i, lengths[0]));
	printf("no lengths: %d\n", DATA(0, 0, 4, 3, 2, NULL));
	printf("good: %d\n", DATA(0, 1, 4, 3, 2, lengths[0]));
	for (int count = -1; count < 5; count++) {
		int is[3] = { 77, 77, 77 }, length[4] = { 77, 77, 77, 77 };
		cudnnDataType_t type = (cudnnDataType_t)77;
		cudnnRNNDataLayout_t layout = (cudnnRNNDataLayout_t)77;
		float hole = 77;

		printf("data get %d: %d", count, (int)cudnnGetRNNDataDescriptor(
		    data, &type, &layout, &is[0], &is[1], &is[2], count,
		    length, &hole));
		printf(": %d %d %d %d %d, %d %d %d %d, %g\n", (int)type,
		    (int)layout, is[0], is[1], is[2], length[0], length[1],
		    length[2], length[3], (double)hole);
	}
	cudnnDestroyRNNDataDescriptor(data);
}

/* ---- calls without a handle -------------------------------------------- */

static void
without_handle(void)
{
	cudnnRNNDataDescriptor_t data;
	cudnnTensorDescriptor_t tensor;
	size_t a = 77, b = 77;
	void *at[2];

	if (cudnnCreateRNNDataDescriptor(&data)
	    || cudnnCreateTensorDescriptor(&tensor))
		exit(98);
	printf("no handle: %d", (int)cudnnGetRNNWeightSpaceSize(NULL, rnn, &a));
	printf(" %d", (int)cudnnGetRNNTempSpaceSizes(NULL, rnn,
	    CUDNN_FWD_MODE_TRAINING, data, &a, &b));
	printf(" %d", (int)cudnnGetRNNWeightParams(NULL, rnn, 0, 100, &a, 0,
	    tensor, &at[0], tensor, &at[1]));
	printf(" %d", (int)cudnnRNNForward(NULL, rnn, CUDNN_FWD_MODE_INFERENCE,
	    NULL, data, NULL, data, NULL, tensor, NULL, NULL, tensor, NULL,
	    NULL, 0, NULL, 0, NULL, 0, NULL));
	printf(" %d", (int)cudnnRNNBackwardData_v8(NULL, rnn, NULL, data, NULL,
	    NULL, data, NULL, tensor, NULL, NULL, NULL, tensor, NULL, NULL,
	    NULL, 0, NULL, 0, NULL, 0, NULL));
	printf(" %d", (int)cudnnRNNBackwardWeights_v8(NULL, rnn,
	    CUDNN_WGRAD_MODE_ADD, NULL, data, NULL, tensor, NULL, data, NULL,
	    0, NULL, 0, NULL, 0, NULL));
	printf(", %zu %zu\n", a, b);
	cudnnDestroyRNNDataDescriptor(data);
	cudnnDestroyTensorDescriptor(tensor);
}

/* Device 0 of this driver, made current. */
static int
take_device(const char *path)
{
	void *driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL), *context;
	int (*init)(unsigned), (*retain)(void **, int), (*current)(void *);

	if (!driver)
		return 0;
	init = (int (*)(unsigned))(uintptr_t)dlsym(driver, "cuInit");
	retain = (int (*)(void **, int))(uintptr_t)dlsym(driver,
	    "cuDevicePrimaryCtxRetain");
	current = (int (*)(void *))(uintptr_t)dlsym(driver, "cuCtxSetCurrent");
	return init && retain && current && !init(0) && !retain(&context, 0)
	    && !current(context);
}

int
main(int argc, char **argv)
{
	if (argc > 1 && !take_device(argv[1]))
		return 97;
	if (cudnnCreateRNNDescriptor(&rnn))
		return 98;
	printf("fresh:");
	get(-1);
	fields();
	combinations();
	if (set(usual))
		return 98;
	life();
	sequences();
	without_handle();
	cudnnDestroyRNNDescriptor(rnn);
	return 0;
}

#endif
