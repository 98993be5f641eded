/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/explain/operation_conv.c -- a convolution in the words of a command line,
 * and of a report: images=32 cin=256 image=28x28 cout=256 filter=3x3 pad=1, or
 * "n32 c256 28x28 k256 3x3 s1 p1 d1 g1 nchw". Called by explain. */
#include "cmd/command.h"

#include <string.h>

/* One whole number, or one per dimension: 28x28. Returns how many, 0 if it is
 * none; stops at `end`. */
static unsigned
read_extents(const char *s, const char *end, double extent_out[3])
{
	unsigned count = 0;

	for (;; s++) {
		const size_t digits = strspn(s, "0123456789");

		if (!digits || ac_text_number(s, digits, &extent_out[count]) !=
		    digits || extent_out[count] > 4e9)
			return 0;
		count++;
		s += digits;
		if (s == end)
			return count;
		if (*s != 'x' || count == 3)
			return 0;
	}
}

/* Put in what holds for all dimensions when one number was said. */
static bool
read_all(const char *s, const char *end, unsigned spatial, double to[3])
{
	const unsigned count = read_extents(s, end, to);

	for (unsigned i = count; count == 1 && i < spatial; i++)
		to[i] = to[0];
	return count == 1 || count == spatial;
}

/* The words, and what may stand behind each: up to `count` numbers. */
static const struct word {
	const char *key;
	size_t      at;
	unsigned    count;
	double      least, most;
	const char *example;
} rows[] = {
#define ROW(name, count, least, most, example) { #name, \
	offsetof(struct ac_conv_words, name), count, least, most, example }
	ROW(images, 1, 1, 4e9, "32"),
	ROW(cin, 1, 1, 4e9, "256"),
	ROW(cout, 1, 1, 4e9, "256"),
	ROW(groups, 1, 1, 4e9, "2"),
	ROW(image, 3, 1, 4e9, "28x28"),
	ROW(filter, 3, 1, 65535, "3x3"),
	ROW(stride, 3, 1, 65535, "2"),
	ROW(pad, 3, 0, 4e9, "1"),
	ROW(dilation, 3, 1, 65535, "2")
#undef ROW
};

bool
ac_conv_words_add(struct ac_conv_words *words, const char *key,
    size_t length, const char *value)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strlen(rows[i].key) == length &&
		    !strncmp(rows[i].key, key, length)) {
			memcpy((char *)words + rows[i].at, &value,
			    sizeof value);
			return true;
		}
	return false;
}

static bool
is_good(const struct word *row, const char *value)
{
	double number[3];
	const unsigned count = read_extents(value, value + strlen(value),
	    number);

	for (unsigned i = 0; i < count; i++)
		if (number[i] < row->least || number[i] > row->most)
			return false;
	return count && count <= row->count;
}

static bool
check(const struct ac_conv_words *words, struct ac_text *why)
{
	double cin, cout, groups;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *value;

		memcpy(&value, (const char *)words + rows[i].at, sizeof value);
		if (is_good(&rows[i], value))
			continue;
		ac_text_addf(why, "'%s=%s' is not a whole number from %.0f to "
		    "%.0f; for example %s=%s", rows[i].key, value,
		    rows[i].least, rows[i].most, rows[i].key, rows[i].example);
		return false;
	}
	ac_text_number(words->cin, strlen(words->cin), &cin);
	ac_text_number(words->cout, strlen(words->cout), &cout);
	ac_text_number(words->groups, strlen(words->groups), &groups);
	if (!((uint64_t)cin % (uint64_t)groups) &&
	    !((uint64_t)cout % (uint64_t)groups))
		return true;
	ac_text_addf(why, "groups=%s does not divide both cin=%s and cout=%s",
	    words->groups, words->cin, words->cout);
	return false;
}

/* Of each word: where it ends. */
static const char *
end_of(const char *s)
{
	return s + strcspn(s, " ");
}

static bool
read_count(const char *s, int64_t *to)
{
	double number[3];

	if (read_extents(s, end_of(s), number) != 1 || number[0] < 1)
		return false;
	*to = (int64_t)number[0];
	return true;
}

static bool
read_space(const struct ac_conv_words *w, struct ac_conv_sizes *s)
{
	double image[3], filter[3], stride[3], pad[3], dilation[3];

	s->spatial = read_extents(w->image, end_of(w->image), image);
	if (!s->spatial ||
	    !read_all(w->filter, end_of(w->filter), s->spatial, filter) ||
	    !read_all(w->stride, end_of(w->stride), s->spatial, stride) ||
	    !read_all(w->pad, end_of(w->pad), s->spatial, pad) ||
	    !read_all(w->dilation, end_of(w->dilation), s->spatial, dilation))
		return false;
	for (unsigned i = 0; i < s->spatial; i++) {
		const double room = image[i] + 2 * pad[i] -
		    (dilation[i] * (filter[i] - 1) + 1);

		if (filter[i] < 1 || stride[i] < 1 || dilation[i] < 1 ||
		    filter[i] > 65535 || stride[i] > 65535 ||
		    dilation[i] > 65535 || room < 0)
			return false;
		s->image[i] = (int64_t)image[i];
		s->out[i] = (int64_t)(room / stride[i]) + 1;
		s->filter[i] = (uint16_t)filter[i];
		s->stride[i] = (uint16_t)stride[i];
		s->dilation[i] = (uint16_t)dilation[i];
	}
	return true;
}

