/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/compared.h -- the stamps of `autocast compare`: which program's
 * output was compared with that of plain runs, under which policy, on which
 * GPU. A stamp is of the content of the program's file, of what interprets it,
 * and of the script that it runs, but not of mpirun or nice before them; of the
 * policy as it is printed; of the GPU's name and of our version. What it does
 * not know: data, other arguments, libraries. */
#ifndef AC_CMD_COMPARED_H
#define AC_CMD_COMPARED_H

#include "cmd/run/launch.h"
#include "report/count/stamp.h"

struct ac_compared {
	struct ac_stamp stamp;
	char            path[PATH_MAX];  /* of the program, or of its script */
};

/* What a stamp of this program with these `arguments` (the first is its name),
 * of the policy that `chosen` selects, on `gpu`, would be. False: the program
 * or the policy cannot be read. */
bool ac_compared_of(const struct ac_chosen *chosen,
    const struct ac_program *program, char **arguments, const char *gpu,
    struct ac_compared *compared_out);

/* Leave it, with what came of it, in the place of those of other builds. False
 * with errno. */
bool ac_compared_leave(const struct ac_compared *compared, bool differs);

enum ac_compared_state {
	AC_COMPARED_NEVER,
	AC_COMPARED_SAME, AC_COMPARED_DIFFERS, /* as it is now */
	AC_COMPARED_BEFORE,          /* before the program was changed */
	AC_COMPARED_ELSEWHERE        /* under another policy, on another GPU */
};
enum ac_compared_state ac_compared_look(const struct ac_compared *compared);

#endif
