/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/count.c -- the records the shim counts into: finds, makes
 * and describes them. Hands out new ones under one lock, never moves or frees
 * them, never uses the program's heap, never prints, never fails. */
#include "report/count/live.h"

#include <string.h>
#include <sys/mman.h>

enum { FIRST_INDEX = 256 };

/* ---- Records ----------------------------------------------------------- */

static struct ac_site_record *
site_at(uint32_t number)
{
	uint32_t within;
	const unsigned chunk = ac_file_chunk_of(number, &within);

	return ac_live.chunk[chunk] ? &ac_live.chunk[chunk][within] : NULL;
}

void *
ac_live_extend(uint64_t from, size_t bytes)
{
	return *ac_live.path ? ac_file_extend(ac_live.path,
	    &ac_live.front->header, from, bytes) : NULL;
}

struct ac_site_record *
ac_live_make_chunk(unsigned chunk)
{
	const size_t bytes = ac_file_chunk_bytes(chunk);
	struct ac_site_record *new = ac_live_extend(
	    ac_file_chunk_offset(chunk), bytes);

	ac_live.mapped[chunk] = new != NULL;
	return new ? new : ac_file_memory(bytes);
}

/* Make the place for site `number`; NULL without memory. */
static struct ac_site_record *
site_place(uint32_t number)
{
	uint32_t within;
	const unsigned chunk = ac_file_chunk_of(number, &within);

	if (!ac_live.chunk[chunk])
		ac_live.chunk[chunk] = ac_live_make_chunk(chunk);
	return site_at(number);
}

static bool
grow_index(void)
{
	static uint32_t first[FIRST_INDEX];
	uint32_t slots = ac_live.slots ? 2 * ac_live.slots : FIRST_INDEX;
	uint32_t *index;

	while (2 * ac_live.sites >= slots) /* a forked child makes its own */
		slots *= 2;
	index = slots == FIRST_INDEX ? memset(first, 0, sizeof first)
	    : ac_file_memory(slots * sizeof *index);
	if (!index)
		return false;
	for (uint32_t i = 0; i < ac_live.sites; i++) {
		uint32_t at = site_at(i)->id & (slots - 1);

		while (index[at])
			at = (at + 1) & (slots - 1);
		index[at] = i + 1;
	}
	if (ac_live.index && ac_live.index != first)
		(void)munmap(ac_live.index, ac_live.slots * sizeof *index);
	ac_live.index = index;
	ac_live.slots = slots;
	return true;
}

/* A site that was decided again, for example on another GPU, has two records:
 * a count of calls "as decided" belongs to one decision. */
static bool
is_record_of(const struct ac_site_record *site,
    const struct ac_site_region *region, const struct ac_site_key *key,
    const struct ac_decision *decision)
{
	const char *source = decision->source ? decision->source : "";

	return !memcmp(&site->key, key, sizeof *key)
	    && !memcmp(&site->region, region, sizeof *region)
	    && site->rung == decision->rung && site->tactic == decision->tactic
	    && site->reason == decision->reason && site->line == decision->line
	    && !strncmp(site->source, source, sizeof site->source - 1);
}

/* The slot of `key` with `decision`, or the empty one where it belongs. */
static uint32_t *
find_slot(const struct ac_site_region *region, const struct ac_site_key *key,
    uint32_t id, const struct ac_decision *decision)
{
	uint32_t at = id & (ac_live.slots - 1);

	while (ac_live.index[at] &&
	    (site_at(ac_live.index[at] - 1)->id != id ||
	    !is_record_of(site_at(ac_live.index[at] - 1), region, key,
	    decision)))
		at = (at + 1) & (ac_live.slots - 1);
	return &ac_live.index[at];
}

struct ac_site_record *
ac_live_find_ranges(const struct ac_site_record *site)
{
	if (!ac_live.slots && !grow_index())
		return NULL;
	for (uint32_t at = site->id & (ac_live.slots - 1); ac_live.index[at];
	    at = (at + 1) & (ac_live.slots - 1)) {
		struct ac_site_record *other = site_at(ac_live.index[at] - 1);

		if (other->id == site->id && atomic_load(&other->ranges) &&
		    !memcmp(&other->key, &site->key, sizeof site->key))
			return other;
	}
	return NULL;
}

const struct ac_site_region ac_outside;

/* What the policy predicted of one call, for the site's course. */
static void
fill_predictions(struct ac_site_course *course,
    const struct ac_decision *decision)
{
	/* Of what is kept for good, too: it is part of the whole. */
	if (decision->keep_seconds < 1e9)
		atomic_store(&course->keep_predicted_us,
		    (float)(decision->keep_seconds * 1e6));
	for (unsigned i = 0; i < decision->candidate_count; i++) {
		const struct ac_candidate *c = &decision->candidate[i];

		if (c->rung != decision->rung || c->tactic != decision->tactic)
			continue;
		atomic_store(&course->recast_predicted_us,
		    (float)(c->seconds * 1e6));
	}
}

/* The overflow site, which may have no place, counts in its own counters. */
static void
fill_site(struct ac_site_record *site, const struct ac_site_region *region,
    const struct ac_site_key *key, const struct ac_decision *decision,
    const char *name)
{
	memcpy(&site->key, key, sizeof *key);
	memcpy(&site->region, region, sizeof *region);
	site->id = ac_site_id(key, region->name);
	site->number = site == &ac_live.spare ? AC_FILE_SITES : ac_live.sites;
	site->rung = decision->rung;
	site->tactic = decision->tactic;
	site->reason = decision->reason;
	site->line = decision->line;
	site->tol = (float)decision->tol;
	site->guard = decision->guard;
	fill_predictions(&site->course, decision);
	AC_LIVE_PUT(site->source, decision->source);
	AC_LIVE_PUT(site->name, name);
}

