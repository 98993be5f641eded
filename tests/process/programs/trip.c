/* SPDX-License-Identifier: Apache-2.0 */
/* tests/process/programs/trip.c -- a library that does what hot.c forbids:
 * proof that it would be seen. trip(NULL) only binds what it will call. */
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void trip(const char *name);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static void *volatile memory;

static void
nothing(void)
{
}

static int
stop(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info, (void)size, (void)data;
	return 1;
}

__attribute__((visibility("default"))) void
trip(const char *name)
{
	void *out;

#define TRIP(known, action) \
	if (name && !strcmp(name, known)) \
		action
	TRIP("malloc", memory = malloc(10));
	TRIP("calloc", memory = calloc(1, 10));
	TRIP("realloc", memory = realloc(memory, 20));
	TRIP("memalign", memory = memalign(64, 64));
	TRIP("free", free(memory));
	TRIP("posix_memalign",
	    memory = posix_memalign(&out, 64, 64) ? NULL : out);
	TRIP("pthread_mutex_lock", pthread_mutex_lock(&mutex));
	TRIP("pthread_mutex_trylock", (void)pthread_mutex_trylock(&mutex));
	TRIP("pthread_rwlock_rdlock", pthread_rwlock_rdlock(&rwlock));
	TRIP("pthread_rwlock_wrlock", pthread_rwlock_wrlock(&rwlock));
	TRIP("pthread_spin_lock", pthread_spin_lock(&spin));
	TRIP("pthread_once", pthread_once(&once, nothing));
	TRIP("dl_iterate_phdr", dl_iterate_phdr(stop, NULL));
	TRIP("getenv", memory = getenv("HOME"));
	TRIP("secure_getenv", memory = secure_getenv("HOME"));
	TRIP("futex", syscall(SYS_futex, &spin, 1, 1, NULL, NULL, 0));
	TRIP("openat", syscall(SYS_openat, -1, "/", 0));
	TRIP("mmap", syscall(SYS_mmap, 0, 4096, 0, 0x22, -1, 0));
}
