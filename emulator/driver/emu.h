/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/emu.h -- the emulated devices, as their libraries share them.
 *
 * libcuda.so.1 owns the devices: contexts, memory, streams, events, workers,
 * counters and injected failures. It exports these functions to its sisters,
 * which hold no device state of their own.
 *
 * A status is an int with CUresult's numbers; the runtime's cudaError_t has
 * the same numbers for everything used here. 0 is success. The function that
 * finds something wrong says so once, by emu_complain(); callers pass on.
 *
 * Threads: the emu_* calls come from the program's threads and may lock among
 * themselves. Workers take no lock that another worker or a submitting thread
 * takes, so that a missing event between two streams stays visible to TSan. */
#ifndef AC_EMULATOR_EMU_H
#define AC_EMULATOR_EMU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define EMU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EMU_TSAN 1
#endif
#endif
#ifndef EMU_TSAN
#define EMU_TSAN 0
#endif

#pragma GCC visibility push(default)

/* NVIDIA's own names: their handles point to these. */
struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
struct CUmemPoolHandle_st;

enum emu_status {
	EMU_OK = 0, EMU_INVALID_VALUE = 1, EMU_OUT_OF_MEMORY = 2,
	EMU_NOT_INITIALIZED = 3, EMU_DEINITIALIZED = 4,
	EMU_INVALID_FUNCTION = 98, EMU_NO_DEVICE = 100,
	EMU_INVALID_DEVICE = 101, EMU_INVALID_IMAGE = 200,
	EMU_INVALID_CONTEXT = 201, EMU_NO_BINARY = 209,
	EMU_INVALID_PTX = 218, EMU_ALREADY_REGISTERED = 712,
	EMU_NOT_REGISTERED = 713, EMU_INVALID_HANDLE = 400,
	EMU_ILLEGAL_STATE = 401,
	EMU_NOT_FOUND = 500, EMU_NOT_READY = 600, EMU_ILLEGAL_ADDRESS = 700,
	EMU_PEER_ENABLED = 704, EMU_PEER_NOT_ENABLED = 705,
	EMU_OUT_OF_RESOURCES = 701, EMU_TIMEOUT = 702,
	EMU_CONTEXT_DESTROYED = 709, EMU_ILLEGAL_INSTRUCTION = 715,
	EMU_MISALIGNED = 716, EMU_LAUNCH_FAILED = 719,
	EMU_COOPERATIVE_TOO_LARGE = 720, EMU_ASSERT = 710,
	EMU_NOT_SUPPORTED = 801,
	EMU_CAPTURE_UNSUPPORTED = 900, EMU_CAPTURE_INVALIDATED = 901,
	EMU_CAPTURE_MERGE = 902, EMU_CAPTURE_UNMATCHED = 903,
	EMU_CAPTURE_UNJOINED = 904, EMU_CAPTURE_ISOLATION = 905,
	EMU_CAPTURE_IMPLICIT = 906, EMU_CAPTURED_EVENT = 907,
	EMU_CAPTURE_WRONG_THREAD = 908, EMU_UNKNOWN = 999
};

/* ---- calls: counting and failing on demand (call.c) ------------------- */

/* What libcuda.so.1 keeps for all calls of one name; outlives its sisters. */
struct emu_record;

/* One exported function; static in it, zero except for its name. */
struct emu_call {
	const char *name;
	_Atomic(struct emu_record *) record;
};

/* The statuses of a family for a call that is made to fail, and for one that
 * comes after the end of the device. */
struct emu_family {
	int failed, ended;
};

/* Count one entry of `call`. Returns 0, or the status to return at once.
 * Later complaints of this thread carry the call's name. */
int emu_call_enter(struct emu_call *call, const struct emu_family *family);

/* One "autocast: emulated GPU: CALL: ..." line at error level, counted. */
__attribute__((format(printf, 1, 2)))
void emu_complain(const char *format, ...);

/* The call that complaints of this thread name. A worker sets it to the call
 * that queued its work. */
const char *emu_call_current(void);
void emu_call_name(const char *name);

/* Leaves the calling function with the injected status, if there is one. */
#define EMU_ENTER(family)                                                 \
	static struct emu_call emu_this_call = { .name = __func__ };      \
	do {                                                              \
		const int emu_injected =                                  \
		    emu_call_enter(&emu_this_call, (family));             \
		if (emu_injected)                                         \
			return emu_injected;                              \
	} while (0)

/* ---- counters (counters.c) -------------------------------------------- */

/* Also the names that emuCounter() and the counter file use; call.c adds one
 * counter per exported call. */
enum emu_counter {
#define COUNTER(name) EMU_##name,
#include "emulator/driver/counters.def"
#undef COUNTER
	EMU_COUNTERS
};