static struct ac_site_record *
add_site(const struct ac_site_region *region, const struct ac_site_key *key,
    const struct ac_decision *decision, const char *name)
{
	struct ac_site_record *site = site_place(ac_live.sites);

	if (!site)
		return NULL;
	fill_site(site, region, key, decision, name);
	if (ac_live.slots)
		*find_slot(region, key, site->id, decision) =
		    ac_live.sites + 1;
	__atomic_store_n(&ac_live.sites, ac_live.sites + 1, __ATOMIC_RELEASE);
	ac_live_publish();
	return site;
}

static struct ac_site_record *
overflow_site(void)
{
	static const struct ac_decision keep = {
		.reason = AC_REASON_NO_RULE, .source = "too many sites"
	};
	struct ac_site_key key;
	struct ac_site_record *site;

	if (ac_live.sites > AC_FILE_SITES)
		return site_at(AC_FILE_SITES);
	memset(&key, 0, sizeof key);
	AC_LIVE_PUT(key.symbol, "(other sites)");
	key.ta = key.tb = 'N';
	AC_LIVE_PUT(key.type, "other");
	site = ac_live.sites == AC_FILE_SITES
	    ? add_site(&ac_outside, &key, &keep, "") : NULL;
	if (!site) {
		fill_site(&ac_live.spare, &ac_outside, &key, &keep, "");
		ac_live.spare.id = 0;
		atomic_store(&ac_live.front->header.incomplete, 1);
	}
	return site ? site : &ac_live.spare;
}

/* ---- The interface ----------------------------------------------------- */

void
ac_report_open(const struct ac_policy_origin *origin, const char *notes)
{
	const int saved = ac_live_enter();
	struct ac_file_header *header = &ac_live.front->header;

	if (!*header->policy) {
		AC_LIVE_PUT(header->policy, origin->name);
		AC_LIVE_PUT(header->why, origin->why);
		AC_LIVE_PUT(header->notes, notes);
		header->chosen = origin->chosen;
	}
	ac_live_leave(saved);
}

void
ac_report_machine(const char *gpu, int sm, const char *library, bool emulated)
{
	const int saved = ac_live_enter();
	struct ac_file_header *header = &ac_live.front->header;

	if (!*header->gpu && gpu) {
		AC_LIVE_PUT(header->gpu, gpu);
		header->sm = sm;
	}
	if (!*header->library)
		AC_LIVE_PUT(header->library, library);
	if (emulated)
		header->emulated = 1;
	ac_live_leave(saved);
}

void
ac_report_clock(enum ac_clock clock)
{
	const int saved = ac_live_enter();
	struct ac_file_header *header = &ac_live.front->header;

	if (header->clock == AC_CLOCK_NONE)
		header->clock = clock;
	ac_live_leave(saved);
}

struct ac_site_record *
ac_report_site(const struct ac_site_region *region,
    const struct ac_site_key *key, const struct ac_decision *decision,
    const char *name, bool *is_overflow_out)
{
	const uint32_t id = ac_site_id(key, region->name);
	struct ac_site_record *site = NULL;
	bool overflow = false, is_new = false;
	const int saved = ac_live_enter();

	if (2 * ac_live.sites >= ac_live.slots && ac_live.sites < AC_FILE_SITES)
		(void)grow_index();
	if (ac_live.slots) {
		const uint32_t number = *find_slot(region, key, id, decision);

		if (number)
			site = site_at(number - 1);
		else if (ac_live.sites < AC_FILE_SITES &&
		    ac_live.sites + 1 < ac_live.slots)
			site = add_site(region, key, decision, name);
		is_new = site && !number;
	}
	if (!site) {
		overflow = true;
		site = overflow_site();
	}
	ac_live_leave(saved);
	if (is_overflow_out)
		*is_overflow_out = overflow;
	if (is_overflow_out && is_new)
		ac_tell_decision(site);
	return site;
}

struct ac_marker_record *
ac_report_marker(const char *symbol)
{
	const int saved = ac_live_enter();
	struct ac_marker_record *markers = ac_live.front->markers;
	uint32_t i = 0;

	while (i < ac_live.markers && strncmp(markers[i].symbol, symbol,
	    sizeof markers[i].symbol - 1))
		i++;
	if (i == AC_FILE_MARKERS) {
		i--;
	} else if (i == ac_live.markers) {
		const bool last = i == AC_FILE_MARKERS - 1;

		AC_LIVE_PUT(markers[i].symbol,
		    last ? "(other symbols)" : symbol);
		__atomic_store_n(&ac_live.markers, ac_live.markers + 1,
		    __ATOMIC_RELEASE);
		atomic_store_explicit(&ac_live.front->header.markers,
		    ac_live.markers, memory_order_release);
	}
	ac_live_leave(saved);
	return &markers[i];
}

void
ac_report_peak_scratch(uint64_t bytes)
{
	const int saved = ac_live_enter();
	_Atomic uint64_t *peak = &ac_live.front->header.peak_scratch_bytes;

	if (bytes > atomic_load(peak))
		atomic_store(peak, bytes);
	ac_live_leave(saved);
}
