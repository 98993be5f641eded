/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/state_text.c -- the text of a saved state:
 *
 *   autocast-scaler 1
 *   scale 0x1p+16
 *   growth_factor 0x1p+1
 *   backoff_factor 0x1p-1
 *   growth_interval 2000
 *   growth_tracker 0
 *   hysteresis 1
 *
 * the names of torch.amp.GradScaler.state_dict(); hysteresis: bad updates left
 * until the scale backs off. Fractions are hexadecimal: the same bits again. */
#include "scaler/state_text.h"

#include "api/status.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STATE_VERSION = 1, STATE_BYTES = 512 };

enum kind { REAL, WHOLE };

static const struct field {
	const char *name;
	enum kind   kind;
} fields[] = {
	{ "autocast-scaler", WHOLE }, { "scale", REAL },
	{ "growth_factor", REAL }, { "backoff_factor", REAL },
	{ "growth_interval", WHOLE }, { "growth_tracker", WHOLE },
	{ "hysteresis", WHOLE }
};
enum {
	FIELD_VERSION, FIELD_SCALE, FIELD_GROWTH, FIELD_BACKOFF,
	FIELD_INTERVAL, FIELD_TRACKER, FIELD_PATIENCE,
	FIELD_COUNT = sizeof fields / sizeof *fields
};

/* Seldom, both ways: compiled for size. */
__attribute__((cold))
autocast_status
ac_state_print(const struct ac_core_saved *saved, char *text, size_t *size)
{
	const double real[FIELD_COUNT] = {
		[FIELD_SCALE] = (double)saved->scale,
		[FIELD_GROWTH] = saved->growth,
		[FIELD_BACKOFF] = saved->backoff
	};
	const int64_t whole[FIELD_COUNT] = { [FIELD_VERSION] = STATE_VERSION,
		[FIELD_INTERVAL] = saved->interval,
		[FIELD_TRACKER] = saved->tracker,
		[FIELD_PATIENCE] = saved->patience };
	const size_t room = *size;
	struct ac_text t = AC_TEXT_OF(STATE_BYTES);

	for (int i = 0; i < FIELD_COUNT; i++) {
		ac_text_addf(&t, "%s ", fields[i].name);
		if (fields[i].kind == REAL)
			ac_text_add_hex(&t, real[i]);
		else
			ac_text_addf(&t, "%lld", (long long)whole[i]);
		ac_text_add(&t, "\n");
	}
	*size = t.used;
	if (!text)
		return AUTOCAST_OK;
	if (room < t.used)
		return ac_status_fail(AUTOCAST_E_INVALID, "the state needs %zu "
		    "bytes, there is room for %zu", t.used, room);
	memcpy(text, t.data, t.used);
	return AUTOCAST_OK;
}

/* ---- Parsing ------------------------------------------------------------ */

static autocast_status
bad(const char *field, const char *why)
{
	return ac_status_fail(AUTOCAST_E_STATE_FORMAT,
	    "the saved state's %s %s", field, why);
}

/* A whole number, 19 digits at most. */
static bool
read_whole(const char *s, size_t count, int64_t *value_out)
{
	const bool is_negative = count && *s == '-';
	uint64_t value = 0;
	size_t i = is_negative;

	if (i == count || count - i > 19)
		return false;
	for (; i < count; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(s[i] - '0');
	}
	if (value > INT64_MAX)
		return false;
	*value_out = is_negative ? -(int64_t)value : (int64_t)value;
	return true;
}

struct values {
	double  real[FIELD_COUNT];
	int64_t whole[FIELD_COUNT];
};

/* Which field a line is, FIELD_COUNT if none. */
static int
field_of(const char *line, size_t count)
{
	int i = 0;

	for (; i < FIELD_COUNT; i++) {
		const size_t length = strlen(fields[i].name);

		if (count > length && !memcmp(line, fields[i].name, length)
		    && line[length] == ' ')
			break;
	}
	return i;
}

/* Not field `wanted`: those before it were there. */
static autocast_status
misplaced(int found, int wanted)
{
	if (found == FIELD_COUNT)
		return ac_status_fail(AUTOCAST_E_STATE_FORMAT, "the saved "
		    "state's line %d is no field of it: %s should be there",
		    wanted + 1, fields[wanted].name);
	return ac_status_fail(AUTOCAST_E_STATE_FORMAT, found < wanted
	    ? "the saved state's %s is there twice: %s should be there"
	    : "the saved state's %s is too early: %s should be there",
	    fields[found].name, fields[wanted].name);
}

