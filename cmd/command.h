/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/command.h -- the verbs of the autocast program and what they share.
 * One const struct ac_command per verb; help is printed from
 * these tables and the manual is checked against them. */
#ifndef AC_CMD_COMMAND_H
#define AC_CMD_COMMAND_H

#include "base/text.h"
#include "policy/policy.h"
#include "report/report.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit statuses of our own; anything else is the program's. */
enum {
	AC_EXIT_OK = 0,
	AC_EXIT_USAGE = 2,         /* the command line or a policy is wrong */
	AC_EXIT_FAILED = 125,      /* autocast itself could not do its part */
	AC_EXIT_CANNOT_RUN = 126,
	AC_EXIT_NOT_FOUND = 127
};

struct ac_option {
	int         id;            /* the letter, or a number above 255 */
	const char *name;          /* without --; NULL: a letter only */
	const char *argument;      /* NULL: takes none; "[=X]": may take one */
	const char *meaning;
};

enum { AC_OPTIONS = 16 };

/* Those of every verb that needs a policy; ac_launch_take() takes them. */
enum { AC_OPTION_POLICY = 256, AC_OPTION_OWN };
#define AC_POLICY_OPTIONS \
	{ AC_OPTION_POLICY, "policy", "P", \
	    AC_POLICY_PROFILES ", a file, or text with '->'" }, \
	{ 'e', NULL, "RULE", "a policy line before all others; repeatable" }

/* The GPUs that --emulate knows. */
#define AC_EMULATED_MODELS "h200, h100, b200, b300, a100, l40s, " \
    "rtx4090, rtx5090, rtxpro6000 or t4"

struct ac_command {
	const char      *name;           /* may be two words */
	const char      *operands;       /* for the synopsis */
	const char      *summary;
	const char      *details;        /* whole lines, may be "" */
	bool             ends_at_operand; /* the rest belongs to a program */
	struct ac_option options[AC_OPTIONS]; /* up to the first id 0 */
	int            (*run)(const struct ac_command *self, char **arguments);
};

#define EACH_OPTION(option, command) \
	(const struct ac_option *option = (command)->options; \
	    option < (command)->options + AC_OPTIONS && option->id; option++)

extern const struct ac_command ac_command_run, ac_command_report,
    ac_command_live, ac_command_explain, ac_command_policy,
    ac_command_doctor, ac_command_compare, ac_command_calibrate,
    ac_command_validate, ac_command_completion, ac_command_tune,
    ac_command_bisect;
/* All of them, in the order of the help, and a NULL; main() sets it. */
extern const struct ac_command *const *ac_commands;

/* ---- cmd/arguments.c: reading a command line --------------------------- */

struct ac_arguments {
	const struct ac_command *command;
	char                   **next;     /* not read yet */
	const char              *value;    /* of the option or operand */
	int                      status;   /* after AC_ARGUMENT_STOP */
	bool                     operands_only;
};

enum { AC_ARGUMENT_END = 0, AC_ARGUMENT_OPERAND = -1, AC_ARGUMENT_STOP = -2 };

/* The id of the next option, its argument in a->value (NULL if left out), or
 * one of the above. STOP: help was printed, or one line about a mistake. */
int ac_arguments_next(struct ac_arguments *a);

/* A number from `least` to `most`, or a whole one; negative if `s` is none. */
double ac_arguments_number(const char *s, double least, double most);
double ac_arguments_whole(const char *s, double least, double most);
/* "@2" is 2, the run before the last; 0 if `s` is nothing like that. */
unsigned ac_arguments_run(const char *s);

/* The usage of one command on stdout. */
void ac_command_help(const struct ac_command *command);

/* The option that `typed` names, without its dashes, with or without =VALUE;
 * NULL: the command has none of that name. */
const struct ac_option *ac_option_find(const struct ac_command *command,
    const char *typed);
/* Whether its argument may be left out. */
bool ac_option_is_optional(const struct ac_option *option);

/* ---- cmd/format.c: reports in files ------------------------------------ */

enum ac_report_format {
	AC_FORMAT_TEXT, AC_FORMAT_JSON, AC_FORMAT_CSV, AC_FORMAT_HTML,
	AC_FORMAT_COUNT
};