void emu_count(enum emu_counter counter, uint64_t amount);

/* The counter of this name: a row of counters.def, or the number of calls of an
 * exported function (0 if it was never called). */
uint64_t emuCounter(const char *name);
/* Zero every counter but device_bytes; device_bytes_peak restarts from it. */
void emuCountersReset(void);

/* ---- devices (device.c) ----------------------------------------------- */

enum { EMU_DEVICES = 16 }; /* the most that AUTOCAST_EMU_MODEL can list */

/* What has a rate: arithmetic in operations per second, and moves in bytes per
 * second. */
enum emu_rate { EMU_FP64, EMU_FP32, EMU_TF32, EMU_BF16, EMU_FP16, EMU_MEMORY,
	EMU_LINK, EMU_RATES };

struct emu_model {
	const char *key, *name;     /* in AUTOCAST_EMU_MODEL; NVIDIA's */
	int         major, minor, multiprocessors; /* capability first */
	uint64_t    memory;         /* bytes */
	int         clock_khz, memory_clock_khz, bus_width, l2_bytes;
	int         shared_per_block, shared_per_multiprocessor;
	int         threads_per_multiprocessor, blocks_per_multiprocessor;
	double      rate[EMU_RATES]; /* 0: it cannot */
	double      launch;          /* seconds between two kernels */
	bool        fast16_is_tf32;  /* COMPUTE_32F_FAST_16F and FAST_16BF */
};

enum { EMU_DRIVER_VERSION = 13000 }; /* of cuDriverGetVersion */

/* Bring them up, once. EMU_NO_DEVICE after a complaint if AUTOCAST_EMU_MODEL is
 * wrong. Cheap when they are up. */
int emu_device_up(void);
/* Make sure that, at exit, workers finish before anything that a library they
 * call has registered so far is torn down. */
void emu_device_end_first(void);
/* As above, and make device 0's primary context current if the thread has none,
 * bring it to life, and return an error of its earlier work. Every runtime call
 * does this. */
int emu_device_enter(void);
/* As above, with this device's primary context. */
int emu_device_select(int device);
/* How many there are, known before they are up; 0: as EMU_NO_DEVICE. */
int emu_device_count(void);
/* These only after that; `device` must exist. */
void emu_device_uuid(int device, unsigned char uuid[static 16]);
bool emu_device_exists(int device);
const struct emu_model *emu_device_model(int device);
/* TF32 in the model and not forbidden by NVIDIA_TF32_OVERRIDE=0. */
bool emu_device_has_tf32(int device);
/* How products are added up: AUTOCAST_EMU_SUMS. */
enum emu_sums { EMU_SUMS_FAST, EMU_SUMS_EXACT, EMU_SUMS_REFERENCE,
	EMU_SUMS_ONCE };
enum emu_sums emu_device_sums(void);
/* Added otherwise than AUTOCAST_EMU_SUMS=exact asks: counted, one is said. */
void emu_device_not_exact(const char *what);
/* An attribute by CUdevice_attribute number; the runtime's are the same. */
int emu_device_attribute(int device, int attribute, int *value_out);
/* Wait for the current device's primary context, then drop what it owns. */
int emu_device_reset(void);

/* ---- contexts (context.c) --------------------------------------------- */

/* Current on this thread (on a worker: its stream's), or NULL. */
struct CUctx_st *emu_context_current(void);
int emu_context_device(void); /* 0 without one */
/* A living context's id, else 0. Addresses are used again, ids are not. */
uint64_t emu_context_id(const struct CUctx_st *context);
/* Whether its work may touch the memory of `device`. */
bool emu_context_reaches(const struct CUctx_st *context, int device);
/* Allow the current context to touch that memory, or forbid it again. */
int emu_peer_enable(int device, bool on);
/* Work failed, as at a bad address: the current context is lost. The first
 * status is what its later calls return, until it is reset or destroyed; work
 * that is queued there does not run any more. */
void emu_device_poison(int status);
/* The current context's such status, or EMU_OK; brings nothing up. */
int emu_device_error(void);

/* ---- memory (memory.c) ------------------------------------------------ */

enum emu_memory_kind {
	EMU_MEMORY_PAGEABLE,  /* not ours: ordinary host memory */
	EMU_MEMORY_DEVICE, EMU_MEMORY_MANAGED,
	EMU_MEMORY_PINNED,    /* allocated page-locked */
	EMU_MEMORY_REGISTERED /* the program's own, page-locked later */
};

/* Uninitialised memory of the current context, 256-byte aligned; `bytes` 0
 * gives NULL. */
int emu_memory_allocate(size_t bytes, enum emu_memory_kind kind,
    void **pointer_out);
