/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_kept.c -- what the statistics of a run add up to, and for
 * every reason to keep a call the command that would change it. Pure but for
 * the environment. */
#include "cmd/doctor/doctor.h"
#include "base/env.h"

#include <string.h>

enum { OLDEST_SM = 75 };

/* ---- Adding up --------------------------------------------------------- */

static void
add_site(struct ac_doctor_work *work, const struct ac_site_total *site)
{
	const int vendor = ac_vendor_of_symbol(site->key.symbol);

	work->calls += site->calls;
	work->recast += site->recast;
	if (vendor >= 0) {
		work->vendor_calls[vendor] += site->calls;
		work->vendor_recast[vendor] += site->recast;
	}
	for (int r = 0; r < AC_REASON_COUNT; r++) {
		work->kept[r] += site->kept[r];
		if (site->kept[r] > work->kept_most[r].kept[r])
			work->kept_most[r] = *site;
	}
}

static void
add_rungs(struct ac_doctor_work *work, const struct ac_report *report)
{
	struct ac_text text = AC_TEXT_IN(work->rungs);

	for (unsigned rung = 0; rung < AC_RUNG_COUNT; rung++)
		for (size_t i = 0; i < report->site_count; i++)
			if (report->sites[i].rung == rung &&
			    report->sites[i].recast) {
				ac_text_addf(&text, "%s%s",
				    text.used ? ", " : "",
				    ac_rung_names[rung]);
				break;
			}
}

void
ac_doctor_add_up(const struct ac_report *report,
    struct ac_doctor_work *work_out)
{
	memset(work_out, 0, sizeof *work_out);
	if (!report)
		return;
	work_out->is_known = true;
	for (size_t i = 0; i < report->site_count; i++)
		add_site(work_out, &report->sites[i]);
	add_rungs(work_out, report);
	for (size_t i = 0; i < report->marker_count; i++) {
		const struct ac_marker *marker = &report->markers[i];
		const int vendor = ac_vendor_of_symbol(marker->symbol);

		if (vendor < 0)
			continue; /* something the library noted */
		work_out->passed += marker->calls;
		work_out->vendor_passed[vendor] += marker->calls;
	}
	for (size_t i = 0; i < report->process_count; i++) {
		const struct ac_file_header *h = &report->processes[i];

		if (!*work_out->policy)
			memcpy(work_out->policy, h->policy, sizeof h->policy);
		if (!*work_out->gpu && *h->gpu) {
			memcpy(work_out->gpu, h->gpu, sizeof h->gpu);
			work_out->sm = h->sm;
		}
		work_out->is_emulated |= h->emulated;
		work_out->policy_is_bad |=
		    !strncmp(h->why, "the policy has errors", 21);
	}
}

/* ---- Why a call was kept ----------------------------------------------- */

/* The site of most of the calls that were kept for a reason; what to say, after
 * the reason's own meaning, and the command. */
struct kept {
	const struct ac_doctor_facts *facts;
	const struct ac_site_total   *site;
	struct ac_text *text, *fix;
};

/* The rung that the GPU has for sure. cuDNN takes TF32 by itself. */
static const char *
rung_for(const struct ac_doctor_facts *facts, uint32_t operation)
{
	return facts->work.sm == OLDEST_SM || ac_operation_is_conv(operation)
	    ? "fp16" : "tf32";
}

/* A line for the calls of this kind (gemm, conv), where `condition` holds;
 * it may be "". */
static void
with_rule(const struct kept *k, const char *condition)
{
	const uint32_t operation = k->site->key.operation;
	const char *name = ac_operation_names[operation];
	struct ac_text rule = AC_TEXT_OF(160), extra = AC_TEXT_OF(256);

	ac_text_add_bytes(&rule, name, strcspn(name, "."));
	ac_text_addf(&rule, "%s -> %s profit=off", condition,
	    rung_for(k->facts, operation));
	ac_quotef(&extra, "-e %s", rule.data);
	ac_doctor_add_run(k->fix, k->facts, extra.data);
}

