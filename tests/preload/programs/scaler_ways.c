/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/scaler_ways.c -- one gradient scaler used from several
 * places: scaler_ways threads|streams|devices|reduce|fork. Nothing but events
 * of the library's own orders what it queues; no stream is waited for before
 * the end. threads: two threads, a group and a stream each; streams: every call
 * on another stream; devices: one group on two GPUs; reduce: the same with a
 * hook, which adds an inf, then fails; fork: a child of a process that scales.
 * Prints what came of it; tests/preload/scaler_ways.sh knows what should.
 * */
#include <autocast_scaler.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

enum { COUNT = 3000, TURNS = 12, STREAMS = 7, BAD_TURN = 5 };

#define CUDA(call) check((int)(call), #call)
#define DO(call) check((int)(call), #call)

static void
check(int failed, const char *call)
{
	if (!failed)
		return;
	fprintf(stderr, "%s: %d %s\n", call, failed, autocast_last_error());
	_exit(1);
}

struct owner {
	autocast_scaler *scaler;
	autocast_group  *group;
	cudaStream_t     stream;
	autocast_tensor  gradient, weight;
	float            bad;      /* what the first gradient is at BAD_TURN */
};

static float *
floats(int device, float value)
{
	float host[COUNT], *there;

	for (int i = 0; i < COUNT; i++)
		host[i] = value;
	CUDA(cudaSetDevice(device));
	CUDA(cudaMalloc((void **)&there, sizeof host));
	CUDA(cudaMemcpy(there, host, sizeof host, cudaMemcpyHostToDevice));
	CUDA(cudaDeviceSynchronize()); /* it may be on its way still */
	return there;
}

static struct owner
own(autocast_scaler *scaler, int device)
{
	struct owner o = { .scaler = scaler };

	o.gradient = (autocast_tensor){ floats(device, 1), COUNT,
	    AUTOCAST_F32, device, "gradient" };
	o.weight = (autocast_tensor){ floats(device, 0), COUNT, AUTOCAST_F32,
	    device, "weight" };
	CUDA(cudaStreamCreateWithFlags(&o.stream, cudaStreamNonBlocking));
	DO(autocast_group_create(scaler, "owner", &o.group));
	DO(autocast_group_set_gradients(o.group, &o.gradient, 1));
	return o;
}

/* The gradients of one turn: 1 each, scaled, and perhaps an inf. */
static void
backward(struct owner *o, int turn, cudaStream_t stream)
{
	float *const to = o->gradient.data;
	const float first = turn == BAD_TURN ? o->bad : 1;
	float host[COUNT];

	for (int i = 0; i < COUNT; i++)
		host[i] = i ? 1 : first;
	CUDA(cudaMemcpyAsync(to, host, sizeof host, cudaMemcpyHostToDevice,
	    stream));
	DO(autocast_scaler_scale(o->scaler, &o->gradient, 1, stream));
}

static void
show(struct owner *o, const char *what)
{
	float host[COUNT];
	double scale;
	int32_t tracker;

	CUDA(cudaSetDevice(o->weight.device));
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemcpy(host, o->weight.data, sizeof host,
	    cudaMemcpyDeviceToHost));
	for (int i = 1; i < COUNT; i++)
		if (memcmp(&host[i], &host[0], sizeof *host))
			printf("weight %d is %g, not %g\n", i, (double)host[i],
			    (double)host[0]);
	DO(autocast_scaler_get(o->scaler, &scale, &tracker));
	printf("%s: weight %g scale %g tracker %d\n", what, (double)host[0],
	    scale, tracker);
}

static autocast_scaler *
new_scaler(int devices)
{
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	autocast_scaler *scaler;

	options.init_scale = 1024;
	options.interval = 4;
	DO(autocast_scaler_create(&options, &scaler));
	for (int i = 0; i < devices; i++) {
		cudaStream_t stream;

		CUDA(cudaSetDevice(i));
		CUDA(cudaStreamCreateWithFlags(&stream,
		    cudaStreamNonBlocking));
		DO(autocast_scaler_prepare(scaler, i, stream));
	}
	CUDA(cudaSetDevice(0));
	return scaler;
}

/* ---- Threads ----------------------------------------------------------- */

static pthread_barrier_t barrier;

