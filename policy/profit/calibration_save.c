/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profit/calibration_save.c -- measured rates into their file, and files
 * looked for without a GPU. Only the autocast program does this. */
#include "policy/profit/calibration.h"

#include "base/text.h"
#include "policy/language/parse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
ac_calibration_write(const struct ac_calibration *calibration,
    struct ac_text *text)
{
	const struct ac_measured_rate *rate;

	ac_text_addf(text, "# Measured by autocast calibrate.\nversion = 1\n"
	    "gpu = %s\nsm = %d\ndriver = %d\nlibrary = %s\ndate = %s\n",
	    calibration->gpu, calibration->sm, calibration->driver,
	    calibration->library, calibration->date);
	for (unsigned i = 0; i < AC_RATE_COUNT; i++) {
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
	for (char *slash = strchr(path + 1, '/'); slash != NULL;
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

/* Written to a second file first: a reader sees all or nothing. */
static bool
replace(const char *path, const struct ac_text *text)
{
	char temporary[1100];
	bool good;
	int fd;

	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return false;
	good = write_all(fd, text->data, text->used);
	good = close(fd) == 0 && good && rename(temporary, path) == 0;
	if (!good)
		(void)unlink(temporary);
	return good;
}

bool
ac_calibration_save(const struct ac_calibration *calibration,
    struct ac_text *path, struct ac_text *why)
{
	struct ac_calibration again;
	struct ac_text text = AC_TEXT_OF(2048);

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

/* ---- Looking for one --------------------------------------------------- */

/* A directory with more files than this is not ours. */
enum { MOST_FILES = 1000 };

/* Also false: it is of another machine, about which there is nothing to say. */
static bool
read_file(const char *path, const struct ac_calibration *wanted,
    struct ac_calibration *calibration_out, struct ac_text *why)
{
	const char *trouble = NULL;
	char *bytes;
	struct ac_text said = AC_TEXT_OF(200);
	size_t count;
	int error;
	bool good;

	bytes = ac_file_read(path, &count, &trouble, &error);
	good = bytes != NULL &&
	    ac_calibration_read(bytes, count, calibration_out, &said);
	free(bytes);
	if (good && strcmp(calibration_out->gpu, wanted->gpu) != 0) {
		ac_text_add(&said, "it was measured with another GPU");
		good = false;
	}
	if (!good && why->used == 0)
		ac_text_addf(why, "the rates in %s are not used: %s", path,
		    trouble != NULL ? trouble : said.data);
	return good && (*wanted->library == '\0' ||
	    strcmp(calibration_out->library, wanted->library) == 0);
}

/* Whether `a` is younger: by its date, then by its driver. */
static bool
is_younger(const struct ac_calibration *a, const struct ac_calibration *b)
{
	const int order = strcmp(a->date, b->date);

	return order > 0 || (order == 0 && a->driver > b->driver);
}

/* What every file about `machine`'s GPU begins with. */
static bool
file_prefix(const struct ac_calibration *machine, struct ac_text *prefix)
{
	struct ac_text path = AC_TEXT_OF(1024);

	if (!ac_calibration_path(machine, &path))
		return false;
	/* Without the "0-" of no driver and no library. */
	path.data[path.used - strlen("0-")] = '\0';
	ac_text_add(prefix, strrchr(path.data, '/') + 1);
	return !prefix->truncated;
}

bool
ac_calibration_find(const char *gpu, const char *library,
    struct ac_rates *rates_out, struct ac_text *why)
{
	struct ac_calibration machine = { .driver = 0 }, found;
	struct ac_calibration best = { .driver = -1 };
	char name[1300];
	struct ac_text prefix = AC_TEXT_OF(128), path = AC_TEXT_OF(1024);
	struct ac_text text = AC_TEXT_IN(machine.gpu);
	const struct dirent *entry;
	unsigned left = MOST_FILES;
	DIR *stream;

	ac_text_add(&text, gpu == NULL ? "" : gpu);
	if (gpu == NULL || text.truncated || !file_prefix(&machine, &prefix) ||
	    !ac_calibration_directory(&path))
		return false;
	text = AC_TEXT_IN(machine.library);
	ac_text_add(&text, library == NULL ? "" : library);
	stream = opendir(path.data);
	while (stream != NULL && left-- > 0 &&
	    (entry = readdir(stream)) != NULL) {
		snprintf(name, sizeof(name), "%s/%s", path.data,
		    entry->d_name);
		if (strncmp(entry->d_name, prefix.data, prefix.used) == 0 &&
		    read_file(name, &machine, &found, why) &&
		    (best.driver < 0 || is_younger(&found, &best)))
			best = found;
	}
	if (stream != NULL)
		closedir(stream);
	if (best.driver >= 0)
		ac_calibration_apply(&best, rates_out);
	return best.driver >= 0;
}