/* Device memory in stream order, of a pool's device (its primary context owns
 * it if it is not the current one). While the stream captures it belongs to the
 * graph, and stays as long as that does. */
int emu_memory_allocate_async(struct CUmemPoolHandle_st *pool, size_t bytes,
    struct CUstream_st *stream, void **pointer_out);
/* Wait for the device, then free; NULL is ignored. */
int emu_memory_free(void *pointer, bool host);
/* The checks forget it at once; it is freed when `stream` gets there. A graph's
 * memory stays. */
int emu_memory_free_async(void *pointer, struct CUstream_st *stream);
int emu_memory_register(void *pointer, size_t bytes);
int emu_memory_unregister(void *pointer);
/* What is known of `pointer`. */
struct emu_memory {
	enum emu_memory_kind kind; /* PAGEABLE: nothing else */
	void  *base;
	size_t bytes;
	int    device;
	struct CUctx_st *context;  /* its owner */
};
enum emu_memory_kind emu_memory_find(const void *pointer,
    struct emu_memory *out);
/* Whether the current context's work can reach `bytes` at `pointer`; if not,
 * complain, naming `argument`, and return EMU_ILLEGAL_ADDRESS. 0 bytes are fine
 * at any pointer. */
int emu_memory_check(const void *pointer, uint64_t bytes,
    const char *argument);
/* The same for columns of `rows` elements, `ld` apart, `batch` of them
 * `stride` elements apart. */
struct emu_shape {
	int64_t rows, cols, ld, batch, stride;
	size_t  element; /* bytes */
};
int emu_memory_check_matrix(const void *pointer,
    const struct emu_shape *shape, const char *argument);
void emu_memory_info(int device, size_t *free_out, size_t *total_out);

/* ---- streams (stream.c, order.c) -------------------------------------- */

/* Arguments of a task, to be filled in and submitted; freed after it ran. NULL:
 * the host has no memory left. */
void *emu_task_new(void (*run)(void *arguments), size_t bytes);
void emu_task_drop(void *arguments);
/* Add `amount` to this counter each time the task is queued. */
void emu_task_tally(void *arguments, enum emu_counter counter,
    uint64_t amount);
/* Queue it after the stream's work; returns before it runs. While the stream
 * captures, it is recorded instead: then it may run any number of times, each
 * time with the arguments as they are now. `stream` comes from
 * emu_stream_find_work(). */
void emu_stream_submit(struct CUstream_st *stream, void *arguments);

/* The stream that a handle means (0, 1: the current context's legacy stream;
 * 2: this thread's own one there). EMU_INVALID_HANDLE after a complaint if it
 * means none. */
int emu_stream_find(struct CUstream_st *handle,
    struct CUstream_st **stream_out);
/* The same, if work may be queued there now: see capture_rules.c. */
int emu_stream_find_work(struct CUstream_st *handle,
    struct CUstream_st **stream_out);
/* The same for kernels, which run in the current context only. */
int emu_stream_find_here(struct CUstream_st *handle,
    struct CUstream_st **stream_out);
enum { EMU_STREAM_NON_BLOCKING = 1 };
int emu_stream_create(unsigned flags, int priority,
    struct CUstream_st **handle_out);
int emu_stream_destroy(struct CUstream_st *handle);
/* Wait on the calling thread, counted as a host wait. */
int emu_stream_wait(struct CUstream_st *handle);
int emu_stream_wait_all(void); /* of the current context */
/* The same for another context, which may be gone; counted. */
int emu_context_wait(struct CUctx_st *context, uint64_t id);
void emu_stream_wait_device(int device); /* -1: of all */
/* EMU_OK, or EMU_NOT_READY if work is left. */
int emu_stream_query(struct CUstream_st *handle);
struct emu_stream_facts {
	unsigned flags;
	int      priority;
	uint64_t id;
	struct CUctx_st *context;
	int      device;
};
int emu_stream_facts(struct CUstream_st *handle,
    struct emu_stream_facts *facts_out);

/* Run `function` on the stream's worker; it may not call CUDA. In a context
 * that is lost it is not called. */
int emu_host_function(struct CUstream_st *handle,
    void (*function)(void *data), void *data);
/* The same, but called in any case: with the context's error. */
int emu_host_callback(struct CUstream_st *handle,
    void (*function)(void *data, int status), void *data);
/* ---- capture and graphs (capture.c, capture_rules.c, graph.c, replay.c) */

enum { EMU_CAPTURE_GLOBAL, EMU_CAPTURE_THREAD_LOCAL, EMU_CAPTURE_RELAXED };
enum { EMU_CAPTURE_NONE, EMU_CAPTURE_ACTIVE, EMU_CAPTURE_INVALID };

