/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/wait.h -- sleeping on a word until another thread wakes
 * it. */
#ifndef AC_EMULATOR_WAIT_H
#define AC_EMULATOR_WAIT_H

#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleep while *word is `value`; may return early. */
static inline void
emu_futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

/* The same for so long; true if that was all that happened. */
static inline bool
emu_futex_wait_for(_Atomic uint32_t *word, uint32_t value,
    const struct timespec *most)
{
	return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, most, NULL,
	    0) && errno == ETIMEDOUT;
}

static inline void
emu_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static inline void
emu_spin(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* For the few bytes that the device cannot do without. */
_Noreturn static inline void
emu_out_of_host_memory(void)
{
	ac_log(AC_LOG_ERROR, "emulated GPU: the host is out of memory");
	abort();
}

#endif
