/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/library.h -- what is learnt once of each libcublasLt that the program
 * uses, from descriptors of our own: which attributes it knows, what they are
 * when nobody has set them, and where it stores them. Newer libraries have
 * attributes that no header of ours names; a call that sets one of them is none
 * that we understand. */
#ifndef AC_SHIM_LT_LIBRARY_H
#define AC_SHIM_LT_LIBRARY_H

#include "shim/bind/provider.h"

#include <cublasLt.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	AC_LT_ATTRIBUTES = 64,       /* numbers that are looked at */
	AC_LT_VALUE = 16             /* bytes of an attribute, at most; aligned
	                              * as a program has it */
};

/* Of a descriptor of an operation: */
struct ac_lt_attribute {
	uint8_t number, bytes;
	_Alignas(int64_t) unsigned char fresh[AC_LT_VALUE]; /* as in a new
	                              * descriptor */
};

/* ---- Where attributes are stored: shim/lt/proof.h ------------------------ */

enum {
	AC_LT_LAYOUT_WORDS = 7,      /* of 8 bytes, with all attributes */
	AC_LT_HEAD_WORDS = 6,        /* of a layout without PLANE_OFFSET; of an
	                              * operation with types, transposes and
	                              * epilogue */
	AC_LT_HASHED_WORD = 2,       /* of an operation: all attributes */
	AC_LT_OPERATION_WORDS = 32,
	AC_LT_VERSIONS = 8
};

/* The attributes of struct ac_lt_pointers, of 8 bytes each, and NVIDIA's
 * numbers of them. */
enum ac_lt_pointer {
	AC_LT_BIAS, AC_LT_AUX, AC_LT_AUX_LD, AC_LT_AUX_STRIDE, AC_LT_POINTERS
};
extern const uint8_t ac_lt_pointer_numbers[AC_LT_POINTERS]
    __attribute__((visibility("hidden")));

/* Operations of one version have the same attributes; there have been
 * several. */
struct ac_lt_version {
	/* No other version, of any library, has it; 0: of a library that was
	 * unloaded, or is not yet learnt. */
	_Atomic uint64_t id;
	uint64_t value;              /* of the word that tells versions apart */
	unsigned words;              /* that a descriptor surely has */
	uint16_t at[AC_LT_POINTERS]; /* bytes; 0: it has none */
	/* The bits of attributes, but for those of struct ac_lt_pointers, and
	 * those that tell versions apart. */
	uint64_t mask[AC_LT_OPERATION_WORDS] __attribute__((aligned(16)));
};

static inline uint64_t
ac_lt_version_id(const struct ac_lt_version *version)
{
	return atomic_load_explicit(&version->id, memory_order_acquire);
}

struct ac_lt_proof {
	const char *objection;       /* NULL: proven; or what is not so */
	unsigned at;                 /* which word of a head tells versions, */
	uint64_t bits;               /* and by which bits */
	unsigned count;
	struct ac_lt_version version[AC_LT_VERSIONS]; /* the newest first */
};

/* ---- The library --------------------------------------------------------- */

struct ac_lt_library {
	/* The getters; never NULL. */
	__typeof__(&cublasLtMatmulDescGetAttribute)   get;
	__typeof__(&cublasLtMatrixLayoutGetAttribute) get_layout;
	unsigned count;
	struct ac_lt_attribute attributes[AC_LT_ATTRIBUTES];
	bool is_larger;              /* it has an attribute that is too large
	                              * to be looked at */
	struct ac_lt_proof proof;
};

/* The library of `provider`, learnt at the first call; NULL: it exports too
 * little to be read, or failed just now. Any thread. Valid until it is
 * unloaded. */
const struct ac_lt_library *ac_lt_library_of(struct ac_provider *provider);

/* `provider` was unloaded. */
void ac_lt_library_forget(const struct ac_provider *provider);

#endif
