/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/print.h -- printf() of kernels. */
#ifndef AC_EMULATOR_PRINT_H
#define AC_EMULATOR_PRINT_H

#include <stdbool.h>
#include <stddef.h>

/* On a worker: keep a line, up to 1024 bytes of it, while the buffer has room
 * (1 MB, as a GPU's). `arguments`: as nvcc's code lays them out. */
void emu_print(const char *format, const void *arguments);
/* On the host, after it has waited for work. */
void emu_print_flush(void);
void emu_print_release(void);

#endif
