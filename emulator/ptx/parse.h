/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/parse.h -- from text to the decoded form: what the files of the
 * parser share. An invalid text ends the parsing, with the number of its
 * line. */
#ifndef AC_EMULATOR_PTX_PARSE_H
#define AC_EMULATOR_PTX_PARSE_H

#include "emulator/ptx/inside.h"

#include <setjmp.h>

/* ---- Words ------------------------------------------------------------- */

struct ptx_word {
	const char *name;
	int value;
};
extern const struct ptx_word ptx_type_words[], ptx_space_words[],
    ptx_round_words[], ptx_compare_words[], ptx_mode_words[], ptx_flag_words[],
    ptx_op_words[], ptx_special_words[];

/* The value of that name, -1 if `words` has none. */
int ptx_find(const struct ptx_word *words, const char *name);
/* Words that change nothing here: cache hints, scopes, orders. */
bool ptx_is_idle(const char *name);

/* ---- The parser -------------------------------------------------------- */

/* A name in a body: a register, a range of them, or a variable. */
struct symbol {
	char    *name;
	size_t   length;
	unsigned count;         /* of a range: name0 ... */
	bool     is_register;
	uint8_t  width;
	int32_t  at;
	struct ptx_variable variable;
};

struct ptx_label {
	char    *name;
	int      scope;
	int64_t  pc;
};

/* A branch whose label may come later. */
struct fix {
	size_t   instruction;
	char    *name;
	int      scope;
	struct ptx_target *target; /* else the instruction's offset */
	size_t   index;
};

/* "name: .branchtargets a, b;" makes a list that a brx names. */
struct ptx_list {
	char *name;
	struct ptx_target *target;
};

enum { NAME_ROOM = 1024, SCOPES = 65536, DEPTH = 256, LISTS = 256,
	TARGETS = 1024, MOST_PARAMETERS = 128, AFTER_TEXT = 64,
	FUNCTIONS = 65536, HASHES = 4096 };

struct parser {
	/* A copy, with AFTER_TEXT zeros: some look ahead. */
	char    *text;
	const char *s, *end;
	uint32_t line;
	struct ptx_module *module;
	struct ptx_function *function, *by_hash[HASHES];
	size_t   functions;
	struct symbol *symbol;
	size_t   symbols, symbol_room;
	struct ptx_label *label;
	size_t   labels, label_room;
	struct fix *fix;
	size_t   fixes, fix_room;
	struct ptx_list list[LISTS];
	size_t   lists;
	int      scope, scopes, parent[SCOPES];
	size_t   scope_symbols[DEPTH];
	int      depth, scope_stack[DEPTH];
	char     token[NAME_ROOM];
	jmp_buf  out, function_out, inner;
	bool     in_function, in_instruction;
	uint64_t global_bytes;          /* of the text's variables */
	struct ptx_function before;     /* a function without its name yet */
	/* Of a declaration that is not at its end: its name and its memory. */
	char    *half_name;
	void    *half_memory;
	char    *message;
	size_t   message_size;
};

/* An operand as the text has it. */
enum raw_kind { RAW_REGISTER, RAW_NUMBER, RAW_NAME, RAW_ADDRESS, RAW_VECTOR,
	RAW_SINK };
enum { RAW_PARTS = 8 };
struct raw {
	enum raw_kind kind;
	struct ptx_operand operand;
	uint64_t number;
	int      is_float;      /* bytes of the float, or 0 */
	char     name[NAME_ROOM];
	int64_t  offset;
	bool     has_register;  /* of an address */
	bool     has_second;
	struct ptx_operand second;
	size_t   count;         /* of a vector */
	struct {
		enum raw_kind kind;
		struct ptx_operand operand;
		uint64_t number;
		int      is_float;
	} part[RAW_PARTS];
};

/* ---- lex.c ------------------------------------------------------------- */

