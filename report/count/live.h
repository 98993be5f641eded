/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/live.h -- the state of the counting half, for report/ only. */
#ifndef AC_REPORT_LIVE_H
#define AC_REPORT_LIVE_H

#include "report/count/file.h"

/* Touched between ac_live_enter() and ac_live_leave() only. A fork may come
 * between any two lines: what tells how much is there is stored last. */
struct ac_live {
	struct ac_file_front  *front;   /* NULL before the first call */
	uint64_t              *first_shard; /* behind it; NULL: no memory */
	struct ac_site_record *chunk[AC_FILE_CHUNKS];
	bool                   mapped[AC_FILE_CHUNKS]; /* from the file */
	uint32_t               sites, markers;
	uint32_t              *index;   /* hash table of site number + 1 */
	uint32_t               slots;   /* a power of two, 0 before the first */
	uint32_t               ranges;  /* places among the ranges given away */
	struct ac_site_record  spare;   /* when there is no memory at all */
	char                   path[AC_FILE_PATH]; /* "": no file */
};
extern struct ac_live ac_live;

/* Lock, and have statistics that are this process's own: the first call
 * begins them, the first call of a forked child moves them. Returns errno,
 * which belongs to the program, for ac_live_leave() to put back. */
int ac_live_enter(void);
void ac_live_leave(int saved);

/* Put the mapping `new` in the place of `old`, in one step for all that use
 * `old`; memory without a file if that fails, so that what a child counts
 * never adds to its parent's. */
void ac_live_replace(void *old, void *new, size_t bytes);

/* After a fork: no thread has a shard, and none leads into the parent's
 * file. */
void ac_shard_forget(void);

/* After a fork: ranges that are known count from zero in the child's file. */
void ac_ranges_move(void);

/* A record of the site's key that has ranges, or NULL. */
struct ac_site_record *ac_live_find_ranges(const struct ac_site_record *site);

/* Raise the published number of sites to all that are in the file. */
void ac_live_publish(void);

/* Copy at most size - 1 bytes of `from` (NULL: none) and a terminator. */
void ac_live_put(char *to, size_t size, const char *from);
#define AC_LIVE_PUT(to, from) ac_live_put((to), sizeof (to), (from))

/* So many bytes of our file, mapped; NULL: there is none, or no room in it. */
void *ac_live_extend(uint64_t from, size_t bytes);

/* The memory of a chunk of records: of the file, if that goes. NULL: none. */
struct ac_site_record *ac_live_make_chunk(unsigned chunk);

/* ---- In the log, for AUTOCAST_LOG=info (report/count/tell.c) -------------
 * What AUTOCAST_LOG says is read once: programs may change their
 * environment. */

/* The policy's answer for a site that is new. */
void ac_tell_decision(const struct ac_site_record *site);

/* What the guard did; see ac_report_event(). */
void ac_tell_event(const struct ac_site_record *record,
    enum ac_event_kind kind, uint64_t call, uint32_t finding);

#endif
