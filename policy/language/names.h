/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/names.h -- the rows of words.def as tables.
 * Constant data; any thread may read it. For policy/ only. */
#ifndef AC_POLICY_NAMES_H
#define AC_POLICY_NAMES_H

#include "policy/op.h"

#include <stddef.h>

enum ac_setting {
#define SETTING(id, name, values) AC_SET_##id,
#include "policy/words.def"
	AC_SET_COUNT
};

enum ac_profile {
#define PROFILE(id, name) AC_PROFILE_##id,
#include "policy/words.def"
	AC_PROFILE_COUNT
};

/* Which operations can have a quantity or a fact at all. */
enum ac_family { AC_GEMM_FAMILY = 1, AC_CONV_FAMILY = 2,
	AC_VECTOR_FAMILY = 4 /* what seed and update lines speak of */ };

struct ac_rung_row {
	double error;        /* known normwise error */
	double tol;          /* the tolerance that applies when none is named */
	enum ac_rung base;   /* the arithmetic of its products */
	uint32_t terms;      /* of them, for one product */
	uint32_t chunk;      /* K of one call of the library, whose sums are cut
	                      * off less the shorter they are; 0: all of it */
};
struct ac_quantity_row {
	bool     is_size;
	unsigned families;
};

extern const struct ac_rung_row ac_rung_rows[AC_RUNG_COUNT];

/* The chunk of a rung on the operation's GPU; 0: all of K. */
uint32_t ac_rung_chunk(const struct ac_op *op, enum ac_rung rung);

extern const struct ac_quantity_row ac_quantity_rows[AC_Q_COUNT];
extern const unsigned ac_fact_families[AC_FACT_COUNT];
extern const char *const ac_setting_names[AC_SET_COUNT];
/* The words a setting takes, or "number", "count", ... */
extern const char *const ac_setting_values[AC_SET_COUNT];
extern const char *const ac_profile_names[AC_PROFILE_COUNT];

/* The words a fact can take, separated by spaces; NULL: any text. */
const char *ac_fact_values(enum ac_fact fact);

/* What may stand left of `->`: every operation, and names for several. */
enum { AC_PATTERN_COUNT = 12 };
struct ac_pattern {
	const char *name;
	unsigned    operations;   /* bits of enum ac_operation */
	unsigned    families;
	bool        exact;        /* names one operation */
};
extern const struct ac_pattern ac_patterns[AC_PATTERN_COUNT];
extern const char *const ac_pattern_names[AC_PATTERN_COUNT];

/* Index of `word` (`length` bytes) in `names`, -1 if it is not there. */
int ac_name_find(const char *word, size_t length, const char *const *names,
    size_t count);

/* What is so instead of a word that there was; NULL: there was none such. */
const char *ac_gone_instead(const char *word, size_t length);

#endif