/* "NAME VALUE", which is to be field `index`. */
static autocast_status
read_line(const char *line, size_t count, int index, struct values *values)
{
	const struct field *const field = &fields[index];
	const size_t length = strlen(field->name);
	const int found = field_of(line, count);

	if (count && line[count - 1] == '\r')
		return bad(field->name, "ends in a carriage return: lines end "
		    "in a newline alone");
	if (found != index)
		return misplaced(found, index);
	line += length + 1;
	count -= length + 1;
	if (field->kind == WHOLE)
		return read_whole(line, count, &values->whole[index])
		    ? AUTOCAST_OK : bad(field->name, "is not a whole number "
		    "as in 2000, or too large");
	return count && ac_text_hex(line, count, &values->real[index]) == count
	    ? AUTOCAST_OK : bad(field->name, "is not a fraction as in 0x1p+16");
}

static autocast_status
check_real(const struct values *values, bool strict)
{
	for (int i = FIELD_SCALE; i <= FIELD_BACKOFF; i++) {
		if (isnan(values->real[i]))
			return bad(fields[i].name, "is NaN");
		if (signbit(values->real[i]))
			return bad(fields[i].name, "is negative");
	}
	if ((double)(float)values->real[FIELD_SCALE] !=
	    values->real[FIELD_SCALE])
		return bad("scale", "is no FP32 number");
	if (!strict)
		return AUTOCAST_OK;
	if (!(values->real[FIELD_SCALE] > 0
	    && values->real[FIELD_SCALE] <= FLT_MAX))
		return bad("scale", "is not positive and finite");
	if (!(values->real[FIELD_GROWTH] > 1))
		return bad("growth_factor", "is not above 1");
	if (!(values->real[FIELD_BACKOFF] > 0
	    && values->real[FIELD_BACKOFF] < 1))
		return bad("backoff_factor", "is not between 0 and 1");
	return AUTOCAST_OK;
}

static autocast_status
check(const struct values *values, bool strict)
{
	autocast_status status = check_real(values, strict);

	if (status)
		return status;
	for (int i = FIELD_INTERVAL; i <= FIELD_PATIENCE; i++) {
		if (values->whole[i] < 0)
			return bad(fields[i].name, "is negative");
		if (i != FIELD_INTERVAL && values->whole[i] > INT32_MAX)
			return bad(fields[i].name, "is too large");
	}
	if (strict && values->whole[FIELD_INTERVAL] < 1)
		return bad("growth_interval", "is below 1");
	return AUTOCAST_OK;
}

__attribute__((cold))
autocast_status
ac_state_parse(const char *text, size_t size, bool strict,
    struct ac_core_saved *saved_out)
{
	struct values values;
	const char *at = text, *const end = text + size;
	autocast_status status = AUTOCAST_OK;

	if (!size)
		return ac_status_fail(AUTOCAST_E_STATE_EMPTY,
		    "the saved state is empty");
	for (int i = 0; i < FIELD_COUNT && !status; i++) {
		const char *const newline = memchr(at, '\n',
		    (size_t)(end - at));

		if (!newline)
			return bad(fields[i].name, "is missing or cut off");
		status = read_line(at, (size_t)(newline - at), i, &values);
		if (!status && i == FIELD_VERSION
		    && values.whole[FIELD_VERSION] != STATE_VERSION)
			status = bad("version",
			    "is not one that this library knows");
		at = newline + 1;
	}
	if (!status && at != end)
		status = bad("last field", "is not its end");
	if (!status)
		status = check(&values, strict);
	if (status)
		return status;
	saved_out->scale = (float)values.real[FIELD_SCALE];
	saved_out->growth = values.real[FIELD_GROWTH];
	saved_out->backoff = values.real[FIELD_BACKOFF];
	saved_out->interval = values.whole[FIELD_INTERVAL];
	saved_out->tracker = (int32_t)values.whole[FIELD_TRACKER];
	saved_out->patience = (int32_t)values.whole[FIELD_PATIENCE];
	return AUTOCAST_OK;
}
