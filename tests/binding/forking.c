/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/forking.c -- forks and cancellations at a bad moment.
 * `forking prepare`: the program's own fork handler waits for a thread whose
 * call is new to us; `forking looking N`: N forks while a thread looks a
 * function up again and again; `forking cancelled`: a thread is cancelled as
 * soon as it may be, in its first call. */
#include "client.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static cublasHandle_t handle;
static pthread_t worker;
static atomic_bool go;

/* Another site than all others here. */
static int
multiply_apart(void)
{
	struct client_data data = { .one = 1 };

	return (int)cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_T, 4, 4, 4,
	    &data.one, data.a, 8, data.b, 8, &data.one, data.c, 8);
}

/* The status of a child that multiplies, or the signal that stopped it. */
static int
fork_one(void)
{
	int status;
	const pid_t pid = fork();

	if (!pid) {
		alarm(240);
		_exit(multiply_apart() / 100);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void *
wait_and_multiply(void *unused)
{
	while (!go)
		sched_yield();
	print_status("worker", multiply_apart());
	return unused;
}

static void
prepare(void)
{
	go = true;
	pthread_join(worker, NULL);
}

static void *
look_up(void *library)
{
	while (!go)
		if (!dlsym(library, "cublasSgemm_v2"))
			abort();
	return NULL;
}

static void *
cancel_self(void *unused)
{
	pthread_cancel(pthread_self());
	print_status("to be cancelled", multiply_apart());
	pthread_testcancel();
	return unused;
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int forks = argc > 2 ? atoi(argv[2]) : 1, bad = 0;

	alarm(240);
	if (!strcmp(mode, "prepare"))
		pthread_atfork(prepare, NULL, NULL);
	cublasCreate_v2(&handle);
	if (!strcmp(mode, "cancelled")) {
		pthread_create(&worker, NULL, cancel_self, NULL);
		pthread_join(worker, NULL);
		print_status("after it", multiply_apart());
		return 0;
	}
	print_status("before", MULTIPLY(cublasSgemm_v2, handle));
	pthread_create(&worker, NULL, strcmp(mode, "prepare") ? look_up
	    : wait_and_multiply, dlopen("libcublas.so.13", RTLD_NOW));
	while (forks--)
		bad += fork_one() != 13;
	go = true;
	if (strcmp(mode, "prepare"))
		pthread_join(worker, NULL);
	print_status("children that failed", bad);
	return 0;
}
