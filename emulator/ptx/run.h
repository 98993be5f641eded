/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/run.h -- what runs: launches, blocks, warps, frames, groups of
 * lanes. */
#ifndef AC_EMULATOR_PTX_RUN_H
#define AC_EMULATOR_PTX_RUN_H

#include "emulator/ptx/inside.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

enum { WARPS = 32, BARRIERS = 16, RECENT = 16,
	MOST_THREADS = 16 };

/* Lanes of a warp that are at the same instruction. The group at the smallest
 * instruction runs: compilers lay out code so that all meet again after a
 * branch, and groups that come to the same instruction merge. */
enum group_state { GROUP_RUNS, GROUP_AT_BARRIER, GROUP_FOR_LANES };
struct group {
	int64_t  pc;
	uint32_t mask, members;
	uint8_t  state, barrier;
};

struct frame {
	struct ptx_function *function;
	struct frame *caller;
	const struct ptx_instruction *call;
	unsigned char *registers, *arguments;
	int64_t  local_at;
	uint32_t entered;
	int      groups, favoured;
	uint32_t turns;         /* backward branches while others wait */
	struct group group[LANES];
};

/* Whether a warp goes round (idle.c). */
struct rounds {
	uint64_t state;         /* the one that is kept */
	uint64_t instructions;  /* since then */
	uint64_t since;         /* the last look */
	unsigned age, power, period; /* looks; 0: it does not go round */
	bool     changed;       /* memory, since the state was kept */
};

struct ptx_block;
struct host_thread;
struct warp {
	struct ptx_block *block;
	unsigned index;
	uint32_t live;
	uint32_t epoch;         /* bar.warp.syncs */
	uint32_t carry;
	struct frame *top;
	unsigned char *special, *local;
	bool     waits;
	bool     yields;        /* its slice is over: it only polls */
	unsigned polls;         /* of this slice */
	struct rounds rounds;
};

/* The record of a byte of shared memory. */
struct shadow {
	uint32_t write_epoch, read_epoch;       /* of the block */
	uint32_t write_warp_epoch, read_warp_epoch;
	uint16_t writer, reader;        /* thread + 1; of readers also: */
	uint8_t  written, atomic, said;
};
enum { READERS_OF_WARP = 0x8000, READER_WARP = 0x7fff,
	READERS_MANY = 0xffff };

struct barrier {
	uint32_t arrived, wanted;
	uint32_t any, all, count;
};

struct ptx_block {
	struct launch *launch;
	struct host_thread *worker;
	uint64_t number;
	uint32_t at[3];
	unsigned warps, threads, live;
	struct warp warp[WARPS];
	unsigned char *shared;
	struct shadow *shadow;
	uint32_t epoch;
	struct barrier barrier[BARRIERS];
	uint64_t instructions, bytes;
	uint64_t excused;       /* of them, polls while others worked */
	bool     begun, ended;
	int      held;          /* a warp that comes last; -1: none */
	bool     stalled, released; /* only it can continue; and may */
};

/* A finding that was said, or is to be said at the end: of the block that would
 * have come first. */
struct seen {
	const struct ptx_instruction *in;
	int finding;
	uint64_t block;
	char *text;             /* NULL: it was said */
};

struct launch {
	struct ptx_function *kernel;
	const struct ptx_options *options;
	struct ptx_result *result;
	uint32_t grid[3], size[3];
	unsigned char *params;
	size_t   dynamic;
	/* What cooperative_groups.h reads: a size, and where blocks count. */
	uint32_t together[4];
	size_t   local_bytes;   /* of a lane */
	uint64_t random;
	bool     checks;        /* check, nans, count: the slow way */
	unsigned most;          /* blocks of a worker that may wait */
	uint64_t count, limit, turn;
	bool     crowded;       /* several workers */
	/* What workers share: the next block, ends and full turns of blocks;
	 * and by the lock, findings and the result. */
	_Atomic uint64_t next, progress;
	/* Instructions of warps that go round, since one last did not. */
	_Atomic uint64_t idle, idle_start; /* and when, in milliseconds */
	_Atomic bool stopped;
	pthread_mutex_t lock;
	struct seen seen[256];
	size_t   seen_count;
};

