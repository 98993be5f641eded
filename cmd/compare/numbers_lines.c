/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/numbers_lines.c -- pairs the lines of two texts by their text
 * with the numbers left out, and notes what differs in each pair. Where two
 * lines do not match, a few lines ahead are tried. */
#include "cmd/compare/numbers_lines.h"

#include <stdlib.h>
#include <string.h>

/* So many lines ahead: a text that is altogether different must not cost the
 * square of its length. */
enum { AHEAD = 16 };

/* ---- Lines ------------------------------------------------------------- */

bool
ac_numbers_split(struct ac_numbers_text *text, const char *bytes, size_t count)
{
	const char *at = bytes, *end = bytes + count;
	size_t lines = 0;

	*text = (struct ac_numbers_text){ .bytes = bytes, .count = count,
	    .is_binary = count && memchr(bytes, '\0', count) };
	while (at < end && !text->is_binary) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		at = newline ? newline + 1 : end;
		lines++;
	}
	text->starts = calloc(lines + 1, sizeof *text->starts);
	if (!text->starts)
		return false;
	text->lines = lines;
	text->starts[lines] = count;
	at = bytes;
	for (size_t i = 1; i < lines; i++) {
		at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
		text->starts[i] = (size_t)(at - bytes);
	}
	return true;
}

/* Without its newline. */
struct ac_piece_line
ac_numbers_line(const struct ac_numbers_text *text, size_t i)
{
	struct ac_piece_line line;

	line.begin = line.at = text->bytes + text->starts[i];
	line.end = text->bytes + text->starts[i + 1];
	if (line.end > line.begin && line.end[-1] == '\n')
		line.end--;
	return line;
}

static bool
are_same(struct ac_piece_line a, struct ac_piece_line b)
{
	return a.end - a.begin == b.end - b.begin &&
	    !memcmp(a.begin, b.begin, (size_t)(a.end - a.begin));
}

/* Whether two lines are the same but for their numbers. */
static bool
match(struct ac_piece_line a, struct ac_piece_line b)
{
	struct ac_piece x, y;

	if (are_same(a, b))
		return true;
	for (;;) {
		const bool more = ac_piece_next(&a, &x);

		if (more != ac_piece_next(&b, &y))
			return false;
		if (!more)
			return true;
		if (x.is_number != y.is_number ||
		    (!x.is_number && !ac_piece_same_text(&x, &y)))
			return false;
	}
}

/* ---- Pairs ------------------------------------------------------------- */

/* True if that was not noted before. */
static bool
note(unsigned char *noted, unsigned what)
{
	const bool is_new = !(*noted & what);

	*noted |= (unsigned char)what;
	return is_new;
}

static void
keep(char *out, size_t size, const char *from, const char *end)
{
	size_t length = (size_t)(end - from);

	length = length < size ? length : size - 1;
	memcpy(out, from, length);
	out[length] = '\0';
}

static void
keep_worst(const struct ac_numbers_pass *pass, size_t i,
    struct ac_piece_line line, const struct ac_piece *x,
    const struct ac_piece *y, double difference)
{
	struct ac_numbers_result *r = &pass->numbers->result;

	if (r->worst_line && difference <= r->worst)
		return;
	r->worst = difference;
	r->worst_line = i + 1;
	r->worst_column = (uint64_t)(x->start - line.begin) + 1;
	keep(r->worst_plain, sizeof r->worst_plain, x->start,
	    x->start + x->length);
	keep(r->worst_recast, sizeof r->worst_recast, y->start,
	    y->start + y->length);
}

bool
ac_numbers_note(const struct ac_numbers_pass *pass, size_t n,
    double difference)
{
	struct ac_numbers_result *r = &pass->numbers->result;
	unsigned char *noted = &pass->numbers->number[n];

	if (difference == 0 || *noted & AC_NOTED_UNSTABLE)
		return false;
	if (pass->learns) {
		r->unstable += note(noted, AC_NOTED_UNSTABLE);
		return false;
	}
	r->differing += note(noted, AC_NOTED_DIFFERING);
	if (difference > pass->tol)
		r->beyond += note(noted, AC_NOTED_BEYOND);
	return true;
}

void
ac_numbers_note_bytes(const struct ac_numbers_pass *pass, uint64_t differing,
    uint64_t first)
{
	struct ac_numbers_result *r = &pass->numbers->result;

	if (!differing || r->unstable_bytes)
		return;
	r->unstable_bytes = pass->learns;
	if (pass->learns)
		return;
	if (differing > r->differing_bytes)
		r->differing_bytes = differing;
	if (!r->first_byte || first + 1 < r->first_byte)
		r->first_byte = first + 1;
}