static bool
set(const struct ac_conv_words *w, struct ac_op *op)
{
	struct ac_conv_sizes sizes = { 0 };

	if (!read_count(w->images, &sizes.n) || !read_count(w->cin, &sizes.cin)
	    || !read_count(w->cout, &sizes.cout) ||
	    !read_count(w->groups, &sizes.groups) ||
	    sizes.cin % sizes.groups || sizes.cout % sizes.groups ||
	    !read_space(w, &sizes))
		return false;
	ac_op_set_conv(op, &sizes);
	return true;
}

bool
ac_conv_words_set_shape(const char *shape, struct ac_op *op)
{
	struct ac_conv_words w = { 0 };
	const char *layout = NULL;

	for (const char *s = shape; *s; s = end_of(s), s += *s == ' ') {
		const bool digit = s[1] >= '0' && s[1] <= '9';
		const char **to = *s >= '0' && *s <= '9'
		    ? w.image ? &w.filter : &w.image
		    : !digit ? &layout
		    : *s == 'n' ? &w.images : *s == 'c' ? &w.cin
		    : *s == 'k' ? &w.cout : *s == 's' ? &w.stride
		    : *s == 'p' ? &w.pad : *s == 'd' ? &w.dilation
		    : *s == 'g' ? &w.groups : NULL;

		if (!to || *to)
			return false;
		*to = to == &layout || to == &w.image || to == &w.filter
		    ? s : s + 1;
	}
	if (!w.images || !w.cin || !w.cout || !w.groups || !w.image ||
	    !w.filter || !w.stride || !w.pad || !w.dilation ||
	    !set(&w, op))
		return false;
	if (layout && !layout[strcspn(layout, " ")])
		op->fact[AC_FACT_LAYOUT] = layout;
	return true;
}

/* ---- As it was typed ---------------------------------------------------- */

/* What is usual of a convolution that is described. */
static int
assume(struct ac_op *op, struct ac_conv_words *w, struct ac_text *note)
{
	const struct { const char **word, *key, *value; } usual[] = {
		{ &w->image, "image", NULL }, { &w->cin, "cin", NULL },
		{ &w->cout, "cout", NULL }, { &w->filter, "filter", NULL },
		{ &w->images, "images", "1" }, { &w->groups, "groups", "1" },
		{ &w->stride, "stride", "1" }, { &w->pad, "pad", "0" },
		{ &w->dilation, "dilation", "1" },
		{ &op->fact[AC_FACT_LAYOUT], "layout", "nchw" }
	};
	int length;

	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
		if (*usual[i].word)
			continue;
		if (!usual[i].value)
			return ac_say(AC_EXIT_USAGE, "explain: %s is missing; "
			    "for example images=32 cin=256 image=28x28 "
			    "cout=256 filter=3x3 pad=1", usual[i].key);
		*usual[i].word = usual[i].value;
		ac_text_addf(note, "%s %s=%s", note->used ? "," : "assuming",
		    usual[i].key, usual[i].value);
	}
	length = (int)(end_of(w->image) - w->image);
	if (!memchr(w->image, 'x', (size_t)length))
		ac_text_addf(note, "%s one dimension (two are image=%.*sx%.*s)",
		    note->used ? "," : "assuming", length, w->image, length,
		    w->image);
	return 0;
}

int
ac_conv_words_complete(struct ac_conv_words *w, struct ac_op *op,
    struct ac_text *note)
{
	static const enum ac_quantity follows[] = { AC_Q_M, AC_Q_N, AC_Q_K,
		AC_Q_BATCH, AC_Q_SPATIAL, AC_Q_FLOPS, AC_Q_BYTES,
		AC_Q_INTENSITY };
	struct ac_text why = AC_TEXT_OF(256);

	if (!w->image && !w->images && !w->pad)
		return 0;
	for (size_t i = 0; i < sizeof follows / sizeof *follows; i++)
		if (ac_op_has(op, follows[i]))
			return ac_say(AC_EXIT_USAGE, "explain: %s follows from "
			    "what the convolution is; leave out %s=, or image= "
			    "and the like", ac_quantity_names[follows[i]],
			    ac_quantity_names[follows[i]]);
	if (assume(op, w, note))
		return AC_EXIT_USAGE;
	if (!check(w, &why))
		return ac_say(AC_EXIT_USAGE, "explain: %s", why.data);
	if (set(w, op))
		return 0;
	return ac_say(AC_EXIT_USAGE, "explain: these sizes are no "
	    "convolution; for example images=32 cin=256 image=28x28 cout=256 "
	    "filter=3x3 pad=1");
}