/* A thread of the host that runs blocks of a launch, and those it has begun. */
struct host_thread {
	struct launch *launch;
	struct ptx_block *block;
	unsigned here;
	struct frame *spare;
	/* Where instructions accessed memory the last time, by their line. */
	const struct ptx_region *recent[RECENT];
	uint64_t instructions, bytes, seen_progress;
	pthread_t thread;
	jmp_buf out;
};

/* ---- found.c ----------------------------------------------------------- */

void ptx_found(struct warp *w, const struct ptx_instruction *in, int lane,
    enum ptx_finding finding, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The launch ends, for all of its workers. */
_Noreturn void ptx_stop(struct host_thread *r);
/* Say what is left to say, in the order of blocks. */
void ptx_found_end(struct launch *l);
uint64_t ptx_random(uint64_t *state);
void *ptx_memory(struct host_thread *r, size_t bytes);
/* The content of memory before the first write. */
void ptx_noise(struct launch *l, void *to, size_t bytes);

/* ---- frame.c ----------------------------------------------------------- */

void ptx_push(struct warp *w, struct ptx_function *function, uint32_t mask,
    const struct ptx_instruction *call);
/* All lanes have returned. */
void ptx_pop(struct warp *w);
void ptx_bases(struct warp *w, struct frame *f, unsigned char *base[4]);
/* The callee's frame becomes the top one. */
void ptx_call(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask);

/* ---- group.c, exchange.c, barrier.c ------------------------------------ */

/* The group that runs next, or -1; *next: the pc at which another one waits for
 * its turn. */
int ptx_pick(struct frame *f, int64_t *next);
void ptx_drop_empty(struct frame *f);
/* Spinning lanes may block others: those run first for a while. */
void ptx_favour(struct frame *f, int instead_of);
/* The members that the instruction names. */
uint32_t ptx_members(const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask);
/* True: all members are here, in f->group[g], whose mask may have grown. */
bool ptx_gather(struct warp *w, struct frame *f, int g, uint32_t members);
/* shfl, vote, match, redux. */
void ptx_exchange(struct warp *w, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask, uint32_t members);
/* At a barrier of the block. */
void ptx_arrive(struct warp *w, struct frame *f, int g,
    const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask);
/* Those lanes have ended. */
void ptx_leave(struct warp *w, uint32_t mask);

/* ---- quick.c, wide.c --------------------------------------------------- */

/* Whether this processor can run those of wide.c. */
bool ptx_is_wide(void);
ptx_quick ptx_wide_loop(const struct ptx_instruction *in);
/* The lanes for which a comparison of numbers holds; 0 if they are of a type
 * that has no quick loop. */
uint32_t ptx_compared(int type, int compare, const void *x, const void *y);

/* ---- move.c, lanes.c --------------------------------------------------- */

/* Moves of vectors, addresses, clocks. */
void ptx_move(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask);
/* One instruction, which neither branches nor touches memory or other lanes,
 * for the lanes of `mask`. */
void ptx_lanes(struct warp *w, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask);

/* ---- memory.c, atomic.c, async.c, reach.c, shadow.c -------------------- */

enum access { READ, WRITE, ATOMIC };
enum { LOWEST = 65536 };         /* no memory is below */

/* ld, st, atom, red. */
void ptx_access(struct warp *w, struct frame *f,
    const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask);
void ptx_atomic(struct warp *w, struct frame *f,
    const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask);
/* The address operand of a lane. */
uint64_t ptx_address_of(const struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], int lane);
/* The host address of a lane's access; NULL: none, which was reported. `value`
 * will be written there, or is NULL. */
unsigned char *ptx_reach(struct warp *w, struct frame *f,
    const struct ptx_instruction *in, int lane, uint64_t address, size_t size,
    enum access kind, const unsigned char *value);
/* The same, in another space than the instruction's. */
unsigned char *ptx_reach_in(struct warp *w, struct frame *f,
    const struct ptx_instruction *in, int space, int lane, uint64_t address,
    size_t size, enum access kind, const unsigned char *value);
