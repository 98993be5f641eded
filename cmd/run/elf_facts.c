/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/elf_facts.c -- how a program file is linked, read from its bytes.
 * Bounds-checked throughout; 64-bit files only: others are not native. */
#include "cmd/run/program.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Device code: what fat binaries hold -------------------------------- */

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

static void
inspect_device(const unsigned char *bytes, size_t size,
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

/* ---- The file's own code ------------------------------------------------ */

struct image {
	const unsigned char *bytes;
	size_t               size;
	ElfW(Ehdr)           header;
};

/* A piece of static libcudart or libcublas that no program has by itself.
 * Both texts must be there: one alone may be a program's own message. */
static const char cudart_marks[][40] = {
	"cudaErrorCudartUnloading", "startup failure in cuda runtime"
};
static const char cublas_marks[][40] = {
	"CUBLAS_LOGDEST_DBG", "CUBLAS_WORKSPACE_CONFIG"
};

/* ---- Bytes ------------------------------------------------------------- */

static bool
copy(const struct image *image, uint64_t offset, void *to, size_t size)
{
	if (offset > image->size || size > image->size - offset)
		return false;
	memcpy(to, image->bytes + offset, size);
	return true;
}

/* The string at `offset`, NULL unless it ends inside the file. */
static const char *
text_at(const struct image *image, uint64_t offset)
{
	if (offset >= image->size || !memchr(image->bytes + offset, '\0',
	    image->size - offset))
		return NULL;
	return (const char *)image->bytes + offset;
}

static bool
segment(const struct image *image, unsigned number, ElfW(Phdr) *segment_out)
{
	return number < image->header.e_phnum &&
	    image->header.e_phentsize == sizeof *segment_out &&
	    copy(image, image->header.e_phoff + number * sizeof *segment_out,
	    segment_out, sizeof *segment_out);
}

static bool
find_segment(const struct image *image, uint32_t type,
    ElfW(Phdr) *segment_out)
{
	for (unsigned i = 0; segment(image, i, segment_out); i++)
		if (segment_out->p_type == type)
			return true;
	return false;
}

/* Where in the file the address `address` is, SIZE_MAX if nowhere. */
static uint64_t
offset_of(const struct image *image, uint64_t address)
{
	ElfW(Phdr) load;

	for (unsigned i = 0; segment(image, i, &load); i++)
		if (load.p_type == PT_LOAD && address >= load.p_vaddr &&
		    address - load.p_vaddr < load.p_filesz)
			return load.p_offset + (address - load.p_vaddr);
	return SIZE_MAX;
}

static bool
contains(const struct image *image, const char (*marks)[40], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!memmem(image->bytes, image->size, marks[i],
		    strlen(marks[i])))
			return false;
	return true;
}

/* ---- The dynamic section ----------------------------------------------- */

struct needs {
	bool cudart, cublas, rpath, runpath;
};

static void
note_needed(const char *name, struct needs *needs, struct ac_elf_facts *facts)
{
	static const char *const sanitizers[] = {
		"libasan.so", "libtsan.so", "libclang_rt.asan",
		"libclang_rt.tsan"
	};

	needs->cudart |= !strncmp(name, "libcudart.so", 12);
	needs->cublas |= !strncmp(name, "libcublas.so", 12);
	for (size_t i = 0; i < sizeof sanitizers / sizeof *sanitizers; i++)
		if (!strncmp(name, sanitizers[i], strlen(sanitizers[i])) &&
		    strlen(name) < sizeof facts->sanitizer)
			strcpy(facts->sanitizer, name);
}

static bool
dynamic_at(const struct image *image, const ElfW(Phdr) *where, size_t number,
    ElfW(Dyn) *entry_out)
{
	return number < where->p_filesz / sizeof *entry_out &&
	    copy(image, where->p_offset + number * sizeof *entry_out,
	    entry_out, sizeof *entry_out) && entry_out->d_tag != DT_NULL;
}

static void
read_dynamic(const struct image *image, struct needs *needs,
    struct ac_elf_facts *facts)
{
	uint64_t strings = SIZE_MAX;
	ElfW(Phdr) where;
	ElfW(Dyn) entry;

	if (!find_segment(image, PT_DYNAMIC, &where))
		return;
	for (size_t i = 0; dynamic_at(image, &where, i, &entry); i++)
		if (entry.d_tag == DT_STRTAB)
			strings = offset_of(image, entry.d_un.d_ptr);
	for (size_t i = 0; dynamic_at(image, &where, i, &entry); i++) {
		const char *name;

		needs->rpath |= entry.d_tag == DT_RPATH;
		needs->runpath |= entry.d_tag == DT_RUNPATH;
		if (entry.d_tag != DT_NEEDED || strings == SIZE_MAX ||
		    entry.d_un.d_val > image->size)
			continue;
		name = text_at(image, strings + entry.d_un.d_val);
		if (name)
			note_needed(name, needs, facts);
	}
}

/* ---- Symbols ----------------------------------------------------------- */

static bool
section(const struct image *image, unsigned number, ElfW(Shdr) *section_out)
{
	return number < image->header.e_shnum &&
	    image->header.e_shentsize == sizeof *section_out &&
	    copy(image, image->header.e_shoff + number * sizeof *section_out,
	    section_out, sizeof *section_out);
}

