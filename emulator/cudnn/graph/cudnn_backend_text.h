/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/graph/cudnn_backend_text.h -- a text that is read in one
 * order, word by word; once something else stands there, all of it is bad. */
#ifndef AC_EMULATOR_CUDNN_BACKEND_TEXT_H
#define AC_EMULATOR_CUDNN_BACKEND_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { EMU_TEXT_NUMBERS = 8 };          /* of an array */

struct emu_text {
	const char *at;
	bool is_bad;
};

static inline bool
emu_text_accept(struct emu_text *text, const char *word)
{
	const size_t length = strlen(word);

	if (text->is_bad || strncmp(text->at, word, length) != 0)
		return false;
	text->at += length;
	return true;
}

static inline void
emu_text_expect(struct emu_text *text, const char *word)
{
	text->is_bad |= !emu_text_accept(text, word);
}

/* `value` and the digits behind it: how many. */
static inline int
emu_text_digits(struct emu_text *text, int64_t *value)
{
	int count = 0;

	while (!text->is_bad && *text->at >= '0' && *text->at <= '9') {
		*value = *value * 10 + (*text->at++ - '0');
		text->is_bad |= *value > INT64_C(1000000000000000);
		count++;
	}
	text->is_bad |= !count;
	return count;
}

static inline int64_t
emu_text_integer(struct emu_text *text, const char *before)
{
	int64_t value = 0;
	bool is_negative;

	emu_text_expect(text, before);
	is_negative = emu_text_accept(text, "-");
	emu_text_digits(text, &value);
	return is_negative ? -value : value;
}

static inline double
emu_text_real(struct emu_text *text, const char *before)
{
	int64_t value = 0;
	double unit = 1;
	bool is_negative;

	emu_text_expect(text, before);
	is_negative = emu_text_accept(text, "-");
	emu_text_digits(text, &value);
	emu_text_expect(text, ".");
	for (int i = emu_text_digits(text, &value); i > 0; i--)
		unit *= 10;
	return (is_negative ? -1 : 1) * (double)value / unit;
}

static inline int64_t
emu_text_numbers(struct emu_text *text, const char *before,
    int64_t to[EMU_TEXT_NUMBERS])
{
	int64_t count = 0;

	emu_text_expect(text, before);
	do
		to[count++] = emu_text_integer(text, "");
	while (count < EMU_TEXT_NUMBERS && emu_text_accept(text, ","));
	emu_text_expect(text, "]");
	return count;
}

#endif
