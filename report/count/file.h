/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/file.h -- the statistics file: its layout, its place, its life.
 *
 * One file per process, created at the first intercepted call, in a folder per
 * job where the process is a rank (report/count/parallel.h), mapped shared by
 * the process that counts and read by `autocast`. Layout: a front (header,
 * markers, the first site records), then shards, then chunks of site records,
 * each twice as long as the one before, then blocks of ranges, all at fixed
 * offsets and present as far as they were needed. A record never moves
 * and is published by raising header.sites, so a reader needs no lock and a
 * killed process leaves exact numbers behind. A shard holds, by site number,
 * the calls that one thread after the other made and that went as decided; one
 * that was never taken is a hole. A site's calls are those of its record and
 * of all shards.
 *
 * No descriptor is kept: programs close descriptors they do not know, and the
 * number would soon name a file of theirs. Blocks are allocated before they
 * are mapped: a full disk must cost us a record, not the program a SIGBUS. */
#ifndef AC_REPORT_FILE_H
#define AC_REPORT_FILE_H

#include "base/text.h"
#include "report/report.h"

#include <stdatomic.h>
#include <stdint.h>

#define AC_FILE_MAGIC "ACSTATS"      /* eight bytes with its terminator */

enum {
	AC_FILE_VERSION = 17,        /* a reader refuses others */
	AC_FILE_MARKERS = 128,       /* the last one collects what is beyond */
	AC_FILE_MODULES = 24,        /* of callers beyond nothing is known */
	AC_FILE_SHARDS = 32,         /* threads beyond count in the records */
	AC_FILE_FRONT_SITES = 32,    /* chunk c holds 32 << c records */
	AC_FILE_CHUNKS = 12,
	AC_FILE_ALIGN = 65536,       /* the largest page size in use */
	AC_FILE_SITES = 100000,      /* then the overflow site */
	AC_FILE_RANGE_BLOCKS = 64,   /* each AC_FILE_ALIGN bytes long, */
	AC_FILE_RANGES = 1024,       /* so many sites in all */
	AC_FILE_KEEP = 32,           /* finished runs that are kept: files, and
	                              * folders of jobs */
	AC_FILE_RANKS = 1 << 22,     /* in a job */
	AC_FILE_PATH = 4096
};

/* A module that calls: what its callers' names begin with, and its file as it
 * was; path "": not known, or two files have that name. */
struct ac_file_module {
	char     name[40];
	char     path[208];
	uint64_t bytes;
	int64_t  changed_s, changed_ns;
};

struct ac_file_header {
	char     magic[8];           /* written last: a file without is young */
	uint32_t version;            /* AC_FILE_VERSION */
	uint32_t header_bytes, record_bytes, marker_bytes, reasons;
	int32_t  pid;
	uint64_t process_start;      /* ac_process_start(), 0: unknown */
	uint64_t host;               /* ac_process_host(): what pid means */
	uint64_t start_s;            /* CLOCK_REALTIME at the first call */
	uint32_t start_ns;
	uint32_t chosen;             /* somebody chose the policy */
	uint32_t emulated;
	int32_t  sm;
	uint32_t clock;              /* enum ac_clock */
	uint32_t reserved;
	_Atomic uint32_t finished;   /* the process reached exit() */
	_Atomic uint64_t wall_ns;    /* from the process's start to its end, or
	                              * to the last news of it; 0: unknown */
	_Atomic uint32_t incomplete; /* some sites could not be stored */
	_Atomic uint32_t sites;      /* published site records */
	_Atomic uint32_t markers;    /* published marker records */
	_Atomic uint32_t modules;
	_Atomic uint32_t shards;     /* bit n: shard n was taken once */
	_Atomic uint64_t range_blocks; /* bit n: block n of ranges is there */
	_Atomic uint64_t peak_scratch_bytes;
	struct ac_scaled_record scaled;
	int32_t  rank;               /* in a job of several ranks */
	int32_t  ranks;              /* of the job; 0: it is of none */
	uint64_t launcher;           /* ac_process_launcher() */
	char     node[64];           /* the host's name */
	char     run[40];            /* AUTOCAST_RUN, or the job's, else one per
	                              * fork tree */
	char     task[32];           /* "4711_3" of a job array, or "" */
	char     program[64];        /* last component of argv[0] */
	char     argv0[256];
	char     policy[256], why[256];
	char     gpu[96], library[48];
	char     notes[1536];
	struct ac_file_module module[AC_FILE_MODULES];
	_Atomic uint64_t events;     /* that there were; the last are here: */
	struct ac_event_record event[AC_EVENTS];
};

struct ac_file_front {
	struct ac_file_header   header;
	struct ac_marker_record markers[AC_FILE_MARKERS];
	struct ac_site_record   sites[AC_FILE_FRONT_SITES];
};

_Static_assert(sizeof(struct ac_file_front) <= AC_FILE_ALIGN,
    "the front must end before chunk 1 begins");
_Static_assert(AC_REPORT_SHARD_SITES * sizeof(uint64_t) == AC_FILE_ALIGN,
    "a shard fills its place");
_Static_assert(AC_FILE_FRONT_SITES * ((1 << AC_FILE_CHUNKS) - 1) >
    AC_FILE_SITES, "the chunks must hold every site and the overflow site");

_Static_assert(AC_FILE_RANGES * AC_REPORT_RANGES * sizeof(uint64_t) ==
    (size_t)AC_FILE_RANGE_BLOCKS * AC_FILE_ALIGN, "blocks hold the ranges");

