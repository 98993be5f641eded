/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/image/zstd.c -- zstd's frames, which nvcc packs PTX into
 * since CUDA 12.8. The system's library does it: looked up, so that nobody
 * needs it who has no such program. */
#include "emulator/driver/image/image.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static size_t (*decompress)(void *, size_t, const void *, size_t);

/* Never closed: its code may be needed until the end. */
static void
look_up(void)
{
	void *const library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
	void *const found = library ? dlsym(library, "ZSTD_decompress") : NULL;

	memcpy(&decompress, &found, sizeof decompress);
}

/* What it says of an error is a number beyond all sizes. */
bool
emu_unpack_zstd(const unsigned char *from, size_t bytes, unsigned char *to,
    size_t room, bool *missing_out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look_up);
	*missing_out = !decompress;
	return decompress && decompress(to, room, from, bytes) == room;
}
