/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/survive.c -- `survive CALLS END`: makes as many calls
 * of cublasSgemm_v2 and ends in one of many ways, after a child or another
 * image of itself has made five more where END says so. The calls that were
 * made are all that counts. */
#include <cublas_api.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 10, THREADS = 3, EACH = 20000 };

static cublasHandle_t handle;
static volatile int more = 5;

/* One place of call whoever calls, so that a child meets no new site: that
 * would give it statistics of its own before its first count. */
__attribute__((noinline)) static void
multiply(int calls)
{
	static float x[64];
	const float one = 1;

	for (int i = 0; i < calls; i++)
		if (cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8,
		    &one, x, 8, x, 8, &one, x, 8) != CUBLAS_STATUS_SUCCESS)
			_exit(99);
}

/* Wait for a child that must not have failed. */
static void
await(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status)
		_exit(98);
}

static void
multiply_at_exit(void)
{
	multiply(more);
}

static void *
multiply_in_thread(void *unused)
{
	multiply(EACH);
	return unused;
}

/* ---- Ends -------------------------------------------------------------- */

static char **own_arguments;

static void end_exit(void) { exit(0); }
static void end_now(void) { _exit(0); }
static void end_quick(void) { quick_exit(0); }
static void end_abort(void) { abort(); }
static void end_fault(void) { raise(SIGSEGV); }
static void end_term(void) { raise(SIGTERM); }
static void end_kill(void) { raise(SIGKILL); }

static void
end_atexit(void)
{
	atexit(multiply_at_exit);
	exit(0);
}

static void
end_fork(void)
{
	const pid_t child = fork();

	if (child == 0) {
		multiply(more);
		exit(0);
	}
	await(child);
}

/* Both go on counting after the fork; the child ends without exit(). */
static void
end_fork_both(void)
{
	const pid_t child = fork();

	multiply(more);
	if (child == 0)
		_exit(0);
	await(child);
	multiply(more);
}

static void
end_fork_silent(void)
{
	const pid_t child = fork();

	if (child == 0)
		exit(0);
	await(child);
}

static void
end_fork_twice(void)
{
	const pid_t child = fork();

	if (child == 0) {
		multiply(more);
		end_fork();
		_exit(0);
	}
	await(child);
}

/* Children of a process whose other threads are counting. */
static void
end_fork_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, multiply_in_thread, NULL))
			_exit(97);
	for (int i = 0; i < FORKS; i++)
		end_fork();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* A child whose own threads count. */
static void
end_threads_of_child(void)
{
	const pid_t child = fork();
	pthread_t thread;

	if (child == 0) {
		if (pthread_create(&thread, NULL, multiply_in_thread, NULL))
			_exit(97);
		multiply(more);
		pthread_join(thread, NULL);
		_exit(0);
	}
	await(child);
}

static void
become_another(void)
{
	static char calls[] = "5", end[] = "return";

	own_arguments[1] = calls;
	own_arguments[2] = end;
	execv("/proc/self/exe", own_arguments);
	_exit(96);
}

static void
end_vfork_exec(void)
{
	const pid_t child = vfork();

	if (child == 0)
		become_another();
	await(child);
	multiply(more);
}

static const struct {
	const char *name;
	void      (*run)(void);
} ends[] = {
	{ "return", NULL },
	{ "exit", end_exit },
	{ "_exit", end_now },
	{ "quick_exit", end_quick },
	{ "atexit", end_atexit },
	{ "abort", end_abort },
	{ "SIGSEGV", end_fault },
	{ "SIGTERM", end_term },
	{ "SIGKILL", end_kill },
	{ "fork", end_fork },
	{ "fork_both", end_fork_both },
	{ "fork_silent", end_fork_silent },
	{ "fork_twice", end_fork_twice },
	{ "fork_threads", end_fork_threads },
	{ "threads_of_child", end_threads_of_child },
	{ "vfork_exec", end_vfork_exec },
	{ "exec", become_another },
};

int
main(int argc, char **argv)
{
	const struct rlimit no_core = { 0, 0 };

	if (argc != 3)
		return 95;
	own_arguments = argv;
	setrlimit(RLIMIT_CORE, &no_core);
	if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS)
		return 94;
	multiply(atoi(argv[1]));
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (!strcmp(ends[i].name, argv[2])) {
			if (ends[i].run)
				ends[i].run();
			return 0;
		}
	return 93;
}
