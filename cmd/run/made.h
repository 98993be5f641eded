/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/made.h -- where a policy was made, as `autocast tune` and `autocast
 * policy freeze` write into its first line: what was measured there need not
 * hold elsewhere. */
#ifndef AC_CMD_MADE_H
#define AC_CMD_MADE_H

#include <stdbool.h>
#include <stddef.h>

struct ac_made {
	char gpu[96], library[48];   /* "NVIDIA H200", "cublas-13.1" */
};

/* What the policy `policy` (a file, or NULL: the environment's) says of that;
 * false where it says nothing. */
bool ac_made_on(const char *policy, struct ac_made *made_out);

/* Whether that is another GPU, or another major version of the library, than
 * these. */
bool ac_made_elsewhere(const struct ac_made *made, const char *gpu,
    const char *library);

#endif
