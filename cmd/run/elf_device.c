/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/elf_device.c -- what fat binaries in a file's bytes hold: machine
 * code of GPUs, PTX. Bounds-checked throughout. */
#include "cmd/run/program.h"

#include <string.h>

/* As nvcc's tools lay them out. */
static const unsigned char magic[] = { 0x50, 0xed, 0x55, 0xba };
enum { ALIGNMENT = 8, PTX = 1, MACHINE_CODE = 2 };
struct head {
	uint32_t magic;
	uint16_t version, bytes;
	uint64_t size;          /* of the entries */
};
struct entry {
	uint16_t kind, version;
	uint32_t head;
	uint64_t size;          /* behind its head */
};

/* nvcc links a piece of machine code without kernels into each program. */
static bool
has_kernels(const unsigned char *code, size_t bytes)
{
	return !bytes || memcmp(code, "\177ELF", 4) ||
	    memmem(code, bytes, ".text.", 6);
}

static void
look_at(const unsigned char *at, size_t bytes, struct ac_elf_facts *facts)
{
	struct entry entry;

	while (bytes >= sizeof entry) {
		memcpy(&entry, at, sizeof entry);
		if (entry.head < sizeof entry || entry.head > bytes ||
		    entry.size > bytes - entry.head)
			return;
		facts->has_ptx |= entry.kind == PTX;
		facts->has_machine_code |= entry.kind == MACHINE_CODE &&
		    has_kernels(at + entry.head, entry.size);
		at += entry.head + entry.size;
		bytes -= entry.head + entry.size;
	}
}

void
ac_elf_inspect_device(const unsigned char *bytes, size_t size,
    struct ac_elf_facts *facts)
{
	const unsigned char *at = bytes, *const end = bytes + size;
	struct head head;

	while (size && (at = memmem(at, (size_t)(end - at), magic,
	    sizeof magic))) {
		const size_t left = (size_t)(end - at);

		if (left < sizeof head)
			return;
		memcpy(&head, at, sizeof head);
		if ((size_t)(at - bytes) % ALIGNMENT || head.version != 1 ||
		    head.bytes < sizeof head || head.bytes > left ||
		    head.size > left - head.bytes) {
			at += sizeof magic;
			continue;
		}
		look_at(at + head.bytes, head.size, facts);
		at += head.bytes + head.size;
	}
}
