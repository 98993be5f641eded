/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/streams.h -- the set of streams, for streams.c and
 * order.c. */
#ifndef AC_EMULATOR_STREAMS_H
#define AC_EMULATOR_STREAMS_H

#include "emulator/driver/context.h"

#include <pthread.h>

/* Only the program's threads take the lock, never a worker. */
struct emu_streams {
	pthread_mutex_t     lock;
	struct CUstream_st *live;     /* created, without the legacy streams */
	struct CUstream_st *leaving;  /* destroyed, worker not joined yet */
	struct CUstream_st *unused;   /* memory for new streams */
};
extern struct emu_streams emu_streams;

/* Before anything else; cheap when it was done. */
void emu_streams_prepare(void);
/* Join ended workers of destroyed streams; with `wait`, all of them. Lock
 * held. */
void emu_streams_reap(bool wait);

#endif
