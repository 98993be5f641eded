/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor.h -- facts about a run, and what they mean. */
#ifndef AC_CMD_DOCTOR_H
#define AC_CMD_DOCTOR_H

#include "cmd/run/launch.h"
#include "policy/op.h"
#include "report/read/read.h"

#include <sys/types.h>

/* The NVIDIA libraries we know functions of. */
enum ac_vendor {
	AC_VENDOR_CUBLAS, AC_VENDOR_CUBLASLT, AC_VENDOR_CUDNN,
	AC_VENDOR_CUSOLVER, AC_VENDORS
};
extern const char *const ac_vendor_names[AC_VENDORS];

/* Whose file or SONAME `name` is ("libcublas.so.13"), whose function
 * ("cublasLtMatmul"); -1: nobody's. */
int ac_vendor_of_file(const char *name);
int ac_vendor_of_symbol(const char *symbol);

/* ---- Facts ------------------------------------------------------------- */

/* One process image. Texts are malloc'ed, NULL where unknown. */
struct ac_doctor_process {
	pid_t    pid;
	bool     told;            /* it left a whole record */
	bool     seen;            /* its map of memory was read */
	bool     has_libc;        /* it got as far as its libraries */
	bool     has_library;     /* ours is in it */
	bool     has_environment; /* that could be read */
	bool     was_asked;       /* its LD_PRELOAD names our library */
	bool     is_privileged;   /* AT_SECURE */
	bool     has_namespaces;  /* dlmopen: two C libraries */
	char    *exe, *command;   /* the latter quoted for the shell */
	char    *loaded[AC_VENDORS]; /* from which file */
	char    *hidden[AC_VENDORS]; /* the same, where we cannot see it */
	char    *before, *after;  /* another interposer of the same names */
	char    *dlsym_before;    /* another dlsym() before ours */
	char    *inside;          /* a file that has cuBLAS inside, or */
	bool     may_pass_on;     /* only defines its functions */
	char    *runtime;         /* one that has the CUDA runtime inside */
	bool     has_rpath;       /* something in it does, and needs cuBLAS */
	char    *statistics;      /* its statistics file */
	char   **objects;         /* what else is loaded: object_count */
	size_t   object_count;
	uint64_t handles, deepbind, left;
	bool     stripped;        /* `set deepbind=on` was obeyed */
};

/* What the statistics say, added up. */
struct ac_doctor_work {
	uint64_t calls, recast, passed;         /* passed: only counted */
	uint64_t vendor_calls[AC_VENDORS], vendor_recast[AC_VENDORS];
	uint64_t vendor_passed[AC_VENDORS];
	uint64_t kept[AC_REASON_COUNT];
	/* The site of most of them. */
	struct ac_site_total kept_most[AC_REASON_COUNT];
	char     rungs[64];                     /* "tf32, fp16" */
	bool     is_known;                      /* there were statistics */
	bool     policy_is_bad;
	char     policy[256];                   /* "" without statistics */
	char     gpu[96];
	int      sm;                            /* 0: unknown */
	bool     is_emulated;
};

struct ac_doctor_facts {
	const char  *autocast;         /* how we were called */
	const char  *own_path;         /* where we are, for other directories */
	const char  *program;          /* NULL with --pid */
	char       **arguments;        /* its argv; NULL with --pid */
	const struct ac_launch *launch; /* what the command line asks */
	const char  *emulator;         /* its directory, NULL: there is none */
	bool         lacks_driver;     /* this machine does, and needs one */
	enum ac_obstacle obstacle;
	bool         is_root;          /* who may not look at the process */
	const char  *why;              /* it stands in the way, one line */
	const struct ac_program *file; /* NULL with --pid */
	bool         policy_is_bad;
	bool         was_run;
	int          wait_status;
	const char  *last_name;        /* of the program when it ended, or "" */
	pid_t        pid;              /* of the program */
	struct ac_doctor_process *processes;
	size_t       process_count;
	const char  *refused;          /* by the emulated GPU: what, and why, or
	                                * NULL: nothing was */
	struct ac_doctor_work work;
};

void ac_doctor_free(struct ac_doctor_process *process);
/* Replace *text, which is malloc'ed or NULL. */
void ac_doctor_set(char **text, const char *value);
void ac_doctor_add_object(struct ac_doctor_process *process, const char *path);
void ac_doctor_forget_objects(struct ac_doctor_process *process);

/* ---- Gathering --------------------------------------------------------- */

/* Read the record `text`, which is changed. False if it is not whole; what
 * was read then stands in *process all the same. */
bool ac_doctor_read_record(char *text, struct ac_doctor_process *process);

/* The records in `directory`, which are removed, as processes appended to the
 * array of *count. Takes the place of a process that was seen. */
