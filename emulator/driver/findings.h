/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/findings.h -- what the interpreter finds wrong in kernels,
 * and what becomes of it. */
#ifndef AC_EMULATOR_FINDINGS_H
#define AC_EMULATOR_FINDINGS_H

#include "emulator/ptx/ptx.h"

/* Whether kernels run with all checks: AUTOCAST_EMU_CHECK, or
 * AUTOCAST_EMU_KERNELS=ptx. */
bool emu_findings_wanted(void);
/* On a worker: a launch has ended, with these lines, one a finding. What ends
 * the context on a GPU ends it. */
void emu_findings_say(char *said, const struct ptx_result *result);
/* At the end: how many there were. */
void emu_findings_end(void);

#endif