/* What the ending of `file` (NULL: stdout) says, .txt, .json, .csv or .html;
 * without one it is text. With `is_asked` an option has set *format. False: the
 * ending says another one, or none that is known. */
bool ac_format_choose(const char *file, bool is_asked,
    enum ac_report_format *format);
/* ".csv" */
const char *ac_format_ending(enum ac_report_format format);

/* "auto": on a terminal that has colours, unless NO_COLOR is set. */
enum ac_color { AC_COLOR_AUTO, AC_COLOR_ALWAYS, AC_COLOR_NEVER };
bool ac_format_wants_color(enum ac_color color, bool is_file);

/* To *fd, which is negative when nothing more can be written. */
void ac_format_write(enum ac_report_format format,
    const struct ac_report *report, const struct ac_report_style *style,
    int *fd);

/* ---- cmd/made.c: where a policy was made --------------------------------- */

/* As `autocast tune` and `autocast policy freeze` write into its first line:
 * what was measured there need not hold elsewhere. */
struct ac_made {
	char gpu[96], library[48];   /* "NVIDIA H200", "cublas-13.1" */
};

/* What the policy `policy` (a file, or NULL: the environment's) says of that;
 * false where it says nothing. */
bool ac_made_on(const char *policy, struct ac_made *made_out);
/* Whether that is another GPU, or another major version of the library, than
 * these. */
bool ac_made_elsewhere(const struct ac_made *made, const char *gpu,
    const char *library);

/* ---- cmd/saved.c: files that are read ------------------------------------ */

/* What is left to read of `fd`, but no more than `most` bytes or a little more,
 * and a NUL: malloc'ed. NULL with errno. */
char *ac_saved_bytes(int fd, size_t most, size_t *count_out);

/* The run whose JSON report is in `file`; NULL and one line in `why` if it is
 * anything else. */
struct ac_report *ac_saved_load(const char *file, struct ac_text *why);

/* ---- cmd/output.c: files that are written ------------------------------ */

struct ac_output {
	const char *verb, *file;     /* NULL: stdout */
	int         fd;              /* as ac_say_bytes() has it */
	int         opened;
	char        temporary[PATH_MAX]; /* what becomes `file`; "": itself */
};

/* Where output goes: `file` (NULL: stdout), which is borrowed. False after one
 * line that `verb` is named in. A file stays as it was until the end. */
bool ac_output_open(struct ac_output *output, const char *verb,
    const char *file);
/* Before long work: 0 if that is likely to succeed, else an exit status after
 * the same line. Leaves nothing. */
int ac_output_try(const char *verb, const char *file);
/* The end: an exit status, after one line if a write failed; then no part of a
 * file is left. */
int ac_output_close(struct ac_output *output);
/* All three, of `count` bytes; an exit status. */
int ac_output_write(const char *verb, const char *file, const char *bytes,
    size_t count);

/* ---- cmd/say.c: what the program says, and to whom --------------------- */

/* One line on stderr, "autocast: " before it. Returns `status`. */
__attribute__((format(printf, 2, 3)))
int ac_say(int status, const char *format, ...);

/* Write `count` bytes to the descriptor `context` points to (an int); the
 * sink of the report's writers. Sets it to -errno when nothing more can be
 * written. */
void ac_say_bytes(const char *bytes, size_t count, void *context);

/* The same to stdout; ac_say_done() tells whether that took them. */
void ac_say_stdout(const char *bytes, size_t count, void *context);

/* `word` so that a shell reads it as one (cmd/run/quote.c). */
void ac_quote(struct ac_text *text, const char *word);
/* printf, with %s only, for words that stand in its place like that. */
__attribute__((format(printf, 2, 3)))
void ac_quotef(struct ac_text *text, const char *format, ...);
/* All of `words`, up to NULL, with a blank before each. */
void ac_quote_all(struct ac_text *text, char *const *words);

/* Seconds, by a clock that nobody sets. */
double ac_say_clock(void);

/* stdout must have taken everything: a full disk is a failure. */
int ac_say_done(void);