/* The numbers of two lines that match. */
static void
pair(const struct ac_numbers_pass *pass, size_t i, size_t j)
{
	struct ac_numbers *numbers = pass->numbers;
	struct ac_piece_line a = ac_numbers_line(&numbers->text, i);
	struct ac_piece_line b = ac_numbers_line(pass->other, j);
	struct ac_piece x, y;

	if (are_same(a, b))
		return;
	for (size_t n = numbers->firsts[i]; ac_piece_next(&a, &x) &&
	    ac_piece_next(&b, &y); n += x.is_number) {
		const double difference = x.is_number
		    ? ac_piece_difference(&x, &y) : 0;

		if (ac_numbers_note(pass, n, difference))
			keep_worst(pass, i, a, &x, &y, difference);
	}
}

static const struct ac_piece_line no_line = { "", "", "" };

/* Line i of the reference, or the gap before it, has changed from `plain` to
 * `recast`; `noted` is of that. */
static void
note_line(const struct ac_numbers_pass *pass, unsigned char *noted, size_t i,
    struct ac_piece_line plain, struct ac_piece_line recast)
{
	struct ac_numbers_result *r = &pass->numbers->result;

	if (*noted & AC_NOTED_UNSTABLE)
		return;
	if (pass->learns) {
		r->unstable_lines += note(noted, AC_NOTED_UNSTABLE);
		return;
	}
	r->differing_lines += note(noted, AC_NOTED_DIFFERING);
	if (r->first_line && r->first_line <= i + 1)
		return;
	r->first_line = i + 1;
	keep(r->first_plain, sizeof r->first_plain, plain.begin, plain.end);
	keep(r->first_recast, sizeof r->first_recast, recast.begin,
	    recast.end);
}

/* Line i of the reference has become another (j), or is gone (j past the
 * end). */
static void
change(const struct ac_numbers_pass *pass, size_t i, size_t j)
{
	struct ac_numbers *numbers = pass->numbers;

	for (size_t n = numbers->firsts[i]; pass->learns &&
	    n < numbers->firsts[i + 1]; n++)
		numbers->result.unstable += note(&numbers->number[n],
		    AC_NOTED_UNSTABLE);
	note_line(pass, &numbers->line[i], i, ac_numbers_line(&numbers->text,
	    i), j < pass->other->lines ? ac_numbers_line(pass->other, j)
	    : no_line);
}

/* Line j has come before line i of the reference. */
static void
insert(const struct ac_numbers_pass *pass, size_t i, size_t j)
{
	note_line(pass, &pass->numbers->gap[i], i, no_line,
	    ac_numbers_line(pass->other, j));
}

/* ---- Pairing ----------------------------------------------------------- */

/* Whether lines i and j match; false too once enough was read ahead. */
static bool
match_ahead(struct ac_numbers_pass *pass, size_t i, size_t j)
{
	const struct ac_numbers_text *a = &pass->numbers->text;
	const struct ac_numbers_text *b = pass->other;
	size_t cost;

	if (i >= a->lines || j >= b->lines)
		return false;
	cost = a->starts[i + 1] - a->starts[i] + b->starts[j + 1] -
	    b->starts[j];
	if (cost > pass->ahead_bytes)
		return false;
	pass->ahead_bytes -= cost;
	return match(ac_numbers_line(a, i), ac_numbers_line(b, j));
}

static size_t
steps(long far, long k)
{
	return (size_t)(k < far ? k : far);
}

/* The nearest lines after (*i, *j) that match. Of equally near ones those that
 * leave as many lines in one text as in the other: as a rule a line was
 * altered, not one added here and another lost there. */
static bool
look_ahead(struct ac_numbers_pass *pass, size_t *i, size_t *j)
{
	const long left = (long)(pass->numbers->text.lines - *i) -
	    (long)(pass->other->lines - *j);

	for (long far = 1; far <= AHEAD; far++) {
		long best = -1, best_uneven = 0;

		/* k from 0 to 2 far: (far, 0) ... (far, far) ... (0, far). */
		for (long k = 0; k <= 2 * far; k++) {
			const long uneven = labs(left - (far - k));

			if ((best < 0 || uneven < best_uneven) &&
			    match_ahead(pass, *i + steps(far, 2 * far - k),
			    *j + steps(far, k))) {
				best = k;
				best_uneven = uneven;
			}
		}
		if (best < 0)
			continue;
		*i += steps(far, 2 * far - best);
		*j += steps(far, best);
		return true;
	}
	return false;
}

void
ac_numbers_pair_lines(struct ac_numbers_pass *pass)
{
	const size_t lines = pass->numbers->text.lines;
	size_t i = 0, j = 0;

	while (i < lines || j < pass->other->lines) {
		size_t to_i = i, to_j = j;

		if (i < lines && j < pass->other->lines &&
		    match(ac_numbers_line(&pass->numbers->text, i),
		    ac_numbers_line(pass->other, j))) {
			pair(pass, i++, j++);
			continue;
		}
		if (!look_ahead(pass, &to_i, &to_j)) {
			to_i += i < lines;
			to_j += j < pass->other->lines;
		}
		while (i < to_i) {
			change(pass, i++, j < to_j ? j : pass->other->lines);
			j += j < to_j;
		}
		while (j < to_j)
			insert(pass, i, j++);
	}
}