static bool
table_defines(const struct image *image, const ElfW(Shdr) *table,
    const ElfW(Shdr) *strings, const char *name)
{
	const size_t length = strlen(name) + 1;
	ElfW(Sym) symbol;

	for (uint64_t at = 0; at < table->sh_size / sizeof symbol; at++) {
		if (!copy(image, table->sh_offset + at * sizeof symbol, &symbol,
		    sizeof symbol))
			return false;
		if (symbol.st_shndx != SHN_UNDEF &&
		    strings->sh_offset <= image->size &&
		    symbol.st_name < image->size - strings->sh_offset &&
		    image->size - strings->sh_offset - symbol.st_name >=
		    length && !memcmp(image->bytes + strings->sh_offset +
		    symbol.st_name, name, length))
			return true;
	}
	return false;
}

static bool
defines(const struct image *image, const char *name)
{
	ElfW(Shdr) table, strings;

	for (unsigned i = 0; section(image, i, &table); i++)
		if ((table.sh_type == SHT_SYMTAB ||
		    table.sh_type == SHT_DYNSYM) &&
		    section(image, table.sh_link, &strings) &&
		    table_defines(image, &table, &strings, name))
			return true;
	return false;
}

/* ---- Kernels ----------------------------------------------------------- */

static bool
find_section(const struct image *image, const char *name,
    ElfW(Shdr) *section_out)
{
	ElfW(Shdr) names;
	const char *text;

	if (!section(image, image->header.e_shstrndx, &names))
		return false;
	for (unsigned i = 0; section(image, i, section_out); i++) {
		text = text_at(image, names.sh_offset + section_out->sh_name);
		if (text && !strcmp(text, name))
			return section_out->sh_offset <= image->size &&
			    section_out->sh_size <= image->size -
			    section_out->sh_offset;
	}
	return false;
}

/* nvcc -rdc=true leaves the pieces that it linked, PTX among them, where no
 * driver looks: those are no kernels. */
static void
find_kernels(const struct image *image, struct ac_elf_facts *facts)
{
	ElfW(Shdr) pieces;
	uint64_t behind;

	if (!find_section(image, "__nv_relfatbin", &pieces)) {
		inspect_device(image->bytes, image->size, facts);
		return;
	}
	facts->is_linked_device_code = true;
	inspect_device(image->bytes, pieces.sh_offset, facts);
	behind = (pieces.sh_offset + pieces.sh_size + 7) / 8 * 8;
	if (behind < image->size)
		inspect_device(image->bytes + behind,
		    image->size - behind, facts);
}

/* ---- The file ---------------------------------------------------------- */

/* Our own header: the linker says where it is. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static bool
is_native(const struct image *image)
{
	return image->bytes[EI_CLASS] == __ehdr_start.e_ident[EI_CLASS] &&
	    image->bytes[EI_DATA] == __ehdr_start.e_ident[EI_DATA] &&
	    image->header.e_machine == __ehdr_start.e_machine;
}

static void
judge(struct image *image, struct ac_elf_facts *facts)
{
	struct needs needs = { false, false, false, false };
	const char *loader;
	ElfW(Phdr) interpreter;

	facts->is_elf = image->size >= SELFMAG &&
	    !memcmp(image->bytes, ELFMAG, SELFMAG);
	if (!facts->is_elf)
		return;
	facts->is_damaged = !copy(image, 0, &image->header,
	    sizeof image->header);
	facts->is_native = facts->is_damaged || is_native(image);
	if (facts->is_damaged || !facts->is_native)
		return;
	facts->is_damaged = image->header.e_phnum == 0 ||
	    !segment(image, image->header.e_phnum - 1u, &interpreter);
	if (facts->is_damaged)
		return;
	facts->is_dynamic = find_segment(image, PT_INTERP, &interpreter);
	loader = facts->is_dynamic ? text_at(image, interpreter.p_offset) :
				     NULL;
	facts->is_musl = loader && strstr(loader, "/ld-musl");
	read_dynamic(image, &needs, facts);
	facts->has_rpath = needs.rpath && !needs.runpath;
	facts->has_static_cudart = !needs.cudart &&
	    contains(image, cudart_marks, 2);
	/* A file with cuBLAS inside defines this, unless it was stripped. */
	facts->defines_cublas = defines(image, "cublasSgemm_v2");
	find_kernels(image, facts);
	facts->defines_dlsym = defines(image, "dlsym");
	facts->has_cublas_text = !needs.cublas &&
	    contains(image, cublas_marks, 2);
	facts->has_static_cublas = facts->has_cublas_text ||
	    (!needs.cublas && facts->defines_cublas);
}

bool
ac_elf_inspect(const char *path, struct ac_elf_facts *facts_out)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct image image;
	struct stat status;
	void *mapped = NULL;

	if (fd < 0)
		return false;
	memset(facts_out, 0, sizeof *facts_out);
	memset(&image, 0, sizeof image);
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) &&
	    status.st_size > 0)
		mapped = mmap(NULL, (size_t)status.st_size, PROT_READ,
		    MAP_PRIVATE, fd, 0);
	close(fd);
	if (!mapped || mapped == MAP_FAILED)
		return true;
	image.bytes = mapped;
	image.size = (size_t)status.st_size;
	judge(&image, facts_out);
	munmap(mapped, image.size);
	return true;
}
