/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/live.c -- starts the statistics of this process, and those of a
 * forked child. Without a file the numbers live in memory.
 *
 * The child inherits the parent's shared mapping and must not count there.
 * The fork handler only raises ac_report_forked; the child's first count
 * copies everything known into a file of its own and maps that over the old
 * addresses, so records handed out before the fork stay good. */
#include "report/count/live.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "report/count/parallel.h"
#include "report/count/process.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct ac_live ac_live;
_Atomic bool ac_report_forked;

static struct ac_lock lock;
static struct ac_file_front spare;      /* when there is no memory at all */
/* What finish() marks, without the lock: exit() may run in a signal handler. */
static _Atomic(struct ac_file_header *) own_header;

void
ac_live_put(char *to, size_t size, const char *from)
{
	struct ac_text t = ac_text_in(to, size);

	ac_text_add(&t, from ? from : "");
}

/* The number of sites a reader finds: those in the file without a gap. */
void
ac_live_publish(void)
{
	struct ac_file_header *header = &ac_live.front->header;
	uint32_t stored = 0, within;

	while (stored < ac_live.sites &&
	    ac_live.mapped[ac_file_chunk_of(stored, &within)])
		stored = AC_FILE_FRONT_SITES
		    * ((UINT32_C(2) << ac_file_chunk_of(stored, &within)) - 1);
	if (stored > ac_live.sites)
		stored = ac_live.sites;
	if (stored < ac_live.sites)
		atomic_store(&header->incomplete, 1);
	atomic_store_explicit(&header->sites, stored, memory_order_release);
}

/* ---- Beginning --------------------------------------------------------- */

/* Which rank of which job this is, if it is one. */
static void
stamp_job(struct ac_file_header *header)
{
	struct ac_parallel job;

	ac_parallel_read(&job);
	header->rank = job.rank;
	header->ranks = job.size;
	header->launcher = job.launcher;
	AC_LIVE_PUT(header->run, job.run);
	if (job.size)
		(void)gethostname(header->node, sizeof header->node - 1);
	if (ac_env_is_set(AC_ENV_SLURM_TASK)) {
		struct ac_text task = AC_TEXT_IN(header->task);

		ac_text_addf(&task, "%s_%s", ac_env(AC_ENV_SLURM_ARRAY),
		    ac_env(AC_ENV_SLURM_TASK));
	}
}

static void
stamp(struct ac_file_header *header)
{
	struct timespec now;
	struct ac_text run;

	clock_gettime(CLOCK_REALTIME, &now);
	header->pid = ac_lock_process();
	header->process_start = ac_process_start(header->pid, NULL);
	header->host = ac_process_host();
	header->start_s = (uint64_t)now.tv_sec;
	header->start_ns = (uint32_t)now.tv_nsec;
	if (*header->run)       /* a forked child belongs to its parent's run */
		return;
	stamp_job(header);
	if (*header->run)
		return;
	ac_text_init(&run, header->run, sizeof header->run);
	ac_text_add(&run, ac_env(AC_ENV_RUN));
	if (!run.used)
		ac_text_addf(&run, "%d-%llu.%09ld", (int)header->pid,
		    (unsigned long long)now.tv_sec, now.tv_nsec);
}

static void
describe(struct ac_file_header *header)
{
	const char *slash = strrchr(program_invocation_name, '/');

	header->version = AC_FILE_VERSION;
	header->header_bytes = sizeof *header;
	header->record_bytes = sizeof(struct ac_site_record);
	header->marker_bytes = sizeof(struct ac_marker_record);
	header->reasons = AC_REASON_COUNT;
	AC_LIVE_PUT(header->argv0, program_invocation_name);
	AC_LIVE_PUT(header->program,
	    slash ? slash + 1 : program_invocation_name);
}

/* Copy what is known into the new front and make it the one that counts. The
 * magic goes last: a reader skips a file that has none. */
