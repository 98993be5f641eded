/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_read.c -- a statistics file may be anything: the
 * reader takes what is whole and says one line about the rest. */
#include "tests/unit/with_state.h"

static struct ac_file_front front;
static struct ac_site_record more[64];  /* chunk 1 */
static uint64_t shard[AC_REPORT_SHARD_SITES];   /* shards 1 and 31 */
static char path[128], why_buffer[256];

/* A good file of 33 sites: the front and one of chunk 1, two shards. */
static void
make_good(void)
{
	static const struct ac_file_header good = {
		.magic = AC_FILE_MAGIC, .version = AC_FILE_VERSION,
		.header_bytes = sizeof good,
		.record_bytes = sizeof(struct ac_site_record),
		.marker_bytes = sizeof(struct ac_marker_record),
		.reasons = AC_REASON_COUNT, .pid = 1, .start_s = 1,
		.sites = 33, .markers = 1, .shards = UINT32_C(1) << 31 | 2,
		.run = "r", .program = "p"
	};

	memset(&front, 0, sizeof front);
	memset(more, 0, sizeof more);
	memcpy(&front.header, &good, sizeof good);
	strcpy(front.markers[0].symbol, "m");
	for (int i = 0; i < 33; i++) {
		struct ac_site_record *r = i < 32 ? &front.sites[i] : more;

		r->key = key_of(i + 1);
		r->number = (uint32_t)i;
		r->rung = i % 2 ? AC_RUNG_KEEP : AC_RUNG_TF32;
		r->reason = i % 2 ? AC_REASON_RULE : AC_REASON_NONE;
		atomic_store(&r->recast, 1);
		shard[i] = (uint64_t)i;
	}
}

static void
save(size_t bytes)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &front, sizeof front, 0), sizeof front);
	for (unsigned s = 1; s < AC_FILE_SHARDS; s += 30)
		assert_int_equal(pwrite(fd, shard, sizeof shard,
		    (off_t)ac_file_shard_offset(s)), sizeof shard);
	assert_int_equal(pwrite(fd, more, sizeof more,
	    (off_t)ac_file_chunk_offset(1)), sizeof more);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	close(fd);
}

static bool
read_it(void)
{
	struct ac_marker_record markers[AC_FILE_MARKERS];
	struct ac_site_record *records = NULL;
	struct ac_file_header header;
	struct ac_text why;
	bool good;

	ac_text_init(&why, why_buffer, sizeof why_buffer);
	good = ac_report_read(path, &header, &records, &markers, &why);
	free(records);
	return good;
}

static size_t
whole(void)
{
	return ac_file_chunk_offset(1) + sizeof more;
}

static int
begin(void **state)
{
	make_state(state);
	snprintf(path, sizeof path,
	    "%s/0000000001.000000000-1-0-00000000.stats", state_directory);
	make_good();
	return 0;
}

CASE_WITH(test_good, begin, remove_state)
{
	struct ac_marker_record markers[AC_FILE_MARKERS];
	struct ac_site_record *records;
	struct ac_file_header header;
	struct ac_text why;

	save(whole());
	assert_true(read_it());
	assert_string_equal(why_buffer, "");
	/* What the shards hold went as decided. */
	ac_text_init(&why, why_buffer, sizeof why_buffer);
	assert_true(ac_report_read(path, &header, &records, &markers, &why));
	for (unsigned i = 0; i < 33; i++) {
		assert_int_equal(records[i].recast, i % 2 ? 1 : 1 + 2 * i);
		assert_int_equal(records[i].kept[AC_REASON_RULE],
		    i % 2 ? 2 * i : 0);
	}
	free(records);
}

/* Cut at any length: refused or read, never a crash. */
CASE_WITH(test_cut, begin, remove_state)
{
	for (size_t bytes = 0; bytes < whole(); bytes += 1999) {
		save(bytes);
		if (bytes < sizeof front)
			assert_false(read_it());
		else if (bytes < ac_file_chunk_offset(1) + sizeof *more)
			assert_false(read_it());
		else
			assert_true(read_it());
		assert_true(bytes == 0 || read_it() || *why_buffer);
	}
}

/* And at each place where a part begins or ends, with both neighbours. */
CASE_WITH(test_cut_at_parts, begin, remove_state)
{
	const size_t last = ac_file_chunk_offset(1) + sizeof *more;
	const size_t places[] = { 1, 8, sizeof front.header,
		offsetof(struct ac_file_front, sites), sizeof front,
		AC_FILE_ALIGN, ac_file_shard_offset(1),
		ac_file_shard_offset(1) + 33 * sizeof *shard,
		ac_file_shard_offset(2), ac_file_shard_offset(31),
		ac_file_chunk_offset(1), last };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		for (int near = -1; near <= 1; near++) {
			save(places[i] + (size_t)near);
			assert_int_equal(read_it(),
			    places[i] + (size_t)near >= last);
		}
}

/* A file that shrinks and grows while it is read. */
CASE_WITH(test_restless, begin, remove_state)
{
	unsigned read = 0, refused = 0;
	pid_t pid;
	int ended;

	save(whole());
	pid = fork();
	if (pid == 0) {
		while (!truncate(path, 4096))
			save(whole());
		_exit(1);
	}
	assert_true(pid > 0);
	for (int i = 0; i < 2000; i++) {
		const bool good = read_it();

		read += good;
		refused += !good;
		/* Without a reason it looks as if it were being created. */
		assert_true(good || *why_buffer || access(path, F_OK) == 0);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &ended, 0);
	assert_true(WIFSIGNALED(ended));
	assert_int_equal(read + refused, 2000);
	save(whole());
	assert_true(read_it());
}

