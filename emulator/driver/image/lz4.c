/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/image/lz4.c -- LZ4's block format [LZ4 Block Format
 * Description]: runs of literals, each followed by a copy of earlier bytes. */
#include "emulator/driver/image/image.h"

#include <string.h>

struct reader {
	const unsigned char *at, *end;
};

/* 15 in a token continues in further bytes. */
static bool
read_length(struct reader *r, size_t *length)
{
	unsigned char more;

	if (*length != 15)
		return true;
	do {
		if (r->at == r->end)
			return false;
		more = *r->at++;
		*length += more;
	} while (more == 255);
	return true;
}

static bool
literals(struct reader *r, size_t length, unsigned char *to, size_t *at,
    size_t room)
{
	if (!read_length(r, &length) || length > (size_t)(r->end - r->at) ||
	    length > room - *at)
		return false;
	memcpy(to + *at, r->at, length);
	r->at += length;
	*at += length;
	return true;
}

/* The two may overlap: a short distance repeats. */
static bool
copy(struct reader *r, size_t length, unsigned char *to, size_t *at,
    size_t room)
{
	size_t distance;

	if (r->end - r->at < 2)
		return false;
	distance = r->at[0] | (size_t)r->at[1] << 8;
	r->at += 2;
	if (!read_length(r, &length))
		return false;
	length += 4;
	if (!distance || distance > *at || length > room - *at)
		return false;
	for (; length; length--, ++*at)
		to[*at] = to[*at - distance];
	return true;
}

bool
emu_unpack_lz4(const unsigned char *from, size_t bytes, unsigned char *to,
    size_t room)
{
	struct reader r = { from, from + bytes };
	size_t at = 0;

	while (r.at < r.end) {
		const unsigned token = *r.at++;

		if (!literals(&r, token >> 4, to, &at, room))
			return false;
		if (r.at == r.end)
			break; /* the last run has no copy */
		if (!copy(&r, token & 15, to, &at, room))
			return false;
	}
	return at == room;
}
