/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/parse_include.c -- `include "FILE"`: the file's statements as
 * if they stood here. Reads files, at load time only. */
#include "policy/language/parse.h"

#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* `name` next to the file that includes it; malloc'ed. */
static char *
resolve_name(const struct ac_source *source, const char *name)
{
	const char *slash = strrchr(source->name, '/');
	const size_t before = *name == '/' || slash == NULL ? 0 :
	    (size_t)(slash + 1 - source->name);
	const size_t bytes = before + strlen(name) + 1;
	char *path = malloc(bytes);

	if (path != NULL) {
		memcpy(path, source->name, before);
		memcpy(path + before, name, bytes - before);
	}
	return path;
}

static unsigned
depth_of(const struct ac_source *source)
{
	unsigned depth = 0;

	for (; source->parent != NULL; source = source->parent)
		depth++;
	return depth;
}

/* The chain from the outermost text to `path`, if `path` is part of it. */
static bool
refuse_cycle(struct ac_parser *parser, const struct ac_token *token,
    const char *path)
{
	const struct ac_source *chain[AC_MOST_INCLUDES + 1], *source;
	unsigned count = 0;
	bool found = false;
	struct ac_text text = AC_TEXT_OF(400);

	for (source = parser->source; source != NULL && !found &&
	    count <= AC_MOST_INCLUDES; source = source->parent) {
		chain[count++] = source;
		found = strcmp(source->path, path) == 0;
	}
	if (!found)
		return false;
	while (count > 0)
		ac_text_addf(&text, "%s -> ", chain[--count]->name);
	ac_text_add_bytes(&text, token->at + 1, token->length - 2);
	ac_parser_fail(parser, token, "files include each other: %s",
	    text.data);
	return true;
}

struct ac_source *
ac_source_make(struct ac_parser *parser, const char *name, const char *path,
    const char *bytes, size_t count)
{
	struct ac_source *source = ac_parser_take(parser, sizeof(*source));
	char *kept_name = ac_parser_take(parser, strlen(name) + 1);
	char *kept_path = ac_parser_take(parser, strlen(path) + 1);
	char *text = ac_parser_take(parser, count + 1);

	if (source == NULL || kept_name == NULL || kept_path == NULL ||
	    text == NULL)
		return NULL;
	source->name = strcpy(kept_name, name);
	source->path = strcpy(kept_path, path);
	source->text = memcpy(text, bytes, count);
	source->count = count;
	return source;
}

struct ac_source *
ac_source_read(struct ac_parser *parser, const char *name,
    const char **why_out, int *errno_out)
{
	char *path = realpath(name, NULL), *bytes;
	struct ac_source *source = NULL;
	size_t count;

	bytes = ac_file_read(name, &count, why_out, errno_out);
	if (bytes != NULL) {
		source = ac_source_make(parser, name, path == NULL ? name :
		    path, bytes, count);
		if (source != NULL)
			source->is_file = true;
		*why_out = "there is no memory for it";
		*errno_out = 0;
	}
	free(bytes);
	free(path);
	return source;
}

static bool
include_file(struct ac_parser *parser, const struct ac_token *token,
    const char *name)
{
	const char *why = NULL;
	struct ac_source *source;
	int error;

	source = ac_source_read(parser, name, &why, &error);
	if (source == NULL)
		return ac_parser_fail(parser, token, "%s: %s", name, why);
	if (refuse_cycle(parser, token, source->path))
		return false;
	source->parent = parser->source;
	source->is_rules = parser->source->is_rules;
	parser->source_count++;
	ac_parse_source(parser, source);
	return true;
}

bool
ac_parse_include(struct ac_parser *parser, const struct ac_token *token)
{
	const char *name = ac_parser_value(parser, token);
	char *path;
	bool good;

	if (name == NULL)
		return false;
	if (*name != '/' && !parser->source->is_file)
		return ac_parser_fail(parser, token, "this text is no file: "
		    "include wants an absolute path here");
	if (depth_of(parser->source) == AC_MOST_INCLUDES)
		return ac_parser_fail(parser, token, "more than %d files "
		    "inside each other", AC_MOST_INCLUDES);
	if (parser->source_count == AC_MOST_SOURCES)
		return ac_parser_fail(parser, token, "more than %d files",
		    AC_MOST_SOURCES);
	path = resolve_name(parser->source, name);
	good = path != NULL && include_file(parser, token, path);
	parser->out_of_memory |= path == NULL;
	free(path);
	return good;
}