#define REFUSED(change, message) do { \
	make_good(); \
	change; \
	save(whole()); \
	assert_false(read_it()); \
	assert_string_equal(why_buffer, message); \
} while (0)

CASE_WITH(test_header, begin, remove_state)
{
	static const char version[] = "another version of autocast wrote it";
	static const char damaged[] = "its header is damaged";
	struct ac_file_header *h = &front.header;

	REFUSED(h->magic[0] = 'X', "not a statistics file");
	REFUSED(memset(h->magic, 0, 8), "");    /* being created */
	REFUSED(h->version++, version);
	REFUSED(h->header_bytes++, version);
	REFUSED(h->record_bytes--, version);
	REFUSED(h->marker_bytes--, version);
	REFUSED(h->reasons++, version);
	REFUSED(atomic_store(&h->sites, AC_FILE_SITES + 2), damaged);
	REFUSED(atomic_store(&h->sites, UINT32_MAX), damaged);
	REFUSED(atomic_store(&h->markers, AC_FILE_MARKERS + 1), damaged);
	REFUSED(h->pid = -1, damaged);
	REFUSED(h->sm = -1, damaged);
	REFUSED(h->clock = AC_CLOCK_COUNT, damaged);
	REFUSED(h->start_ns = 1000000000, damaged);
	REFUSED(memset(h->run, 'x', sizeof h->run), damaged);
	REFUSED(memset(h->program, 'x', sizeof h->program), damaged);
	REFUSED(memset(h->argv0, 'x', sizeof h->argv0), damaged);
	REFUSED(memset(h->policy, 'x', sizeof h->policy), damaged);
	REFUSED(memset(h->why, 'x', sizeof h->why), damaged);
	REFUSED(memset(h->gpu, 'x', sizeof h->gpu), damaged);
	REFUSED(memset(h->library, 'x', sizeof h->library), damaged);
	REFUSED(memset(h->notes, 'x', sizeof h->notes), damaged);
}

CASE_WITH(test_records, begin, remove_state)
{
	static const char damaged[] = "its records are damaged";
	struct ac_site_record *r = &front.sites[5];

	REFUSED(r->number = 6, damaged);
	REFUSED(r->key.operation = AC_OP_COUNT, damaged);
	REFUSED(r->rung = AC_RUNG_COUNT, damaged);
	REFUSED(r->tactic = AC_TACTIC_COUNT, damaged);
	REFUSED(r->reason = AC_REASON_COUNT, damaged);
	REFUSED(r->guard = AC_GUARD_STRICT + 1, damaged);
	REFUSED(r->ranges = AC_FILE_RANGES + 1, damaged);
	REFUSED(r->key.ta = '\033', damaged);
	REFUSED(r->key.tb = '\0', damaged);
	REFUSED(memset(r->key.symbol, 'x', sizeof r->key.symbol), damaged);
	REFUSED(memset(r->key.shape, 'x', sizeof r->key.shape), damaged);
	REFUSED(memset(r->key.caller, 'x', sizeof r->key.caller), damaged);
	REFUSED(memset(r->key.type, 'x', sizeof r->key.type), damaged);
	REFUSED(memset(r->key.asked, 'x', sizeof r->key.asked), damaged);
	REFUSED(memset(r->name, 'x', sizeof r->name), damaged);
	REFUSED(memset(r->source, 'x', sizeof r->source), damaged);
	REFUSED(more[0].rung = 1000, damaged);
	REFUSED(memset(front.markers[0].symbol, 'x',
	    sizeof front.markers[0].symbol), damaged);
}

/* Every byte of the front turned over, one after the other. */
CASE_WITH(test_bytes, begin, remove_state)
{
	const unsigned char *bytes = (const unsigned char *)&front;
	int fd;

	save(whole());
	fd = open(path, O_WRONLY);
	for (size_t i = 0; i < sizeof front; i += 3) {
		const unsigned char turned = bytes[i] ^ 0xff;

		assert_int_equal(pwrite(fd, &turned, 1, (off_t)i), 1);
		(void)read_it();
		assert_int_equal(pwrite(fd, bytes + i, 1, (off_t)i), 1);
	}
	close(fd);
	assert_true(read_it());
}

CASE_WITH(test_strange_files, begin, remove_state)
{
	char target[160];

	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(read_it());
	assert_string_equal(why_buffer, "it is not a regular file");
	rmdir(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(read_it());        /* and does not hang */
	assert_string_equal(why_buffer, "it is not a regular file");
	unlink(path);
	save(whole());
	snprintf(target, sizeof target, "%s/target", state_directory);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink(target, path), 0);
	assert_false(read_it());
	unlink(path);
	assert_int_equal(symlink(path, path), 0);
	assert_false(read_it());
	assert_string_equal(why_buffer, "it is a symbolic link");
	unlink(path);
	assert_false(read_it());
	assert_string_equal(why_buffer, strerror(ENOENT));
}

CASE_WITH(test_writable, begin, remove_state)
{
	static const mode_t open_to[] = { 0620, 0602, 0666 };

	save(whole());
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(chmod(path, open_to[i]), 0);
		assert_false(read_it());
		assert_string_equal(why_buffer, "others may write to it");
	}
	assert_int_equal(chmod(path, 0644), 0);
	assert_true(read_it());
}

CASE_WITH(test_owner, begin, remove_state)
{
	if (geteuid())
		skip(); /* only root can give a file away */
	save(whole());
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_false(read_it());
	assert_string_equal(why_buffer, "it belongs to somebody else");
}

CASES_RUN(NULL, NULL)
