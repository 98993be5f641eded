/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load/image.h -- a module as machine code, which the driver need not
 * compile: in a file next to this library, where it was built with ptxas. */
#ifndef AC_KERNELS_IMAGE_H
#define AC_KERNELS_IMAGE_H

#include "kernels/load/packed.h"

struct ac_image {
	void  *data;             /* NULL: nothing is open */
	size_t bytes;
};

/* The file libautocast-NAME.fatbin, if it is there and was made of the same
 * PTX: it ends as that does, packed. One of another version is none. */
bool ac_image_open(const char *name, const struct ac_packed *packed,
    struct ac_image *image_out);
void ac_image_close(struct ac_image *image);

#endif