/* `memory`, but NULL: then there was none, and it exits with
 * AC_EXIT_FAILED. */
void *ac_say_memory(void *memory);

/* A text of `size` bytes on the heap, likewise. free(text.data) ends it. */
struct ac_text ac_say_buffer(size_t size);

/* ---- cmd/run/chosen.c: the policy a command line names ----------------- */

struct ac_chosen {
	const char    *policy;     /* --policy, or NULL */
	const char    *who;        /* said it, where that is no option */
	struct ac_text rules;      /* -e lines; data NULL: none */
};

void ac_chosen_add_rule(struct ac_chosen *chosen, const char *rule);

/* Load what `chosen` and the environment select, with its problems on stderr.
 * NULL if it has errors. */
struct ac_policy *ac_chosen_load(const struct ac_chosen *chosen,
    struct ac_policy_origin *origin_out);

/* The same as canonical text, with what it includes, and not a word of its
 * problems; false if it has errors, or no room. */
bool ac_chosen_print(const struct ac_chosen *chosen, struct ac_text *text);

/* What a policy is called in a column: as it was typed, a file by its last
 * part; a text, or what is too long for `text`, by its number. */
void ac_chosen_name(struct ac_text *text, const char *policy, size_t number);

/* `policy` as a program in another directory must be told it: paths made
 * absolute, profile names and texts as they are. Malloc'ed. */
char *ac_chosen_absolute(const char *policy);

/* ---- cmd/tune/freeze.c: a run as a policy -------------------------------- */

/* Write the policy that runs the `which`-th last run again, to `file` (NULL:
 * stdout); an exit status. */
int ac_freeze(unsigned which, const char *file);

/* ---- cmd/explain/operation.c: an operation in words -------------------- */

/* Read OPERATION [KEY=VALUE]..., NULL-terminated and borrowed, filling in what
 * is usual; `note` then says what that was. 0, or an exit status after one
 * line on stderr. */
int ac_operation_read(struct ac_op *op, char **words, struct ac_text *note);
/* A site of a report as the policy saw it; strings are static, until the next
 * one, or the report's (cmd/explain/explain_site.c). */
struct ac_site_total;
void ac_operation_of_site(const struct ac_report *report,
    const struct ac_site_total *site, struct ac_op *op);

/* ---- cmd/explain/explain_vector.c: a call on vectors in words ---------- */

/* Whether `word` is a function that a seed or an update line can mean; else the
 * one that may be meant, NULL if none is near. */
bool ac_vector_is(const char *word);
const char *ac_vector_near(const char *word);

/* Say what the policy's lines say of such a function and the KEY=VALUE behind
 * it. An exit status. */
int ac_vector_explain(const struct ac_chosen *chosen, char **words);

/* ---- cmd/explain/operation_epilogue.c ----------------------------------- */

/* Read epilogue=VALUE of `op`, borrowed. 0, or an exit status after one line
 * on stderr. */
int ac_epilogue_read(struct ac_op *op, const char *value);

/* ---- cmd/explain/operation_conv.c: a convolution in words -------------- */

/* Values as typed, each up to a blank or its end; borrowed. */
struct ac_conv_words {
	const char *images, *cin, *cout, *groups, *image, *filter, *stride,
	    *pad, *dilation;
};

/* Whether `key` is one of these; its value is then kept. */
bool ac_conv_words_add(struct ac_conv_words *words, const char *key,
    size_t length, const char *value);
/* If a convolution is described, fill in what is usual, which is added to
 * `note`, and set all that follows. 0, or an exit status after one line on
 * stderr. */
int ac_conv_words_complete(struct ac_conv_words *words, struct ac_op *op,
    struct ac_text *note);
/* The same from the shape of a report's site, layout included, which op
 * borrows; false if that is no convolution. */
bool ac_conv_words_set_shape(const char *shape, struct ac_op *op);

/* ---- cmd/run/where.c: where things are installed ----------------------- */

/* The preload library, the directory of the emulated GPU's libraries: absolute
 * and existing, else NULL. The text is static. */
const char *ac_where_library(void);
const char *ac_where_emulator(void);

#endif