/* The region that `at` is in, or NULL. */
const struct ptx_region *ptx_region_near(struct host_thread *r,
    const struct ptx_instruction *in, uint64_t at);
/* cp.async, mbarrier. */
void ptx_async(struct warp *w, struct frame *f,
    const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask);
/* One lane accesses shared memory. */
void ptx_touch(struct warp *w, const struct ptx_instruction *in, int lane,
    uint64_t at, size_t bytes, enum access kind, const unsigned char *value);

/* ---- warp.c, block.c --------------------------------------------------- */

/* Until it waits, ends, or has run `budget` instructions. */
void ptx_run_warp(struct warp *w, uint64_t budget);
/* In the memory of an earlier block, if any. */
void ptx_begin(struct ptx_block *b, struct host_thread *r, uint64_t number);
/* As far as possible within `budget`; true: it ended. */
bool ptx_run_block(struct ptx_block *b, uint64_t budget);

/* ---- idle.c ------------------------------------------------------------ */

/* After the warp has run `done` instructions; with `idle_limit` only. */
void ptx_look(struct warp *w, uint64_t done);

/* ---- grid.c, helpers.c ------------------------------------------------- */

/* Blocks, until none is left; returns after a stop, too. */
void ptx_run_blocks(struct host_thread *r);
/* What a worker has goes; its sums go to the result. */
void ptx_end_worker(struct host_thread *r);
/* Threads that run blocks next to the caller: as many as are free, and as there
 * is work for. */
struct helpers {
	struct host_thread worker[MOST_THREADS - 1];
	unsigned count;
	bool     asked;
};
/* Start them if it is time to: `done` instructions have run. */
void ptx_ask_helpers(struct helpers *h, struct launch *l, uint64_t done);
void ptx_join_helpers(struct helpers *h);

/* ---- Operands ---------------------------------------------------------- */

/* A lane of an operand, zero-extended. */
static inline uint64_t
lane_value(unsigned char *const base[4], const struct ptx_operand *o, int lane)
{
	const unsigned char *at = base[o->base] + o->at;
	uint64_t value = 0;

	switch (o->width) {
	case 0:
		memcpy(&value, at, 4);
		return (value >> lane & 1) ^ o->inverted;
	case 1: return at[lane];
	case 2: return ((const uint16_t *)(const void *)at)[lane];
	case 4: return ((const uint32_t *)(const void *)at)[lane];
	default: return ((const uint64_t *)(const void *)at)[lane];
	}
}

static inline void
lane_store(unsigned char *const base[4], const struct ptx_operand *o, int lane,
    uint64_t value)
{
	unsigned char *at = base[o->base] + o->at;

	if (o->base != BASE_FRAME)
		return;
	switch (o->width) {
	case 0:
		((uint32_t *)(void *)at)[0] = (((uint32_t *)(void *)at)[0] &
		    ~(1u << lane)) | (uint32_t)(value & 1) << lane;
		break;
	case 1: at[lane] = (uint8_t)value; break;
	case 2: ((uint16_t *)(void *)at)[lane] = (uint16_t)value; break;
	case 4: ((uint32_t *)(void *)at)[lane] = (uint32_t)value; break;
	default: ((uint64_t *)(void *)at)[lane] = value; break;
	}
}

/* A predicate's lanes. */
static inline uint32_t
predicate(unsigned char *const base[4], const struct ptx_operand *o)
{
	uint32_t mask;

	memcpy(&mask, base[o->base] + o->at, sizeof mask);
	return o->inverted ? ~mask : mask;
}

/* Set its lanes of `mask` to those of `value`. */
static inline void
set_predicate(unsigned char *const base[4], const struct ptx_operand *o,
    uint32_t mask, uint32_t value)
{
	uint32_t old;

	if (o->base != BASE_FRAME)
		return;
	memcpy(&old, base[o->base] + o->at, sizeof old);
	old = (old & ~mask) | (value & mask);
	memcpy(base[o->base] + o->at, &old, sizeof old);
}

#endif
