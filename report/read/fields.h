/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/fields.h -- the members of an object of JSON, which may be
 * missing or anything. The first one that is, is remembered: readers go on with
 * zeros and ask once, at the end. */
#ifndef AC_REPORT_FIELDS_H
#define AC_REPORT_FIELDS_H

#include "report/read/parse.h"

struct ac_fields {
	const struct ac_node *node;  /* the object; NULL has no members */
	const char *wrong;           /* NULL: none is */
};

const struct ac_node *ac_field(struct ac_fields *r, const char *name,
    enum ac_node_kind kind);

/* It must fit. */
void ac_field_text(struct ac_fields *r, const char *name, char *to,
    size_t size);
#define AC_FIELD_TEXT(r, name, field) \
	ac_field_text(r, name, field, sizeof (field))

/* Whole, and `most` at most. */
uint64_t ac_field_whole(struct ac_fields *r, const char *name, uint64_t most);
/* Not negative. What was no number is null, which is infinite: so must be
 * `most`. */
double ac_field_real(struct ac_fields *r, const char *name, double most);
bool ac_field_bool(struct ac_fields *r, const char *name);
/* Of a site, as "c3367bcc". */
uint32_t ac_field_id(struct ac_fields *r, const char *name);
/* Which of `names` it is. */
uint32_t ac_field_name(struct ac_fields *r, const char *name,
    const char *const *names, uint32_t count);

#endif
