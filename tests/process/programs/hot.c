/* SPDX-License-Identifier: Apache-2.0 */
/* tests/process/programs/hot.c -- kept calls that may neither allocate, nor
 * lock, nor ask the system: `hot calls` makes known ones on two threads, `hot
 * cold` one that is new, `hot NAME` lets a library call NAME. This program's
 * malloc() and kin stand before the C library's; from arm() on they abort, and
 * so does every system call (seccomp). Exit status 3: no seccomp here. */
#include <cublas_api.h>

#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS = 3000, SHAPES = 16, NO_SECCOMP = 3 };

static _Atomic int armed;
static _Atomic int ready, finished, failed;

static void
say(const char *what, const char *name)
{
	char line[128];
	const int size = snprintf(line, sizeof line, "hot: %s%s\n", what, name);

	if (write(STDERR_FILENO, line, (size_t)size) < 0)
		_exit(99);
}

static void
hooked(const char *name)
{
	if (!atomic_load_explicit(&armed, memory_order_relaxed))
		return;
	atomic_store(&armed, 0);
	say("", name);
	_exit(134);
}

/* ---- What aborts ------------------------------------------------------- */

/* The C library's own, under the names that do not lead back here. */
#define OWN(type, name, parameters, arguments) \
extern type __libc_##name parameters; \
type name parameters; \
type \
name parameters \
{ \
	hooked(#name); \
	return __libc_##name arguments; \
}
OWN(void *, malloc, (size_t size), (size))
OWN(void *, calloc, (size_t count, size_t size), (count, size))
OWN(void *, realloc, (void *old, size_t size), (old, size))
OWN(void *, memalign, (size_t align, size_t size), (align, size))

extern void __libc_free(void *);
void
free(void *memory)
{
	hooked("free");
	__libc_free(memory);
}

/* Those that have one name only: the next object's. */
#define NEXT(type, name, parameters, arguments) \
type name parameters; \
type \
name parameters \
{ \
	static type (*_Atomic next) parameters; \
 \
	hooked(#name); \
	if (!next) \
		next = (type (*) parameters)(uintptr_t)dlsym(RTLD_NEXT, \
		    #name); \
	return next arguments; \
}
struct dl_phdr_info;
NEXT(int, posix_memalign, (void **out, size_t align, size_t size),
    (out, align, size))
NEXT(int, pthread_mutex_lock, (pthread_mutex_t *lock), (lock))
NEXT(int, pthread_mutex_trylock, (pthread_mutex_t *lock), (lock))
NEXT(int, pthread_rwlock_rdlock, (pthread_rwlock_t *lock), (lock))
NEXT(int, pthread_rwlock_wrlock, (pthread_rwlock_t *lock), (lock))
NEXT(int, pthread_spin_lock, (pthread_spinlock_t *lock), (lock))
NEXT(int, pthread_once, (pthread_once_t *once, void (*run)(void)), (once, run))
NEXT(int, dl_iterate_phdr,
    (int (*see)(struct dl_phdr_info *, size_t, void *), void *data),
    (see, data))
NEXT(char *, getenv, (const char *name), (name))
NEXT(char *, secure_getenv, (const char *name), (name))

static void
on_system_call(int signal, siginfo_t *info, void *context)
{
	char number[16];

	(void)signal, (void)context;
	snprintf(number, sizeof number, "%d", info->si_syscall);
	say("system call ", number);
	_exit(135);
}

/* From now on, in every thread: only to say something and to end. */
static int
forbid_system_calls(void)
{
	static struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		sizeof filter / sizeof *filter, filter
	};
	struct sigaction action = { .sa_flags = SA_SIGINFO };

	action.sa_sigaction = on_system_call;
	return sigaction(SIGSYS, &action, NULL)
	    || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	    || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/* ---- What is called ---------------------------------------------------- */

static float A[1], B[1], C[1];
static const float one = 1;
static __typeof__(&cublasSgemm_v2) looked_up; /* in a handle */

/* The return address is part of a site: one of each, however it is compiled. */
static __attribute__((noinline)) int
call(cublasHandle_t handle, int m)
{
	const int ld = m ? m : 1;

	return cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, 64, 64, &one,
	    A, ld, B, 64, &one, C, ld) != CUBLAS_STATUS_SUCCESS
	    || looked_up(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, 64, 64, &one, A,
		64, B, 64, &one, C, ld) != CUBLAS_STATUS_SUCCESS
	    || cublasStrsm_v2(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER,
		CUBLAS_OP_T, CUBLAS_DIAG_UNIT, 1000, 2000, &one, A, 3000, B,
		2124) != CUBLAS_STATUS_SUCCESS;
}

/* SHAPES sites, one of them of an empty product. */
static void
calls(cublasHandle_t handle)
{
	for (int round = 0; round < CALLS; round++)
		if (call(handle, round % SHAPES * 8))
			atomic_store(&failed, 1);
}

/* Warm up, wait until calls must be hot, make them, and wait for the end. */
static void *
second(void *handle)
{
	calls(handle);
	atomic_store(&ready, 1);
	while (!atomic_load(&armed))
		;
	calls(handle);
	atomic_store(&finished, 1);
	while (atomic_load(&finished))
		; /* a thread's end makes system calls */
	return NULL;
}

static int
usage(void)
{
	fprintf(stderr, "usage: hot calls|cold|NAME\n");
	return 2;
}

int
main(int argc, char **argv)
{
	void (*trip)(const char *) =
	    (void (*)(const char *))(uintptr_t)dlsym(RTLD_DEFAULT, "trip");
	void *library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
	cublasHandle_t handle;
	pthread_t thread;

	if (argc != 2)
		return usage();
	if (!library || !trip || cublasCreate_v2(&handle))
		return EXIT_FAILURE;
	looked_up = (__typeof__(looked_up))(uintptr_t)dlsym(library,
	    "cublasSgemm_v2");
	if (!looked_up)
		return EXIT_FAILURE;
	calls(handle);
	trip(NULL);
	if (pthread_create(&thread, NULL, second, handle))
		return EXIT_FAILURE;
	while (!atomic_load(&ready))
		;
	if (forbid_system_calls())
		return NO_SECCOMP;
	atomic_store(&armed, 1);
	if (!strcmp(argv[1], "calls"))
		calls(handle);
	else if (!strcmp(argv[1], "cold"))
		(void)call(handle, 7); /* a size never seen */
	else
		trip(argv[1]);
	while (!atomic_load(&finished))
		;
	atomic_store(&armed, 0);
	say(atomic_load(&failed) ? "failed" : "done", "");
	_exit(atomic_load(&failed));
}
