/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/content.h -- what one call of cublasLtMatmul() says, read from the
 * program's descriptors by the getters of the library that it calls. Attributes
 * are read by name: the descriptors of several library versions have several
 * sizes, those on the stack have uninitialised ends, and a layout on the stack
 * may be shorter than the library takes it to be, so that what lies behind its
 * first nine attributes is somebody else's memory. */
#ifndef AC_SHIM_LT_CONTENT_H
#define AC_SHIM_LT_CONTENT_H

#include "shim/bind/provider.h"

#include <cublasLt.h>

#include <stdbool.h>
#include <stdint.h>

struct ac_lt_version;        /* shim/lt/library.h */

/* A call that is to be read. Everything belongs to the program and is borrowed
 * for the call. Its handle is a known one (shim/device/handle.h): with another
 * the library may refuse before it looks at a descriptor. */
struct ac_lt_asked {
	struct ac_provider    *provider; /* of cublasLtMatmul() */
	const void            *caller;
	uint64_t               mark;     /* the thread's: shim/bind/thunk.h */
	int64_t                device;   /* the handle's, a CUDA ordinal */
	cublasLtMatmulDesc_t   desc;
	cublasLtMatrixLayout_t a, b, c, d; /* c NULL: as d */
};

struct ac_lt_matrix {
	int32_t type, order;         /* cudaDataType, cublasLtOrder_t */
	int64_t rows, cols, ld;
	int32_t batch, unused;
	int64_t stride;              /* elements; 0: one matrix for all */
};

/* Zero-filled first, and without holes: all its bytes are a key. */
struct ac_lt_content {
	int32_t compute, scale;      /* cublasComputeType_t, cudaDataType */
	int32_t pointer_mode;        /* cublasLtPointerMode_t */
	int32_t transa, transb;      /* cublasOperation_t */
	int32_t epilogue;            /* cublasLtEpilogue_t */
	int32_t bias_type, aux_type; /* -1: D's */
	int32_t sm_count_target;
	int32_t unsupported;         /* 0; or what is set that we do not
	                              * understand: ac_lt_unsupported_name() */
	int64_t bias_stride;         /* elements */
	struct ac_lt_matrix a, b, c, d;
};

/* What may change at every call without being another product. */
struct ac_lt_pointers {
	const void *bias;            /* on the device */
	void       *aux;
	int64_t     aux_ld, aux_stride;
};

/* What `asked` says. False if a descriptor is NULL, or if the library cannot be
 * asked or fails. Where content_out->unsupported is set, the rest is what could
 * be read; types and sizes of all kinds are supported. Takes no memory. */
bool ac_lt_read(const struct ac_lt_asked *asked,
    struct ac_lt_content *content_out);

/* The rest, of the fields that the epilogue of `content` uses; others are 0.
 * False if one cannot be read. `version`, where it is known, is the
 * operation's: then its bytes are read, and the library is not asked. */
bool ac_lt_read_pointers(const struct ac_lt_asked *asked,
    const struct ac_lt_content *content, const struct ac_lt_version *version,
    struct ac_lt_pointers *pointers_out);

/* What `unsupported` stands for, as NVIDIA calls it. */
const char *ac_lt_unsupported_name(int32_t what);

#endif
