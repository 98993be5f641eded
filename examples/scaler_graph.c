/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/scaler_graph.c -- an iteration that never asks the device: captured
 * once, replayed as often as wanted.
 *
 * Least squares, y = W x, by gradient descent on all scans at once (--epochs:
 * how often), so that every part of an iteration runs on the device. The scale
 * starts far too large; steps are skipped where the host cannot see it.
 *
 *   (nothing)     one iteration eagerly, the others as replays of a graph
 *   --async       all of them eagerly, still without a wait
 *   --host        the host asks whether to step: one wait for each step
 *   --one-tensor  the gradient as one tensor, not as 320
 *
 * All of them end with the same bytes (--weights FILE).
 */
#include "scaler_tensors.h"

#include <stdlib.h>

enum { WEIGHTS = CLASSES * PIXELS, TENSORS = 320, PART = WEIGHTS / TENSORS };

struct fit {
	cudaStream_t   stream;
	cublasHandle_t blas;
	int   count;                /* scans */
	float rate;
	float *pixels, *targets;    /* device, PIXELS and CLASSES x count */
	float *rest;                /* device, W x - y */
	float *weights, *gradient;  /* device, CLASSES x PIXELS */
	autocast_scaler *scaler;
	autocast_group  *group;
	bool is_host;
};

static void
forward_backward(struct fit *f)
{
	const float one = 1, minus_one = -1, zero = 0;
	const float mean = 1.0f / (float)f->count;
	const size_t rests = (size_t)f->count * CLASSES;
	const autocast_tensor seed = tensor_of(f->rest, rests, "rest");

	CUDA(cudaMemcpyAsync(f->rest, f->targets, rests * sizeof(float),
	    cudaMemcpyDeviceToDevice, f->stream));
	BLAS(cublasSgemm(f->blas, CUBLAS_OP_N, CUBLAS_OP_N, CLASSES, f->count,
	    PIXELS, &one, f->weights, CLASSES, f->pixels, PIXELS, &minus_one,
	    f->rest, CLASSES));
	SCALER(autocast_scaler_scale(f->scaler, &seed, 1, f->stream));
	BLAS(cublasSgemm(f->blas, CUBLAS_OP_N, CUBLAS_OP_T, CLASSES, PIXELS,
	    f->count, &mean, f->rest, CLASSES, f->pixels, PIXELS, &zero,
	    f->gradient, CLASSES));
}

static void
iteration(struct fit *f)
{
	const autocast_tensor x = tensor_of(f->gradient, WEIGHTS, "gradient");
	const autocast_tensor y = tensor_of(f->weights, WEIGHTS, "weights");
	int is_finite = 1;

	forward_backward(f);
	SCALER(autocast_scaler_unscale(f->scaler, f->group, f->stream));
	if (f->is_host)
		SCALER(autocast_scaler_step(f->scaler, f->group, NULL, NULL,
		    &is_finite, f->stream));
	else
		SCALER(autocast_scaler_step_async(f->scaler, f->group,
		    f->stream));
	if (is_finite) /* reads the flag on the device, too */
		SCALER(autocast_scaler_axpy(f->scaler, f->group, -f->rate,
		    NULL, &x, &y, f->stream));
	SCALER(autocast_scaler_update(f->scaler, f->stream));
}

static void
replay(struct fit *f, int times)
{
	cudaGraph_t graph;
	cudaGraphExec_t replayed;

	CUDA(cudaStreamBeginCapture(f->stream,
	    cudaStreamCaptureModeThreadLocal));
	iteration(f);
	CUDA(cudaStreamEndCapture(f->stream, &graph));
	CUDA(cudaGraphInstantiate(&replayed, graph, 0));
	for (int i = 0; i < times; i++)
		CUDA(cudaGraphLaunch(replayed, f->stream));
	CUDA(cudaStreamSynchronize(f->stream));
	CUDA(cudaGraphExecDestroy(replayed));
	CUDA(cudaGraphDestroy(graph));
}

static void
upload_scans(struct fit *f, const struct scans *scans)
{
	float *pixels = allocate((size_t)f->count * PIXELS, sizeof(float));
	float *targets = allocate((size_t)f->count * CLASSES, sizeof(float));
	double squares = 0;

	for (int i = 0; i < f->count; i++) {
		const int from = scans->order[i];

		for (int j = 0; j < PIXELS; j++) {
			const float value =
			    scans->data.pixels[from * PIXELS + j];

			pixels[i * PIXELS + j] = value;
			squares += (double)value * (double)value;
		}
		targets[i * CLASSES + scans->data.labels[from]] = 1;
	}
	upload(f->pixels, pixels, (size_t)f->count * PIXELS);
	upload(f->targets, targets, (size_t)f->count * CLASSES);
	/* The trace is at least the largest eigenvalue: it converges. */
	f->rate = (float)(f->count / squares);
	free(targets);
	free(pixels);
}

