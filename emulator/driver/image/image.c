/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/image/image.c -- chooses the PTX of an image, and unpacks
 * it. Trusts nothing that the image says of itself. */
#include "emulator/driver/image/image.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KIND_PTX = 1, KIND_ELF = 2,
	FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000,
	/* PTX 9.x came with CUDA 13.x, whose driver is emulated
	 * (EMU_DRIVER_VERSION). */
	PTX_MAJOR = 9
};
/* 0xba55ed50 and 0x466243b1. */
static const char fat_magic[] = "\x50\xed\x55\xba";
static const char wrapper_magic[] = "\xb1\x43\x62\x46";
/* More than any text has; also the most that is allocated for a claim. */
#define TEXT_MOST ((size_t)256 << 20)

/* nvcc's code registers this; `data` is a fat binary. */
struct wrapper {
	uint32_t magic, version;
	const void *data, *more;
};

struct head {
	uint32_t magic;
	uint16_t version, bytes;   /* of this head */
	uint64_t size;             /* of all entries, which follow */
};

struct entry {
	uint16_t kind, version;
	uint32_t head;             /* bytes of this */
	uint64_t size;             /* of what follows, padded */
	uint32_t packed;           /* bytes of it that count, if it is packed */
	uint32_t options;
	uint16_t minor, major;
	uint32_t capability, name, name_bytes;
	uint64_t flags, zero, unpacked;
};

/* What a walk over the entries finds. */
struct choice {
	struct entry entry;        /* of the best text; kind 0: none */
	const unsigned char *data;
	unsigned newer;            /* the lowest of those that are too new */
	unsigned machine[8];       /* machine code is for these, each once */
	size_t machines;
};

__attribute__((format(printf, 3, 4)))
static enum emu_image_status
refuse(struct emu_refusal *refusal, enum emu_image_status status,
    const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(refusal->text, sizeof refusal->text, format, list);
	va_end(list);
	return status;
}

static enum emu_image_status
damaged(struct emu_refusal *refusal, const char *what)
{
	return refuse(refusal, EMU_IMAGE_BAD,
	    "the program's device code is damaged: %s", what);
}

static void
note_machine(struct choice *c, unsigned capability)
{
	for (size_t i = 0; i < c->machines; i++)
		if (c->machine[i] == capability)
			return;
	if (c->machines < sizeof c->machine / sizeof *c->machine)
		c->machine[c->machines++] = capability;
}

static void
consider(struct choice *c, const struct entry *e, const unsigned char *data,
    unsigned capability)
{
	if (e->kind == KIND_ELF)
		note_machine(c, e->capability);
	if (e->kind != KIND_PTX)
		return;
	if (e->capability > capability) {
		if (!c->newer || e->capability < c->newer)
			c->newer = e->capability;
	} else if (!c->entry.kind || e->capability > c->entry.capability) {
		c->entry = *e;
		c->data = data;
	}
}

/* False: an entry does not fit. */
static bool
walk(const unsigned char *at, size_t left, unsigned capability,
    struct choice *c)
{
	while (left) {
		struct entry e;

		if (left < sizeof e)
			return false;
		memcpy(&e, at, sizeof e);
		if (e.head < sizeof e || e.head > left ||
		    e.size > left - e.head)
			return false;
		consider(c, &e, at + e.head, capability);
		at += e.head + e.size;
		left -= e.head + e.size;
	}
	return true;
}

static enum emu_image_status
no_text(const struct choice *c, unsigned capability,
    struct emu_refusal *refusal)
{
	char list[80] = "";
	size_t used = 0;

	if (c->newer)
		return refuse(refusal, EMU_IMAGE_NONE, "this program has PTX "
		    "for compute_%u and newer; the emulated GPU is "
		    "compute_%u. Choose a newer one (--emulate=%s), or "
		    "build it with -gencode arch=compute_%u,code=compute_%u",
		    c->newer, capability, c->newer > 103 ? "rtx5090" :
		    c->newer > 100 ? "b300" : c->newer > 90 ? "b200" : "h200",
		    capability, capability);
	for (size_t i = 0; i < c->machines && used < sizeof list - 16; i++)
		used += (size_t)snprintf(list + used, sizeof list - used,
		    "%ssm_%u", i ? ", " : "", c->machine[i]);
	if (!c->machines)
		return refuse(refusal, EMU_IMAGE_NONE, "there is no device "
		    "code for it; bring a CPU twin (AUTOCAST_EMU_TWINS)");
	return refuse(refusal, EMU_IMAGE_NONE, "this program has machine code "
	    "for %s only; the emulated GPU runs PTX. Build it with "
	    "-arch=sm_%u (which adds PTX) or -gencode arch=compute_%u,"
	    "code=compute_%u, without -rdc=true, or bring a twin "
	    "(AUTOCAST_EMU_TWINS)", list,
	    c->machine[0], c->machine[0], c->machine[0]);
}

