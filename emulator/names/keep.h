/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/names/keep.h -- what a library does with the status of a stub. */
#ifndef AC_EMULATOR_KEEP_H
#define AC_EMULATOR_KEEP_H

/* Remember `status` as the thread's last error. In the libraries that have such
 * a thing: libcudart, and libcublas for its API without handles. */
void emu_stub_keep(int status);

#endif