/* Which chunk holds site number `index`, and where in it. */
static inline unsigned
ac_file_chunk_of(uint32_t index, uint32_t *within_out)
{
	const uint32_t block = index / AC_FILE_FRONT_SITES + 1;
	const unsigned chunk = 31u - (unsigned)__builtin_clz(block);

	*within_out = index -
	    AC_FILE_FRONT_SITES * ((UINT32_C(1) << chunk) - 1);
	return chunk;
}

static inline size_t
ac_file_chunk_bytes(unsigned chunk)
{
	return ((size_t)AC_FILE_FRONT_SITES << chunk)
	    * sizeof(struct ac_site_record);
}

static inline uint64_t
ac_file_shard_offset(unsigned shard)
{
	return (uint64_t)AC_FILE_ALIGN * (1 + shard);
}

/* What a file begins with: the front, and the shard of the first thread. */
#define AC_FILE_FIRST_BYTES ((size_t)2 * AC_FILE_ALIGN)
static inline uint64_t *
ac_file_first_shard(struct ac_file_front *front)
{
	return (uint64_t *)(void *)((char *)front + AC_FILE_ALIGN);
}

/* Offset of a chunk in the file; chunk 0 is inside the front. */
static inline uint64_t
ac_file_chunk_offset(unsigned chunk)
{
	uint64_t offset = ac_file_shard_offset(AC_FILE_SHARDS);

	if (chunk == 0)
		return offsetof(struct ac_file_front, sites);
	for (unsigned c = 1; c < chunk; c++)
		offset += (ac_file_chunk_bytes(c) + AC_FILE_ALIGN - 1)
		    / AC_FILE_ALIGN * AC_FILE_ALIGN;
	return offset;
}

static inline uint64_t
ac_file_ranges_offset(unsigned block)
{
	return ac_file_chunk_offset(AC_FILE_CHUNKS)
	    + (uint64_t)AC_FILE_ALIGN * block;
}

/* The directory of statistics: $AUTOCAST_STATE, $XDG_STATE_HOME/autocast or
 * ~/.local/state/autocast, always absolute. False when there is none; errno is
 * then 0 where the user wants none, ENOENT without a home, ENAMETOOLONG or what
 * getcwd() says. Creates nothing. *fixed_out (may be NULL) is how many bytes of
 * it must exist already: the home directory is never created. */
bool ac_file_directory(struct ac_text *path, size_t *fixed_out);

/* Create that directory (0700) as far as needed, unless ac_file_is_once(): 0,
 * or the errno of what stands in the way. */
int ac_file_make_directory(const char *path, size_t fixed);

/* Whether a statistics file can begin in that directory: 0, or the errno of
 * what stands in the way. Leaves nothing there. */
int ac_file_try(const char *directory);

/* What such an errno means, in a few English words. */
const char *ac_file_trouble(int error);

/* Give the file blocks for [from, from + bytes); false and errno. */
bool ac_file_allocate(int fd, uint64_t from, size_t bytes);

/* How the token of a run begins whose statistics go with it, and the name of
 * the folder that it keeps them in. */
#define AC_FILE_ONCE "once-"
#define AC_FILE_ONCE_FOLDER "autocast-run-"

/* Whether the directory of statistics is such a folder. The run has made it and
 * removes it: a process that outlives the run must not bring it back. */
bool ac_file_is_once(void);

/* A run's token in the names of its files. */
static inline uint32_t
ac_file_run_hash(const char *run)
{
	return ac_text_hash(AC_TEXT_HASH_START, run, strlen(run));
}

/* Whether `name` is one a statistics file bears. Names sort by time. */
bool ac_file_is_name(const char *name);

/* ---- What is ours: the user may keep files of his own there ------------- */

/* Whether `name` is `start` and 16 hexadecimal digits, as that of a notice is,
 * whose file is empty. */
#define AC_FILE_NOTICE "notice-"
bool ac_file_has_hash(const char *name, const char *start);

/* Whether it is a regular file that belongs to this user. */
struct stat;
bool ac_file_is_ours(const struct stat *status);

/* Remove `name` if it is one; whether it was removed. */
bool ac_file_remove(int folder, const char *name);

/* Open a directory of this user's, which `path` names itself and not as a link,
 * or a regular file, whosesoever, for reading; relative to the directory `at`.
 * What is no regular file is not touched: who writes into a FIFO, or reads it,
 * notices nothing. -1 and errno. */
int ac_file_open_folder(int at, const char *path);
int ac_file_open_regular(int at, const char *path);

/* ---- For the process that counts. One caller at a time. ---------------- */

/* Create the file for `header` (its run, rank, pid and start), long enough for
 * a front and a shard, and map both. That of a rank goes into the folder of its
 * job. The path goes to path_out, of AC_FILE_PATH bytes. NULL and errno if
 * impossible: no directory, no space, a limit. */
struct ac_file_front *ac_file_create(const struct ac_file_header *header,
    char *path_out);

/* Remove old runs in the directory `path`, but for so many, for what `header`
 * begins if it has a pid; what is of its run stays. Bounded work. The autocast
 * program does that: a start is not the time for it. */
void ac_file_prune(const char *path, const struct ac_file_header *header);

/* Give the file at `path` blocks for [from, from + bytes) and map that; NULL
 * if impossible, if the file is no longer the one that `header` heads, or if
 * others may write to it. */
void *ac_file_extend(const char *path, const struct ac_file_header *header,
    uint64_t from, size_t bytes);

/* Zeroed private memory, or NULL. */
void *ac_file_memory(size_t bytes);

/* Create the empty file `name` in the directory: true if it was not there
 * (also when there is no directory to remember it in). */
bool ac_file_claim(const char *name);

#endif
