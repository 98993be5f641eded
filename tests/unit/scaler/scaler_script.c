/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_script.c -- reads and runs scripts for gradient
 * scalers, and the table of what PyTorch makes of them. */
#include "tests/unit/scaler/scaler_script.h"
#include "tests/unit/cases.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct script {
	const struct script_end *end;
	void *self;
	char *result;
	char  last[512];   /* the item that is being repeated */
	int   repeated;
};

const char *
script_status(autocast_status status)
{
	static const char *const names[] = {
#define NAME(name, meaning) #name,
		AUTOCAST_STATUS_LIST(NAME)
#undef NAME
	};

	return (unsigned)status < COUNT(names) ? names[status] : "?";
}

/* ---- Results ------------------------------------------------------------ */

static void
flush(struct script *s)
{
	const size_t used = strlen(s->result);
	const char *space = used ? " " : "";
	int n;

	if (!s->repeated)
		return;
	n = s->repeated > 1
	    ? snprintf(s->result + used, SCRIPT_TEXT - used, "%s%s*%d", space,
	    s->last, s->repeated)
	    : snprintf(s->result + used, SCRIPT_TEXT - used, "%s%s", space,
	    s->last);
	assert_true(n > 0 && (size_t)n < SCRIPT_TEXT - used);
	s->repeated = 0;
}

static void __attribute__((format(printf, 2, 3)))
item(struct script *s, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (s->repeated && strcmp(text, s->last))
		flush(s);
	snprintf(s->last, sizeof s->last, "%s", text);
	s->repeated++;
}

static bool
worked(struct script *s, autocast_status status)
{
	if (status)
		item(s, "!%s", script_status(status));
	return !status;
}

static uint32_t
single_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	/* Which NaN it is differs from machine to machine. */
	return value != value ? 0x7fc00000 : bits;
}

static unsigned long long
double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* ---- Gradients ----------------------------------------------------------- */

bool
script_nonfinite(const struct script_gradients *g, size_t i, bool *nan_out)
{
	static const struct { char kind; uint64_t infinity; } kinds[] = {
		{ 'f', 0x7f800000 }, { '2', 0x7f800000 }, { 'h', 0x7c00 },
		{ 'b', 0x7f80 }, { 'd', 0x7ff0000000000000 },
	};

	for (size_t k = 0; k < COUNT(kinds); k++)
		if (kinds[k].kind == g->kind) {
			const uint64_t inf = kinds[k].infinity;
			const uint64_t all = g->kind == 'd' ? INT64_MAX
			    : inf > INT16_MAX ? INT32_MAX : INT16_MAX;

			*nan_out = (g->words[i] & all) > inf;
			return (g->words[i] & all) >= inf;
		}
	return *nan_out = false;
}

static struct script_gradients
parse_gradients(const char *text)
{
	static const struct { const char *name, *text; } short_ones[] = {
		{ "0", "f:3f800000,3f800000" }, { "1", "f:3f800000,7f800000" },
		{ "n", "f:3f800000,7fc00000" }, { "m", "f:3f800000,ff800000" },
		{ "h", "h:3c00,3c00" }, { "H", "h:3c00,7c00" }, { "z", "f:" },
		{ "e", "-" }, { "00", "2:3f800000,3f800000" },
		{ "01", "2:3f800000,7f800000" },
		{ "10", "2:7f800000,3f800000" },
		{ "11", "2:7f800000,7f800000" },
	};
	struct script_gradients g = {0};

	for (size_t i = 0; i < COUNT(short_ones); i++)
		if (!strcmp(text, short_ones[i].name))
			text = short_ones[i].text;
	g.kind = text[0];
	if (!strchr("fdhb2-", g.kind))
		fail_msg("gradients '%s'?", text);
	for (text = text[1] ? text + 2 : ""; *text; g.count++) {
		char *after;

		assert_true(g.count < SCRIPT_ELEMENTS);
		g.words[g.count] = strtoull(text, &after, 16);
		assert_true(after > text && (*after == ',' || !*after));
		text = *after ? after + 1 : after;
	}
	return g;
}

