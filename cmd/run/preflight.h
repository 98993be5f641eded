/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/preflight.h -- what a program needs and the emulated GPU lacks. */
#ifndef AC_CMD_PREFLIGHT_H
#define AC_CMD_PREFLIGHT_H

#include "cmd/run/child.h"

/* One line on stderr for each thing that `program`, and the libraries that it
 * needs, as the loader finds them, cannot have there: names that nothing
 * defines, NVIDIA's libraries that are not emulated, static CUDA runtimes. None
 * when all is well. `emulator`: the folder of the emulated libraries. The
 * program is not run. */
void ac_preflight(const struct ac_program *program, const char *emulator);

#endif