static void
fit_init(struct fit *f, const struct scans *scans, int tensors)
{
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	autocast_tensor parts[TENSORS];

	f->count = scans->seen;
	f->pixels = device_floats((size_t)f->count * PIXELS);
	f->targets = device_floats((size_t)f->count * CLASSES);
	f->rest = device_floats((size_t)f->count * CLASSES);
	f->weights = device_floats(WEIGHTS);
	f->gradient = device_floats(WEIGHTS);
	upload_scans(f, scans);
	CUDA(cudaDeviceSynchronize()); /* the stream waits for no other */
	CUDA(cudaStreamCreateWithFlags(&f->stream, cudaStreamNonBlocking));
	BLAS(cublasCreate(&f->blas));
	BLAS(cublasSetStream(f->blas, f->stream));
	options.init_scale = 0x1p124; /* too large even for FP32 */
	options.interval = 5;
	SCALER(autocast_scaler_create(&options, &f->scaler));
	SCALER(autocast_scaler_prepare(f->scaler, 0, f->stream));
	SCALER(autocast_group_create(f->scaler, "fit", &f->group));
	for (int i = 0; i < tensors; i++)
		parts[i] = tensor_of(f->gradient + i * PART,
		    (size_t)(tensors == 1 ? WEIGHTS : PART), NULL);
	SCALER(autocast_group_set_gradients(f->group, parts, (size_t)tensors));
}

static double
accuracy(const struct fit *f, const struct scans *scans)
{
	const int tested = scans->data.count - scans->seen;
	float weights[WEIGHTS];
	int right = 0;

	download(weights, f->weights, WEIGHTS);
	for (int i = scans->seen; i < scans->data.count; i++) {
		const float *x = scans->data.pixels + scans->order[i] * PIXELS;
		float y[CLASSES] = { 0 };
		int best = 0;

		for (int j = 0; j < WEIGHTS; j++)
			y[j % CLASSES] += weights[j] * x[j / CLASSES];
		for (int c = 1; c < CLASSES; c++)
			best = y[c] > y[best] ? c : best;
		right += best == scans->data.labels[scans->order[i]];
	}
	return (double)right / tested;
}

static void
report(const struct fit *f, const struct scans *scans)
{
	autocast_scaler_counters counters = { .size = sizeof counters };
	double scale;

	SCALER(autocast_scaler_get(f->scaler, &scale, NULL));
	SCALER(autocast_scaler_get_counters(f->scaler, &counters));
	printf("scale %a  updates %llu  of these with inf or NaN %llu\n",
	    scale, (unsigned long long)counters.updates,
	    (unsigned long long)counters.overflows);
	printf("test accuracy %.4f\n", accuracy(f, scans));
}

static void
fit_fini(struct fit *f)
{
	autocast_scaler_destroy(f->scaler);
	BLAS(cublasDestroy(f->blas));
	CUDA(cudaStreamDestroy(f->stream));
	CUDA(cudaFree(f->gradient));
	CUDA(cudaFree(f->weights));
	CUDA(cudaFree(f->rest));
	CUDA(cudaFree(f->targets));
	CUDA(cudaFree(f->pixels));
}

int
main(int argc, char **argv)
{
	const bool is_async = take_flag(&argc, argv, "--async");
	const bool is_one = take_flag(&argc, argv, "--one-tensor");
	struct fit f = { .is_host = take_flag(&argc, argv, "--host") };
	const struct options opt = options_parse(argc, argv);
	struct scans scans = scans_load(&opt);

	fit_init(&f, &scans, is_one ? 1 : TENSORS);
	iteration(&f);
	if (is_async || f.is_host)
		for (int i = 1; i < opt.epochs; i++)
			iteration(&f);
	else
		replay(&f, opt.epochs - 1);
	CUDA(cudaStreamSynchronize(f.stream));
	report(&f, &scans);
	if (opt.weights)
		save(opt.weights, f.weights, WEIGHTS);
	fit_fini(&f);
	scans_free(&scans);
	return EXIT_SUCCESS;
}
