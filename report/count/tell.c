/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/tell.c -- decisions about sites, one line each, in the log; none
 * for a call. */
#include "report/count/live.h"
#include "base/log.h"

enum { LINE_BYTES = 512 };

static bool
is_wanted(void)
{
	static _Atomic int known; /* 0: not asked yet, 1: no, 2: yes */
	int now = atomic_load_explicit(&known, memory_order_relaxed);

	if (!now) {
		now = ac_log_wants(AC_LOG_INFO) ? 2 : 1;
		atomic_store_explicit(&known, now, memory_order_relaxed);
	}
	return now == 2;
}

static void
add_site(struct ac_text *t, const struct ac_site_record *site)
{
	const struct ac_site_key *key = &site->key;

	ac_text_addf(t, "site %08x, %s ", (unsigned)site->id, key->symbol);
	if (*key->shape && !key->ta)
		ac_text_add(t, key->shape);
	else
		ac_text_addf(t, "%lldx%lldx%lld", (long long)key->m,
		    (long long)key->n, (long long)key->k);
}

static void
add_rung(struct ac_text *t, const struct ac_site_record *site)
{
	if (site->rung == AC_RUNG_KEEP)
		ac_text_addf(t, "kept: %s", ac_reason_meanings[site->reason]);
	else
		ac_text_addf(t, "%s %s", ac_rung_names[site->rung],
		    ac_tactic_names[site->tactic]);
}

void
ac_tell_decision(const struct ac_site_record *site)
{
	const double before = (double)site->course.keep_predicted_us;
	const double after = (double)site->course.recast_predicted_us;
	struct ac_text t = AC_TEXT_OF(LINE_BYTES);

	if (!is_wanted())
		return;
	add_site(&t, site);
	ac_text_addf(&t, " in %s: ", site->key.caller);
	add_rung(&t, site);
	if (*site->source && site->line)
		ac_text_addf(&t, ", by %s:%u", site->source,
		    (unsigned)site->line);
	if (site->rung != AC_RUNG_KEEP && before > 0 && after > 0) {
		ac_text_add(&t, ", estimated ");
		ac_text_add_double(&t, before / after, 3);
		ac_text_add(&t, " times as fast");
	}
	ac_log(AC_LOG_INFO, "%s", t.data);
}

void
ac_tell_event(const struct ac_site_record *record, enum ac_event_kind kind,
    uint64_t call, uint32_t finding)
{
	static const char *const words[AC_EVENT_KINDS] = {
		[AC_EVENT_PASSED] = " was good in its tries",
		[AC_EVENT_CHOSEN] = " from here on",
		[AC_EVENT_DEMOTED] = " is left: ",
		[AC_EVENT_RETRIED] = " serves again",
	};
	struct ac_text t = AC_TEXT_OF(LINE_BYTES);

	if (!words[kind] || !is_wanted())
		return;
	add_site(&t, record);
	ac_text_addf(&t, ", call %llu: ", (unsigned long long)call);
	add_rung(&t, record);
	if (kind != AC_EVENT_CHOSEN || record->rung != AC_RUNG_KEEP)
		ac_text_add(&t, words[kind]);
	if (kind == AC_EVENT_DEMOTED) {
		ac_text_addf(&t, "%s; its worst error is ",
		    ac_finding_meanings[finding]);
		ac_text_add_double(&t, (double)record->course.error, 2);
		ac_text_add(&t, ", the tolerance ");
		ac_text_add_double(&t, (double)record->tol, 2);
	}
	ac_log(AC_LOG_INFO, "%s", t.data);
}
