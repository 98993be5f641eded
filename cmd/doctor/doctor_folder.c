/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_folder.c -- the folder in which the processes of a run
 * leave their records, and their statistics where the user keeps none. Private,
 * and gone afterwards. */
#include "cmd/run/again.h"
#include "cmd/doctor/doctor.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void
ac_doctor_make_folder(struct ac_doctor_folder *folder)
{
	struct ac_text t;

	ac_text_init(&t, folder->path, sizeof folder->path);
	ac_text_addf(&t, "/tmp/autocast-doctor-%d-XXXXXX", (int)getpid());
	*folder->records = '\0';
	if (!mkdtemp(folder->path)) {
		*folder->path = '\0';
		return;
	}
	ac_text_init(&t, folder->records, sizeof folder->records);
	ac_text_addf(&t, "%s/records", folder->path);
	(void)mkdir(folder->records, 0700);
}

void
ac_doctor_remove_folder(const struct ac_doctor_folder *folder)
{
	if (!*folder->path)
		return;
	ac_again_remove(folder->records);
	(void)rmdir(folder->path);
}
