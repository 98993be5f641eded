/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site/describe.h -- a call in the policy's words and the report's.
 * Done once per site; everything here may be slow. */
#ifndef AC_SHIM_DESCRIBE_H
#define AC_SHIM_DESCRIBE_H

#include "shim/site/site.h"

/* A call with its form taken apart again. */
struct ac_call {
	cublasHandle_t handle;
	const void *caller;
	int64_t m, n, k, batch;
	enum ac_entry entry;
	cublasOperation_t transa, transb;
	enum ac_asked asked;
	enum ac_type_class type;
	int device;              /* CUDA ordinal, -1 if unknown */
	uint32_t via;            /* the thunk's note (shim/bind/thunk.h) */
	uint32_t region;         /* its number; 0: none */
};

struct ac_call ac_call_of(const struct ac_site_call *call);

/* `op` points into the other members: do not copy. */
struct ac_description {
	struct ac_op op;
	struct ac_site_key key;
	struct ac_site_region region;
	uint32_t id;             /* of key and region */
	char ta[2], tb[2], library[32], site[12];
	char module[40];         /* base name of the calling module */
	struct ac_solver *solver; /* that module, if it ever solved */
	bool is_solver;          /* it counts as one */
};

/* The calling module, and whether it is a solver. */
void ac_describe_caller(struct ac_description *description, const void *caller);

#ifdef AC_HAVE_CUDNN
/* The library by the version that `provider`, a cuDNN, says: "cudnn-9.8". */
void ac_describe_dnn(struct ac_description *description,
    struct ac_provider *provider);
#endif

/* The library by the version that `provider`, a cuBLAS, says of `handle`:
 * "cublas-13.1". Returns that version, 130100; 0: unknown. */
int ac_describe_library(struct ac_description *description,
    cublasHandle_t handle, struct ac_provider *provider);

/* What follows from a description whose key is complete, in the region of that
 * number: its id, and the facts that every operation has but for GPU and
 * library. */
void ac_describe_facts(struct ac_description *description, uint32_t region);

/* Describe `call`, served by `provider` (may be NULL); tells the report which
 * GPU and library it met. */
void ac_describe(const struct ac_call *call, struct ac_provider *provider,
    struct ac_description *description_out);

#endif
