/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profit/calibration.c -- measured rates: their file's name, its text
 * and its checks. The file is the user's and may hold anything. */
#include "policy/profit/calibration.h"

#include "base/env.h"
#include "base/text.h"
#include "policy/language/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How far a measurement may be off the built-in rate. Real GPUs of one name
 * differ by less than half of it; a wrong unit by more. */
#define FURTHEST 20.0

enum { LONGEST_FILE = 8192, LONGEST_LINE = 200 };

/* ---- Where it is ------------------------------------------------------- */

bool
ac_calibration_directory(struct ac_text *path)
{
	const char *state = ac_env(AC_ENV_STATE);
	const char *xdg = ac_env(AC_ENV_XDG_STATE_HOME);
	const char *home = ac_env(AC_ENV_HOME);

	if (strcmp(state, "off") == 0)
		return false;
	if (*state != '\0')
		ac_text_add(path, state);
	else if (*xdg == '/')
		ac_text_addf(path, "%s/autocast", xdg);
	else if (*home == '/')
		ac_text_addf(path, "%s/.local/state/autocast", home);
	else
		return false;
	ac_text_add(path, "/rates");
	return !path->truncated;
}

/* Letters and digits as they are, the rest as something harmless. */
static void
add_plain(struct ac_text *path, const char *name)
{
	char c;

	for (; *name != '\0'; name++) {
		c = *name;
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || c == '-' || c == '.'))
			c = '_';
		ac_text_add_bytes(path, &c, 1);
	}
}

bool
ac_calibration_path(const struct ac_calibration *machine, struct ac_text *path)
{
	if (!ac_calibration_directory(path))
		return false;
	ac_text_add(path, "/");
	add_plain(path, machine->gpu);
	ac_text_addf(path, "-%d-", machine->driver);
	add_plain(path, machine->library);
	return !path->truncated;
}

/* ---- Reading ----------------------------------------------------------- */

struct line {
	const char *at, *end;
};

static void
skip_blanks(struct line *line)
{
	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
	while (line->end > line->at && (line->end[-1] == ' ' ||
	    line->end[-1] == '\t' || line->end[-1] == '\r'))
		line->end--;
}

static bool
take_word(struct line *line, const char *word)
{
	const size_t length = strlen(word);

	skip_blanks(line);
	if ((size_t)(line->end - line->at) < length ||
	    memcmp(line->at, word, length) != 0)
		return false;
	line->at += length;
	return true;
}

static bool
take_number(struct line *line, double *value_out)
{
	size_t used;

	skip_blanks(line);
	used = ac_text_number(line->at, (size_t)(line->end - line->at),
	    value_out);
	line->at += used;
	return used != 0;
}

static bool
at_end(struct line *line)
{
	skip_blanks(line);
	return line->at == line->end;
}

static bool
read_whole(struct line *line, double most, double *value_out)
{
	return take_number(line, value_out) && at_end(line) &&
	    *value_out >= 1 && *value_out <= most &&
	    *value_out == (double)(int)*value_out;
}

static bool
read_int(struct line *line, int *value_out)
{
	double value;

	if (!read_whole(line, 1e9, &value))
		return false;
	*value_out = (int)value;
	return true;
}

/* Printable ASCII: it may be printed. */
static bool
read_text(struct line *line, char *to, size_t size)
{
	size_t length;

	skip_blanks(line);
	length = (size_t)(line->end - line->at);
	if (length == 0 || length >= size)
		return false;
	for (const char *s = line->at; s < line->end; s++)
		if (*s < ' ' || *s > '~')
			return false;
	memcpy(to, line->at, length);
	to[length] = '\0';
	return true;
}

static bool
read_rate(struct line *line, struct ac_measured_rate *rate)
{
	double samples;

	if (!take_number(line, &rate->value) || !take_word(line, "of") ||
	    !take_number(line, &samples) || !take_word(line, "spread") ||
	    !take_number(line, &rate->spread) || !at_end(line))
		return false;
	if (!(rate->value > 0 && rate->value < 1e30) ||
	    !(samples >= 1 && samples <= 1e6) || !(rate->spread <= 1))
		return false;
	rate->samples = (unsigned)samples;
	return true;
}

/* Keys in front of the rates, by their bit in `seen`. */
enum { KEY_VERSION, KEY_GPU, KEY_SM, KEY_DRIVER, KEY_LIBRARY, KEY_DATE,
	HEAD_COUNT };
static const char *const head_names[HEAD_COUNT] = { "version", "gpu", "sm",
	"driver", "library", "date" };

static bool
read_value(struct line *line, int key, struct ac_calibration *c)
{
	int version;

	switch (key) {
	case KEY_VERSION:
		return read_int(line, &version) && version == 1;
	case KEY_GPU:
		return read_text(line, c->gpu, sizeof(c->gpu));
	case KEY_SM:
		return read_int(line, &c->sm);
	case KEY_DRIVER:
		return read_int(line, &c->driver);
	case KEY_LIBRARY:
		return read_text(line, c->library, sizeof(c->library));
	case KEY_DATE:
		return read_text(line, c->date, sizeof(c->date));
	default:
		return read_rate(line, &c->rate[key - HEAD_COUNT]);
	}
}

static const char *
key_name(int key)
{
	return key < HEAD_COUNT ? head_names[key] :
	    ac_rate_names[key - HEAD_COUNT];
}

