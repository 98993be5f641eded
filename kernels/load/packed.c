/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load/packed.c -- unpacks what gzip has packed. Codes are read bit by
 * bit: 6 ms for the larger PTX, once in a context, where the driver then takes
 * hundreds to compile it. No check sum: it is a part of this library. */
#include "kernels/load/packed.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum {
	HEAD = 10, TAIL = 8,     /* of a file, in bytes */
	LONGEST = 15,            /* code, in bits */
	END = 256,               /* of a block; above are lengths */
	LITERALS = 288, LENGTHS = 29, DISTANCES = 30, CODE_LENGTHS = 19,
	LARGEST = 1 << 26        /* text */
};

struct reader {
	const unsigned char *at, *end;
	uint32_t bits;           /* that were read and not taken, */
	unsigned held;           /* so many */
	bool     failed;
	char    *text;
	size_t   written, bytes;
};

/* Canonical: codes of a length follow each other. */
struct code {
	uint16_t count[LONGEST + 1];     /* of that length */
	uint16_t symbol[LITERALS];       /* in the order of their codes */
};

/* The next ones, the first is the lowest. */
static unsigned
take(struct reader *r, unsigned count)
{
	unsigned value;

	for (; r->held < count; r->held += 8) {
		if (r->at == r->end) {
			r->failed = true;
			return 0;
		}
		r->bits |= (uint32_t)*r->at++ << r->held;
	}
	value = r->bits & ((1u << count) - 1);
	r->bits >>= count;
	r->held -= count;
	return value;
}

static void
put(struct reader *r, int byte)
{
	if (r->written == r->bytes)
		r->failed = true;
	else
		r->text[r->written++] = (char)byte;
}

/* Of symbols with codes of these lengths; 0: it has none. */
static void
make_code(struct code *code, const uint8_t *lengths, unsigned symbols)
{
	uint16_t next[LONGEST + 2] = { 0 };

	memset(code->count, 0, sizeof code->count);
	for (unsigned i = 0; i < symbols; i++)
		code->count[lengths[i]]++;
	code->count[0] = 0;
	for (unsigned n = 1; n <= LONGEST; n++)
		next[n + 1] = (uint16_t)(next[n] + code->count[n]);
	for (unsigned i = 0; i < symbols; i++)
		if (lengths[i])
			code->symbol[next[lengths[i]]++] = (uint16_t)i;
}

static unsigned
decode(struct reader *r, const struct code *code)
{
	unsigned bits = 0, first = 0, index = 0;

	for (unsigned n = 1; n <= LONGEST && !r->failed; n++) {
		const unsigned count = code->count[n];

		bits |= take(r, 1);
		if (bits < first + count)
			return code->symbol[index + bits - first];
		index += count;
		first = (first + count) << 1;
		bits <<= 1;
	}
	r->failed = true;
	return 0;
}

static void
copy(struct reader *r, size_t length, size_t distance)
{
	if (distance > r->written)
		r->failed = true;
	while (length-- && !r->failed)
		put(r, r->text[r->written - distance]);
}

/* Extra bits of a length or distance: none for the first ones, then one more
 * for each `group` of them; and the least that each stands for. */
static unsigned
read_extra(struct reader *r, unsigned symbol, unsigned group, unsigned least)
{
	const unsigned extra = symbol < 2 * group ? 0 : symbol / group - 1;
	const unsigned base = extra ? (group + symbol % group) << extra
	    : symbol;

	return least + base + take(r, extra);
}

static void
read_codes(struct reader *r, const struct code *literal,
    const struct code *distance)
{
	while (!r->failed) {
		unsigned symbol = decode(r, literal), length;

		if (symbol == END)
			return;
		if (symbol < END) {
			put(r, (int)symbol);
			continue;
		}
		symbol -= END + 1;
		r->failed |= symbol >= LENGTHS;
		length = symbol == LENGTHS - 1 ? 258
		    : read_extra(r, symbol, 4, 3);
		copy(r, length, read_extra(r, decode(r, distance), 2, 1));
	}
}

