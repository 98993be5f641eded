/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_cause.h -- one cause of "nothing happened", for the files
 * that hold them: cmd/doctor/doctor_program.c and cmd/doctor/doctor_binding.c.
 * The table is in cmd/doctor/doctor_causes.c. */
#ifndef AC_CMD_DOCTOR_CAUSE_H
#define AC_CMD_DOCTOR_CAUSE_H

#include "cmd/doctor/doctor.h"

/* The facts and what was concluded from them so far. */
struct ac_diagnosis {
	const struct ac_doctor_facts *facts;
	bool has_vendor;        /* some process loaded an NVIDIA library */
	bool was_reached;       /* some call was counted */
	bool has_problem;       /* a graver cause was found */
	/* Of the cause that is looked for, if it is there: what to say, and the
	 * command that helps, which may stay empty for a note. */
	struct ac_text *text, *fix;
};

/* Whether a cause is there. */
typedef enum ac_doctor_mark ac_cause(const struct ac_diagnosis *diagnosis);

/* In cmd/doctor/doctor_program.c. */
ac_cause ac_find_not_runnable, ac_find_rights, ac_find_foreign,
    ac_find_static_cublas, ac_find_static, ac_find_failed,
    ac_find_no_library, ac_find_no_driver,
    ac_find_nothing_loaded;
/* In cmd/doctor/doctor_binding.c. */
ac_cause ac_find_not_preloaded, ac_find_lost_record, ac_find_foreign_dlsym,
    ac_find_namespace, ac_find_deepbind, ac_find_slots, ac_find_interposer;
/* In cmd/doctor/doctor_emulated.c. */
ac_cause ac_find_static_runtime, ac_find_emulator_hidden, ac_find_refused;

/* Whether `path` is the file of the program that was named. */
bool ac_doctor_is_program(const struct ac_doctor_facts *facts,
    const char *path);
/* A command that builds `path` with the shared libraries, if it is the program,
 * or shows what it needs: it is often somebody's package. */
void ac_doctor_add_rebuild(struct ac_text *fix,
    const struct ac_doctor_facts *facts, const char *path);

/* A command that copies `image`, since a copy has no special rights, and runs
 * the copy with the program's arguments. */
void ac_doctor_add_copy(struct ac_text *fix,
    const struct ac_doctor_facts *facts, const char *image);

/* The first process for which `is` holds; NULL if there is none. */
const struct ac_doctor_process *ac_diagnosis_process(
    const struct ac_diagnosis *diagnosis,
    bool (*is)(const struct ac_doctor_process *));

/* Whether it loaded an NVIDIA library, wherever. */
bool ac_doctor_has_vendor(const struct ac_doctor_process *process);

#endif
