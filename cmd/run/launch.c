/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/launch.c -- checks what a command line asks of a run and carries it
 * out. Everything that can be refused is refused before the program starts. */
#include "cmd/run/launch.h"
#include "base/env.h"
#include "report/count/stamp.h"

#include <stdlib.h>
#include <string.h>

/* ---- Before the program starts ----------------------------------------- */

bool
ac_launch_take(struct ac_launch *launch, int option, const char *value)
{
	switch (option) {
	case 'e':
		ac_chosen_add_rule(&launch->chosen, value);
		return true;
	case AC_OPTION_POLICY:
		launch->chosen.policy = value;
		return true;
	case AC_LAUNCH_EMULATE:
		launch->emulate = true;
		launch->model = value;
		return true;
	default:
		return false;
	}
}

/* A model, or several with commas between them: one emulated GPU each. */
int
ac_launch_check_model(const struct ac_launch *launch, const char *verb)
{
	const char *at = !launch->emulate ? NULL : launch->model
	    ? launch->model : ac_env(AC_ENV_EMU_MODEL);

	while (at) {
		const size_t length = strcspn(at, ",");

		if (!ac_program_is_model(at, length))
			return ac_say(AC_EXIT_USAGE, "%s: no emulated GPU "
			    "'%.*s'; use --emulate=" AC_EMULATED_MODELS, verb,
			    (int)length, at);
		at = at[length] ? at + length + 1 : NULL;
	}
	return 0;
}

static int
refuse_emulation(void)
{
	return ac_say(AC_EXIT_FAILED, "the emulated GPU is not installed; "
	    "install autocast-emulator, or build with OpenBLAS");
}

int
ac_launch_emulator(const struct ac_launch *launch, const char **folder_out)
{
	*folder_out = launch->emulate ? ac_where_emulator() : NULL;
	if (launch->emulate && launch->model)
		setenv(ac_env_rows[AC_ENV_EMU_MODEL].variable, launch->model,
		    1);
	return launch->emulate && !*folder_out ? refuse_emulation() : 0;
}

int
ac_launch_find(const struct ac_launch *launch, const char *name,
    struct ac_program *program_out)
{
	const struct ac_elf_facts *facts = &program_out->facts;
	const int status = ac_program_find(name, program_out);

	if (status)
		return status;
	if (launch->emulate && facts->has_static_cudart)
		return ac_say(AC_EXIT_CANNOT_RUN, "%s has the CUDA runtime "
		    "linked in, which the emulated GPU cannot replace; "
		    "rebuild with -cudart shared", program_out->image);
	if (launch->emulate && facts->has_static_cublas)
		return ac_say(AC_EXIT_CANNOT_RUN, "%s has cuBLAS linked in, "
		    "which the emulated GPU cannot replace; rebuild with "
		    "-lcublas instead of -lcublas_static", program_out->image);
	return 0;
}

/* Whether the policy's seed and update lines, if it has any for this program,
 * were validated for some program: which one will run them is known only to the
 * library. */
static bool
is_validated(const struct ac_policy *policy, const char *program)
{
	static char lines[AC_STAMP_LINES];
	struct ac_text text = AC_TEXT_IN(lines);

	ac_policy_print_scaling(policy, &text);
	return !ac_policy_may_scale(policy, basename(program))
	    || ac_stamp_is_any(ac_stamp_of_lines(lines));
}

/* Refuse a policy that the library would refuse later. */
static int
check_policy(const struct ac_launch *launch, const char *verb,
    const char *program)
{
	struct ac_policy_origin origin;
	struct ac_policy *policy = ac_chosen_load(&launch->chosen, &origin);
	bool validated;

	if (!policy)
		return ac_say(AC_EXIT_USAGE, "%s: the policy has errors; "
		    "nothing was started", verb);
	validated = is_validated(policy, program);
	ac_policy_destroy(policy);
	if (!validated)
		return ac_say(AC_EXIT_USAGE, "%s: the policy's seed and update "
		    "lines would do nothing: 'autocast policy validate', with "
		    "this policy and the program, comes first; nothing was "
		    "started",
		    verb);
	return 0;
}

int
ac_launch_check(const struct ac_launch *launch, const char *verb,
    const char *name, struct ac_program *program_out)
{
	int status = ac_launch_check_model(launch, verb);

	if (!status)
		status = check_policy(launch, verb, name);
	return status ? status : ac_launch_find(launch, name, program_out);
}

/* What no other program takes: --emulate, --policy PROFILE, -e RULE. */
static bool
is_ours(char *const *word)
{
	return !strcmp(*word, "--emulate") ||
	    !strncmp(*word, "--emulate=", 10) ||
	    (!strcmp(*word, "--policy") && word[1] &&
	    ac_policy_profile_text(word[1])) ||
	    (!strcmp(*word, "-e") && word[1] && strstr(word[1], "->"));
}

void
ac_launch_warn(char **words)
{
	for (char **word = words + 1; *words && *word; word++) {
		/* A launcher's own `autocast run` takes what follows. */
		if (!strcmp(*word, "run"))
			return;
		if (!is_ours(word))
			continue;
		(void)ac_say(0, "'%s' stands behind the program and is left to "
		    "it; autocast's own options stand before %s", *word,
		    *words);
		return;
	}
}

/* ---- The run ----------------------------------------------------------- */

static char *
policy_for_child(const struct ac_launch *launch)
{
	if (launch->chosen.policy)
		return ac_chosen_absolute(launch->chosen.policy);
	if (ac_env_is_set(AC_ENV_POLICY))
		return ac_chosen_absolute(ac_env(AC_ENV_POLICY));
	return NULL;
}

static int
run(const struct ac_child *child, int *status_out)
{
	const struct ac_launch *launch = child->launch;

	if (!launch->plain && !child->library)
		return ac_say(AC_EXIT_FAILED, "libautocast.so is not where it "
		    "was installed; install autocast again");
	if (launch->emulate && !child->emulator)
		return refuse_emulation();
	if (!ac_child_prepare(child))
		return AC_EXIT_FAILED;
	if (launch->emulate)
		ac_child_note_refusals();
	return ac_child_run(child, status_out);
}

int
ac_launch_run(const struct ac_launch *launch, const struct ac_program *program,
    char **arguments, int *status_out)
{
	char *policy = policy_for_child(launch);
	const struct ac_child child = {
		.launch = launch, .program = program, .arguments = arguments,
		.library = launch->plain ? NULL : ac_where_library(),
		.emulator = launch->emulate ? ac_where_emulator() : NULL,
		.policy = policy
	};
	const int status = run(&child, status_out);

	free(policy);
	return status;
}
