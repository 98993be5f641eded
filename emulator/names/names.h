/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/names/names.h -- all names of the driver, built or not, with their
 * functions: cuGetProcAddress() finds what dlsym() finds. stubs.awk writes the
 * table. */
#ifndef AC_EMULATOR_NAMES_H
#define AC_EMULATOR_NAMES_H

/* The last row has no name. */
extern const struct emu_name {
	const char *name;
	void      (*function)(void);
} emu_driver_names[];

#endif
