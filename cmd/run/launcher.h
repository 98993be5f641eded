/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/launcher.h -- what is said before a program starts: of a launcher, as
 * mpirun is, which may start ranks without the library; of what the emulated
 * GPU lacks. And the launcher's words, in each rank. */
#ifndef AC_CMD_LAUNCHER_H
#define AC_CMD_LAUNCHER_H

#include "cmd/run/launch.h"

/* Say in one line on stderr that ranks would start without the library, and
 * what to type, if `program` is a launcher and its words say so. */
void ac_launcher_warn(const struct ac_launch *launch,
    const struct ac_program *program, char **arguments);

/* Whether `path` starts other programs on several processors: mpirun, srun,
 * MPICH's mpiexec.hydra. */
bool ac_launcher_is(const char *path);

/* Where this process is a rank: the words by which a launcher on this host
 * started it, with `arguments` in the place of our own command. NULL: it is
 * none, or its launcher is not to be seen from here. Static memory. */
char **ac_launcher_words(char **arguments);

/* One line on stderr for each thing that `program`, and the libraries that it
 * needs, as the loader finds them, cannot have there: names that nothing
 * defines, NVIDIA's libraries that are not emulated, static CUDA runtimes,
 * kernels without PTX. None when all is well. `emulator`: the folder of the
 * emulated libraries. The program is not run. */
void ac_preflight(const struct ac_program *program, const char *emulator);

#endif
