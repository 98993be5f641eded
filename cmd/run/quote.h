/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/quote.h -- words as a shell reads them. */
#ifndef AC_CMD_QUOTE_H
#define AC_CMD_QUOTE_H

#include "base/text.h"

/* `word` so that a shell reads it as one. */
void ac_quote(struct ac_text *text, const char *word);

#endif