static void
install_front(struct ac_file_front *front, const struct ac_file_header *header)
{
	memcpy(&front->header, header, sizeof *header);
	atomic_store(&front->header.finished, 0);
	atomic_store(&front->header.wall_ns, 0);
	atomic_store(&front->header.peak_scratch_bytes, 0);
	atomic_store(&front->header.events, 0);
	memset(&front->header.event, 0, sizeof front->header.event);
	memset(&front->header.scaled, 0, sizeof front->header.scaled);
	atomic_store(&front->header.shards, 0);
	atomic_store(&front->header.range_blocks, 0);
	atomic_thread_fence(memory_order_release);
	memcpy(front->header.magic, AC_FILE_MAGIC, sizeof front->header.magic);
}

/* The lock is not held across the fork: the program's own handlers may wait
 * there for threads that wait for it. The child takes it from a thread that it
 * has not, and resume() mends what that one was about to change. */
static void
after_fork_in_child(void)
{
	atomic_store_explicit(&ac_report_forked, true, memory_order_release);
	ac_report_mine.limit = 0;       /* it is the parent's */
}

/* A warning if the user named the directory. Otherwise silence: some home
 * directories cannot be written. */
static void
say_why_not(int error)
{
	const char *wanted = ac_env(AC_ENV_STATE);

	if (*wanted && strcmp(wanted, "off") && !ac_file_is_once())
		ac_log(AC_LOG_WARNING, "AUTOCAST_STATE=%s: no statistics are "
		    "kept there: %s", wanted, ac_file_trouble(error));
}

/* The front comes last: without it, a child that was forked meanwhile starts
 * from zero. */
static void
begin(void)
{
	static struct ac_file_header header;
	static bool handled;
	struct ac_file_front *front;

	if (!handled)
		handled = !pthread_atfork(NULL, NULL, after_fork_in_child);
	atomic_store(&ac_report_forked, false);
	memset(&header, 0, sizeof header);
	describe(&header);
	stamp(&header);
	*ac_live.path = '\0';
	front = ac_file_create(&header, ac_live.path);
	ac_live.mapped[0] = front != NULL;
	if (!front) {
		say_why_not(errno);
		front = ac_file_memory(AC_FILE_FIRST_BYTES);
	}
	ac_live.first_shard = front ? ac_file_first_shard(front) : NULL;
	if (!front)
		front = &spare;
	install_front(front, &header);
	ac_live.chunk[0] = front->sites;
	atomic_store(&own_header, &front->header);
	__atomic_store_n(&ac_live.front, front, __ATOMIC_RELEASE);
}

/* ---- After a fork ------------------------------------------------------ */

/* What they are, not what they did: only predictions are true of the child. */
static void
copy_sites(struct ac_site_record *to, const struct ac_site_record *from,
    size_t count)
{
	const size_t counters = offsetof(struct ac_site_record, recast);

	for (size_t i = 0; i < count; i++) {
		const float keep =
		    atomic_load(&from[i].course.keep_predicted_us);
		const float recast =
		    atomic_load(&from[i].course.recast_predicted_us);

		memmove(&to[i], &from[i], counters);
		memset((char *)&to[i] + counters, 0, sizeof *to - counters);
		atomic_store(&to[i].course.keep_predicted_us, keep);
		atomic_store(&to[i].course.recast_predicted_us, recast);
	}
}

