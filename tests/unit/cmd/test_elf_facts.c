/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_elf_facts.c -- a program file read from its bytes: its
 * facts when it is whole, and no crash whatever it is. */
#include "cmd/run/elf_facts.c"
#include "tests/unit/cases.h"

static unsigned char *whole;    /* this very program */
static size_t whole_size;
static char path[] = "/tmp/autocast-elf-XXXXXX";
static int file;

static int
begin(void **state)
{
	FILE *own = fopen("/proc/self/exe", "rb");

	assert_non_null(own);
	fseek(own, 0, SEEK_END);
	whole_size = (size_t)ftell(own);
	rewind(own);
	whole = malloc(whole_size);
	assert_int_equal(fread(whole, 1, whole_size, own), whole_size);
	fclose(own);
	file = mkstemp(path);
	assert_true(file >= 0);
	return 0;
}

static int
end(void **state)
{
	close(file);
	unlink(path);
	free(whole);
	return 0;
}

static struct ac_elf_facts
facts_of(const void *bytes, size_t size)
{
	struct ac_elf_facts facts;

	assert_int_equal(ftruncate(file, 0), 0);
	assert_int_equal(pwrite(file, bytes, size, 0), (ssize_t)size);
	assert_true(ac_elf_inspect(path, &facts));
	return facts;
}

CASE(test_whole)
{
	const struct ac_elf_facts facts = facts_of(whole, whole_size);

	assert_true(facts.is_elf && facts.is_native && facts.is_dynamic);
	assert_false(facts.is_damaged || facts.is_musl || facts.has_rpath);
	/* The marks are in this file: it includes the code that seeks them. */
	assert_true(facts.has_static_cudart);
	assert_true(facts.has_static_cublas);
}

CASE(test_others)
{
	struct ac_elf_facts facts;

	facts = facts_of("", 0);
	assert_false(facts.is_elf);
	facts = facts_of("#!/bin/sh\n", 10);
	assert_false(facts.is_elf);
	facts = facts_of("\177ELF", 4);
	assert_true(facts.is_elf && facts.is_damaged);
	assert_true(ac_elf_inspect("/dev/null", &facts));
	assert_false(facts.is_elf);
	assert_false(ac_elf_inspect("/no/such/file", &facts));
}

/* Cut anywhere: never dynamic while the headers are not whole. */
CASE(test_cut)
{
	const ElfW(Ehdr) *header = (const void *)whole;
	const size_t headers = header->e_phoff
	    + header->e_phnum * sizeof(ElfW(Phdr));

	for (size_t size = 0; size < whole_size;
	    size += size < 4096 ? 1 : 4099) {
		const struct ac_elf_facts facts = facts_of(whole, size);

		if (size < headers)
			assert_true(!facts.is_elf || facts.is_damaged);
	}
}

/* Every byte of the headers turned over, and set to the largest value. */
CASE(test_turned)
{
	for (size_t i = 0; i < 4096 && i < whole_size; i++) {
		const unsigned char kept = whole[i];

		whole[i] = kept ^ 0x55;
		(void)facts_of(whole, whole_size > 65536 ? 65536
		    : whole_size);
		whole[i] = 0xff;
		(void)facts_of(whole, whole_size > 65536 ? 65536
		    : whole_size);
		whole[i] = kept;
	}
}

static const uint64_t wild[] = {
	0, 1, 0xffff, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 8
};
enum { WILD = sizeof wild / sizeof *wild };

CASE(test_wild_segments)
{
	const ElfW(Ehdr) *header = (const void *)whole;
	unsigned char *copied = malloc(whole_size);

	for (int w = 0; w < WILD; w++) {
		for (int i = 0; i < header->e_phnum; i++) {
			ElfW(Phdr) *segments;

			memcpy(copied, whole, whole_size);
			segments = (void *)(copied + header->e_phoff);
			segments[i].p_offset = wild[w];
			(void)facts_of(copied, whole_size);
			segments[i].p_filesz = wild[w];
			(void)facts_of(copied, whole_size);
			segments[i].p_vaddr = wild[w];
			(void)facts_of(copied, whole_size);
		}
	}
	free(copied);
}

/* Wild tags and wild addresses behind them. */
CASE(test_wild_dynamic)
{
	const struct image image = {
		.bytes = whole, .size = whole_size,
		.header = *(const ElfW(Ehdr) *)(const void *)whole
	};
	unsigned char *copied = malloc(whole_size);
	ElfW(Phdr) where;
	ElfW(Dyn) entry;

	assert_true(find_segment(&image, PT_DYNAMIC, &where));
	for (size_t i = 0; dynamic_at(&image, &where, i, &entry); i++) {
		for (int w = 0; w < WILD; w++) {
			ElfW(Dyn) *entries;

			memcpy(copied, whole, whole_size);
			entries = (void *)(copied + where.p_offset);
			entries[i].d_un.d_val = wild[w];
			(void)facts_of(copied, whole_size);
			entries[i].d_tag = DT_NEEDED;
			(void)facts_of(copied, whole_size);
		}
	}
	free(copied);
}

CASES_RUN(begin, end)
