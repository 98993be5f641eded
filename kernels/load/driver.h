/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load/driver.h -- the few calls of libcuda.so.1 that the product
 * makes.
 *
 * The library is looked up at run time and never linked. Types are declared
 * here in their ABI form, so that no CUDA header is needed;
 * tests/unit/kernels/test_driver.c compares them with cuda.h. Every call
 * returns a CUresult (0 is success). */
#ifndef AC_KERNELS_DRIVER_H
#define AC_KERNELS_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int ac_cu_result;
typedef struct CUctx_st *ac_cu_context;
typedef struct CUstream_st *ac_cu_stream;
typedef struct CUevent_st *ac_cu_event;
typedef struct CUmemPoolHandle_st *ac_cu_pool;
typedef struct CUmod_st *ac_cu_module;
typedef struct CUlib_st *ac_cu_library;
typedef struct CUkern_st *ac_cu_kernel;
typedef struct CUfunc_st *ac_cu_function;
typedef struct CUgraph_st *ac_cu_graph;
typedef struct CUgraphNode_st *ac_cu_node;
typedef struct CUuserObject_st *ac_cu_object;
typedef unsigned long long ac_cu_address;

/* The driver's numbers that we use. */
enum {
	AC_CU_EVENT_DISABLE_TIMING = 2,
	AC_CU_STREAM_NON_BLOCKING = 1,
	AC_CU_CAPTURE_RELAXED = 2,
	AC_CU_CAPTURE_ACTIVE = 1,      /* status of a capturing stream */
	AC_CU_OBJECT_NO_DESTRUCTOR_SYNC = 1,
	AC_CU_OBJECT_MOVE = 1,         /* references, to a graph */
	AC_CU_HOST_REGISTER_PORTABLE = 1,
	AC_CU_HOST_REGISTER_DEVICEMAP = 2,
	AC_CU_ATTRIBUTE_MAJOR = 75,    /* compute capability */
	AC_CU_ATTRIBUTE_MINOR = 76,
	AC_CU_ALLOCATION_PINNED = 1,
	AC_CU_LOCATION_DEVICE = 1,
	AC_CU_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
	AC_CU_POOL_RELEASE_THRESHOLD = 4
};

/* CUmemPoolProps */
struct ac_cu_pool_properties {
	int            allocation_type, handle_types;
	int            location_type, location_id;
	void          *security;
	size_t         max_bytes;
	unsigned short usage;
	unsigned char  reserved[54];
};

/* CUexecAffinityParam, of CU_EXEC_AFFINITY_TYPE_SM_COUNT */
struct ac_cu_affinity {
	int      type;
	unsigned sm_count;
};

/* CUdevResource, of CU_DEV_RESOURCE_TYPE_SM, with room for later ones */
struct ac_cu_resource {
	int           type;
	unsigned char padding[92];
	unsigned      sm_count;
	unsigned char rest[156];
};

struct ac_driver {
#define DRIVER(name, version, need, params) ac_cu_result (*name) params;
#include "kernels/load/driver.def"
#undef DRIVER
};

/* The calling thread's context. */
struct ac_cu_current {
	ac_cu_context context;
	uint64_t      id;           /* 0: the driver has none, before CUDA 12 */
	int           device;
};

/* False without one that is alive. After a reset cuCtxGetCurrent() still names
 * the one that was destroyed; calls about the current context then answer
 * CUDA_ERROR_CONTEXT_IS_DESTROYED, while what becomes of a call that names it
 * is undefined. So it is never named: its id is asked for by NULL. */
static inline bool
ac_driver_current(const struct ac_driver *driver,
    struct ac_cu_current *current_out)
{
	struct ac_cu_current now;
	unsigned long long id = 0;

	if (driver->cuCtxGetDevice(&now.device)
	    || driver->cuCtxGetCurrent(&now.context) || !now.context
	    || (driver->cuCtxGetId && driver->cuCtxGetId(NULL, &id)))
		return false;
	now.id = id;
	*current_out = now;
	return true;
}

/* The driver's functions, or NULL if there is no usable driver: libcuda.so.1
 * is absent, or lacks a call marked NEEDED. Calls marked OPTIONAL may be NULL.
 * The first call looks it up (a library already in the process is preferred,
 * else it is opened); later calls are one load. Thread-safe. */
const struct ac_driver *ac_driver_get(void);

/* The same, but only if a driver is already in the process: never opens. */
const struct ac_driver *ac_driver_loaded(void);

#endif
