/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_read_fuzz.c -- ten thousand damaged statistics files:
 * each is refused for a reason or shown in full, and no byte of it reaches the
 * terminal that could steer one. The seed is fixed; ROUNDS and SEED, its two
 * arguments, ask for other ones. */
#include "tests/unit/with_state.h"

enum { SITES = 34, MUTATIONS = 12 };

static unsigned rounds = 10000;
static uint64_t seed = 1;
static char path[128];
static unsigned char *good, *bytes;     /* the file as it was, and is */
static size_t size;
static unsigned with_ranges;    /* of the reports that were shown */

static uint32_t
chance(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % below;
}

/* ---- Damage ------------------------------------------------------------ */

static const size_t record_bytes = sizeof(struct ac_site_record);

/* Where something is: the header, a marker, a record, a shard. */
static size_t
place(void)
{
	switch (chance(8)) {
	case 0: case 1: case 2:
		return chance(sizeof(struct ac_file_header));
	case 3:
		return offsetof(struct ac_file_front, markers)
		    + chance(2 * sizeof(struct ac_marker_record));
	case 4:
		return ac_file_shard_offset(0) + chance(SITES * 8);
	case 5:
		return ac_file_chunk_offset(1)
		    + chance((SITES - AC_FILE_FRONT_SITES) * record_bytes);
	default:
		return offsetof(struct ac_file_front, sites)
		    + chance(AC_FILE_FRONT_SITES * record_bytes);
	}
}

static void
damage(void)
{
	static const uint32_t words[] = {
		0, 1, 31, 32, 33, 127, 128, 8192, 100000, 100001, 100002,
		INT32_MAX, (uint32_t)INT32_MIN, UINT32_MAX
	};
	static const char steering[] = "\033]0;x\007\033[2J\302\233\x9b\xff";
	const size_t at = place();

	switch (chance(5)) {
	case 0:
		bytes[at] ^= (unsigned char)(1 << chance(8));
		break;
	case 1:
		bytes[at] = (unsigned char)chance(256);
		break;
	case 2:
		memcpy(bytes + at / 4 * 4, &words[chance(sizeof words / 4)], 4);
		break;
	case 3:
		memcpy(bytes + at, steering + chance(sizeof steering - 4), 4);
		break;
	default:
		memmove(bytes + at, bytes + place(), 1 + chance(64));
		break;
	}
}

/* ---- What has to hold -------------------------------------------------- */

/* Only what a line of text is made of. */
static void
check_harmless(const char *text)
{
	for (const char *s = text; *s; ) {
		const unsigned char c = (unsigned char)*s;
		const size_t length = ac_text_sequence(s, SIZE_MAX);

		if (!length || (c < ' ' && c != '\n') || c == 127 ||
		    (c == 0xc2 && (unsigned char)s[1] < 0xa0))
			fail_msg("byte %02x in: %.200s", c, text);
		s += length;
	}
}

static void
show(const struct ac_file_header *header, const struct ac_site_record *records,
    const struct ac_marker_record *markers)
{
	const struct ac_report_view view = { .clock = 10, .seconds = 1,
		.rows = 10 };
	struct ac_report *report = calloc(1, sizeof *report);

	assert_non_null(report);
	assert_true(ac_report_add(report, header, records, markers));
	assert_true(ac_report_add_ranges(report, path, header, records));
	ac_report_arrange(report);
	with_ranges += report->ranges_count > 0;
	check_harmless(written(as_text, report));
	check_harmless(written(ac_report_as_json, report));
	check_harmless(written(summary, report));
	sunk_count = 0;
	ac_report_as_live(report, report, &view, sink, NULL);
	ac_report_as_live(NULL, report, &view, sink, NULL);
	check_harmless(sunk);
	sunk_count = 0;
	if (ac_report_as_ranges(report, NULL, sink, NULL))
		check_harmless(sunk);
	ac_report_destroy(report);
}

