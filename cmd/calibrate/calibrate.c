/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/calibrate/calibrate.c -- autocast calibrate: measures what this
 * GPU can do, and keeps it for the policy's estimates. Refuses measurements
 * that would mislead them. */
#include "cmd/calibrate/calibrate.h"
#include "cmd/run/launch.h"
#include "report/read/read.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { OPT_DEVICE = AC_LAUNCH_OWN, OPT_DRY_RUN };
enum { EXIT_NOT_MEASURED = 1, MOST_DEVICES = 64 };

/* A spread beyond the first is reported, one beyond the second is not kept: the
 * GPU is busy with other work, or its clock changes. */
static const double unsteady = 0.05, useless = 0.25;

/* How a rate is printed. */
static const struct {
	double      size;
	const char *unit;
} units[AC_RATE_COUNT] = {
	[AC_RATE_FP32] = { 1e12, "TFLOP/s" },
	[AC_RATE_TF32] = { 1e12, "TFLOP/s" },
	[AC_RATE_FP16] = { 1e12, "TFLOP/s" },
	[AC_RATE_BF16] = { 1e12, "TFLOP/s" },
	[AC_RATE_BANDWIDTH] = { 1e12, "TB/s" },
	[AC_RATE_LAUNCH] = { 1e-6, "us" },
	[AC_RATE_HOST_LAUNCH] = { 1e-6, "us" },
};

struct calibrate {
	struct ac_launch launch;          /* --emulate */
	int  device;
	bool dry_run;
};

static const struct ac_rates *built_in; /* for print_rate() */

/* ---- Telling ----------------------------------------------------------- */

static void
print_rate(enum ac_rate which, const struct ac_measured_rate *rate)
{
	struct ac_rates rates;
	struct ac_text t = AC_TEXT_OF(256);

	ac_text_add(&t, ac_rate_names[which]);
	ac_text_pad(&t, 13);
	ac_text_addf(&t, "%s %s", AC_DOUBLE(rate->value / units[which].size,
	    4), units[which].unit);
	ac_text_pad(&t, 29);
	ac_text_addf(&t, "+- %s %% of %u", AC_DOUBLE(100 * rate->spread, 2),
	    rate->samples);
	if (built_in) {
		rates = *built_in;
		ac_text_pad(&t, 47);
		ac_text_addf(&t, "built in: %s", AC_DOUBLE(
		    *ac_rate_of(&rates, which) / units[which].size, 4));
	}
	puts(t.data);
}

/* Whose numbers stand next to ours. */
static void
say_built_in(void)
{
	struct ac_text t = AC_TEXT_OF(512);

	if (!built_in)
		return;
	ac_text_addf(&t, "measured here; what is built in is %s, ",
	    built_in->name);
	ac_rates_add_source(built_in, &t);
	puts(t.data);
}

/* The host's time may spread: other programs may run. */
static int
check_spread(const struct ac_calibration *calibration)
{
	for (enum ac_rate i = 0; i < AC_RATE_COUNT; i++) {
		const struct ac_measured_rate *rate = &calibration->rate[i];

		if (!rate->samples || i == AC_RATE_HOST_LAUNCH)
			continue;
		if (!(rate->spread <= useless))
			return ac_say(EXIT_NOT_MEASURED, "calibrate: %s moves "
			    "too much from sample to sample; nothing is kept. "
			    "Is the GPU busy?", ac_rate_names[i]);
		if (rate->spread > unsteady)
			(void)ac_say(0, "calibrate: %s moves from sample to "
			    "sample; better measure while the GPU is idle",
			    ac_rate_names[i]);
	}
	return 0;
}

static int
keep(const struct ac_calibration *calibration)
{
	const int status = check_spread(calibration);
	struct ac_text path = AC_TEXT_OF(PATH_MAX);
	struct ac_text why = AC_TEXT_OF(512);

	if (status)
		return status;
	if (!ac_calibration_save(calibration, &path, &why))
		return ac_say(EXIT_NOT_MEASURED, "calibrate: nothing is kept: "
		    "%s", why.data);
	printf("kept in %s\n", path.data);
	return ac_say_done();
}

/* ---- Measuring --------------------------------------------------------- */

