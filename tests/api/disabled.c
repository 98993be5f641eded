/* SPDX-License-Identifier: Apache-2.0 */
/* tests/api/disabled.c -- every call, and every misuse, of a disabled scaler, a
 * line each: the answer and what was written. Without the library all must be
 * the same, but for what only the library can do. No GPU is needed. */
#include "autocast_scaler.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAY(call) printf("%s: %d\n", #call, (int)(call))

static autocast_scaler *scaler, *other;
static autocast_group *group, *others, *spare;
static struct CUstream_st *const stream = NULL;
static float data[4] = { 1, INFINITY, NAN, 4 };
static autocast_tensor tensor = { data, 4, AUTOCAST_F32, 0, "t" };
static int applied;

static int
apply(void *user)
{
	applied++;
	return *(const int *)user;
}

static int
reduce(float *flag, int device, struct CUstream_st *on, void *user)
{
	(void)flag;
	(void)device;
	(void)on;
	(void)user;
	puts("the hook was called");
	return 1;
}

static void
create(void)
{
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	autocast_scaler *unset = NULL;

	options.enabled = 0;
	options.growth = 0.5;
	options.backoff = NAN;
	options.interval = -1;
	options.hysteresis = -1;
	SAY(autocast_scaler_create(&options, &scaler));
	SAY(dlerror() == NULL);
	options.strict = 1;
	SAY(autocast_scaler_create(&options, &other));
	SAY(autocast_scaler_create(&options, NULL));
	options.size = 0;
	SAY(autocast_scaler_create(&options, &unset));
	SAY(unset == NULL);
	SAY(scaler != NULL && other != NULL && scaler != other);
	SAY(autocast_scaler_prepare(NULL, 0, stream));
	SAY(autocast_group_create(scaler, "g", &group));
	SAY(autocast_group_create(scaler, NULL, &spare));
	SAY(autocast_group_create(other, "o", &others));
	SAY(group != spare && group != others);
	SAY(autocast_group_create(NULL, "g", &group));
	SAY(autocast_group_create(scaler, "g", NULL));
	autocast_group_destroy(spare);
	autocast_group_destroy(NULL);
	SAY(autocast_group_create(scaler, "again", &spare));
}

static void
scale(void)
{
	const float *first = data, *second = data;

	SAY(autocast_scaler_scale(scaler, &tensor, 1, stream));
	SAY(autocast_scaler_scale(scaler, NULL, 0, stream));
	SAY(autocast_scaler_scale(scaler, NULL, 1, stream));
	SAY(autocast_scaler_scale(NULL, &tensor, 1, stream));
	SAY(data[0] == 1 && isinf(data[1]) && isnan(data[2]) && data[3] == 4);
	SAY(autocast_scaler_pointers(scaler, 0, &first, &second));
	SAY(first == NULL && second == NULL);
	SAY(autocast_scaler_pointers(NULL, 0, &first, &second));
	SAY(autocast_scaler_pointers(scaler, 0, NULL, &second));
	SAY(autocast_scaler_pointers(scaler, 0, &first, NULL));
	SAY(autocast_group_set_gradients(group, &tensor, 1));
	SAY(autocast_group_set_gradients(others, NULL, 0));
	SAY(autocast_group_set_gradients(group, NULL, 1));
	SAY(autocast_group_set_gradients(NULL, &tensor, 1));
	first = second = data;
	SAY(autocast_group_pointers(group, 0, &first, &second));
	SAY(first == NULL && second == NULL);
	SAY(autocast_group_pointers(NULL, 0, &first, &second));
	SAY(autocast_group_pointers(group, 0, NULL, &second));
	SAY(autocast_group_pointers(group, 0, &first, NULL));
}

static void
unscale(void)
{
	SAY(autocast_scaler_unscale(scaler, group, stream));
	SAY(autocast_scaler_unscale(scaler, group, stream));
	SAY(autocast_scaler_unscale(scaler, others, stream));
	SAY(autocast_scaler_unscale(NULL, group, stream));
	SAY(autocast_scaler_unscale(scaler, NULL, stream));
	SAY(autocast_group_norm(NULL, 2, data, stream));
	SAY(autocast_group_clip(NULL, 1, NULL, stream));
	SAY(data[0] == 1 && isinf(data[1]) && isnan(data[2]) && data[3] == 4);
}