struct ac_doctor_process *ac_doctor_read_records(const char *directory,
    struct ac_doctor_process *processes, size_t *count);

/* What only files tell: who has cuBLAS inside, who interposes. */
void ac_doctor_read_files(struct ac_doctor_process *process,
    bool also_objects);
/* And who has the CUDA runtime inside, besides the program; and whether a
 * DT_RPATH leads to cuBLAS. */
void ac_doctor_read_runtime(struct ac_doctor_process *process);

/* Look at the running process `pid`, for the first time (all zero) or again.
 * 0, or errno; ESTALE: it runs another program now than *process says. */
int ac_doctor_look_at(pid_t pid, struct ac_doctor_process *process);

/* Every descendant of `pid`, itself first, at most `size`. */
size_t ac_doctor_family(pid_t pid, pid_t *pids_out, size_t size);

/* The name of `pid`'s program, at most 15 bytes, of a zombie too, if there is
 * one. */
void ac_doctor_name_of(pid_t pid, char name_out[16]);

void ac_doctor_add_up(const struct ac_report *report,
    struct ac_doctor_work *work_out);

/* ---- Diagnosing -------------------------------------------------------- */

/* Exit statuses of the verb, worst last. */
enum {
	AC_DOCTOR_WELL = 0, AC_DOCTOR_KEPT = 1, AC_DOCTOR_UNREACHED = 2,
	AC_DOCTOR_UNKNOWN = 3
};

enum ac_doctor_mark {
	AC_DOCTOR_NOTHING, AC_DOCTOR_OK, AC_DOCTOR_NOTE, AC_DOCTOR_PROBLEM
};

enum { AC_DOCTOR_FINDINGS = 48, AC_DOCTOR_TEXT = 1024, AC_DOCTOR_FIX = 8192 };

struct ac_doctor_finding {
	const char         *cause;   /* a stable word */
	enum ac_doctor_mark mark;
	char                text[AC_DOCTOR_TEXT];
};

struct ac_doctor_findings {
	struct ac_doctor_finding found[AC_DOCTOR_FINDINGS];
	size_t count;
	int    status;
	char   fix[AC_DOCTOR_FIX];   /* a command; never "" */
};

/* Pure. Findings come most important first. */
void ac_doctor_diagnose(const struct ac_doctor_facts *facts,
    struct ac_doctor_findings *findings_out);

/* Whether most calls that were kept for `reason` could only lose. */
bool ac_doctor_is_needless(const struct ac_doctor_work *work,
    enum ac_reason reason);
/* The cause of a kept call: what to say about it, and the command that changes
 * it, for the reason `reason`. */
void ac_doctor_explain_kept(const struct ac_doctor_facts *facts,
    enum ac_reason reason, struct ac_text *text, struct ac_text *fix);

/* ---- A cause of "nothing happened", for the files that hold them -------- */

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

/* What may be so of a process. */
enum ac_trait {
	AC_LACKS_LIBRARY,       /* ours, */
	AC_LACKS_IT_BADLY,      /* and has one of NVIDIA's */
	AC_HAS_FOREIGN_DLSYM, AC_HAS_HIDDEN, AC_HAS_DEEPBIND,
	AC_HAS_LEFT,            /* functions that were looked up */
	AC_HAS_INTERPOSER, AC_HAS_INSIDE, AC_HAS_RUNTIME, AC_HAS_RPATH,
	AC_TRAITS
};
/* The first process of which it is; NULL if there is none. */
const struct ac_doctor_process *ac_diagnosis_process(
    const struct ac_diagnosis *diagnosis, enum ac_trait trait);
/* An NVIDIA library of it that we cannot see, or NULL. */
const char *ac_doctor_hidden(const struct ac_doctor_process *process);

/* Whether it loaded an NVIDIA library, wherever. */
bool ac_doctor_has_vendor(const struct ac_doctor_process *process);

/* ---- Commands ---------------------------------------------------------- */

/* "autocast run OPTIONS EXTRA -- PROGRAM ARGUMENTS". `extra` may be ""; it
 * replaces the user's --policy if it holds one. */
void ac_doctor_add_run(struct ac_text *fix, const struct ac_doctor_facts *facts,
    const char *extra);

/* The program and its arguments. */
void ac_doctor_add_program(struct ac_text *text,
    const struct ac_doctor_facts *facts);

/* ---- Printing ---------------------------------------------------------- */

void ac_doctor_print(const struct ac_doctor_findings *findings, bool json);

/* ---- Without a program ------------------------------------------------- */

/* Look at the library, the policy, the directory for statistics, the GPU with
 * its driver, cuBLAS and cuDNN, and print what was found. An exit status:
 * AC_DOCTOR_UNREACHED if something is missing without which nothing is
 * recast. */
int ac_doctor_check_machine(struct ac_launch *launch, const char *autocast,
    bool json);

#endif
