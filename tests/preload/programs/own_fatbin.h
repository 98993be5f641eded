/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/own_fatbin.h -- fat binaries around a text, as nvcc's
 * tools lay them out: plain, packed by LZ4 or zstd (neither makes it smaller
 * here), for several GPUs. And nvcc's calls that register one. */
#ifndef TESTS_PRELOAD_PROGRAMS_OWN_FATBIN_H
#define TESTS_PRELOAD_PROGRAMS_OWN_FATBIN_H

#include <cuda_runtime_api.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **module);
void __cudaUnregisterFatBinary(void **module);
char __cudaInitModule(void **module);
void __cudaRegisterFunction(void **module, const char *host, char *device,
    const char *name, int threads, uint3 *thread, uint3 *block,
    dim3 *block_size, dim3 *grid_size, int *warp_size);
void __cudaRegisterManagedVar(void **module, void **host, char *address,
    const char *name, int external, size_t size, int constant, int global);
void __cudaRegisterVar(void **module, char *host, char *address,
    const char *name, int external, size_t size, int constant, int global);

enum { FATBIN_PTX = 1, FATBIN_ELF = 2, FATBIN_LZ4 = 0x2000,
	FATBIN_ZSTD = 0x8000, FATBIN_WRAPPER = 0x466243b1 };

struct fatbin_head {
	uint32_t magic;
	uint16_t version, bytes;
	uint64_t size;
};
struct fatbin_entry {
	uint16_t kind, version;
	uint32_t head;
	uint64_t size;
	uint32_t packed, options;
	uint16_t minor, major;
	uint32_t capability, name, name_bytes;
	uint64_t flags, zero, unpacked;
};
struct fatbin_wrapper {
	uint32_t magic, version;
	const void *data;
	void *more;
};

/* An LZ4 block of literals alone; returns its bytes. */
static inline size_t
fatbin_lz4(unsigned char *to, const void *text, size_t bytes)
{
	unsigned char *at = to;
	size_t left = bytes - 15;

	*at++ = 0xf0;
	for (; left >= 255; left -= 255)
		*at++ = 255;
	*at++ = (unsigned char)left;
	memcpy(at, text, bytes);
	return (size_t)(at - to) + bytes;
}

/* A zstd frame of raw blocks [RFC 8878, 3.1.1]; returns its bytes. */
static inline size_t
fatbin_zstd(unsigned char *to, const char *text, size_t bytes)
{
	static const unsigned char magic[] = { 0x28, 0xb5, 0x2f, 0xfd,
		0xa0 /* one segment, its size in four bytes */ };
	const uint32_t size = (uint32_t)bytes;
	unsigned char *at = to;

	memcpy(at, magic, sizeof magic);
	memcpy(at + sizeof magic, &size, sizeof size);
	at += sizeof magic + sizeof size;
	while (bytes) {
		const size_t part = bytes < 65536 ? bytes : 65536;
		const uint32_t head = (uint32_t)part << 3 | (part == bytes);

		memcpy(at, &head, 3);
		memcpy(at + 3, text, part);
		at += 3 + part;
		text += part;
		bytes -= part;
	}
	return (size_t)(at - to);
}

/* Room for a text of so many bytes, in any form. */
static inline size_t
fatbin_room(size_t bytes)
{
	return bytes + bytes / 128 + 4096;
}

static inline void
fatbin_begin(unsigned char *fat)
{
	const struct fatbin_head head = { 0xba55ed50u, 1, sizeof head, 0 };

	memcpy(fat, &head, sizeof head);
}

/* One more entry. `flags`: 0, FATBIN_LZ4 or FATBIN_ZSTD. */
static inline void
fatbin_add(unsigned char *fat, int kind, unsigned capability, uint64_t flags,
    const char *data, size_t bytes)
{
	struct fatbin_entry e = { .kind = (uint16_t)kind, .version = 0x101,
		.head = sizeof e, .capability = capability,
		.flags = 0x11 | flags };
	struct fatbin_head head;
	unsigned char *at;

	memcpy(&head, fat, sizeof head);
	at = fat + sizeof head + head.size + sizeof e;
	if (flags == FATBIN_LZ4)
		e.size = fatbin_lz4(at, data, bytes);
	else if (flags == FATBIN_ZSTD)
		e.size = fatbin_zstd(at, data, bytes);
	else
		memcpy(at, data, bytes);
	if (flags) {
		e.packed = (uint32_t)e.size;
		e.unpacked = bytes;
	} else {
		e.size = bytes;
	}
	memset(at + e.size, 0, 8);
	e.size = (e.size + 7) / 8 * 8;
	memcpy(at - sizeof e, &e, sizeof e);
	head.size += sizeof e + e.size;
	memcpy(fat, &head, sizeof head);
}

#endif
