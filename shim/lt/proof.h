/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/proof.h -- where a libcublasLt stores the attributes of descriptors.
 * NVIDIA does not say, so it is found out, once per library, from descriptors
 * of our own: each byte is flipped, and every getter asked what that did to its
 * answer; then all are changed together, at random. Where each answer is a copy
 * of bytes, descriptors with equal bytes say the same, and need not be
 * asked. */
#ifndef AC_SHIM_LT_PROOF_H
#define AC_SHIM_LT_PROOF_H

#include "shim/lt/library.h"

/* Of a library whose attributes are learnt. Takes a few milliseconds. One
 * thread at a time. */
void ac_lt_prove(struct ac_provider *provider,
    const struct ac_lt_library *library, struct ac_lt_proof *proof_out);

#endif
