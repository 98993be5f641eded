/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load/image.c -- finds a module's machine code. Knows nothing of what
 * is in it: kernels/make-image.sh makes it, the driver reads it. */
#include "kernels/load/image.h"

#include "base/elf.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	LARGEST = 1 << 24,
	TAIL = 8                 /* gzip's: check sum and length of the text */
};

/* Next to the file that this code is part of. */
static bool
find(const char *name, struct ac_text *path)
{
	struct ac_elf_object own;
	const char *slash;

	if (!ac_elf_object_at((const void *)(uintptr_t)ac_image_open, &own))
		return false;
	if (!*own.path)
		own.path = ac_elf_program();
	slash = strrchr(own.path, '/');
	if (!slash)
		return false;
	ac_text_add_bytes(path, own.path, (size_t)(slash - own.path));
	ac_text_addf(path, "/libautocast-%s.fatbin", name);
	return !path->truncated;
}

static void
map(int file, const struct ac_packed *packed, struct ac_image *image)
{
	const off_t size = lseek(file, 0, SEEK_END);
	char *data;

	if (size > LARGEST || size <= TAIL)
		return;
	image->bytes = (size_t)size;
	data = mmap(NULL, image->bytes, PROT_READ, MAP_PRIVATE, file, 0);
	if (data == MAP_FAILED)
		return;
	image->data = data;
	if (memcmp(data + image->bytes - TAIL, packed->end - TAIL, TAIL))
		ac_image_close(image);
}

bool
ac_image_open(const char *name, const struct ac_packed *packed,
    struct ac_image *image_out)
{
	const int before = errno;
	struct ac_image image = { NULL, 0 };
	struct ac_text path = AC_TEXT_OF(PATH_MAX);
	int file = -1;

	if (find(name, &path))
		file = open(path.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file >= 0) {
		map(file, packed, &image);
		close(file);
	}
	errno = before;
	if (image.data)
		*image_out = image;
	return image.data != NULL;
}

void
ac_image_close(struct ac_image *image)
{
	if (image->data)
		munmap(image->data, image->bytes);
	image->data = NULL;
}
