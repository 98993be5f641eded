/* SPDX-License-Identifier: Apache-2.0 */
/* policy/calibration_save.c -- measured rates into their file. Only the autocast
 * program does this. */
#include "policy/calibration.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
ac_calibration_write(const struct ac_calibration *calibration,
    struct ac_text *text)
{
	const struct ac_measured_rate *rate;
	unsigned i;

	ac_text_addf(text, "# Measured by autocast calibrate.\nversion = 1\n"
	    "gpu = %s\nsm = %d\ndriver = %d\nlibrary = %s\ndate = %s\n",
	    calibration->gpu, calibration->sm, calibration->driver,
	    calibration->library, calibration->date);
	for (i = 0; i < AC_RATE_COUNT; i++) {
		rate = &calibration->rate[i];
		if (rate->samples == 0)
			continue;
		ac_text_addf(text, "%s = ", ac_rate_names[i]);
		ac_text_add_double(text, rate->value, 6);
		ac_text_addf(text, " of %u spread ", rate->samples);
		ac_text_add_double(text, rate->spread, 2);
		ac_text_add(text, "\n");
	}
}

/* Every directory of `path` below the first that is there. */
static bool
make_directories(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash != NULL;
	    slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST &&
		    access(path, F_OK) != 0)
			return false;
		*slash = '/';
	}
	return true;
}

static bool
write_all(int fd, const char *bytes, size_t count)
{
	ssize_t wrote;

	while (count > 0) {
		wrote = write(fd, bytes, count);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		bytes += wrote;
		count -= (size_t)wrote;
	}
	return fsync(fd) == 0;
}

/* Into a file beside it first: whoever reads sees all or nothing. */
static bool
replace(const char *path, const struct ac_text *text)
{
	char beside[1100];
	bool good;
	int fd;

	snprintf(beside, sizeof(beside), "%s.%d", path, (int)getpid());
	(void)unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	good = write_all(fd, text->data, text->used);
	good = close(fd) == 0 && good && rename(beside, path) == 0;
	if (!good)
		(void)unlink(beside);
	return good;
}

bool
ac_calibration_save(const struct ac_calibration *calibration,
    struct ac_text *path, struct ac_text *why)
{
	struct ac_calibration again;
	char buffer[2048];
	struct ac_text text;

	ac_text_init(&text, buffer, sizeof(buffer));
	ac_calibration_write(calibration, &text);
	if (!ac_calibration_read(text.data, text.used, &again, why))
		return false;
	if (!ac_calibration_path(calibration, path)) {
		ac_text_add(why, "there is no directory to keep it in");
		return false;
	}
	if (make_directories(path->data) && replace(path->data, &text))
		return true;
	ac_text_addf(why, "%s cannot be written", path->data);
	return false;
}
