/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/library.h -- what is learnt once of each libcublasLt that the program
 * uses, from descriptors of our own: which attributes it knows, and what they
 * are when nobody has set them. Newer libraries have attributes that no header
 * of ours names; a call that sets one of them is none that we understand. */
#ifndef AC_SHIM_LT_LIBRARY_H
#define AC_SHIM_LT_LIBRARY_H

#include "shim/bind/provider.h"

#include <cublasLt.h>

#include <stdbool.h>
#include <stdint.h>

enum {
	AC_LT_ATTRIBUTES = 64,       /* numbers that are looked at */
	AC_LT_VALUE = 16             /* bytes of an attribute, at most */
};

/* Of a descriptor of an operation: */
struct ac_lt_attribute {
	uint8_t number, bytes;
	unsigned char fresh[AC_LT_VALUE]; /* as in a new descriptor */
};

struct ac_lt_library {
	/* The getters; never NULL. */
	__typeof__(&cublasLtMatmulDescGetAttribute)   get;
	__typeof__(&cublasLtMatrixLayoutGetAttribute) get_layout;
	unsigned count;
	struct ac_lt_attribute attributes[AC_LT_ATTRIBUTES];
	bool is_larger;              /* it has an attribute that is too large
	                              * to be looked at */
};

/* The library of `provider`, learnt at the first call; NULL: it exports too
 * little to be read, or failed just now. Any thread. Valid until it is
 * unloaded. */
const struct ac_lt_library *ac_lt_library_of(struct ac_provider *provider);

/* `provider` was unloaded. */
void ac_lt_library_forget(const struct ac_provider *provider);

#endif