static void *
work(void *argument)
{
	struct owner *const o = argument;

	for (int turn = 0; turn < TURNS; turn++) {
		backward(o, turn, o->stream);
		DO(autocast_scaler_unscale(o->scaler, o->group, o->stream));
		DO(autocast_group_clip(o->group, 1e9f, NULL, o->stream));
		DO(autocast_scaler_step_async(o->scaler, o->group, o->stream));
		DO(autocast_scaler_axpy(o->scaler, o->group, 1, NULL,
		    &o->gradient, &o->weight, o->stream));
		/* One of them ends the iteration, on its own stream. */
		if (pthread_barrier_wait(&barrier)
		    == PTHREAD_BARRIER_SERIAL_THREAD)
			DO(autocast_scaler_update(o->scaler, o->stream));
		(void)pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void
threads(void)
{
	autocast_scaler *const scaler = new_scaler(1);
	struct owner owners[2] = { own(scaler, 0), own(scaler, 0) };
	pthread_t thread[2];

	owners[1].bad = INFINITY;
	owners[0].bad = 1;
	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, &owners[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	show(&owners[0], "clean");
	show(&owners[1], "one inf");
	autocast_scaler_destroy(scaler);
}

/* ---- Streams ----------------------------------------------------------- */

static void
streams(void)
{
	autocast_scaler *const scaler = new_scaler(1);
	struct owner o = own(scaler, 0);
	cudaStream_t all[STREAMS];
	float *norm;
	int next = 0;

	o.bad = NAN;
	CUDA(cudaMalloc((void **)&norm, sizeof *norm));
	for (int i = 0; i < STREAMS; i++)
		CUDA(cudaStreamCreateWithFlags(&all[i],
		    cudaStreamNonBlocking));
#define NEXT all[next++ % STREAMS]
	for (int turn = 0; turn < TURNS; turn++) {
		/* Gradients are the program's: their order is its own. */
		cudaStream_t stream = NEXT;
		cudaEvent_t event;

		backward(&o, turn, stream);
		CUDA(cudaEventCreateWithFlags(&event,
		    cudaEventDisableTiming));
		CUDA(cudaEventRecord(event, stream));
		stream = NEXT;
		CUDA(cudaStreamWaitEvent(stream, event, 0));
		DO(autocast_scaler_unscale(scaler, o.group, stream));
		DO(autocast_group_norm(o.group, 2, norm, NEXT));
		DO(autocast_scaler_step_async(scaler, o.group, NEXT));
		stream = NEXT;
		DO(autocast_scaler_axpy(scaler, o.group, 1, NULL, &o.gradient,
		    &o.weight, stream));
		DO(autocast_scaler_update(scaler, NEXT));
		/* The next turn writes what the sum reads. */
		CUDA(cudaEventRecord(event, stream));
		CUDA(cudaStreamWaitEvent(all[next % STREAMS], event, 0));
		CUDA(cudaEventDestroy(event));
	}
	show(&o, "streams");
	autocast_scaler_destroy(scaler);
}

/* ---- Devices ----------------------------------------------------------- */

static float
word_of(autocast_group *group, int device, int which)
{
	const float *pointer[2];
	float value;

	DO(autocast_group_pointers(group, device, &pointer[0], &pointer[1]));
	CUDA(cudaSetDevice(device));
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemcpy(&value, pointer[which], sizeof value,
	    cudaMemcpyDeviceToHost));
	return value;
}

static int hook_mode;

static int
hook(float *flag, int device, struct CUstream_st *stream, void *user)
{
	const float one = 1;

	*(int *)user += 1;
	if (device)
		return 7;
	if (hook_mode == 1)
		CUDA(cudaMemcpyAsync(flag, &one, sizeof one,
		    cudaMemcpyHostToDevice, stream));
	return hook_mode == 2 ? 9 : 0;
}

/* One iteration of a group on both devices; `bad` is put on device 1. */
static void
turn_of_two(autocast_scaler *scaler, struct owner *o, autocast_group *group,
    float bad, const char *what)
{
	const float *scale, *inverse;
	float norm = -1, seen[2], *norm_there;
	double host_scale;
	int stepped = -1;
	autocast_status status;

	CUDA(cudaSetDevice(0));
	CUDA(cudaMalloc((void **)&norm_there, sizeof norm));
	for (int i = 0; i < 2; i++) {
		CUDA(cudaSetDevice(i));
		o[i].bad = i ? bad : 1;
		backward(&o[i], BAD_TURN, o[i].stream);
		DO(autocast_scaler_pointers(scaler, i, &scale, &inverse));
		CUDA(cudaStreamSynchronize(o[i].stream));
		CUDA(cudaMemcpy(&seen[i], scale, sizeof *seen,
		    cudaMemcpyDeviceToHost));
	}
	status = autocast_scaler_unscale(scaler, group, o[1].stream);
	DO(autocast_group_norm(group, 2, norm_there, o[1].stream));
	CUDA(cudaStreamSynchronize(o[1].stream));
	CUDA(cudaMemcpy(&norm, norm_there, sizeof norm,
	    cudaMemcpyDeviceToHost));
	DO(autocast_scaler_step(scaler, group, NULL, NULL, &stepped,
	    o[0].stream));
	printf("%s: status %d flags %g %g left %g norm %.4f stepped %d\n",
	    what, (int)status, (double)word_of(group, 0, 1),
	    (double)word_of(group, 1, 1), (double)word_of(group, 1, 0),
	    (double)norm, stepped);
	CUDA(cudaSetDevice(1));
	DO(autocast_scaler_update(scaler, o[1].stream));
	DO(autocast_scaler_get(scaler, &host_scale, NULL));
	printf("%s: scales were %g %g, is %g\n", what, (double)seen[0],
	    (double)seen[1], host_scale);
	CUDA(cudaSetDevice(0));
	CUDA(cudaFree(norm_there));
}

static void
devices(int with_hook)
{
	autocast_scaler *const scaler = new_scaler(2);
	struct owner o[2] = { own(scaler, 0), own(scaler, 1) };
	const autocast_tensor both[2] = { o[1].gradient, o[0].gradient };
	autocast_group *group;
	int asked = 0;

	DO(autocast_group_create(scaler, "both", &group));
	DO(autocast_group_set_gradients(group, both, 2));
	if (with_hook)
		DO(autocast_scaler_set_reduce(scaler, hook, &asked));
	turn_of_two(scaler, o, group, 1, "clean");
	turn_of_two(scaler, o, group, INFINITY, "inf on 1");
	hook_mode = 1;
	turn_of_two(scaler, o, group, 1, "after");
	hook_mode = 2;
	turn_of_two(scaler, o, group, 1, "last");
	if (with_hook)
		printf("asked %d times\n", asked);
	autocast_scaler_destroy(scaler);
}

/* ---- Fork -------------------------------------------------------------- */

static void *
scale_on(void *argument)
{
	struct owner *const o = argument;

	for (int turn = 0; turn < 200; turn++)
		DO(autocast_scaler_scale(o->scaler, &o->weight, 1, o->stream));
	return NULL;
}

/* Forks while another thread is in the library: the child may find its lock
 * taken. Its CUDA is of no use; its calls must come back. */
static void
forks(void)
{
	autocast_scaler *const scaler = new_scaler(1);
	struct owner o = own(scaler, 0);
	pthread_t thread;
	int status, ended = 0;

	pthread_create(&thread, NULL, scale_on, &o);
	for (int i = 0; i < 20; i++) {
		const pid_t child = fork();

		if (!child) {
			autocast_scaler *other;

			(void)alarm(60);
			(void)autocast_scaler_get(scaler, NULL, NULL);
			(void)autocast_scaler_update(scaler, o.stream);
			if (autocast_scaler_create(NULL, &other))
				_exit(3);
			autocast_scaler_destroy(other);
			_exit(0);
		}
		if (waitpid(child, &status, 0) == child && !status)
			ended++;
	}
	pthread_join(thread, NULL);
	DO(autocast_scaler_get(scaler, NULL, NULL));
	printf("%d of 20 children came to their end\n", ended);
	autocast_scaler_destroy(scaler);
}

int
main(int argc, char **argv)
{
	const char *const way = argc == 2 ? argv[1] : "";

	if (!strcmp(way, "threads"))
		threads();
	else if (!strcmp(way, "streams"))
		streams();
	else if (!strcmp(way, "devices"))
		devices(0);
	else if (!strcmp(way, "reduce"))
		devices(1);
	else if (!strcmp(way, "fork"))
		forks();
	else
		return 2;
	return 0;
}
