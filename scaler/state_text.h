/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/state_text.h -- a scaler's state as text, and back. */
#ifndef AC_SCALER_STATE_TEXT_H
#define AC_SCALER_STATE_TEXT_H

#include "scaler/core.h"

/* As autocast_scaler_save() has it. */
autocast_status ac_state_print(const struct ac_core_saved *saved, char *text,
    size_t *size);

/* Every field once and in order, none unknown, none NaN or negative; strict: a
 * scale, factors and an interval that autocast_scaler_create() would take.
 * E_STATE_EMPTY; E_STATE_FORMAT names the field. */
__attribute__((cold))
autocast_status ac_state_parse(const char *text, size_t size, bool strict,
    struct ac_core_saved *saved_out);

#endif
