/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/stored.h -- a plan that was loaded from JSON: its convolution,
 * read from the text that cuDNN has of it. Such a plan was never described to
 * us, and cuDNN gives the operations of its graph back in no other way. */
#ifndef AC_SHIM_STORED_H
#define AC_SHIM_STORED_H

#include "shim/conv/conv.h"

/* Read `text`, the JSON of schema 4 byte for byte as cuDNN 9 writes it: any
 * other field, order, space or number is not understood. False: not even the
 * convolution was. Where what follows it was not, the convolution has more than
 * we know (has_more). Unique ids are as in the text. Zero-fills *conv_out
 * first. Pure. */
bool ac_stored_read(const char *text, struct ac_conv *conv_out);

#endif