_Noreturn void ptx_fail(struct parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void *ptx_grow(struct parser *p, void *array, size_t count, size_t *room,
    size_t size);
/* A new element at the end, all zero. */
#define PUSH(p, array, count, room) \
	((array) = ptx_grow((p), (array), (count), &(room), \
	    sizeof *(array)), memset(&(array)[count], 0, sizeof *(array)), \
	    &(array)[(count)++])
char *ptx_copy(struct parser *p, const char *s);

bool ptx_is_end(struct parser *p);
/* The next character that is no blank; 0 at the end. */
int ptx_peek(struct parser *p);
bool ptx_take(struct parser *p, int c);
void ptx_want(struct parser *p, int c);
/* Letters, digits, _ $ % . and ::, into p->token, which it returns. */
const char *ptx_word(struct parser *p);
/* The same, but of .reg.b32 only .reg. */
const char *ptx_directive(struct parser *p);
/* A number as it stands: 12 -5 0x1f 0b1 017 12U 0f3f800000 0d... 1.5; a float
 * as its bits, with its bytes in *is_float. */
uint64_t ptx_number(struct parser *p, int *is_float);
uint64_t ptx_whole(struct parser *p);
void ptx_skip_line(struct parser *p);
void ptx_skip_statement(struct parser *p);
void ptx_skip_braces(struct parser *p);

/* ---- declare.c --------------------------------------------------------- */

struct ptx_function *ptx_function_of(struct parser *p, const char *name,
    bool make);
/* The register or special register of that name. */
bool ptx_register_of(struct parser *p, const char *name,
    struct ptx_operand *out);
const struct ptx_variable *ptx_variable_of(struct parser *p, const char *name);
/* A declaration that came to no end. */
void ptx_forget_half(struct parser *p);
/* After .reg, and after the word of a space. */
void ptx_registers(struct parser *p);
void ptx_variables(struct parser *p, int space);
/* After the parenthesis. */
void ptx_parameters(struct parser *p, struct ptx_function *f, bool results);

/* ---- initial.c --------------------------------------------------------- */

/* The value or values of a variable, after its =, into its memory `at`. */
void ptx_initial(struct parser *p, const struct ptx_variable *v,
    unsigned char *at);

/* ---- operand.c --------------------------------------------------------- */

struct ptx_operand ptx_constant(struct parser *p, uint64_t value, int width);
/* The bits of a number of `is_float` bytes as those of `type`. */
uint64_t ptx_as_type(uint64_t value, int is_float, int type);
/* The next operand. */
struct raw ptx_raw(struct parser *p);
/* A name as a number; false: a local variable's offset. */
bool ptx_name_value(struct parser *p, const struct raw *r, uint64_t *value);
/* A register that is written, or none. */
struct ptx_operand ptx_result(struct parser *p, const struct raw *r);
struct ptx_operand ptx_finish(struct parser *p, const struct raw *r, int type);
void ptx_address(struct parser *p, struct ptx_instruction *in,
    const struct raw *r);
void ptx_vector(struct parser *p, struct ptx_instruction *in,
    const struct raw *r, int type);

/* ---- decode.c, arguments.c, matrices.c, body.c --------------------------- */

/* After its first word, which is in p->token, or after the @ of its guard. */
void ptx_instruction(struct parser *p, bool guarded);
/* What comes after the first word, up to the semicolon. */
void ptx_arguments(struct parser *p, struct ptx_instruction *in);
/* True: that word, or those operands, were of a matrix. */
bool ptx_matrix_word(struct parser *p, struct ptx_instruction *in,
    const char *part);
bool ptx_matrix_operands(struct parser *p, struct ptx_instruction *in,
    const struct raw *r, int count);
/* The label will be the last instruction's offset, or the list's entry. */
void ptx_fix_later(struct parser *p, const char *name,
    struct ptx_target *target, size_t index);
/* After its brace. */
void ptx_body(struct parser *p);
/* Labels, lists and branches of a body. */
void ptx_forget_names(struct parser *p);

#endif