static enum emu_image_status
unpack(const struct choice *c, char **text_out, struct emu_refusal *refusal)
{
	const struct entry *const e = &c->entry;
	const bool is_packed = e->flags & (FLAG_LZ4 | FLAG_ZSTD);
	const uint64_t room = is_packed ? e->unpacked : e->size;
	bool missing = false, good = true;
	char *text;

	if (room > TEXT_MOST || (is_packed && e->packed > e->size))
		return damaged(refusal, "the PTX has no such size");
	text = malloc((size_t)room + 1);
	if (!text)
		return refuse(refusal, EMU_IMAGE_NO_MEMORY,
		    "no memory for the PTX");
	if (e->flags & FLAG_ZSTD)
		good = emu_unpack_zstd(c->data, e->packed, (void *)text,
		    (size_t)room, &missing);
	else if (e->flags & FLAG_LZ4)
		good = emu_unpack_lz4(c->data, e->packed, (void *)text,
		    (size_t)room);
	else
		memcpy(text, c->data, (size_t)room);
	if (!good) {
		free(text);
		return missing ? refuse(refusal, EMU_IMAGE_NONE, "its PTX is "
		    "packed with zstd, and there is no libzstd.so.1. Install "
		    "libzstd1, or build it with --compress-mode=speed") :
		    damaged(refusal, "the PTX does not unpack");
	}
	text[room] = '\0';
	*text_out = text;
	return EMU_IMAGE_OK;
}

static enum emu_image_status
fat_text(const unsigned char *image, size_t bytes, unsigned capability,
    char **text_out, struct emu_refusal *refusal)
{
	struct choice c = { .data = NULL };
	struct head head;

	if (bytes < sizeof head)
		return damaged(refusal, "it is cut short");
	memcpy(&head, image, sizeof head);
	if (memcmp(&head, fat_magic, sizeof head.magic))
		return damaged(refusal, "it is no fat binary");
	if (head.bytes < sizeof head || head.bytes > bytes ||
	    head.size > bytes - head.bytes)
		return damaged(refusal, "it is cut short");
	if (!walk(image + head.bytes, (size_t)head.size, capability, &c))
		return damaged(refusal, "an entry is cut short");
	return c.entry.kind ? unpack(&c, text_out, refusal) :
	    no_text(&c, capability, refusal);
}

/* Only the bits that say so are read: e_ident, and e_flags, where the low byte
 * or the second one is the capability. */
static enum emu_image_status
machine_code(const unsigned char *image, size_t bytes, unsigned capability,
    struct emu_refusal *refusal)
{
	enum { ABI = 7, FLAGS = 48, NEW_ABI = 0x41 };
	struct choice c = { .machines = 1 };
	uint32_t flags;

	if (bytes < FLAGS + sizeof flags)
		return damaged(refusal, "it is cut short");
	memcpy(&flags, image + FLAGS, sizeof flags);
	c.machine[0] = image[ABI] >= NEW_ABI ? flags >> 8 & 255 : flags & 255;
	return no_text(&c, capability, refusal);
}

/* What stands after white space and comments. */
static const char *
skip_blank(const char *s)
{
	const char *end;

	for (;;) {
		s += strspn(s, " \t\r\n");
		if (!strncmp(s, "//", 2))
			s += strcspn(s, "\n");
		else if (!strncmp(s, "/*", 2) && (end = strstr(s + 2, "*/")))
			s = end + 2;
		else
			return s;
	}
}

/* Whether a device runs code for sm_NUMBER with this suffix: 'a' is for that
 * capability alone, 'f' for those of the same major number. */
static bool
runs_target(unsigned capability, unsigned number, char suffix)
{
	if (suffix == 'a')
		return number == capability;
	return number <= capability &&
	    (suffix != 'f' || number / 10 == capability / 10);
}

