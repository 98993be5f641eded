/* SPDX-License-Identifier: Apache-2.0 */
/* report/scaled.h -- what the scalers of gradients of a process did: as its
 * statistics hold it, and as plain numbers. */
#ifndef AC_REPORT_SCALED_H
#define AC_REPORT_SCALED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* As far as the host knows. */
struct ac_scaled_record {
	_Atomic uint64_t scalers;    /* 0: there were none */
	_Atomic uint64_t steps, skips; /* as steps were told */
	_Atomic uint64_t updates, overflows, rises, falls;
	_Atomic double   scale;      /* 0: not known */
	_Atomic uint32_t is_behind;  /* updates came since that was known */
};

/* What scalers of gradients did so far. Takes no lock. */
struct ac_scaled_total {
	uint64_t scalers, steps, skips;
	uint64_t updates, overflows, rises, falls;
	double   scale;
	bool     is_behind;
};
void ac_report_scaled(const struct ac_scaled_total *scaled);

#endif
