/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/pack.h -- what is in the program's variant packs, noted as it is
 * set: cuDNN gives neither unique ids nor pointers back. Programs make a pack
 * for each execution, so a note costs some instructions and no memory but the
 * first time. Any thread. */
#ifndef AC_SHIM_PACK_H
#define AC_SHIM_PACK_H

#include "shim/graph/address_map.h"

#include <cudnn.h>

#include <stdbool.h>

enum { AC_PACK_TENSORS = 8 };   /* more than a convolution of ours has */

struct ac_pack {
	struct ac_addressed note;
	void   *workspace;
	int32_t uids, pointers; /* how many */
	bool    is_strange;     /* something else is set, or too much */
	bool    is_final;
	int64_t uid[AC_PACK_TENSORS];
	void   *pointer[AC_PACK_TENSORS];
};

/* Each returns false, and does nothing, for what is no pack. */
bool ac_pack_set(cudnnBackendDescriptor_t pack,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t count, const void *values);
bool ac_pack_finalize(cudnnBackendDescriptor_t pack);
/* Before cuDNN frees it, or gives the address to another descriptor. */
bool ac_pack_drop(cudnnBackendDescriptor_t pack);

/* What has that address is a pack from now on. */
void ac_pack_create(cudnnBackendDescriptor_t pack);

/* NULL: not known, not finalized, or more than unique ids, pointers and a
 * workspace are in it. */
const struct ac_pack *ac_pack_find(cudnnBackendDescriptor_t pack);

#endif
