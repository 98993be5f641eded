/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/stamp.h -- the stamps of `policy validate`: without one, seed
 * and update lines do nothing. A stamp is a file in the user's state directory,
 * named after the content of a program's file and of a policy's seed and update
 * lines: a program that is rebuilt, and lines that are changed, need another.
 * It begins with a line "module HASH PATH" for each library that seeds or
 * updates were called from, of which the same holds. Those of `autocast
 * compare` (cmd/run/compared.h) have a folder of their own. */
#ifndef AC_REPORT_STAMP_H
#define AC_REPORT_STAMP_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	AC_STAMP_LINES = 1 << 15,    /* bytes of such lines at most */
	AC_STAMP_MODULES = 1 << 13   /* bytes of the modules' at most */
};

struct ac_stamp {
	uint64_t    lines, program;
	const char *folder;          /* NULL: validate's */
};

/* FNV-1a, 64 bit, over `count` bytes. Start with AC_STAMP_START. */
#define AC_STAMP_START UINT64_C(0xcbf29ce484222325)
uint64_t ac_stamp_hash(uint64_t hash, const void *bytes, size_t count);

/* What a stamp says of a policy's lines, and of the program file at `path`,
 * which is read; false with errno if it cannot be. One thread at a time. */
uint64_t ac_stamp_of_lines(const char *lines);
bool ac_stamp_of_program(const char *path, uint64_t *hash_out);

/* Whether there is that stamp, and its modules' files are as they were, which
 * are read; whether there is one of these lines for any program. The place of
 * stamps is AUTOCAST_STATE's or the user's. One thread at a time. */
bool ac_stamp_is_there(const struct ac_stamp *stamp);
bool ac_stamp_is_any(uint64_t lines);

/* Where stamps of its kind are, appended to `path`, with *fixed_out of
 * ac_file_directory(); false if nowhere. And the stamp's name there. */
bool ac_stamp_directory(const struct ac_stamp *stamp, struct ac_text *path,
    size_t *fixed_out);
void ac_stamp_add_name(const struct ac_stamp *stamp, struct ac_text *path);

/* Remove it; false if there is none. One thread at a time. */
bool ac_stamp_remove(const struct ac_stamp *stamp);

/* Leave it, with the modules' lines, and `lines` for a person to read. False
 * with errno. */
bool ac_stamp_leave(const struct ac_stamp *stamp, const char *modules,
    const char *lines);

#endif