static void
name_machine(const struct ac_gpu *gpu, struct ac_calibration *calibration)
{
	const time_t now = time(NULL);
	struct tm utc;

	snprintf(calibration->gpu, sizeof calibration->gpu, "%s", gpu->name);
	snprintf(calibration->library, sizeof calibration->library, "%s",
	    gpu->library);
	calibration->sm = gpu->sm;
	calibration->driver = gpu->driver;
	if (!gmtime_r(&now, &utc) || !strftime(calibration->date,
	    sizeof calibration->date, "%Y-%m-%d", &utc))
		*calibration->date = '\0';
}

/* Before seconds are spent on numbers that would not be kept. */
static int
check(const struct calibrate *c, const struct ac_gpu *gpu,
    const struct ac_calibration *calibration)
{
	struct ac_text path = AC_TEXT_OF(PATH_MAX);

	if (c->dry_run)
		return 0;
	if (gpu->is_emulated)
		return ac_say(EXIT_NOT_MEASURED, "calibrate: an emulated GPU "
		    "cannot be measured; --dry-run prints the numbers without "
		    "keeping them");
	if (!ac_calibration_path(calibration, &path))
		return ac_say(EXIT_NOT_MEASURED, "calibrate: there is no "
		    "directory to keep the rates in; set AUTOCAST_STATE, or "
		    "try --dry-run");
	return 0;
}

static int
measure(const struct calibrate *c, struct ac_gpu *gpu)
{
	struct ac_calibration calibration = { .sm = 0 };
	int status;

	name_machine(gpu, &calibration);
	status = check(c, gpu, &calibration);
	if (status)
		return status;
	built_in = ac_rates_find(gpu->name, gpu->sm);
	printf("%s, sm %d, driver %d.%d, %s\n", gpu->name, gpu->sm,
	    gpu->driver / 1000, gpu->driver / 10 % 100, gpu->library);
	if (!ac_calibrate_measure(gpu, &calibration, print_rate))
		return ac_say(EXIT_NOT_MEASURED, "calibrate: %s", gpu->why);
	say_built_in();
	if (!c->dry_run)
		return keep(&calibration);
	puts(gpu->is_emulated ? "emulated: these are no GPU's times; nothing "
	    "is kept" : "nothing is kept");
	return ac_say_done();
}

static int
carry_out(const struct calibrate *c)
{
	static struct ac_gpu gpu;
	const char *folder;
	int status = ac_launch_emulator(&c->launch, &folder);

	if (status)
		return status;
	status = ac_gpu_open(&gpu, c->device, folder) ? measure(c, &gpu)
	    : ac_say(EXIT_NOT_MEASURED, "calibrate: %s", gpu.why);
	ac_gpu_close(&gpu);
	return status;
}

/* ---- The verb ---------------------------------------------------------- */

static int
take_device(struct calibrate *c, const char *typed)
{
	c->device = (int)ac_arguments_whole(typed, 0, MOST_DEVICES - 1);
	if (c->device < 0)
		return ac_say(AC_EXIT_USAGE, "calibrate: --device %s: which "
		    "GPU? 0 is the first", typed);
	return 0;
}

static int
run(const struct ac_command *self, char **arguments)
{
	struct ac_arguments a = { .command = self, .next = arguments };
	static struct calibrate c;
	int option, status = 0;

	while (!status) {
		switch (option = ac_arguments_next(&a)) {
		case OPT_DEVICE:
			status = take_device(&c, a.value);
			break;
		case OPT_DRY_RUN:
			c.dry_run = true;
			break;
		case AC_ARGUMENT_OPERAND:
			return ac_say(AC_EXIT_USAGE, "calibrate: unexpected "
			    "'%s'; 'autocast calibrate' takes no operands",
			    a.value);
		case AC_ARGUMENT_END:
			status = ac_launch_check_model(&c.launch, self->name);
			return status ? status : carry_out(&c);
		default:
			if (!ac_launch_take(&c.launch, option, a.value))
				return a.status;
		}
	}
	return status;
}

const struct ac_command ac_command_calibrate = {
	.name = "calibrate",
	.operands = "",
	.summary = "Measure what this GPU can do, for the policy's "
	    "estimates.",
	.details = "Takes up to half a minute; the GPU should have nothing "
	    "else to do. The exit status\nis 1 when nothing could be "
	    "measured.\n",
	.options = {
		{ OPT_DEVICE, "device", "N", "the N-th GPU, from 0 (default)" },
		{ OPT_DRY_RUN, "dry-run", NULL,
		    "print what is measured, keep nothing" },
		{ AC_LAUNCH_EMULATE, "emulate", "[=MODEL]",
		    "an emulated GPU, to try this out; with --dry-run only" },
	},
	.run = run
};
