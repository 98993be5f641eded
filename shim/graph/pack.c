/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/pack.c -- variant packs by address (shim/graph/pack.h). */
#include "shim/graph/pack.h"

#include <string.h>

enum { BITS = 10 };
static _Atomic(struct ac_addressed *) rows[1 << BITS];
static const struct ac_by_address packs = { rows, BITS,
	sizeof(struct ac_pack) };

void
ac_pack_create(cudnnBackendDescriptor_t descriptor)
{
	struct ac_pack *pack = ac_by_address_find(&packs, descriptor);

	if (!pack)
		pack = ac_by_address_take(&packs, descriptor);
	if (!pack)
		return;
	pack->workspace = NULL;
	pack->uids = pack->pointers = 0;
	pack->is_strange = pack->is_final = false;
	ac_by_address_set(&pack->note, descriptor);
}

bool
ac_pack_drop(cudnnBackendDescriptor_t descriptor)
{
	struct ac_pack *pack = ac_by_address_find(&packs, descriptor);

	if (pack)
		ac_by_address_set(&pack->note, NULL);
	return pack;
}

bool
ac_pack_finalize(cudnnBackendDescriptor_t descriptor)
{
	struct ac_pack *pack = ac_by_address_find(&packs, descriptor);

	if (pack)
		pack->is_final = true;
	return pack;
}

/* The values of others, of OVERRIDE_SHAPES for one, are not even read: those
 * are C++ vectors. */
bool
ac_pack_set(cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t count, const void *values)
{
	struct ac_pack *pack = ac_by_address_find(&packs, descriptor);

	if (!pack)
		return false;
	if (!values || count < 1 || count > AC_PACK_TENSORS) {
		pack->is_strange = true;
	} else if (name == CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS
	    && type == CUDNN_TYPE_INT64) {
		pack->uids = (int32_t)count;
		memcpy(pack->uid, values, (size_t)count * sizeof *pack->uid);
	} else if (name == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS
	    && type == CUDNN_TYPE_VOID_PTR) {
		pack->pointers = (int32_t)count;
		memcpy(pack->pointer, values,
		    (size_t)count * sizeof *pack->pointer);
	} else if (name == CUDNN_ATTR_VARIANT_PACK_WORKSPACE
	    && type == CUDNN_TYPE_VOID_PTR) {
		memcpy(&pack->workspace, values, sizeof pack->workspace);
	} else {
		pack->is_strange = true;
	}
	return true;
}

const struct ac_pack *
ac_pack_find(cudnnBackendDescriptor_t descriptor)
{
	const struct ac_pack *pack = ac_by_address_find(&packs, descriptor);

	return pack && pack->is_final && !pack->is_strange
	    && pack->uids == pack->pointers ? pack : NULL;
}
