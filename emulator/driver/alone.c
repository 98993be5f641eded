/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/alone.c -- the end of a process whose threads are gone but
 * for the workers: a main thread may leave by pthread_exit(). With its last
 * thread such a process ends as by exit(0); ours must not keep it, nor do they
 * take a signal. */
#include "base/text.h"
#include "emulator/driver/device.h"
#include "emulator/driver/wait.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

/* How long a worker sleeps until it looks who is left. */
enum { LOOK_NS = 200 * 1000 * 1000 };

/* Workers count themselves, so none counts before it is a thread of the
 * process, nor after. */
static _Atomic uint64_t begun, ended;

void
emu_alone_begin(void)
{
	atomic_fetch_add(&begun, 1);
}

void
emu_alone_end(void)
{
	atomic_fetch_add(&ended, 1);
}

/* Threads besides the main one; 0 if that one has not left [proc(5): state and
 * num_threads are fields 3 and 20]. */
static uint64_t
threads_left(void)
{
	char text[1024], *at;
	const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	const ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
	double count;

	if (file >= 0)
		close(file);
	text[got > 0 ? got : 0] = '\0';
	at = strrchr(text, ')');
	if (!at || strncmp(at, ") Z", 3))
		return 0;
	for (int field = 2; at && field < 20; field++)
		at = strchr(at + 1, ' ');
	if (!at || !ac_text_number(at + 1, strlen(at + 1), &count))
		return 0;
	return (uint64_t)count - 1;
}

static bool
is_alone(void)
{
	const uint64_t gone = atomic_load(&ended), came = atomic_load(&begun);
	const uint64_t left = threads_left();

	return left && left <= came - gone && came == atomic_load(&begun) &&
	    gone == atomic_load(&ended);
}

void
emu_alone_wait(_Atomic uint32_t *word, uint32_t value)
{
	static atomic_flag leaving = ATOMIC_FLAG_INIT;
	const struct timespec look = { 0, LOOK_NS };

	if (emu_futex_wait_for(word, value, &look) && is_alone() &&
	    !atomic_flag_test_and_set(&leaving))
		exit(0);
}