void
ac_live_replace(void *old, void *new, size_t bytes)
{
	if (mremap(new, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, old)
	    == MAP_FAILED)
		(void)mmap(old, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void
move_front(void)
{
	static struct ac_file_header header;
	struct ac_file_front *old = ac_live.front, *new;

	memcpy(&header, &old->header, sizeof header);
	memset(header.magic, 0, sizeof header.magic);
	stamp(&header);
	new = ac_live.mapped[0] ? ac_file_create(&header, ac_live.path) : NULL;
	ac_live.mapped[0] = new != NULL;
	if (!new) {
		*ac_live.path = '\0';
		new = old == &spare ? &spare
		    : ac_file_memory(AC_FILE_FIRST_BYTES);
	}
	if (!new)
		return;
	for (size_t i = 0; i < ac_live.markers; i++) {
		memcpy(new->markers[i].symbol, old->markers[i].symbol,
		    sizeof new->markers[i].symbol);
		atomic_store(&new->markers[i].calls, 0);
	}
	copy_sites(new->sites, old->sites, AC_FILE_FRONT_SITES);
	install_front(new, &header);
	if (new != old)
		ac_live_replace(old, new, old == &spare ? sizeof *new
		    : AC_FILE_FIRST_BYTES);
}

static void
move_chunk(unsigned chunk)
{
	const size_t bytes = ac_file_chunk_bytes(chunk);
	struct ac_site_record *new = ac_live_make_chunk(chunk);

	if (!new)
		return;
	copy_sites(new, ac_live.chunk[chunk], bytes / sizeof *new);
	ac_live_replace(ac_live.chunk[chunk], new, bytes);
}

static void
resume(void)
{
	ac_shard_forget();
	/* Index and size may not match; both are made again when needed. */
	ac_live.index = NULL;
	ac_live.slots = 0;
	move_front();
	for (unsigned c = 1; c < AC_FILE_CHUNKS; c++)
		if (ac_live.chunk[c])
			move_chunk(c);
	ac_ranges_move();
	copy_sites(&ac_live.spare, &ac_live.spare, 1);
	ac_live_publish();
	atomic_store_explicit(&ac_live.front->header.markers, ac_live.markers,
	    memory_order_release);
	atomic_store_explicit(&ac_report_forked, false, memory_order_release);
}

/* The pid tells a child of a raw clone() call, where no handler ran. */
int
ac_live_enter(void)
{
	const int saved = errno;

	ac_lock_take(&lock);
	if (!ac_live.front)
		begin();
	else if (atomic_load(&ac_report_forked) ||
	    ac_live.front->header.pid != ac_lock_process())
		resume();
	return saved;
}

void
ac_live_leave(int saved)
{
	ac_lock_give(&lock);
	errno = saved;
}

static void
note_wall(struct ac_file_header *header)
{
	atomic_store_explicit(&header->wall_ns,
	    ac_process_age(header->process_start), memory_order_relaxed);
}

void
ac_report_note_time(void)
{
	struct ac_file_header *header = atomic_load(&own_header);

	if (header && !atomic_load(&ac_report_forked))
		note_wall(header);
}

void
ac_report_event(const struct ac_site_record *record, enum ac_event_kind kind,
    uint64_t call, uint32_t finding, float error)
{
	struct ac_file_header *header = atomic_load(&own_header);
	struct ac_event_record *to;
	uint64_t nth;

	ac_tell_event(record, kind, call, finding);
	if (!header || atomic_load(&ac_report_forked))
		return;
	nth = atomic_fetch_add(&header->events, 1);
	to = &header->event[nth % AC_EVENTS];
	atomic_store(&to->sequence, 0);
	to->call = call;
	to->site = record->number;
	to->kind = (uint16_t)kind;
	to->finding = (uint16_t)finding;
	to->error = error;
	atomic_store(&to->sequence, nth + 1);
}

void
ac_report_scaled(const struct ac_scaled_total *scaled)
{
	struct ac_file_header *header = atomic_load(&own_header);
	struct ac_scaled_record *to;

	if (!header || atomic_load(&ac_report_forked))
		return;
	to = &header->scaled;
	to->steps = scaled->steps;
	to->skips = scaled->skips;
	to->updates = scaled->updates;
	to->overflows = scaled->overflows;
	to->rises = scaled->rises;
	to->falls = scaled->falls;
	to->scale = scaled->scale;
	to->is_behind = scaled->is_behind;
	to->scalers = scaled->scalers;
}

/* exit() was reached; nothing else happens here. */
__attribute__((destructor)) static void
finish(void)
{
	struct ac_file_header *header = atomic_load(&own_header);

	if (header && !atomic_load(&ac_report_forked) &&
	    header->pid == ac_lock_process()) {
		note_wall(header);
		atomic_store(&header->finished, 1);
	}
}

bool
ac_report_is_kept(void)
{
	const int saved = ac_live_enter();
	const bool kept = ac_live.mapped[0] && !ac_file_is_once();

	ac_live_leave(saved);
	return kept;
}

void
ac_report_resume(void)
{
	ac_live_leave(ac_live_enter());
}