static void
step(void)
{
	int good = 0, bad = 7, stepped = -1;

	SAY(autocast_scaler_step(scaler, group, apply, &good, &stepped,
	    stream));
	SAY(stepped);
	stepped = -1;
	SAY(autocast_scaler_step(scaler, group, apply, &good, NULL, stream));
	SAY(autocast_scaler_step(scaler, group, NULL, NULL, &stepped, stream));
	SAY(autocast_scaler_step(scaler, group, apply, &bad, NULL, stream));
	SAY(autocast_scaler_step(scaler, group, apply, &bad, &stepped, stream));
	SAY(stepped);
	SAY(autocast_scaler_step(scaler, others, apply, &good, NULL, stream));
	SAY(autocast_scaler_step(scaler, NULL, apply, &good, NULL, stream));
	SAY(autocast_scaler_step(NULL, group, apply, &good, NULL, stream));
	SAY(applied);
	SAY(autocast_scaler_step_async(scaler, group, stream));
	SAY(autocast_scaler_step_async(scaler, others, stream));
	SAY(autocast_scaler_step_async(scaler, NULL, stream));
	SAY(autocast_scaler_step_async(NULL, group, stream));
	SAY(autocast_scaler_update(scaler, stream));
	SAY(autocast_scaler_update(scaler, stream));
	SAY(autocast_scaler_update(NULL, stream));
	SAY(autocast_scaler_update_to(scaler, 4, stream));
	SAY(autocast_scaler_update_to(other, NAN, stream));
	SAY(autocast_scaler_update_to(NULL, 4, stream));
	SAY(autocast_scaler_set_reduce(scaler, reduce, NULL));
	SAY(autocast_scaler_unscale(scaler, group, stream));
	SAY(autocast_scaler_set_reduce(scaler, NULL, NULL));
	SAY(autocast_scaler_set_reduce(NULL, reduce, NULL));
}

static void
count(void)
{
	autocast_scaler_counters all, some;

	memset(&all, 0xff, sizeof(all));
	all.size = sizeof(all);
	SAY(autocast_scaler_get_counters(scaler, &all));
	printf("%zu %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64 " %g %g\n", all.size, all.updates, all.overflows,
	    all.growths, all.backoffs, all.clamps, all.last_overflow,
	    all.min_scale, all.max_scale);
	printf("%" PRIu64 " %" PRIu64 "\n", all.steps, all.skips);
	memset(&some, 0xff, sizeof(some));
	some.size = offsetof(autocast_scaler_counters, overflows);
	SAY(autocast_scaler_get_counters(scaler, &some));
	printf("%zu %" PRIu64 " %" PRIx64 "\n", some.size, some.updates,
	    some.overflows);
	some.size = 0;
	SAY(autocast_scaler_get_counters(scaler, &some));
	SAY(autocast_scaler_get_counters(scaler, NULL));
	all.size = sizeof(all);
	SAY(autocast_scaler_get_counters(NULL, &all));
}

static void
get_and_set(void)
{
	double number = -1;
	int64_t interval = -1;
	int32_t tracker = -1;

	SAY(autocast_scaler_get(scaler, &number, &tracker));
	SAY(number == 1 && tracker == 0);
	SAY(autocast_scaler_get(scaler, NULL, NULL));
	SAY(autocast_scaler_get(NULL, &number, &tracker));
	SAY(autocast_scaler_set_growth(scaler, 0));
	SAY(autocast_scaler_set_backoff(scaler, NAN));
	SAY(autocast_scaler_set_interval(other, -1));
	SAY(autocast_scaler_set_growth(NULL, 2));
	SAY(autocast_scaler_set_backoff(NULL, 0.5));
	SAY(autocast_scaler_set_interval(NULL, 1));
	SAY(autocast_scaler_get_growth(scaler, &number));
	SAY(autocast_scaler_get_backoff(scaler, &number));
	SAY(autocast_scaler_get_interval(scaler, &interval));
	SAY(number == 1 && interval == -1);
	SAY(autocast_scaler_get_growth(NULL, &number));
	SAY(autocast_scaler_get_backoff(NULL, &number));
	SAY(autocast_scaler_get_interval(NULL, &interval));
	SAY(autocast_scaler_get_growth(scaler, NULL));
}

static void
save_and_load(void)
{
	char text[4096];
	size_t size = sizeof(text);

	SAY(autocast_scaler_save(scaler, text, &size));
	SAY(size);
	size = 99;
	SAY(autocast_scaler_save(scaler, NULL, &size));
	SAY(size);
	SAY(autocast_scaler_save(scaler, text, NULL));
	SAY(autocast_scaler_save(NULL, text, &size));
	SAY(autocast_scaler_load(scaler, "no such state", 13));
	SAY(autocast_scaler_load(scaler, "", 0));
	SAY(autocast_scaler_load(scaler, NULL, 0));
	SAY(autocast_scaler_load(scaler, NULL, 1));
	SAY(autocast_scaler_load(NULL, "", 0));
}

int
main(void)
{
	create();
	scale();
	unscale();
	step();
	count();
	get_and_set();
	save_and_load();
	printf("computes: norm %d, clip %d, axpy %d; last error '%s'\n",
	    (int)autocast_group_norm(group, 2, data, stream),
	    (int)autocast_group_clip(group, 1, NULL, stream),
	    (int)autocast_scaler_axpy(scaler, group, 1, NULL, &tensor, &tensor,
	    stream), autocast_last_error());
	autocast_group_destroy(others);
	autocast_scaler_destroy(scaler);
	autocast_scaler_destroy(other);
	autocast_scaler_destroy(NULL);
	SAY(autocast_status_string(AUTOCAST_E_ABSENT)
	    != autocast_status_string((autocast_status)9999));
	puts(autocast_status_string(AUTOCAST_E_ABSENT));
	puts(autocast_status_string((autocast_status)-1));
	return 0;
}
