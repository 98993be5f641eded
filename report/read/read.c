/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/read.c -- one statistics file in, or a reason why not.
 * A file may be of another version, cut short, or made to hurt: nothing of it
 * is believed before it is checked, and nothing is mapped, so that a file that
 * shrinks meanwhile cannot kill the reader. */
#include "report/read/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IS_TEXT(field) (memchr(field, '\0', sizeof(field)) != NULL)

/* Open a regular file of ours; its size to *size_out. -1 with a reason. */
static int
open_ours(const char *path, uint64_t *size_out, struct ac_text *why)
{
	/* Non-blocking: a FIFO of that name must not hang the reader. */
	const int fd = open(path,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd < 0) {
		ac_text_add(why, errno == ELOOP ? "it is a symbolic link"
		    : strerror(errno));
		return -1;
	}
	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		ac_text_add(why, "it is not a regular file");
	else if (status.st_uid != geteuid())
		ac_text_add(why, "it belongs to somebody else");
	else if (status.st_mode & (S_IWGRP | S_IWOTH))
		ac_text_add(why, "others may write to it");
	else
		*size_out = (uint64_t)status.st_size;
	if (!why->used)
		return fd;
	close(fd);
	return -1;
}

static bool
read_at(int fd, uint64_t offset, void *to, size_t bytes)
{
	char *at = to;

	while (bytes) {
		const ssize_t got = pread(fd, at, bytes, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return true;
}

static bool
are_modules(const struct ac_file_header *h)
{
	const uint32_t count = atomic_load(&h->modules);

	for (uint32_t i = 0; i < count; i++)
		if (i == AC_FILE_MODULES || !IS_TEXT(h->module[i].name)
		    || !IS_TEXT(h->module[i].path))
			return false;
	return true;
}

static bool
check_header(const struct ac_file_header *h, struct ac_text *why)
{
	static const char young[sizeof h->magic];

	if (!memcmp(h->magic, young, sizeof young))
		return false;
	if (memcmp(h->magic, AC_FILE_MAGIC, sizeof h->magic)) {
		ac_text_add(why, "not a statistics file");
	} else if (h->version != AC_FILE_VERSION ||
	    h->header_bytes != sizeof *h ||
	    h->record_bytes != sizeof(struct ac_site_record) ||
	    h->marker_bytes != sizeof(struct ac_marker_record) ||
	    h->reasons != AC_REASON_COUNT) {
		ac_text_add(why, AC_READ_FOREIGN);
	} else if (atomic_load(&h->sites) > AC_FILE_SITES + 1 ||
	    atomic_load(&h->markers) > AC_FILE_MARKERS ||
	    h->pid <= 0 || h->start_ns > 999999999 || h->sm < 0 ||
	    h->clock >= AC_CLOCK_COUNT || !are_modules(h) ||
	    h->rank < 0 || h->ranks < 0 || h->ranks > AC_FILE_RANKS ||
	    !IS_TEXT(h->node) || !IS_TEXT(h->task) ||
	    !IS_TEXT(h->run) || !IS_TEXT(h->program) || !IS_TEXT(h->argv0) ||
	    !IS_TEXT(h->policy) || !IS_TEXT(h->why) || !IS_TEXT(h->gpu) ||
	    !IS_TEXT(h->library) || !IS_TEXT(h->notes)) {
		ac_text_add(why, "its header is damaged");
	}
	return !why->used;
}

/* What is no product has no transpositions. */
static bool
is_letter(char c, const struct ac_site_record *r)
{
	return (c > ' ' && c < 127) || (c == '\0' && *r->key.shape);
}

static bool
check_record(const struct ac_site_record *r, uint32_t number)
{
	for (int i = 0; i < r->region.rung_count; i++)
		if (i == AC_RUNG_COUNT || r->region.rung[i] >= AC_RUNG_COUNT)
			return false;
	return r->number == number && r->ranges <= AC_FILE_RANGES &&
	    r->key.operation < AC_OP_COUNT &&
	    r->rung < AC_RUNG_COUNT && r->guard <= AC_GUARD_STRICT &&
	    r->tactic < AC_TACTIC_COUNT && r->reason < AC_REASON_COUNT &&
	    is_letter(r->key.ta, r) && is_letter(r->key.tb, r) &&
	    IS_TEXT(r->key.symbol) && IS_TEXT(r->key.shape) &&
	    IS_TEXT(r->key.caller) && IS_TEXT(r->key.type) &&
	    IS_TEXT(r->key.asked) && IS_TEXT(r->name) &&
	    IS_TEXT(r->source) && IS_TEXT(r->region.name);
}

/* Chunk by chunk, `count` records into `records`. */
static bool
read_records(int fd, struct ac_site_record *records, uint32_t count)
{
	uint32_t done = 0, within;

	while (done < count) {
		const unsigned chunk = ac_file_chunk_of(done, &within);
		uint32_t here = (uint32_t)AC_FILE_FRONT_SITES << chunk;

		if (here > count - done)
			here = count - done;
		if (!read_at(fd, ac_file_chunk_offset(chunk), records + done,
		    here * sizeof *records))
			return false;
		done += here;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!check_record(&records[i], i))
			return false;
	return true;
}

/* Add the calls counted in shards, which went as decided. */
static bool
add_shards(int fd, struct ac_site_record *records, uint32_t count,
    uint32_t shards)
{
	static uint64_t calls[AC_REPORT_SHARD_SITES];

	if (count > AC_REPORT_SHARD_SITES)
		count = AC_REPORT_SHARD_SITES;
	for (unsigned s = 0; s < AC_FILE_SHARDS; s++) {
		if (!(shards >> s & 1))
			continue;
		if (!read_at(fd, ac_file_shard_offset(s), calls,
		    count * sizeof *calls))
			return false;
		for (uint32_t i = 0; i < count; i++) {
			struct ac_site_record *r = &records[i];

			atomic_fetch_add(r->rung == AC_RUNG_KEEP
			    ? &r->kept[r->reason] : &r->recast, calls[i]);
		}
	}
	return true;
}

static bool
read_markers(int fd, struct ac_marker_record *markers, uint32_t count)
{
	if (!read_at(fd, offsetof(struct ac_file_front, markers), markers,
	    count * sizeof *markers))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!IS_TEXT(markers[i].symbol))
			return false;
	return true;
}

/* The records behind a good header. */
static struct ac_site_record *
read_body(int fd, const struct ac_file_header *header,
    struct ac_marker_record (*markers_out)[AC_FILE_MARKERS],
    struct ac_text *why)
{
	const uint32_t count = atomic_load(&header->sites);
	struct ac_site_record *records = calloc(count + 1, sizeof *records);

	if (!records) {
		ac_text_add(why, strerror(ENOMEM));
		return NULL;
	}
	if (read_records(fd, records, count) &&
	    add_shards(fd, records, count, atomic_load(&header->shards)) &&
	    read_markers(fd, *markers_out, atomic_load(&header->markers)))
		return records;
	ac_text_add(why, "its records are damaged");
	free(records);
	return NULL;
}

bool
ac_report_read_ranges(const char *path, const struct ac_file_header *header,
    uint32_t place, uint64_t counts_out[AC_REPORT_RANGES])
{
	const size_t bytes = AC_REPORT_RANGES * sizeof *counts_out;
	const unsigned each = AC_FILE_ALIGN / (unsigned)bytes;
	const unsigned block = place / each;
	struct ac_text why = AC_TEXT_OF(128);
	uint64_t size;
	bool good;
	int fd;

	if (place >= AC_FILE_RANGES ||
	    !(atomic_load(&header->range_blocks) >> block & 1))
		return false;
	fd = open_ours(path, &size, &why);
	good = fd >= 0 && read_at(fd, ac_file_ranges_offset(block)
	    + place % each * bytes, counts_out, bytes);
	if (fd >= 0)
		close(fd);
	return good;
}

bool
ac_report_read(const char *path, struct ac_file_header *header_out,
    struct ac_site_record **records_out,
    struct ac_marker_record (*markers_out)[AC_FILE_MARKERS],
    struct ac_text *why)
{
	struct ac_file_header header;
	uint64_t size = 0;
	const int fd = open_ours(path, &size, why);
	bool good = false;

	if (fd < 0)
		return false;
	if (size == 0)
		goto out;       /* created this instant */
	if (size < sizeof(struct ac_file_front) ||
	    !read_at(fd, 0, &header, sizeof header)) {
		ac_text_add(why, "it is cut short");
		goto out;
	}
	good = check_header(&header, why);
	if (good && records_out) {
		*records_out = read_body(fd, &header, markers_out, why);
		good = *records_out != NULL;
	}
	if (good)
		memcpy(header_out, &header, sizeof header);
out:
	close(fd);
	return good;
}
