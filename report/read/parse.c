/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/parse.c -- a strict reader of JSON: nothing is guessed; depth,
 * bytes and nodes are bounded. Pure but for memory. */
#include "report/read/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	char           *at, *end;    /* *end is a NUL */
	struct ac_node *nodes;
	size_t          count, room;
	bool            is_short;    /* of memory */
	bool            is_large;
};

static void
skip_space(struct reading *p)
{
	while (*p->at == ' ' || *p->at == '\n' || *p->at == '\t'
	    || *p->at == '\r')
		p->at++;
}

static bool
take(struct reading *p, char wanted)
{
	if (*p->at != wanted || p->at == p->end)
		return false;
	p->at++;
	return true;
}

/* ---- Strings ----------------------------------------------------------- */

/* Four hexadecimal digits; negative if they are none. */
static int
read_hex(const char *s)
{
	int code = 0;

	for (int i = 0; i < 4; i++) {
		const char c = s[i];

		if (c >= '0' && c <= '9')
			code = code * 16 + c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			code = code * 16 + (c | 32) - 'a' + 10;
		else
			return -1;
	}
	return code;
}

/* As UTF-8. U+FFFD is written for a byte that was none, and half a character is
 * none either: a byte that never is. */
static char *
put_code(char *to, int code)
{
	if ((code >= 0xd800 && code < 0xe000) || code == 0xfffd)
		code = -1;
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
	} else {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 63));
	}
	*to++ = (char)(0x80 | (code & 63));
	return to;
}

/* Behind a backslash; a NUL would end the string. */
static bool
read_escape(struct reading *p, char **to)
{
	static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *letter = *p->at ? strchr(letters, *p->at) : NULL;
	int code;

	if (letter) {
		*(*to)++ = means[letter - letters];
		p->at++;
		return true;
	}
	if (*p->at != 'u')
		return false;
	code = read_hex(p->at + 1);
	if (code <= 0)
		return false;
	p->at += 5;
	*to = put_code(*to, code);
	return true;
}

/* Decoded where it stands, as it never grows. NULL: it is none. */
static const char *
read_string(struct reading *p)
{
	char *to, *begin;

	if (!take(p, '"'))
		return NULL;
	begin = to = p->at;
	while (*p->at != '"') {
		if ((unsigned char)*p->at < ' ')
			return NULL;
		if (*p->at != '\\') {
			*to++ = *p->at++;
			continue;
		}
		p->at++;
		if (!read_escape(p, &to))
			return NULL;
	}
	p->at++;
	*to = '\0';
	return begin;
}

/* ---- Values ------------------------------------------------------------ */

static bool
skip_digits(struct reading *p)
{
	const char *begin = p->at;

	while (*p->at >= '0' && *p->at <= '9')
		p->at++;
	return p->at > begin;
}

static bool
skip_number(struct reading *p)
{
	(void)take(p, '-');
	if (*p->at == '0')
		p->at++;
	else if (!skip_digits(p))
		return false;
	if (take(p, '.') && !skip_digits(p))
		return false;
	if (*p->at != 'e' && *p->at != 'E')
		return true;
	p->at++;
	if (!take(p, '+'))
		(void)take(p, '-');
	return skip_digits(p);
}

/* The place of a new node, or SIZE_MAX. */
static size_t
add_node(struct reading *p, const char *name, enum ac_node_kind kind,
    const char *text)
{
	p->is_large = p->count == AC_PARSE_NODES;
	if (p->is_large)
		return SIZE_MAX;
	if (p->count == p->room) {
		const size_t room = p->room ? 2 * p->room : 1024;
		struct ac_node *more = realloc(p->nodes, room * sizeof *more);

		if (!more) {
			p->is_short = true;
			return SIZE_MAX;
		}
		p->nodes = more;
		p->room = room;
	}
	p->nodes[p->count] = (struct ac_node){ name, text, 1, kind };
	return p->count++;
}

static bool
read_word(struct reading *p, const char *name)
{
	static const char *const words[] = { "null", "false", "true" };

	for (unsigned i = 0; i < 3; i++) {
		const size_t length = strlen(words[i]);

		if (strncmp(p->at, words[i], length))
			continue;
		p->at += length;
		return add_node(p, name, (enum ac_node_kind)i, NULL)
		    != SIZE_MAX;
	}
	return false;
}

static bool read_value(struct reading *p, const char *name, unsigned depth);

static bool
read_all(struct reading *p, const char *name, unsigned depth, bool is_object)
{
	const char close = is_object ? '}' : ']';
	const size_t place = add_node(p, name, is_object ? AC_NODE_OBJECT
	    : AC_NODE_ARRAY, NULL);

	p->at++;
	if (place == SIZE_MAX || depth == AC_PARSE_DEPTH)
		return false;
	skip_space(p);
	if (take(p, close))
		return true;
	do {
		const char *member = NULL;

		skip_space(p);
		if (is_object) {
			member = read_string(p);
			skip_space(p);
			if (!member || !take(p, ':'))
				return false;
		}
		if (!read_value(p, member, depth + 1))
			return false;
		skip_space(p);
	} while (take(p, ','));
	p->nodes[place].span = (uint32_t)(p->count - place);
	return take(p, close);
}

static bool
read_value(struct reading *p, const char *name, unsigned depth)
{
	const char *text;

	skip_space(p);
	if (*p->at == '{' || *p->at == '[')
		return read_all(p, name, depth, *p->at == '{');
	if (*p->at == '"') {
		text = read_string(p);
		return text && add_node(p, name, AC_NODE_STRING, text)
		    != SIZE_MAX;
	}
	if (*p->at != '-' && (*p->at < '0' || *p->at > '9'))
		return read_word(p, name);
	text = p->at;
	return skip_number(p) && add_node(p, name, AC_NODE_NUMBER, text)
	    != SIZE_MAX;
}

/* Strings end in a NUL by now: line ends are counted all the same. */
static unsigned long
line_of(const char *bytes, const char *at)
{
	unsigned long line = 1;

	for (; bytes < at; bytes++)
		line += *bytes == '\n';
	return line;
}

struct ac_node *
ac_parse(char *bytes, size_t count, struct ac_text *why)
{
	struct reading p = { .at = bytes, .end = bytes + count };

	if (count > AC_PARSE_BYTES) {
		ac_text_add(why, "it is too large");
		return NULL;
	}
	if (read_value(&p, NULL, 0)) {
		skip_space(&p);
		if (p.at == p.end)
			return p.nodes;
	}
	if (p.is_short || p.is_large)
		ac_text_add(why, p.is_large ? "it is too large"
		    : strerror(ENOMEM));
	else if (p.at == p.end)
		ac_text_add(why, "it is cut short");
	else
		ac_text_addf(why, "it is no JSON, at line %lu",
		    line_of(bytes, p.at));
	free(p.nodes);
	return NULL;
}

const struct ac_node *
ac_node_member(const struct ac_node *object, const char *name,
    enum ac_node_kind kind)
{
	const struct ac_node *node, *end;

	if (!object || object->kind != AC_NODE_OBJECT)
		return NULL;
	end = object + object->span;
	for (node = object + 1; node < end; node += node->span)
		if (!strcmp(node->name, name))
			return node->kind == kind ? node : NULL;
	return NULL;
}
