/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/scaler.h -- a scaler and its groups as the room's files share them.
 *
 * The lock is held while stages are looked at and kernels are queued; never
 * while one of the first 31 that read the state waits for it, while a step
 * waits for its answer, or while the program is called back: a group that is
 * out for one of the latter two is `busy`. What makes, frees or loads waits
 * under the lock. */
#ifndef AC_SCALER_SCALER_H
#define AC_SCALER_SCALER_H

#include "base/lock.h"
#include "scaler/core.h"

enum {
	AC_SCALER_DEVICES = 16, /* prepared, at most */
	AC_SCALER_READERS = 4,  /* streams that are told apart before they wait
	                         * for each other */
	AC_SCALER_CAPTURES = 4, /* at the same time whose calls keep their order
	                         */
	AC_SCALER_COPIES = 32   /* of the state, on the host: of calls that read
	                         * it at once, all but one wait without the
	                         * lock */
};

/* A point in a stream of one device that others can wait for. */
struct ac_point {
	ac_cu_event  event;
	uint64_t     stream;     /* its id */
	uint64_t     capture;    /* the one that it is in; 0: none */
	uint64_t     used;       /* when, as its mark counts */
	bool         is_set;
};

/* The last one, and the last one within each capture: none sees another. */
struct ac_mark {
	struct ac_point live, captured[AC_SCALER_CAPTURES];
	uint64_t     uses;
};

/* A device that was prepared. The first one keeps the scale. */
struct ac_scaler_device {
	int            number;   /* CUDA's */
	ac_cu_context  context;
	bool           is_retained; /* the primary context: to be released */
	ac_cu_stream   stream;   /* for calls whose own is on another device */
	struct ac_scaler_state *state;      /* device memory */
	struct ac_scaler_state *host_state; /* AC_SCALER_COPIES of them, in
	                          * host memory that the device can write */
	uint32_t       copies;   /* a bit each: a call reads with it */
	struct ac_mark writer;   /* what last changed the state here */
	struct ac_mark readers[AC_SCALER_READERS];
	unsigned       next_reader;
	ac_cu_event    fork;     /* between devices, within one call */
};

/* A group's gradients on one device. */
struct ac_part {
	struct ac_scaler_device *device;
	ac_cu_address  memory;   /* what the following point into, */
	size_t         room;     /* in bytes */
	void          *host;     /* a struct ac_group_answer, and what was
	                          * copied to `memory` */
	struct ac_scaler_pass pass; /* without flags */
	float         *flags;    /* of the first part: room for those and the */
	double        *sums;     /* sums of the others */
	struct ac_mark mark;     /* the last call for the group here */
	bool           is_seen;  /* the host knows that `memory` is filled */
};

/* The bytes of a state that only updates write: the flag after them is set by
 * other streams meanwhile. */
enum { AC_STATE_KEPT = offsetof(struct ac_scaler_state, found) };

/* What the host reads of a group: memory that the device can write. */
struct ac_group_answer {
	struct ac_scaler_words words;
	struct ac_scaler_state state;
};

struct autocast_group {
	struct autocast_scaler *scaler;
	struct autocast_group  *next;
	struct ac_core_group core;
	struct ac_part  part[AC_SCALER_DEVICES]; /* [0] is the first device's */
	int             part_count;  /* 0: gradients were never set */
	struct ac_part  spare[AC_SCALER_DEVICES]; /* of the list before: the
	                              * next one takes their memory */
	int             spare_count;
	bool            has_tensors, has_fp16;
	bool            is_busy;
	bool            is_captured; /* this iteration's check is in a graph */
	struct ac_group_answer *answer; /* the first part's */
	char            name[64];
};

struct autocast_scaler {
	struct ac_lock lock;
	struct ac_core core;
	const struct ac_driver *driver; /* NULL: nothing was prepared */
	struct ac_scaler_device device[AC_SCALER_DEVICES];
	int            device_count;
	struct autocast_group *groups;
	autocast_reduce reduce;
	void          *reduce_user;
	uint64_t       steps, skips;
	/* What steps of this iteration told: for the status of its update. */
	uint64_t       told_epoch;
	struct ac_scaler_state told;
	/* For statistics (tally.c): the state as the host knows it, if it does;
	 * whether a graph may change it; steps that told since the update. */
	struct ac_scaler_state seen;
	bool         is_seen, is_replayed;
	uint32_t     told_groups;
	/* The iteration whose update is queued, if that is not told the core:
	 * something after it failed. */
	uint64_t       moved_epoch;
	uint64_t       places;       /* that were entered; for their ids */
};

