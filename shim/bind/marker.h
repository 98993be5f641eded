/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/marker.h -- calls that are only counted, by the name of what is
 * called. */
#ifndef AC_SHIM_MARKER_H
#define AC_SHIM_MARKER_H

#include "shim/bind/catalogue.h"

/* Count a call of `entry`, a wrapped one. Any thread. */
void ac_marker_count(enum ac_entry entry);

#endif
