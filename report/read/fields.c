/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/fields.c -- members of an object, checked one by one. Pure. */
#include "report/read/fields.h"

#include <math.h>
#include <string.h>

const struct ac_node *
ac_field(struct ac_fields *r, const char *name, enum ac_node_kind kind)
{
	const struct ac_node *node = ac_node_member(r->node, name, kind);

	if (!node && !r->wrong)
		r->wrong = name;
	return node;
}

void
ac_field_text(struct ac_fields *r, const char *name, char *to, size_t size)
{
	const struct ac_node *node = ac_field(r, name, AC_NODE_STRING);
	struct ac_text t;

	if (!node)
		return;
	ac_text_init(&t, to, size);
	ac_text_add(&t, node->text);
	if (t.truncated && !r->wrong)
		r->wrong = name;
}

uint64_t
ac_field_whole(struct ac_fields *r, const char *name, uint64_t most)
{
	const struct ac_node *node = ac_field(r, name, AC_NODE_NUMBER);
	uint64_t value = 0;
	const char *s = node ? node->text : "0";

	for (; *s >= '0' && *s <= '9'; s++) {
		const unsigned digit = (unsigned)(*s - '0');

		if (value > (most - digit) / 10) {
			r->wrong = r->wrong ? r->wrong : name;
			return 0;
		}
		value = value * 10 + digit;
	}
	if (node && (*node->text == '-' || *s == '.' || *s == 'e'
	    || *s == 'E') && !r->wrong)
		r->wrong = name;
	return value;
}

double
ac_field_real(struct ac_fields *r, const char *name, double most)
{
	const struct ac_node *node = ac_node_member(r->node, name,
	    AC_NODE_NULL);
	double value = -1;

	if (node && isinf(most))
		return most;
	node = ac_field(r, name, AC_NODE_NUMBER);
	if (node && !ac_text_number(node->text, strspn(node->text,
	    "0123456789.eE+-"), &value))
		value = -1;
	if (node && value >= 0 && value <= most)
		return value;
	r->wrong = r->wrong ? r->wrong : name;
	return 0;
}

bool
ac_field_bool(struct ac_fields *r, const char *name)
{
	if (ac_node_member(r->node, name, AC_NODE_TRUE))
		return true;
	(void)ac_field(r, name, AC_NODE_FALSE);
	return false;
}

uint32_t
ac_field_id(struct ac_fields *r, const char *name)
{
	char id[9] = "";
	uint64_t value;

	AC_FIELD_TEXT(r, name, id);
	(void)ac_text_digits(id, &value);
	return (uint32_t)value;
}

uint32_t
ac_field_name(struct ac_fields *r, const char *name, const char *const *names,
    uint32_t count)
{
	const struct ac_node *node = ac_field(r, name, AC_NODE_STRING);

	for (uint32_t i = 0; node && i < count; i++)
		if (!strcmp(names[i], node->text))
			return i;
	r->wrong = r->wrong ? r->wrong : name;
	return 0;
}
