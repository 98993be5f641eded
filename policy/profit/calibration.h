/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profit/calibration.h -- the measured rates of one GPU,
 * kept in a small text file per GPU, driver and library:
 *
 *   version = 1
 *   gpu = NVIDIA H200
 *   sm = 90
 *   driver = 13000
 *   library = cublas-13.1
 *   date = 2026-11-21
 *   fp16 = 7.9e14 of 15 spread 0.012
 *
 * one line per rate that was measured: its value (profit.h's units), of how
 * many samples, and their relative spread. '#' begins a comment.
 *
 * Reads files: once per device in the preloaded library, never on the hot
 * path. Nothing here prints; any thread may call it. */
#ifndef AC_POLICY_CALIBRATION_H
#define AC_POLICY_CALIBRATION_H

#include "policy/profit/profit.h"

#include <stddef.h>

struct ac_text;

struct ac_measured_rate {
	double   value;
	unsigned samples;           /* 0: it was not measured */
	double   spread;            /* relative: 0.01 is a hundredth */
};

struct ac_calibration {
	char gpu[96];               /* "NVIDIA H200" */
	char library[48];           /* "cublas-13.1" */
	char date[16];              /* "2026-11-21" */
	int  sm;                    /* 90 */
	int  driver;                /* cuDriverGetVersion(): 13000 */
	struct ac_measured_rate rate[AC_RATE_COUNT];
};

/* "rates" in the directory of statistics; false when there is none. */
bool ac_calibration_directory(struct ac_text *path);

/* The file for such a machine: "rates/NAME" in the directory of statistics
 * (AUTOCAST_STATE, $XDG_STATE_HOME/autocast, ~/.local/state/autocast). False
 * when there is no such directory, or the name does not fit. */
bool ac_calibration_path(const struct ac_calibration *machine,
    struct ac_text *path);

/* Read `count` bytes of text. False: one line in `why`, which never repeats
 * what the text holds. It refuses what is not in this format, and every rate
 * that is not finite, not positive, or more than 20 times off the built-in one:
 * such a rate is of something else. */
__attribute__((cold))
bool ac_calibration_read(const char *text, size_t count,
    struct ac_calibration *calibration_out, struct ac_text *why);

/* The text of a file, which ac_calibration_read() takes back. */
void ac_calibration_write(const struct ac_calibration *calibration,
    struct ac_text *text);

/* The rates of the built-in row, those that were measured in their place. */
void ac_calibration_apply(const struct ac_calibration *calibration,
    struct ac_rates *rates_out);

/* Look for a file about this GPU, driver and library ("cublas-13.1") and fill
 * in *rates_out, whose strings are static. False: there is none, `why` is
 * left as it is; or there is one and it is not good, `why` says so in a line
 * to be said once. */
bool ac_calibration_load(const char *gpu, int sm, int driver,
    const char *library, struct ac_rates *rates_out, struct ac_text *why);

/* ---- calibration_save.c: for the autocast program ----------------------- */

/* Check and write the file, whole or not at all; its path goes to `path`.
 * False: one line in `why`. */
bool ac_calibration_save(const struct ac_calibration *calibration,
    struct ac_text *path, struct ac_text *why);

/* For tools on machines without a GPU: the youngest good file about `gpu`
 * (NULL: none) and `library` (NULL: any), whatever the driver. `why`: a line
 * about the first file with that GPU's name that is not good. */
bool ac_calibration_find(const char *gpu, const char *library,
    struct ac_rates *rates_out, struct ac_text *why);

#endif