/* ---- failure.c ---------------------------------------------------------- */

/* E_CUDA, naming the call, unless `result` is 0; E_CAPTURE if it is one of a
 * capture. */
autocast_status ac_cuda_status(int result, const char *call);
#define AC_CUDA(driver, call, ...) \
	ac_cuda_status((driver)->call(__VA_ARGS__), #call)
/* The same for cuInit(): E_NO_DRIVER. */
autocast_status ac_init_status(int result);
/* The same for what kernels/ answers. */
autocast_status ac_kernels_failed(enum ac_kernels_status failed);

/* ---- place.c: where a call works ---------------------------------------- */

/* A stream of a prepared device, whose context is current until leave(). */
struct ac_scaler_place {
	struct autocast_scaler  *scaler;
	struct ac_scaler_device *device;
	ac_cu_stream stream;
	uint64_t     id;         /* of the stream, else of the place */
	uint64_t     capture;    /* its id; 0: the stream does not capture */
	bool is_capturing, is_pushed;
};

/* E_DEVICE: the stream's device was not prepared. */
autocast_status ac_scaler_enter(autocast_scaler *scaler, ac_cu_stream stream,
    struct ac_scaler_place *place_out);
/* The first device, and the stream that it was prepared with, whatever is
 * current. It was prepared. */
autocast_status ac_scaler_enter_first(autocast_scaler *scaler,
    struct ac_scaler_place *place_out);
/* A place on `device` for a call made at `place`: its stream if it is there,
 * else the prepared one. Never captures elsewhere: E_CAPTURE. */
autocast_status ac_scaler_enter_at(const struct ac_scaler_place *place,
    struct ac_scaler_device *device, struct ac_scaler_place *there_out);
/* Whether enter_at() will do: asked of all devices before any gets work. */
autocast_status ac_scaler_try_at(const struct ac_scaler_place *place,
    struct ac_scaler_device *device);
void ac_scaler_leave(const struct ac_scaler_place *place);

/* The context of a stream: for the default ones the current one, or the first
 * device's if there is none. A device was prepared. */
autocast_status ac_scaler_context_of(autocast_scaler *scaler,
    ac_cu_stream stream, ac_cu_context *context_out);

/* Wait for all that the place's stream has queued. */
autocast_status ac_scaler_wait(const struct ac_scaler_place *place);

/* ---- order.c: what comes after what ------------------------------------- */

/* Calls that free are no harm to a capture of this thread, between these two.
 * False: they would be, and what there is to free stays. */
__attribute__((warn_unused_result))
bool ac_capture_relax(const struct ac_driver *driver, int *mode_out);
void ac_capture_restore(const struct ac_driver *driver, int mode);

/* Wait for a mark made on another stream; make one. A mark within a capture
 * and a stream outside of it do not see each other. The order that events fail
 * to make is made by waiting on the host: what was queued cannot be taken
 * back. */
autocast_status ac_mark_wait(struct ac_mark *mark,
    const struct ac_scaler_place *place);
autocast_status ac_mark_set(struct ac_mark *mark,
    const struct ac_scaler_place *place);

/* Wait for the last call for a group on the part's device. A capture is begun
 * when the part's table is there: the host waits for one that took the memory
 * of an old one, once. */
autocast_status ac_part_wait(struct ac_part *part,
    const struct ac_scaler_place *place);

/* Brackets around what reads the state on the place's device (and may set its
 * flag), or changes it. What is to change may be another device's. */
autocast_status ac_order_read(const struct ac_scaler_place *place);
autocast_status ac_order_has_read(const struct ac_scaler_place *place);
autocast_status ac_order_write(struct ac_scaler_device *device,
    const struct ac_scaler_place *place);
autocast_status ac_order_has_written(const struct ac_scaler_place *place);

/* `to` goes on after what `from` has queued. Nothing if they are one. */
autocast_status ac_order_after(const struct ac_scaler_place *from,
    const struct ac_scaler_place *to);

/* ---- read.c: the state, to the host -------------------------------------- */

/* The first device's own stream, which must not capture. It was prepared. */
autocast_status ac_state_enter(autocast_scaler *scaler,
    struct ac_scaler_place *place_out);
/* The state of the first device as of now, or what it will be. Waits. Lock
 * held; given up while it waits. */
autocast_status ac_state_read(autocast_scaler *scaler,
    struct ac_scaler_state *state_out);

/* ---- tally.c: what statistics know --------------------------------------- */

void ac_tally_made(autocast_scaler *scaler);
/* A step told whether it is to be made. */
void ac_tally_answer(autocast_scaler *scaler, bool is_clean);
/* Before the core is told of the update. */
void ac_tally_update(autocast_scaler *scaler, bool is_captured);
/* The state was read; was changed in a way that the host does not follow. */
void ac_tally_state(autocast_scaler *scaler,
    const struct ac_scaler_state *state);
void ac_tally_lost(autocast_scaler *scaler);
void ac_tally_loaded(autocast_scaler *scaler,
    const struct ac_core_saved *saved);

/* ---- device.c: what is on devices --------------------------------------- */

autocast_status ac_scaler_prepare_device(autocast_scaler *scaler, int number,
    ac_cu_stream stream);
/* The prepared device of that number, or NULL. */
struct ac_scaler_device *ac_scaler_device_of(autocast_scaler *scaler,
    int number);
/* The device whose stream this is, prepared now if it was not. */
autocast_status ac_scaler_prepare_stream(autocast_scaler *scaler,
    ac_cu_stream stream);
/* Frees all; the context of the device need not be current. */
void ac_scaler_release_devices(autocast_scaler *scaler);

/* Memory of the place's device; zeroed. Waits. */
autocast_status ac_memory_take(const struct ac_scaler_place *place,
    size_t bytes, ac_cu_address *address_out);
autocast_status ac_mark_create(const struct ac_driver *driver,
    struct ac_mark *mark);
void ac_mark_destroy(const struct ac_driver *driver, struct ac_mark *mark);

/* ---- tensor.c: what a program says is a tensor -------------------------- */

/* The list as kernels take it, without chunk numbers; `devices_out` (may be
 * NULL) gets each one's prepared device, NULL for an empty tensor that is on
 * any. In messages `what` is the list's name, `first` the number of its first
 * tensor. All or nothing. */
autocast_status ac_tensors_read(autocast_scaler *scaler, const char *what,
    const autocast_tensor *list, size_t first, size_t count,
    struct ac_scaler_tensor *tensors_out,
    struct ac_scaler_device **devices_out);

/* E_INVALID, naming both, if two of a list that was read overlap. */
autocast_status ac_tensors_check_apart(const char *what,
    const autocast_tensor *list, size_t count);

/* ---- unscale.c ---------------------------------------------------------- */

/* A word of a part's to or from the first device, in the order of `home`. */
autocast_status ac_part_copy(const struct ac_scaler_place *home,
    const struct ac_scaler_device *to, void *to_address,
    const struct ac_scaler_device *from, const void *from_address,
    size_t bytes);

/* What is done to each part, at its place. */
typedef autocast_status (*ac_part_work)(const struct ac_part *part,
    const struct ac_scaler_place *there, uint32_t argument);

/* E_CAPTURE, with nothing queued, if a part's device cannot take part in a call
 * made at `place`. */
autocast_status ac_parts_try(const autocast_group *group,
    const struct ac_scaler_place *place);

/* All parts do their work where they are, after what `place` has queued; the
 * first device's stream goes on when all have. `*begun_out` (may be NULL) is
 * set when the first has. */
autocast_status ac_parts_work(autocast_group *group,
    const struct ac_scaler_place *place, const struct ac_scaler_place *home,
    ac_part_work work, uint32_t argument, bool *begun_out);

/* The other parts' streams, and the caller's, go on after `home`. */
autocast_status ac_parts_join(autocast_group *group,
    const struct ac_scaler_place *place, const struct ac_scaler_place *home);

/* Gradients are changed in part and cannot be changed back: set the group's
 * flags, as if there were an inf, by streams that do not capture. Waits. */
void ac_group_spoil(autocast_group *group, const struct ac_scaler_place *place);

/* A flag is made for it: it has tensors, or other processes may have. */
bool ac_group_has_gradients(const autocast_group *group);

/* Look at the group's gradients, unscale them if `divide`, and tell the core.
 * Lock held; given up around the reduce hook. */
autocast_status ac_group_check(autocast_group *group,
    const struct ac_scaler_place *place, bool divide);

/* E_INVALID unless both are there and the group is the scaler's. */
autocast_status ac_group_check_owner(const autocast_scaler *scaler,
    const autocast_group *group);

/* Take the group for a call: E_BUSY if another one has it. Lock held. */
autocast_status ac_group_enter(autocast_group *group);

/* E_BUSY if a call has some group: it goes on in this iteration. Lock held. */
autocast_status ac_groups_check_idle(const autocast_scaler *scaler);

#endif
