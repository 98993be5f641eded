/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_machine.h -- what `autocast doctor` says of this machine
 * where no program is named. */
#ifndef AC_CMD_DOCTOR_MACHINE_H
#define AC_CMD_DOCTOR_MACHINE_H

#include "cmd/doctor/doctor.h"
#include "cmd/run/launch.h"

/* Look at the library, the policy, the directory for statistics, the GPU with
 * its driver, cuBLAS and cuDNN, and print what was found. An exit status:
 * AC_DOCTOR_UNREACHED if something is missing without which nothing is
 * recast. */
int ac_doctor_check_machine(struct ac_launch *launch, const char *autocast,
    bool json);

#endif
