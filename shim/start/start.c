/* SPDX-License-Identifier: Apache-2.0 */
/* shim/start/start.c -- load the policy, open the statistics, give the
 * notice. */
#include "shim/start/start.h"

#include "api/scaled.h"
#include "base/elf.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/rank.h"
#include "base/text.h"
#include "report/report.h"
#include "shim/start/nvtx.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { DIAGNOSTIC_BYTES = 16 << 10, NOTES_BYTES = 2 << 10 };

_Atomic(const struct ac_shim *) ac_shim_started;
static _Atomic uint64_t deepbind_opens;
_Atomic bool ac_shim_notice_due, ac_shim_ranges;

static void
name_program(char *name, size_t size)
{
	const char *path = ac_elf_program(), *base = strrchr(path, '/');
	struct ac_text text;

	ac_text_init(&text, name, size);
	ac_text_add(&text, base ? base + 1 : path);
}

/* A policy with errors never stops the program: recasting is off and the
 * errors are shown, unless the user asked for strictness. */
static const struct ac_policy *
refuse_policy(struct ac_shim *shim, const char *diagnostics)
{
	static const char why[] = "the policy has errors: recasting is off";
	const char *text = ac_policy_profile_text("off");
	struct ac_policy_problems ignored = { 0 };

	ac_log_text(diagnostics);
	if (!ac_env_is_off(AC_ENV_STRICT)) {
		ac_log(AC_LOG_ERROR, "the policy has errors and "
		    "AUTOCAST_STRICT=1: exiting with status 2");
		_exit(2);
	}
	ac_log(AC_LOG_ERROR, "%s; \"autocast policy show\" shows them again",
	    why);
	memcpy(shim->origin.why, why, sizeof why);
	return ac_policy_parse(NULL, text, strlen(text), "off", &ignored);
}

static struct ac_lock lock;
static struct ac_shim state; /* touched under the lock until it is published */

static void
load_policy(struct ac_shim *shim)
{
	static char diagnostics[DIAGNOSTIC_BYTES];
	struct ac_text text;
	struct ac_policy_problems problems = { .text = &text };

	if (shim->policy)
		return;
	ac_text_init(&text, diagnostics, sizeof diagnostics);
	shim->policy = ac_policy_load(NULL, NULL, &problems,
	    &shim->origin);
	if (!shim->policy)
		shim->policy = refuse_policy(shim, diagnostics);
	else if (problems.warnings)
		ac_log(AC_LOG_INFO, "the policy has %u warnings; "
		    "\"autocast policy show\" shows them", problems.warnings);
}

const char *
ac_shim_foreign_dlsym(void)
{
	const char *path = ac_elf_definer_before_us("dlsym");

	return path && *path ? path : NULL; /* a program may define anything */
}

static void
note_scaled(const struct ac_scaled *now)
{
	const struct ac_scaled_total total = {
		now->scalers, now->steps, now->skips, now->updates,
		now->overflows, now->rises, now->falls, now->scale,
		now->is_behind
	};

	ac_report_scaled(&total);
}

static void
open_statistics(const struct ac_shim *shim)
{
	static char notes[NOTES_BYTES];
	const char *foreign = ac_shim_foreign_dlsym();
	struct ac_text text = AC_TEXT_IN(notes);

	if (foreign)
		ac_text_addf(&text, "%s comes before libautocast and has a "
		    "dlsym() of its own: look-ups may pass libautocast by; put "
		    "it first in LD_PRELOAD\n", foreign);
	ac_report_open(&shim->origin, notes);
	ac_scaled_listen(note_scaled);
}

const struct ac_policy *
ac_shim_policy(void)
{
	const int saved = errno;

	ac_lock_take(&lock);
	load_policy(&state);
	ac_lock_give(&lock);
	errno = saved;
	return state.policy;
}

/* The statistics are open. */
static void
report_deepbind(void)
{
	static _Atomic uint64_t reported;
	struct ac_marker_record *record;

	if (atomic_load(&reported) >= atomic_load(&deepbind_opens))
		return;
	record = ac_report_marker(ac_policy_strips_deepbind(ac_shim_policy())
	    ? "dlopen(RTLD_DEEPBIND dropped)" : "dlopen(RTLD_DEEPBIND)");
	while (atomic_fetch_add(&reported, 1) < atomic_load(&deepbind_opens))
		ac_report_count_marker(record);
	atomic_fetch_sub(&reported, 1); /* the one that was too many */
}

void
ac_shim_count_deepbind(void)
{
	atomic_fetch_add(&deepbind_opens, 1);
	/* A process that calls nothing of NVIDIA's leaves no statistics. */
	if (ac_shim_is_started())
		report_deepbind();
}

uint64_t
ac_shim_deepbind_opens(void)
{
	return atomic_load(&deepbind_opens);
}

static bool
is_on(enum ac_env_name name)
{
	return ac_env_is_set(name) && strcmp(ac_env(name), "0") != 0;
}

const struct ac_shim *
ac_shim_start(void)
{
	const int saved = errno;
	struct ac_rank rank;
	bool is_first = false;

	ac_lock_take(&lock);
	if (!atomic_load_explicit(&ac_shim_started, memory_order_relaxed)) {
		name_program(state.program, sizeof state.program);
		load_policy(&state);
		ac_rank_read(&rank);
		state.rank = rank.rank;
		/* `autocast run` has said it, and one rank is enough. */
		if (!ac_env_is_set(AC_ENV_RUN) && rank.rank <= 0)
			ac_env_warn();
		state.environment_opted_out =
		    !strcmp(ac_env(AC_ENV_TF32_OVERRIDE), "0");
		state.wants_emulated = is_on(AC_ENV_EMULATE_FP32);
		state.wants_batch_invariance = is_on(AC_ENV_BATCH_INVARIANCE);
		ac_shim_notice_due = !ac_env_is_off(AC_ENV_NOTICE)
		    && (!state.origin.chosen || ac_log_to_terminal());
		ac_shim_ranges = !strcmp(ac_env(AC_ENV_RANGES), "on");
		ac_nvtx_wanted = ac_env_is_set(AC_ENV_NVTX);
		open_statistics(&state);
		atomic_store_explicit(&ac_shim_started, &state,
		    memory_order_release);
		is_first = true;
	}
	ac_lock_give(&lock);
	if (is_first)
		report_deepbind();
	errno = saved;
	return &state;
}

void
ac_shim_give_notice(const struct ac_decision *decision, enum ac_rung rung)
{
	static const char *const guards[] = { "off", "on", "strict" };
	char line[320], tolerance[16];
	struct ac_text text;

	if (!atomic_exchange(&ac_shim_notice_due, false)
	    || !ac_report_claim_notice())
		return;
	ac_text_init(&text, tolerance, sizeof tolerance);
	ac_text_add_double(&text, decision->tol, 2);
	ac_text_init(&text, line, sizeof line);
	ac_text_addf(&text, "autocast: recasting FP32 GEMM/conv to %s (policy "
	    "%s, tol %s, guard %s); %s, AUTOCAST_POLICY=off stops it\n",
	    ac_rung_names[rung], ac_shim_get()->origin.name, tolerance,
	    guards[decision->guard], ac_report_is_kept()
	    ? "\"autocast report\" shows what"
	    : "no statistics are kept (set AUTOCAST_STATE to a directory)");
	ac_log_text(line);
}
