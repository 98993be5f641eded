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
	enum ac_epilogue epilogue;
	const char *note;        /* struct ac_site_call has it */
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

/* Begin to describe a call of `entry` that returns to `caller`: which function
 * and module, and whether that is a solver. AC_OP_COUNT: of none of the
 * operations that may be recast. */
void ac_describe_begin(struct ac_description *description_out,
    enum ac_operation operation, enum ac_entry entry, const void *caller);

/* The types of its operands and the arithmetic asked for, by their names. */
void ac_describe_asked(struct ac_description *description, const char *type,
    const char *asked);

#ifdef AC_HAVE_CUDNN
/* The library by the version that `provider`, a cuDNN, says: "cudnn-9.8". */
void ac_describe_dnn(struct ac_description *description,
    struct ac_provider *provider);
#endif

/* The library by the version that `provider`, a cuBLAS, says of `handle`:
 * "cublas-13.1". Returns that version, 130100; 0: unknown. */
int ac_describe_library(struct ac_description *description,
    cublasHandle_t handle, struct ac_provider *provider);

/* What follows from a complete key and library: region and GPU by their numbers
 * (0, -1: none), the id, the facts that all operations have. Tells the report
 * which GPU and library were met. */
void ac_describe_end(struct ac_description *description, uint32_t region,
    int device);

/* All of it, for `call` of a product, served by `provider` (may be NULL). */
void ac_describe(const struct ac_call *call, struct ac_provider *provider,
    struct ac_description *description_out);

/* The report's record of what is described and decided so. What the report has
 * no room for is kept. Never NULL. */
struct ac_site_record *ac_describe_decided(
    const struct ac_description *description, struct ac_decision *decision);

#endif
