/* SPDX-License-Identifier: Apache-2.0 */
/* base/text.h -- bounded text: build it, read numbers from it, compare it.
 * Nothing here allocates, and nothing depends on the program's locale (an
 * intercepted program may have set a decimal comma). */
#ifndef AC_BASE_TEXT_H
#define AC_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer that is always NUL-terminated and remembers that it overflowed. */
struct ac_text {
	char   *data;
	size_t  size;      /* capacity in bytes, terminator included, >= 1 */
	size_t  used;      /* bytes written, terminator excluded */
	bool    truncated;
};

void ac_text_init(struct ac_text *t, char *buffer, size_t size);

/* What an empty text begins as: in an array, which is no pointer, or with so
 * many bytes of its own, for as long as the block that declares it. */
#define AC_TEXT_IN(array) ac_text_in((array), sizeof (array))
#define AC_TEXT_OF(size) ac_text_in((char[size]){ "" }, (size))
struct ac_text ac_text_in(char *buffer, size_t size);

void ac_text_add(struct ac_text *t, const char *s);
void ac_text_add_bytes(struct ac_text *t, const char *s, size_t count);
/* printf into the buffer. No floating-point conversions: see below. */
__attribute__((format(printf, 2, 3)))
void ac_text_addf(struct ac_text *t, const char *format, ...);
/* `value` with `digits` significant digits (1..9): plain notation from 1e-3
 * up to 1e6 (exclusive), else like 2.9e-4; trailing zeros dropped; always a
 * point; nan, inf, -inf by name. */
void ac_text_add_double(struct ac_text *t, double value, int digits);
/* `value` with exactly `decimals` digits after the point (0..9). */
void ac_text_add_fixed(struct ac_text *t, double value, int decimals);
/* `value` with all its bits: 0x1.8p+3, 0x0p+0, inf, nan, with a - if
 * negative. */
void ac_text_add_hex(struct ac_text *t, double value);
/* Space-pad on the right until `used` reaches `column`. */
void ac_text_pad(struct ac_text *t, size_t column);

/* Read an unsigned decimal number with optional fraction and exponent
 * (DIGITS [. DIGITS] [e [+-] DIGITS]) from `s`, at most `count` bytes.
 * Returns the bytes consumed, 0 if there is no number; *value_out is set only
 * then. The result is correctly rounded up to 19 significant digits within
 * one unit in the last place; overflow gives infinity. */
size_t ac_text_number(const char *s, size_t count, double *value_out);

/* Read what ac_text_add_hex() writes (one digit before the point, 14 in all):
 * the same bits, but for those of a NaN. Returns the bytes consumed, 0 if there
 * is no such number; *value_out is set only then. */
size_t ac_text_hex(const char *s, size_t count, double *value_out);

/* Read hexadecimal digits, all that there are, none of them a capital. Returns
 * how many. */
size_t ac_text_digits(const char *s, uint64_t *value_out);

/* Length of the well-formed UTF-8 sequence at `s`, which has `left` bytes or
 * ends in a NUL; 0 if it is none, or a NUL. */
size_t ac_text_sequence(const char *s, size_t left);

/* Shell glob with * and ? only, as fnmatch() without special treatment of
 * '/' or leading dots. Linear in practice, never recursive. */
bool ac_text_glob(const char *pattern, const char *s);

/* The entry of `words` (`count` of them) most like `word` if it is near
 * enough to suggest as a correction, else NULL. */
const char *ac_text_nearest(const char *word, const char *const *words,
    size_t count);

/* FNV-1a, 32 bit: stable ids. Start with AC_TEXT_HASH_START. */
#define AC_TEXT_HASH_START 2166136261u
uint32_t ac_text_hash(uint32_t hash, const void *bytes, size_t count);

#endif