static void
show(struct script *s, int group)
{
	struct script_gradients g;
	char text[256] = "[";
	size_t used = 1;

	s->end->show(s->self, group, &g);
	for (size_t i = 0; i < g.count; i++) {
		const int digits = g.kind == 'd' ? 16 : g.kind == 'f' ? 8 : 4;
		const char *comma = i ? "," : "";
		bool nan;

		script_nonfinite(&g, i, &nan);
		used += (size_t)(nan
		    ? snprintf(text + used, sizeof text - used, "%snan", comma)
		    : snprintf(text + used, sizeof text - used, "%s%0*llx",
		    comma, digits, (unsigned long long)g.words[i]));
	}
	item(s, "%s]", text);
}

/* ---- Words --------------------------------------------------------------- */

static double
number(const char *text)
{
	char *after;
	const double value = strtod(text, &after);

	if (after == text || *after)
		fail_msg("number '%s'?", text);
	return value;
}

static bool
parse_state(const char *text, struct script_state *state)
{
	long long interval;

	if (!*text)
		return false;
	assert_int_equal(sscanf(text, "%lf,%lf,%lf,%lld,%d", &state->scale,
	    &state->growth, &state->backoff, &interval, &state->tracker), 5);
	state->interval = interval;
	return true;
}

static void
show_state(struct script *s)
{
	double scale = 0;
	int32_t tracker = 0;

	if (worked(s, s->end->get(s->self, &scale, &tracker)))
		item(s, "%08x/%d", single_bits((float)scale), tracker);
}

static void
show_factors(struct script *s)
{
	double growth = 0, backoff = 0;
	int64_t interval = 0;

	if (worked(s, s->end->factors(s->self, &growth, &backoff, &interval)))
		item(s, "%016llx/%016llx/%lld", double_bits(growth),
		    double_bits(backoff), (long long)interval);
}

/* X=...; whether it was one of those. */
static bool
run_setting(struct script *s, const char *w)
{
	const struct script_end *end = s->end;
	struct script_state state;
	const char *value = w + 2;

	if (!w[0] || w[1] != '=')
		return false;
	switch (w[0]) {
	case 'P':
		worked(s, end->update_to(s->self, number(value)));
		return true;
	case 'G':
		worked(s, end->set_growth(s->self, number(value)));
		return true;
	case 'B':
		worked(s, end->set_backoff(s->self, number(value)));
		return true;
	case 'I':
		worked(s, end->set_interval(s->self, atoll(value)));
		return true;
	case 'R':
		worked(s, end->reduce(s->self, (float)number(value)));
		return true;
	case 'L':
		worked(s, end->load(s->self, parse_state(value, &state)
		    ? &state : NULL));
		return true;
	default:
		return false;
	}
}

/* NA=..., KA=... */
static bool
run_norm(struct script *s, const char *w)
{
	const bool clips = w[0] == 'K';
	const int group = w[1] - 'A';
	double value;
	float norm = 0;

	if (!strchr("NK", w[0]) || group < 0 || group >= SCRIPT_GROUPS
	    || w[2] != '=')
		return false;
	value = number(w + 3);
	if (worked(s, s->end->norm(s->self, group, clips ? 2 : value,
	    clips ? (float)value : -1, &norm)))
		item(s, "%08x", single_bits(norm));
	return true;
}

/* U, T, F of a group, and setting and showing its gradients. */
static bool
run_group(struct script *s, const char *w)
{
	const int group = w[1] - 'A';
	struct script_gradients g;
	float words[2] = { 0, 0 };
	int stepped = 0;

	if (w[0] >= 'A' && w[0] <= 'C' && w[1] == ':') {
		g = parse_gradients(w + 2);
		return worked(s, s->end->set(s->self, w[0] - 'A', &g)), true;
	}
	if (!strchr("UTF=", w[0]) || group < 0 || group >= SCRIPT_GROUPS)
		return false;
	if (w[0] == '=')
		return show(s, group), true;
	if (w[2]) {
		g = parse_gradients(w + 2);
		worked(s, s->end->set(s->self, group, &g));
	}
	if (w[0] == 'U')
		worked(s, s->end->unscale(s->self, group));
	else if (w[0] == 'T' && worked(s, s->end->step(s->self, group,
	    &stepped)))
		item(s, stepped ? "y" : "n");
	else if (w[0] == 'F' && worked(s, s->end->step_async(s->self, group,
	    words)))
		item(s, "F(%08x,%08x)", single_bits(words[0]),
		    single_bits(words[1]));
	return true;
}