static void
explain_rule(const struct kept *k)
{
	const bool is_off = !strcmp(k->facts->work.policy, "off");

	if (is_off)
		ac_text_add(k->text, "; the policy 'off' keeps everything");
	else if (*k->site->source)
		ac_text_addf(k->text, "; the rule is %s",
		    AC_SAID(ac_site_add_line, k->site));
	if (is_off)
		ac_doctor_add_run(k->fix, k->facts, "--policy amp");
	else
		with_rule(k, "");
}

static bool
is_gemm(const struct ac_site_total *site)
{
	return !strncmp(ac_operation_names[site->key.operation], "gemm", 4);
}

/* The profiles leave most of what cuDNN does at TF32: there FP16 may gain. */
bool
ac_doctor_is_needless(const struct ac_doctor_work *work, enum ac_reason reason)
{
	const struct ac_site_total *site = &work->kept_most[reason];

	if (reason != AC_REASON_NO_PROFIT)
		return reason == AC_REASON_TOO_SMALL;
	return is_gemm(site) || strcmp(site->key.asked, "tf32") != 0;
}

/* A command that recasts them all the same would slow them down: what explains
 * them is the one to type. */
static void
explain_too_small(const struct kept *k)
{
	ac_text_addf(k->text, "; most of them are %s: nothing to gain here",
	    AC_SAID(ac_site_add_what, k->site));
}

static void
explain_no_profit(const struct kept *k)
{
	if (!strcmp(k->site->key.asked, "tf32"))
		ac_text_add(k->text, "; the program asks for TF32 by itself");
	if (ac_doctor_is_needless(&k->facts->work, AC_REASON_NO_PROFIT))
		ac_text_add(k->text, ": nothing to gain here");
	else
		with_rule(k, "");
}

static void
explain_opted_out(const struct kept *k)
{
	const bool overridden = !strcmp(ac_env(AC_ENV_TF32_OVERRIDE), "0");
	const bool invariant = ac_env_is_set(AC_ENV_BATCH_INVARIANCE) &&
	    !overridden;
	/* Of cuDNN's calls the program may have, by a math type. */
	const bool refused = !strcmp(k->site->key.asked, "opted-out") &&
	    (overridden || is_gemm(k->site));
	const enum ac_env_name name = !refused ? AC_ENV_EMULATE_FP32
	    : invariant ? AC_ENV_BATCH_INVARIANCE : AC_ENV_TF32_OVERRIDE;

	if (refused || (!strcmp(k->site->key.asked, "emulated") &&
	    ac_env_is_set(name))) {
		const char *variable = ac_env_rows[name].variable;

		ac_text_addf(k->text, "; %s=%s is set", variable,
		    name == AC_ENV_TF32_OVERRIDE ? "0" : ac_env(name));
		ac_text_addf(k->fix, "env -u %s ", variable);
		ac_doctor_add_run(k->fix, k->facts, "");
		return;
	}
	if (!strcmp(k->site->key.asked, "opted-out"))
		ac_text_add(k->text, "; the program itself did, by a math "
		    "type");
	else
		ac_text_add_cleanf(k->text, "; the program asks for %s",
		    k->site->key.asked);
	ac_doctor_add_run(k->fix, k->facts, "-e 'set respect-opt-out=off'");
}

static void
explain_solver(const struct kept *k)
{
	with_rule(k, " solver=yes");
}

static void
explain_internal(const struct kept *k)
{
	struct ac_text rule = AC_TEXT_OF(96);

	ac_text_add_cleanf(k->text, "; most come from %s", k->site->key.caller);
	ac_text_add(&rule, " caller=\"");
	ac_text_add_bytes(&rule, k->site->key.caller,
	    strcspn(k->site->key.caller, "+"));
	ac_text_add(&rule, "\"");
	with_rule(k, rule.data);
}

/* The program's own words, which a line that names the region overrules. */
static void
explain_region(const struct kept *k)
{
	struct ac_text rule = AC_TEXT_OF(96);

	ac_text_add_cleanf(k->text, "; most are in region %s",
	    k->site->region.name);
	ac_text_addf(&rule, " region=%s", k->site->region.name);
	with_rule(k, rule.data);
}

static void
explain_capture(const struct kept *k)
{
	ac_text_addf(k->text, "; %s", AC_SAID(ac_site_add_capture, k->site));
	if (!ac_caller_is_xla(k->site->key.caller))
		return;
	ac_text_add(k->fix, "XLA_FLAGS=--xla_gpu_enable_command_buffer= ");
	ac_doctor_add_run(k->fix, k->facts, "");
}

