/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_machine.c -- `autocast doctor` alone: whether this machine
 * has what a run needs, before there is a program. */
#include "cmd/doctor/doctor.h"
#include "cmd/gpu/gpu.h"

#include <string.h>

enum { OLDEST_SM = 75, CUDNN_9 = 90000 };

/* Findings in the order of asking; the first problem's command is the one to
 * type. */
struct checkup {
	struct ac_doctor_findings *findings;
	const char *autocast;
};

static struct ac_text
begin(const struct checkup *c, const char *cause, enum ac_doctor_mark mark)
{
	struct ac_doctor_finding *finding =
	    &c->findings->found[c->findings->count++];

	finding->cause = cause;
	finding->mark = mark;
	if (mark == AC_DOCTOR_PROBLEM)
		c->findings->status = AC_DOCTOR_UNREACHED;
	return AC_TEXT_IN(finding->text);
}

/* The command `words`, with our own name before it if they are ours. */
static void
fix(const struct checkup *c, bool is_ours, const char *words)
{
	struct ac_text text;

	if (*c->findings->fix)
		return;
	ac_text_init(&text, c->findings->fix, sizeof c->findings->fix);
	if (is_ours)
		ac_quotef(&text, "%s ", c->autocast);
	ac_text_add(&text, words);
}

/* ---- What is ours ------------------------------------------------------ */

static void
check_library(const struct checkup *c)
{
	const char *library = ac_where_library();
	const bool is_listed = library && !strpbrk(library, ": \t\n");
	struct ac_text text = begin(c, "library",
	    is_listed ? AC_DOCTOR_OK : AC_DOCTOR_PROBLEM);

	if (!library)
		ac_text_add(&text, "libautocast.so is not where it was "
		    "installed; install autocast again");
	else
		ac_text_add_cleanf(&text, is_listed ? "%s is what is preloaded"
		    : "%s cannot be preloaded: its path holds a space or a "
		    "colon; install autocast elsewhere", library);
	if (!is_listed)
		fix(c, true, "policy where --library");
}

static void
check_policy(const struct checkup *c, const struct ac_chosen *chosen)
{
	struct ac_policy_origin origin;
	struct ac_policy *policy = ac_chosen_load(chosen, &origin);
	struct ac_text text = begin(c, "policy",
	    policy ? AC_DOCTOR_OK : AC_DOCTOR_PROBLEM);

	ac_text_add_cleanf(&text, policy ? "policy %s (%s)" : "policy %s (%s): "
	    "it has errors, so that nothing is recast", origin.name,
	    origin.why);
	if (!policy)
		fix(c, true, "policy where");
	ac_policy_destroy(policy);
}

static void
check_state(const struct checkup *c, struct ac_launch *launch)
{
	const bool is_kept = ac_launch_begin(launch) && !*launch->unkept;
	struct ac_text text = begin(c, "state",
	    is_kept ? AC_DOCTOR_OK : AC_DOCTOR_NOTE);

	ac_text_add_cleanf(&text, is_kept ? "statistics of runs go to %s"
	    : "no run is kept for \"autocast report\": %s", is_kept
	    ? launch->state : launch->unkept);
}

/* ---- What is NVIDIA's -------------------------------------------------- */

static void
check_cudnn(const struct checkup *c, const char *folder)
{
	const size_t version = ac_gpu_cudnn_version(folder);
	const size_t unit = version < CUDNN_9 ? 1000 : 10000;
	struct ac_text text = begin(c, "libcudnn",
	    version ? AC_DOCTOR_OK : AC_DOCTOR_NOTE);

	if (version)
		ac_text_addf(&text, "cudnn-%zu.%zu, found by the loader",
		    version / unit, version % unit / 100);
	else
		ac_text_add(&text, "the loader finds no cuDNN: programs with "
		    "convolutions have to bring one");
}

/* A machine with a driver and a GPU, but no cuBLAS, has programs that bring
 * it. */
static void
check_gpu(const struct checkup *c, const char *folder)
{
	struct ac_gpu gpu;
	const bool is_open = ac_gpu_open(&gpu, 0, folder);
	const bool is_met = *gpu.name != '\0';
	const bool is_old = is_met && gpu.sm < OLDEST_SM;
	struct ac_text text = begin(c, "gpu", is_met && !is_old ? AC_DOCTOR_OK
	    : AC_DOCTOR_PROBLEM);

	if (is_met)
		ac_text_add_cleanf(&text, "%s, sm_%d, driver for CUDA %d.%d",
		    gpu.name, gpu.sm, gpu.driver / 1000,
		    gpu.driver % 1000 / 10);
	else
		ac_text_add_clean(&text, gpu.why);
	if (is_old)
		ac_text_addf(&text, ": older than every recipe (sm_%d)",
		    OLDEST_SM);
	if (!is_met && !folder && ac_where_emulator())
		fix(c, true, "doctor --emulate");
	else if (!is_met || is_old)
		fix(c, false, "nvidia-smi");
	if (is_met) {
		text = begin(c, "libcublas", is_open ? AC_DOCTOR_OK
		    : AC_DOCTOR_NOTE);
		ac_text_add_cleanf(&text, is_open ? "%s, found by the loader"
		    : "%s", is_open ? gpu.library : gpu.why);
	}
	ac_gpu_close(&gpu);
}

/* ---- All of it --------------------------------------------------------- */

int
ac_doctor_check_machine(struct ac_launch *launch, const char *autocast,
    bool json)
{
	static struct ac_doctor_findings findings;
	const struct checkup c = { &findings, autocast };
	const char *folder;

	if (ac_launch_check_model(launch, "doctor") ||
	    ac_launch_emulator(launch, &folder))
		return AC_DOCTOR_UNKNOWN;
	check_library(&c);
	check_policy(&c, &launch->chosen);
	check_state(&c, launch);
	check_gpu(&c, folder); /* changes the environment */
	check_cudnn(&c, folder);
	fix(&c, true, launch->emulate ? "run --emulate ./your-program"
	    : "run ./your-program");
	ac_doctor_print(&findings, json);
	return ac_say_done() ? AC_DOCTOR_UNKNOWN : findings.status;
}
