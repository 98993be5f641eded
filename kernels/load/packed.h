/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load/packed.h -- a module's PTX as gzip packs it, a quarter of its
 * size: mostly nobody reads it, and each process maps it. Formats: RFC 1951 and
 * 1952. */
#ifndef AC_KERNELS_PACKED_H
#define AC_KERNELS_PACKED_H

#include <stdbool.h>
#include <stddef.h>

/* One file of gzip's, without a name. */
struct ac_packed {
	const unsigned char *begin, *end;
};

/* A text in memory of its own, with a NUL behind it. */
struct ac_unpacked {
	char  *text;             /* NULL: nothing is open */
	size_t bytes;            /* without the NUL */
};

/* False: there is no memory, or it is none of gzip's. */
bool ac_packed_open(const struct ac_packed *packed,
    struct ac_unpacked *unpacked_out);
void ac_packed_close(struct ac_unpacked *unpacked);

#endif
