/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/image/image.h -- what programs hand over as the code of their
 * kernels: PTX text, a fat binary, a wrapper of one, or machine code. The
 * layout of fat binaries was read off files that nvcc 13 made; NVIDIA does not
 * describe it. */
#ifndef AC_EMULATOR_IMAGE_H
#define AC_EMULATOR_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EMU_IMAGE_SAYS = 384 };

/* With the numbers of the driver's statuses. */
enum emu_image_status { EMU_IMAGE_OK = 0, EMU_IMAGE_NO_MEMORY = 2,
	EMU_IMAGE_BAD = 200, EMU_IMAGE_NONE = 209,
	EMU_IMAGE_VERSION = 222 };

/* Why an image has no text for this device; empty: it has one. It reads well
 * after "kernel NAME: ". */
struct emu_refusal {
	char text[EMU_IMAGE_SAYS];
};

/* The PTX that a device of this compute capability (90 is 9.0) runs: of several
 * the one for the highest capability that it has. `bytes`: how many there are
 * at `image`, SIZE_MAX where nobody knows. OK and a text that ends in a zero
 * byte, to be freed; else *text_out is left alone: BAD for one that is damaged
 * or unknown, NONE for one without PTX that this device runs, VERSION for
 * a plain text of a newer PTX than the driver reads. */
enum emu_image_status emu_image_text(const void *image, size_t bytes,
    unsigned capability, char **text_out, struct emu_refusal *refusal_out);

/* Unpack exactly `room` bytes. LZ4's block format; zstd's frames, by
 * libzstd.so.1: `missing_out` says that it is not there. */
bool emu_unpack_lz4(const unsigned char *from, size_t bytes,
    unsigned char *to, size_t room);
bool emu_unpack_zstd(const unsigned char *from, size_t bytes,
    unsigned char *to, size_t room, bool *missing_out);

#endif