/* The key a line begins with, its '=' taken; -1 if there is none. */
static int
take_key(struct line *line)
{
	struct line rest;

	for (int key = 0; key < HEAD_COUNT + AC_RATE_COUNT; key++) {
		rest = *line;
		if (!take_word(&rest, key_name(key)) || !take_word(&rest, "="))
			continue;
		*line = rest;
		return key;
	}
	return -1;
}

static bool
read_line(struct line line, struct ac_calibration *c, unsigned *seen)
{
	int key;

	if (at_end(&line) || *line.at == '#')
		return true;
	if (line.end - line.at > LONGEST_LINE)
		return false;
	key = take_key(&line);
	if (key < 0 || *seen >> key & 1)
		return false;
	*seen |= 1u << key;
	return read_value(&line, key, c);
}

/* ---- Believing --------------------------------------------------------- */

static bool
is_plausible(const struct ac_calibration *c, struct ac_text *why)
{
	const struct ac_rates *built_in = ac_rates_find(c->gpu, c->sm);
	struct ac_rates row;
	unsigned i, measured = 0;
	double expected;

	if (built_in == NULL) {
		ac_text_add(why, "no such GPU is known");
		return false;
	}
	row = *built_in;
	for (i = 0; i < AC_RATE_COUNT; i++) {
		if (c->rate[i].samples == 0)
			continue;
		expected = *ac_rate_of(&row, (enum ac_rate)i);
		measured++;
		if (c->rate[i].value <= expected * FURTHEST &&
		    c->rate[i].value >= expected / FURTHEST)
			continue;
		ac_text_addf(why, "its %s is beyond belief for such a GPU",
		    ac_rate_names[i]);
		return false;
	}
	if (measured == 0)
		ac_text_add(why, "it has no rates");
	return measured != 0;
}

bool
ac_calibration_read(const char *text, size_t count,
    struct ac_calibration *calibration_out, struct ac_text *why)
{
	const char *const end = text + count;
	struct ac_calibration c = { .sm = 0 };
	struct line line = { text, text };
	unsigned number = 1, seen = 0;

	if (count > LONGEST_FILE) {
		ac_text_add(why, "it is too long");
		return false;
	}
	for (; line.at < end; line.at = line.end + 1, number++) {
		line.end = memchr(line.at, '\n', (size_t)(end - line.at));
		if (line.end == NULL)
			line.end = end;
		if (read_line(line, &c, &seen))
			continue;
		ac_text_addf(why, "line %u makes no sense", number);
		return false;
	}
	for (int key = 0; key < HEAD_COUNT; key++) {
		if (seen >> key & 1)
			continue;
		ac_text_addf(why, "its %s is missing", key_name(key));
		return false;
	}
	if (!is_plausible(&c, why))
		return false;
	*calibration_out = c;
	return true;
}

/* ---- Using ------------------------------------------------------------- */

void
ac_calibration_apply(const struct ac_calibration *calibration,
    struct ac_rates *rates_out)
{
	struct ac_rates rates = *ac_rates_find(calibration->gpu,
	    calibration->sm);
	bool all = true;
	double *rate;

	for (unsigned i = 0; i < AC_RATE_COUNT; i++) {
		rate = ac_rate_of(&rates, (enum ac_rate)i);
		if (calibration->rate[i].samples != 0)
			*rate = calibration->rate[i].value;
		else if (*rate > 0)
			all = false;
	}
	rates.measured = all;
	rates.source = all ? "measured by autocast calibrate on this GPU" :
	    "but for what autocast calibrate measured on this GPU";
	*rates_out = rates;
}

/* Whether the file is about the machine it was looked up for. */
static bool
is_of(const struct ac_calibration *c, const struct ac_calibration *machine,
    struct ac_text *why)
{
	const char *other = NULL;

	if (strcmp(c->gpu, machine->gpu) != 0 || c->sm != machine->sm)
		other = "GPU";
	else if (c->driver != machine->driver)
		other = "driver";
	else if (strcmp(c->library, machine->library) != 0)
		other = "library";
	if (other != NULL)
		ac_text_addf(why, "it was measured with another %s", other);
	return other == NULL;
}

bool
ac_calibration_load(const char *gpu, int sm, int driver, const char *library,
    struct ac_rates *rates_out, struct ac_text *why)
{
	struct ac_calibration machine = { .sm = sm, .driver = driver }, found;
	struct ac_text said = AC_TEXT_OF(200), path = AC_TEXT_OF(1024);
	struct ac_text gpu_text = AC_TEXT_IN(machine.gpu);
	struct ac_text library_text = AC_TEXT_IN(machine.library);
	const char *trouble = said.data;
	char *bytes;
	size_t count = 0;
	bool good = false;
	int error = 0;

	ac_text_add(&gpu_text, gpu);
	ac_text_add(&library_text, library);
	if (gpu_text.truncated || library_text.truncated ||
	    !ac_calibration_path(&machine, &path))
		return false;
	bytes = ac_file_read(path.data, &count, &trouble, &error);
	if (bytes != NULL)
		good = ac_calibration_read(bytes, count, &found, &said) &&
		    is_of(&found, &machine, &said);
	free(bytes);
	if (good)
		ac_calibration_apply(&found, rates_out);
	else if (error != ENOENT && error != ENOTDIR)
		ac_text_addf(why, "the rates in %s are not used: %s", path.data,
		    trouble);
	return good;
}
