/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/print.c -- what kernels print: kept until the host waits,
 * then it goes to the program's standard output, as NVIDIA's driver does it.
 * What nobody waits for is lost at the end, as there. */
#include "emulator/driver/print.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 1 << 20, LONGEST = 1024, SPEC = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *kept;             /* KEPT bytes */
static _Atomic size_t used;

/* Arguments lie behind each other, each aligned to its size. */
struct arguments {
	const unsigned char *base;
	size_t at;
};

static uint64_t
take(struct arguments *a, size_t bytes)
{
	uint64_t value = 0;

	a->at = (a->at + bytes - 1) / bytes * bytes;
	memcpy(&value, a->base + a->at, bytes);
	a->at += bytes;
	return value;
}

struct line {
	char text[LONGEST];
	size_t used;
};

static void
add(struct line *line, const char *text, size_t length)
{
	const size_t room = sizeof line->text - line->used;

	length = length < room ? length : room;
	memcpy(line->text + line->used, text, length);
	line->used += length;
}

/* One conversion: `spec` is "%...c" without its length words; `wide`: an
 * integer of eight bytes. */
static void
convert(struct line *line, char spec[SPEC], bool wide, struct arguments *a)
{
	const size_t length = strlen(spec);
	const char kind = spec[length - 1];
	char out[512];
	double number;
	uint64_t word;

	if (strchr("fFeEgGaA", kind)) {
		word = take(a, 8);
		memcpy(&number, &word, sizeof number);
		snprintf(out, sizeof out, spec, number);
	} else if (kind == 's') {
		word = take(a, 8);
		snprintf(out, sizeof out, spec, word ? (const char *)
		    (uintptr_t)word : "(null)");
	} else if (kind == 'p') {
		snprintf(out, sizeof out, spec, (void *)(uintptr_t)take(a, 8));
	} else if (kind == 'c') {
		snprintf(out, sizeof out, spec, (int)take(a, 4));
	} else {
		word = take(a, wide ? 8 : 4);
		if (!wide && strchr("di", kind))
			word = (uint64_t)(int64_t)(int32_t)word;
		memcpy(spec + length - 1, "ll", 2);
		spec[length + 1] = kind;
		spec[length + 2] = '\0';
		snprintf(out, sizeof out, spec, (unsigned long long)word);
	}
	add(line, out, strlen(out));
}

/* From a % on; returns what follows the conversion. A star's number is put in
 * its place. */
static const char *
read_spec(struct line *line, const char *s, struct arguments *a)
{
	char spec[SPEC] = "%";
	size_t length = 1;
	bool wide = false;

	for (s++; *s && strchr("#0- +.*123456789hljztL", *s) && length <
	    SPEC - 20; s++) {
		if (*s == '*')
			length += (size_t)snprintf(spec + length, 12, "%d",
			    (int)take(a, 4));
		else if (strchr("ljzt", *s))
			wide = true;
		else if (*s != 'h' && *s != 'L')
			spec[length++] = *s;
	}
	spec[length] = *s;
	spec[length + 1] = '\0';
	if (*s == '%')
		add(line, "%", 1);
	else if (*s && strchr("diouxXcspfFeEgGaA", *s))
		convert(line, spec, wide, a);
	else
		add(line, spec, strlen(spec));
	return *s ? s + 1 : s;
}

void
emu_print(const char *format, const void *arguments)
{
	struct arguments a = { arguments, 0 };
	struct line line = { .used = 0 };

	while (*format) {
		const size_t plain = strcspn(format, "%");

		add(&line, format, plain);
		format += plain;
		if (*format)
			format = read_spec(&line, format, &a);
	}
	pthread_mutex_lock(&lock);
	if (!kept)
		kept = malloc(KEPT);
	if (kept && line.used <= KEPT - used) {
		memcpy(kept + used, line.text, line.used);
		used += line.used;
	}
	pthread_mutex_unlock(&lock);
}

void
emu_print_flush(void)
{
	if (!atomic_load_explicit(&used, memory_order_relaxed))
		return;
	pthread_mutex_lock(&lock);
	fwrite(kept, 1, used, stdout);
	used = 0;
	pthread_mutex_unlock(&lock);
}

void
emu_print_release(void)
{
	free(kept);
	kept = NULL;
	used = 0;
}