/* Set this thread's capture interaction mode; returns the previous one. */
unsigned emu_capture_swap_mode(unsigned mode);
int emu_capture_begin(struct CUstream_st *handle, unsigned mode);
/* An invalid capture ends, too, but gives no graph. */
int emu_capture_end(struct CUstream_st *handle, struct CUgraph_st **graph_out);
struct emu_capture_facts {
	int      status;            /* EMU_CAPTURE_NONE: nothing else */
	uint64_t id;
	struct CUgraph_st *graph;   /* the capture's own until it ends */
};
int emu_capture_facts(struct CUstream_st *handle,
    struct emu_capture_facts *facts_out);
/* The opening of calls that a capture cannot see: EMU_CAPTURE_UNSUPPORTED after
 * a complaint if a capture forbids them to this thread; it becomes invalid. */
int emu_capture_forbid(void);
/* The number of its tasks. */
int emu_graph_nodes(struct CUgraph_st *graph, size_t *count_out);
int emu_graph_destroy(struct CUgraph_st *graph);
/* An empty one, for children; another one with the same content. */
int emu_graph_create(struct CUgraph_st **graph_out);
int emu_graph_clone(const struct CUgraph_st *graph,
    struct CUgraph_st **clone_out);
/* The content of `child`, as it is now, becomes a node of `graph`. */
int emu_graph_add_child(struct CUgraph_st *graph, struct CUgraph_st *child,
    struct CUgraphNode_st **node_out);
int emu_graph_instantiate(struct CUgraph_st *graph,
    struct CUgraphExec_st **exec_out);
/* Whether it exists; complains. */
int emu_graph_exec_check(const struct CUgraphExec_st *exec);
int emu_graph_exec_destroy(struct CUgraphExec_st *exec);
/* Have it launch the content of `graph`; or, where a node of its graph is, that
 * of another child. Only if the nodes are alike. */
enum emu_likeness { EMU_ALIKE, EMU_OTHER_TOPOLOGY, EMU_OTHER_NODES };
int emu_graph_exec_update(struct CUgraphExec_st *exec,
    struct CUgraph_st *graph, enum emu_likeness *likeness_out);
int emu_graph_exec_set_child(struct CUgraphExec_st *exec,
    const struct CUgraphNode_st *node, struct CUgraph_st *child);
/* Queue all of it as one piece of work. */
int emu_graph_launch(struct CUgraphExec_st *exec, struct CUstream_st *handle);

/* ---- events (event.c) ------------------------------------------------- */

enum { EMU_EVENT_NO_TIMING = 2 };
int emu_event_create(unsigned flags, struct CUevent_st **event_out);
int emu_event_destroy(struct CUevent_st *event);
int emu_event_record(struct CUevent_st *event, struct CUstream_st *handle);
int emu_event_query(struct CUevent_st *event);
int emu_event_wait(struct CUevent_st *event);
int emu_event_elapsed(struct CUevent_st *start, struct CUevent_st *end,
    float *milliseconds_out);
int emu_stream_wait_event(struct CUstream_st *handle,
    struct CUevent_st *event);

/* ---- the modelled clock (clock.c) -------------------------------------- */

/* On a worker: the time of its work, on top of the launch. Nothing happens
 * unless AUTOCAST_EMU_CLOCK=model. Operations at the rate of the arithmetic, or
 * these bytes of device memory, whichever takes longer. */
void emu_clock_compute(enum emu_rate arithmetic, double operations,
    uint64_t bytes);

/* ---- copies (copy.c) -------------------------------------------------- */

enum emu_direction {
	EMU_HOST_TO_HOST, EMU_HOST_TO_DEVICE, EMU_DEVICE_TO_HOST,
	EMU_DEVICE_TO_DEVICE, EMU_DIRECTION_BY_POINTER
};
/* `rows` runs of `bytes`, `from_pitch` and `to_pitch` bytes apart. With
 * `wait`, returns when the program may touch both ends again. */
struct emu_copy {
	void       *to;
	const void *from;
	size_t      bytes, rows, to_pitch, from_pitch;
	enum emu_direction direction;
	bool        wait;
};
int emu_copy(const struct emu_copy *copy, struct CUstream_st *handle);
/* `count` elements of `size` (1, 2 or 4) bytes per row. */
struct emu_fill {
	void    *to;
	uint32_t value;
	size_t   size, count, rows, pitch;
};
int emu_fill(const struct emu_fill *fill, struct CUstream_st *handle);

/* Show TSan that a task touches these bytes; nothing in other builds. */
void emu_announce_read(const void *from, size_t bytes);
void emu_announce_write(void *to, size_t bytes);

#pragma GCC visibility pop
#endif