static bool
read_and_show(void)
{
	struct ac_marker_record markers[AC_FILE_MARKERS];
	struct ac_site_record *records = NULL;
	struct ac_file_header header;
	char reason[256];
	struct ac_text why;

	memset(markers, 0, sizeof markers);
	ac_text_init(&why, reason, sizeof reason);
	if (!ac_report_read(path, &header, &records, &markers, &why)) {
		check_harmless(reason);
		return false;
	}
	show(&header, records, markers);
	free(records);
	return true;
}

/* ---- Rounds ------------------------------------------------------------ */

static void
count_sites(void)
{
	const struct ac_policy_origin origin = { "amp", "because", true };

	ac_report_open(&origin, "a note\nanother\n");
	ac_report_machine("NVIDIA H200", 90, "cublas-13.1", false);
	for (int i = 1; i <= SITES; i++) {
		ac_report_count(site_of(i), AC_REASON_NONE);
		ac_report_count(site_of(i), AC_REASON_GUARD);
		if (i % 17 == 0)
			(void)ac_report_ranges(site_of(i));
	}
	ac_report_count_marker(ac_report_marker("cublasStrsm_v2"));
	ac_report_count_marker(ac_report_marker("cublasStrmm_v2"));
}

static void
remember(const char *name)
{
	strcpy(path, name);
}

static void
save(int fd, size_t count)
{
	assert_int_equal(pwrite(fd, bytes, count, 0), count);
	assert_int_equal(ftruncate(fd, (off_t)count), 0);
}

/* A block of ranges with any numbers in it. */
static void
save_ranges(int fd)
{
	static uint64_t words[AC_FILE_ALIGN / sizeof(uint64_t)];

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		words[i] = chance(3) ? 0 : (uint64_t)chance(UINT32_MAX)
		    << chance(33);
	assert_int_equal(pwrite(fd, words, sizeof words,
	    (off_t)ac_file_ranges_offset(0)), sizeof words);
}

static void
test_rounds(void **state)
{
	unsigned shown = 0;
	int fd;

	assert_int_equal(in_child(count_sites), 0);
	assert_int_equal(each_file(remember), 1);
	fd = open(path, O_RDWR);
	size = ac_file_chunk_offset(1) + AC_FILE_ALIGN;
	good = calloc(1, size);
	bytes = calloc(1, size);
	assert_true(fd >= 0 && good && bytes);
	assert_true(pread(fd, good, size, 0) > (ssize_t)AC_FILE_ALIGN);
	assert_true(read_and_show());
	/* Only the front and one shard change, so only they are written. */
	for (unsigned i = 0; i < rounds; i++) {
		const size_t head = ac_file_shard_offset(1);
		const size_t tail = ac_file_chunk_offset(1);

		memcpy(bytes, good, head);
		memcpy(bytes + tail, good + tail, AC_FILE_ALIGN);
		for (unsigned m = 1 + chance(MUTATIONS); m > 0; m--)
			damage();
		assert_int_equal(pwrite(fd, bytes, head, 0), head);
		assert_int_equal(pwrite(fd, bytes + tail, AC_FILE_ALIGN,
		    (off_t)tail), AC_FILE_ALIGN);
		if (i % 50 == 0)
			save(fd, chance((uint32_t)size));
		shown += read_and_show();
		if (i % 50 == 0) {
			save(fd, size);
			save_ranges(fd);
		}
	}
	/* Neither all nor none, or the damage were pointless. */
	assert_true(rounds < 1000 || (shown > rounds / 100 &&
	    shown < rounds - rounds / 100));
	assert_true(rounds < 1000 || with_ranges > rounds / 100);
	free(good);
	free(bytes);
	close(fd);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rounds, make_state,
		    remove_state),
	};

	if (argc == 3) {
		rounds = (unsigned)atoi(argv[1]);
		seed = (uint64_t)atoll(argv[2]);
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