static void
read_stored(struct reader *r)
{
	unsigned length, inverse;

	(void)take(r, r->held % 8);
	length = take(r, 16);
	inverse = take(r, 16);
	r->failed |= length != (inverse ^ 0xffff);
	while (length-- && !r->failed)
		put(r, (int)take(r, 8));
}

static void
read_fixed(struct reader *r)
{
	uint8_t lengths[LITERALS];
	struct code literal, distance;

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + 280, 8, 8);
	make_code(&literal, lengths, LITERALS);
	memset(lengths, 5, DISTANCES);
	make_code(&distance, lengths, DISTANCES);
	read_codes(r, &literal, &distance);
}

/* Lengths of codes: 16 says the last one again, 17 and 18 none. */
static void
read_lengths(struct reader *r, const struct code *code, uint8_t *lengths,
    unsigned symbols)
{
	for (unsigned n = 0; n < symbols && !r->failed;) {
		const unsigned symbol = decode(r, code);
		unsigned times = symbol < 16 ? 1 : symbol == 16 ? 3 + take(r, 2)
		    : symbol == 17 ? 3 + take(r, 3) : 11 + take(r, 7);
		const uint8_t length = symbol < 16 ? (uint8_t)symbol
		    : symbol == 16 && n ? lengths[n - 1] : 0;

		for (; times && n < symbols; times--)
			lengths[n++] = length;
		r->failed |= times > 0;
	}
}

static void
read_dynamic(struct reader *r)
{
	static const uint8_t order[CODE_LENGTHS] = {
		16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15
	};
	const unsigned literals = 257 + take(r, 5);
	const unsigned distances = 1 + take(r, 5), count = 4 + take(r, 4);
	uint8_t lengths[LITERALS + DISTANCES] = { 0 };
	struct code literal, distance;

	r->failed |= literals > LITERALS - 2 || distances > DISTANCES;
	for (unsigned i = 0; i < count; i++)
		lengths[order[i]] = (uint8_t)take(r, 3);
	make_code(&literal, lengths, CODE_LENGTHS);
	if (!r->failed)
		read_lengths(r, &literal, lengths, literals + distances);
	if (r->failed)
		return;
	make_code(&literal, lengths, literals);
	make_code(&distance, lengths + literals, distances);
	read_codes(r, &literal, &distance);
}

/* Whether that gives all bytes, and no more. */
static bool
unpack(struct reader *r)
{
	bool is_last = false;

	while (!is_last && !r->failed) {
		is_last = take(r, 1);
		switch (take(r, 2)) {
		case 0: read_stored(r); break;
		case 1: read_fixed(r); break;
		case 2: read_dynamic(r); break;
		default: r->failed = true;
		}
	}
	return !r->failed && r->written == r->bytes;
}

bool
ac_packed_open(const struct ac_packed *packed,
    struct ac_unpacked *unpacked_out)
{
	static const unsigned char head[4] = { 0x1f, 0x8b, 8, 0 };
	const unsigned char *end = packed->end;
	struct reader r = { .at = packed->begin + HEAD, .end = end - TAIL };
	struct ac_unpacked unpacked;

	if (end - packed->begin < HEAD + TAIL
	    || memcmp(packed->begin, head, sizeof head))
		return false;
	r.bytes = (size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16
	    | (size_t)end[-1] << 24;
	if (r.bytes > LARGEST)
		return false;
	unpacked.bytes = r.bytes;
	unpacked.text = r.text = mmap(NULL, r.bytes + 1, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (unpacked.text == MAP_FAILED)
		return false;
	if (!unpack(&r)) {
		ac_packed_close(&unpacked);
		return false;
	}
	*unpacked_out = unpacked;
	return true;
}

void
ac_packed_close(struct ac_unpacked *unpacked)
{
	if (unpacked->text)
		munmap(unpacked->text, unpacked->bytes + 1);
	unpacked->text = NULL;
}
