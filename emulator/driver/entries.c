/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/entries.c -- the kernels of a library, and what a quick look
 * at a PTX text says of them: their names and the sizes of their parameters,
 * which say how much of a launch's arguments to keep. */
#include "emulator/driver/module.h"
#include "emulator/driver/wait.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *
skip_space(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

static size_t
word_length(const char *s)
{
	return strcspn(s, " \t\r\n(),[];{");
}

/* Bytes of a fundamental type such as .u64: its trailing number over eight. */
static size_t
type_bytes(const char *type, size_t length)
{
	size_t digits = length;
	double bits = 0;

	while (digits && type[digits - 1] >= '0' && type[digits - 1] <= '9')
		digits--;
	ac_text_number(type + digits, length - digits, &bits);
	return (size_t)bits / 8;
}

/* One declaration, up to `end`: .param [.align N] .TYPE NAME [COUNT]. An .align
 * after the type is of what a pointer points to. */
static size_t
parameter_bytes(const char *s, const char *end, size_t *align_out)
{
	double count = 1, align = 0;
	size_t bytes = 0;

	while ((s = skip_space(s)) < end) {
		const size_t length = word_length(s);

		if (*s == '[')
			ac_text_number(s + 1, (size_t)(end - s - 1), &count);
		else if (!strncmp(s, ".align", 6) && !bytes)
			ac_text_number(skip_space(s + 6),
			    (size_t)(end - skip_space(s + 6)), &align);
		else if (length >= 2 && *s == '.' && strncmp(s, ".param", 6) &&
		    strncmp(s, ".align", 6) && strncmp(s, ".ptr", 4) &&
		    !bytes)
			bytes = type_bytes(s, length);
		s += length ? length : 1;
	}
	*align_out = align >= 1 ? (size_t)align : bytes ? bytes : 1;
	return bytes * (size_t)count;
}

struct CUkern_st *
emu_entries_add(struct CUlib_st *library, const char *name, size_t length)
{
	struct CUkern_st *kernel = calloc(1, sizeof *kernel);

	if (!kernel)
		emu_out_of_host_memory();
	kernel->name = strndup(name, length);
	if (!kernel->name)
		emu_out_of_host_memory();
	atomic_store(&kernel->dynamic, SIZE_MAX);
	atomic_store(&kernel->mark, EMU_MARK_KERNEL);
	kernel->library = library;
	kernel->number = library->kernel_count++;
	kernel->next = library->kernels;
	library->kernels = kernel;
	return kernel;
}

static void
add(size_t **list, size_t count, size_t value)
{
	size_t *larger = realloc(*list, (count + 1) * sizeof *larger);

	if (!larger)
		emu_out_of_host_memory();
	*list = larger;
	larger[count] = value;
}

void
emu_entries_size(struct CUkern_st *kernel, size_t bytes, size_t align)
{
	const size_t last = kernel->count;
	size_t at = last ? kernel->offsets[last - 1] + kernel->sizes[last - 1] :
	    0;

	at = (at + align - 1) / align * align;
	add(&kernel->sizes, last, bytes);
	add(&kernel->offsets, last, at);
	kernel->count++;
}

/* The entry whose name starts at `s`; false: the text is not valid. */
static bool
scan_entry(const char *s, struct CUlib_st *library)
{
	const size_t length = word_length(s);
	struct CUkern_st *kernel;
	size_t bytes, align;
	const char *end;

	if (!length)
		return false;
	kernel = emu_entries_add(library, s, length);
	s = skip_space(s + length);
	if (*s != '(')
		return true; /* no parameters */
	for (s++; *s && *s != ')'; s = *end == ',' ? end + 1 : end) {
		end = s + strcspn(s, ",)");
		if (end == s + strspn(s, " \t\r\n"))
			continue;
		bytes = parameter_bytes(s, end, &align);
		emu_entries_size(kernel, bytes, align);
	}
	return *s == ')';
}

unsigned
emu_entries_target(const char *text)
{
	static const char word[] = ".target sm_";
	const char *at = strstr(text, word);
	double number = 0;

	if (!at)
		return 0;
	at += sizeof word - 1;
	ac_text_number(at, strspn(at, "0123456789"), &number);
	return number < 1000 ? (unsigned)number : 0;
}

bool
emu_entries_scan(const char *text, struct CUlib_st *library)
{
	while ((text = strstr(text, ".entry"))) {
		text = skip_space(text + strlen(".entry"));
		if (!scan_entry(text, library))
			return false;
	}
	return library->kernels != NULL;
}