/* Take `word`, then a number of four digits at most. */
static bool
take_number(const char **text, const char *word, unsigned *number_out)
{
	const char *s = *text + strlen(word);
	unsigned number = 0, digits = 0;

	if (strncmp(*text, word, strlen(word)))
		return false;
	for (; digits < 4 && *s >= '0' && *s <= '9'; digits++)
		number = number * 10 + (unsigned)(*s++ - '0');
	*text = s;
	*number_out = number;
	return digits > 0;
}

/* What the first two directives ask for. A text that begins otherwise is for
 * the parser to refuse. */
static enum emu_image_status
check_head(const char *text, unsigned capability, struct emu_refusal *refusal)
{
	unsigned major, minor, number;
	char suffix;

	text = skip_blank(text);
	if (strncmp(text, ".version", 8))
		return EMU_IMAGE_OK;
	text = skip_blank(text + 8);
	if (!take_number(&text, "", &major) || !take_number(&text, ".", &minor))
		return EMU_IMAGE_OK;
	if (major > PTX_MAJOR)
		return refuse(refusal, EMU_IMAGE_VERSION, "this program has "
		    "PTX of version %u.%u; the emulated driver reads versions "
		    "up to %d.x", major, minor, PTX_MAJOR);
	text = skip_blank(text);
	if (strncmp(text, ".target", 7))
		return EMU_IMAGE_OK;
	text = skip_blank(text + 7);
	if (!take_number(&text, "sm_", &number))
		return EMU_IMAGE_OK;
	suffix = *text;
	if (runs_target(capability, number, suffix))
		return EMU_IMAGE_OK;
	return refuse(refusal, EMU_IMAGE_NONE, "this program has PTX for "
	    "sm_%u%.*s only; the emulated GPU is sm_%u", number,
	    suffix == 'a' || suffix == 'f', &suffix, capability);
}

/* A text whose size nobody knows ends in a zero byte. */
static enum emu_image_status
plain_text(const char *image, size_t bytes, unsigned capability,
    char **text_out, struct emu_refusal *refusal)
{
	enum emu_image_status status;
	const size_t length = strnlen(image, bytes < TEXT_MOST ? bytes :
	    TEXT_MOST);
	char *text = malloc(length + 1);

	if (!text)
		return refuse(refusal, EMU_IMAGE_NO_MEMORY,
		    "no memory for the PTX");
	memcpy(text, image, length);
	text[length] = '\0';
	status = check_head(text, capability, refusal);
	if (status) {
		free(text);
		return status;
	}
	*text_out = text;
	return EMU_IMAGE_OK;
}

/* Whether the text begins with `word`, read no further than needed. */
static bool
begins(const char *text, size_t bytes, const char *word)
{
	size_t i = 0;

	while (word[i] && i < bytes && text[i] == word[i])
		i++;
	return !word[i];
}

enum emu_image_status
emu_image_text(const void *image, size_t bytes, unsigned capability,
    char **text_out, struct emu_refusal *refusal)
{
	const char *s = image;
	struct wrapper w;
	size_t blank = 0;

	refusal->text[0] = '\0';
	if (!image)
		return no_text(&(struct choice){ .machines = 0 }, capability,
		    refusal);
	if (begins(s, bytes, wrapper_magic)) {
		if (bytes < sizeof w)
			return damaged(refusal, "it is cut short");
		memcpy(&w, image, sizeof w);
		return w.data ? fat_text(w.data, SIZE_MAX, capability,
		    text_out, refusal) : damaged(refusal, "it is empty");
	}
	if (begins(s, bytes, fat_magic))
		return fat_text(image, bytes, capability, text_out, refusal);
	if (begins(s, bytes, "\177ELF"))
		return machine_code(image, bytes, capability, refusal);
	while (blank < bytes && s[blank] && strchr(" \t\r\n", s[blank]))
		blank++;
	if (begins(s + blank, bytes - blank, "//") ||
	    begins(s + blank, bytes - blank, "/*") ||
	    begins(s + blank, bytes - blank, ".version"))
		return plain_text(s, bytes, capability, text_out, refusal);
	return refuse(refusal, EMU_IMAGE_BAD, "the program's device code "
	    "is neither PTX nor a fat binary");
}