static void
run_word(struct script *s, const char *w)
{
	if (!strcmp(w, "S"))
		worked(s, s->end->scale(s->self));
	else if (!strcmp(w, "P"))
		worked(s, s->end->update(s->self));
	else if (!strcmp(w, "V"))
		worked(s, s->end->again(s->self));
	else if (!strcmp(w, "?"))
		show_state(s);
	else if (!strcmp(w, "f?"))
		show_factors(s);
	else if (!strcmp(w, "c") || !strcmp(w, "i")) {
		run_word(s, "S");
		run_word(s, *w == 'c' ? "TA0" : "TA1");
		run_word(s, "P");
	} else if (!run_setting(s, w) && !run_norm(s, w) && !run_group(s, w))
		fail_msg("word '%s'?", w);
}

void
script_run(const struct script_end *end, void *self,
    const autocast_scaler_options *options, const char *sequence, char *result)
{
	struct script s = { .end = end, .self = self, .result = result };
	char word[256];
	int length;

	*result = '\0';
	if (worked(&s, end->create(self, options))) {
		while (sscanf(sequence, " %255s%n", word, &length) == 1) {
			char *star = strchr(word, '*');
			int count = star ? atoi(star + 1) : 1;

			if (star)
				*star = '\0';
			while (count--)
				run_word(&s, word);
			sequence += length;
		}
		end->destroy(self);
	}
	flush(&s);
	if (!*result)
		strcpy(result, "ok");
}

/* ---- Options and the table ----------------------------------------------- */

static void
parse_option(autocast_scaler_options *o, const char *word)
{
	if (!strcmp(word, "disabled"))
		o->enabled = 0;
	else if (!strcmp(word, "strict"))
		o->strict = 1;
	else if (!strcmp(word, "after"))
		o->check_after = 1;
	else if (!strcmp(word, "fp16"))
		o->allow_fp16 = 1;
	else if (!strncmp(word, "min=", 4))
		o->min_scale = number(word + 4);
	else if (!strncmp(word, "max=", 4))
		o->max_scale = number(word + 4);
	else if (!strncmp(word, "hysteresis=", 11))
		o->hysteresis = atoi(word + 11);
	else
		fail_msg("option '%s'?", word);
}

autocast_scaler_options
script_options(const char *text)
{
	autocast_scaler_options o = AUTOCAST_SCALER_OPTIONS;
	char copy[128], *rest = copy, *word;

	snprintf(copy, sizeof copy, "%s", text);
	for (int i = 0; (word = strsep(&rest, ",")); i++)
		if (!strcmp(word, "D"))
			i += 3;
		else if (i == 0)
			o.init_scale = number(word);
		else if (i == 1)
			o.growth = number(word);
		else if (i == 2)
			o.backoff = number(word);
		else if (i == 3)
			o.interval = atoll(word);
		else
			parse_option(&o, word);
	return o;
}

struct script_row *
script_table(size_t *count_out)
{
	const char *source = getenv("top_srcdir");
	char path[4096], line[4096];
	struct script_row *rows = NULL;
	FILE *file;

	*count_out = 0;
	snprintf(path, sizeof path, "%s/tests/golden/scaler.txt",
	    source ? source : ".");
	file = fopen(path, "r");
	if (!file)
		fail_msg("cannot read %s", path);
	while (fgets(line, sizeof line, file)) {
		struct script_row row;

		if (*line == '#')
			continue;
		if (sscanf(line, "%15[^\t]\t%127[^\t]\t%1023[^\t]\t%2047[^\t]"
		    "\t%127[^\n]", row.id, row.options, row.sequence,
		    row.result, row.note) != 5)
			fail_msg("%s: %s", path, line);
		rows = realloc(rows, (*count_out + 1) * sizeof *rows);
		assert_non_null(rows);
		rows[(*count_out)++] = row;
	}
	fclose(file);
	return rows;
}
