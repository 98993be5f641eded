/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_packed.c -- texts that gzip packs come back as they
 * were; what is damaged, or no file of gzip's, harms nobody. */
#include "kernels/load/load.h"
#include "tests/unit/cases.h"

#include <unistd.h>

enum { ROOM = 1 << 20 };

static unsigned char text[ROOM], packed[2 * ROOM];
static uint64_t seed;

static unsigned
drawn(unsigned below)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(seed >> 33) % below;
}

static size_t
read_all(const char *path, unsigned char *data, size_t room)
{
	FILE *file = fopen(path, "rb");
	size_t bytes;

	assert_non_null(file);
	bytes = fread(data, 1, room, file);
	assert_false(fclose(file));
	return bytes;
}

/* What gzip makes of the first bytes of `text`. */
static struct ac_packed
pack(size_t bytes, int level)
{
	char path[] = "/tmp/autocast-test-packed-XXXXXX", command[128];
	const int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, bytes), bytes);
	snprintf(command, sizeof command, "gzip -%dn <%s >%s.gz", level, path,
	    path);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof command, "%s.gz", path);
	bytes = read_all(command, packed, sizeof packed);
	unlink(command);
	unlink(path);
	close(file);
	return (struct ac_packed){ packed, packed + bytes };
}

static void
comes_back(size_t bytes)
{
	for (int level = 1; level <= 9; level += 4) {
		const struct ac_packed p = pack(bytes, level);
		struct ac_unpacked u;

		assert_true(ac_packed_open(&p, &u));
		assert_int_equal(u.bytes, bytes);
		assert_memory_equal(u.text, text, bytes);
		assert_int_equal(u.text[bytes], 0);
		ac_packed_close(&u);
		assert_null(u.text);
	}
}

/* Lines that come again from far and near, as PTX's do. */
static size_t
draw_lines(size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		text[i] = i > 40000 && drawn(50)
		    ? text[i - 1 - drawn(2) * 32767]
		    : (unsigned char)"mad.lo %r[1234],;\n"[drawn(18)];
	return bytes;
}

CASE(test_texts)
{
	comes_back(0);
	memcpy(text, "one code of each length fits", 28);
	comes_back(1);
	comes_back(28);          /* in fixed codes */
	comes_back(draw_lines(300000));
	memset(text, 'a', ROOM);
	comes_back(ROOM);        /* the longest matches, of distance 1 */
	for (size_t i = 0; i < 200000; i++)
		text[i] = (unsigned char)drawn(256);
	comes_back(200000);      /* nothing to be packed: stored, in blocks */
}

CASE(test_shipped)
{
	const char *srcdir = getenv("srcdir");
	char path[4096];
	struct ac_unpacked u;
	size_t bytes;

	snprintf(path, sizeof path, "%s/kernels/recast.ptx", srcdir ? srcdir
	    : ".");
	bytes = read_all(path, text, ROOM);
	assert_true(ac_packed_open(&ac_recast_module.packed, &u));
	assert_int_equal(u.bytes, bytes);
	assert_memory_equal(u.text, text, bytes);
	ac_packed_close(&u);
}

/* Some bits are others, or the end is missing: whatever is said, nothing but
 * the text is written. A sanitizer sees the rest. */
CASE(test_damaged)
{
	static unsigned char other[2 * ROOM];
	unsigned refused = 0;

	for (int level = 1; level <= 9; level += 8) {
		const struct ac_packed p = pack(draw_lines(60000), level);
		const unsigned bytes = (unsigned)(p.end - p.begin);

		for (int turn = 0; turn < 300; turn++) {
			struct ac_packed q = { other, other + bytes };
			struct ac_unpacked u;

			memcpy(other, p.begin, bytes);
			for (unsigned n = 1 + drawn(3); n; n--)
				other[10 + drawn(bytes - 14)] ^=
				    (unsigned char)(1 << drawn(8));
			if (drawn(4) == 0)
				q.end -= drawn(bytes);
			if (!ac_packed_open(&q, &u)) {
				refused++;
				continue;
			}
			assert_true(u.bytes <= ROOM << 6);
			ac_packed_close(&u);
		}
	}
	assert_true(refused > 300);
}

CASE(test_others)
{
	const struct ac_packed p = pack(draw_lines(500), 9);
	struct ac_unpacked u = { NULL, 0 };

	for (int i = 0; i < 4; i++) {
		packed[i] ^= 8;  /* not gzip's, not deflated, has a name */
		assert_false(ac_packed_open(&p, &u));
		packed[i] ^= 8;
	}
	for (long bytes = 0; bytes < p.end - p.begin; bytes++)
		assert_false(ac_packed_open(&(struct ac_packed){ packed,
		    packed + bytes }, &u));
	assert_null(u.text);
	packed[p.end - p.begin - 1] = 0x7f; /* 2 GB, it says */
	assert_false(ac_packed_open(&p, &u));
}

CASES_RUN(NULL, NULL)