static bool
has_handles(const struct ac_doctor_facts *facts)
{
	for (size_t i = 0; i < facts->process_count; i++)
		if (facts->processes[i].handles || !facts->processes[i].told)
			return true;
	return facts->process_count == 0;
}

static void
explain_unsupported(const struct kept *k)
{
	const struct ac_doctor_work *work = &k->facts->work;

	if (!*work->gpu && !has_handles(k->facts)) {
		ac_text_add(k->text, "; no cuBLAS handle was seen being "
		    "created, so its GPU is unknown: cublasCreate() passed by "
		    "us");
		ac_doctor_add_run(k->fix, k->facts, "-e 'set deepbind=on'");
	} else if (!*work->gpu) {
		ac_text_add(k->text, "; no GPU answered: there is no driver "
		    "(libcuda.so.1) or no device");
		if (k->facts->emulator && !k->facts->launch->emulate)
			ac_doctor_add_run(k->fix, k->facts, "--emulate");
		else
			ac_text_add(k->fix, "nvidia-smi");
	} else if (work->sm < OLDEST_SM) {
		ac_text_addf(k->text, "; %s (sm %d) is older than every recipe "
		    "(sm %d)", work->gpu, work->sm, OLDEST_SM);
		ac_text_add(k->fix, "nvidia-smi --query-gpu=name,compute_cap "
		    "--format=csv");
	} else if (k->site->key.operation == AC_OP_GEMM_LT
	    && ac_epilogue_objection(k->site->key.shape)) {
		ac_text_add(k->text, "; most of them have the ");
		ac_site_add_shape(k->text, k->site);
	} else if (work->sm == OLDEST_SM) {
		ac_text_addf(k->text, "; %s has FP16 only", work->gpu);
		ac_doctor_add_run(k->fix, k->facts, "--policy fp16");
	} else if (*k->site->source) {
		ac_text_addf(k->text, "; the rule is %s",
		    AC_SAID(ac_site_add_line, k->site));
	}
}

static const struct {
	enum ac_reason reason;
	void         (*special)(const struct kept *k);
	const char    *extra;      /* else this option; NULL: only to be read */
} answers[] = {
	{ AC_REASON_NO_RULE, explain_rule, NULL },
	{ AC_REASON_RULE, explain_rule, NULL },
	{ AC_REASON_TOO_SMALL, explain_too_small, NULL },
	{ AC_REASON_NO_PROFIT, explain_no_profit, NULL },
	{ AC_REASON_OPTED_OUT, explain_opted_out, NULL },
	{ AC_REASON_PEDANTIC, explain_opted_out, NULL },
	{ AC_REASON_SOLVER, explain_solver, NULL },
	{ AC_REASON_INTERNAL_CALLER, explain_internal, NULL },
	{ AC_REASON_UNSUPPORTED, explain_unsupported, NULL },
	{ AC_REASON_GUARD, NULL, "--ranges" },
	{ AC_REASON_CAPTURE, explain_capture, NULL },
	{ AC_REASON_WORKSPACE, NULL, "-e 'set workspace=1Gi'" },
	{ AC_REASON_OUT_OF_MEMORY, NULL, "-e 'set workspace=64Mi'" },
	{ AC_REASON_REGION, explain_region, NULL },
};

void
ac_doctor_explain_kept(const struct ac_doctor_facts *facts,
    enum ac_reason reason, struct ac_text *text, struct ac_text *fix)
{
	const struct ac_site_total *site = &facts->work.kept_most[reason];
	const struct kept kept = { facts, site, text, fix };

	ac_text_addf(text, "%s kept (%s): %s",
	    AC_COUNT(facts->work.kept[reason], "call"),
	    ac_reason_names[reason], ac_reason_meanings[reason]);
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		if (answers[i].reason != reason)
			continue;
		if (answers[i].special)
			answers[i].special(&kept);
		else
			ac_doctor_add_run(fix, facts, answers[i].extra);
	}
	if (!fix->used) {
		ac_quote(fix, facts->autocast);
		ac_text_addf(fix, " explain %08x", (unsigned)site->id);
	}
}
