/* SPDX-License-Identifier: Apache-2.0 */
/* api/status.h -- how a public function fails: with a status, and a text that
 * the thread can ask for. */
#ifndef AC_API_STATUS_H
#define AC_API_STATUS_H

#include "include/autocast.h"

/* Keep the text for autocast_last_error() (cut at 255 bytes), return `status`.
 * Nothing is printed: the program has the status. */
__attribute__((format(printf, 2, 3), cold))
autocast_status ac_status_fail(autocast_status status, const char *format, ...);

#endif
