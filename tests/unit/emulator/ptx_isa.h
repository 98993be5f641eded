/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/ptx_isa.h -- tables of instructions, each with a function
 * that works it out in another way: one row runs on many operands, and all
 * results must be the same. */
#ifndef AC_TESTS_PTX_ISA_H
#define AC_TESTS_PTX_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum isa_type { NONE, PRED, U8, S8, U16, S16, U32, S32, U64, S64, F16, BF16,
	F32, F64, F16X2, BF16X2, TF32 };

struct isa_row;
/* Operands come zero-extended. What does not fit the result is cut off. */
typedef uint64_t (*isa_reference)(const struct isa_row *row, uint64_t a,
    uint64_t b, uint64_t c);

/* Instructions on D, A, B and C, which are registers of these types (NONE: not
 * used), as a body of a kernel. `how`: for the reference. `shift`: B is an
 * amount, mostly below 100; with 2, C is one, too. */
struct isa_row {
	const char    *text;
	enum isa_type  d, a, b, c;
	isa_reference  reference;
	int            how, shift;
};

/* Prints a line of TAP. True: all results were right. */
bool isa_check(const struct isa_row *row);
/* All of them; the plan comes at the end of isa_end(). */
void isa_check_all(const struct isa_row *rows, size_t count);
/* One row of one operand, for all the numbers from 0 to `count`; `spread` makes
 * an operand of such a number, unless NULL. */
bool isa_check_every(const struct isa_row *row, uint64_t count,
    uint64_t (*spread)(uint64_t i));
/* A check that is no row. */
void isa_say(bool good, const char *what);
/* The exit status. */
int isa_end(void);

int isa_bytes(enum isa_type type);
bool isa_is_signed(enum isa_type type);

#endif
