/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/with_policy.h -- what the tests of the policy room share: a
 * text parsed with its diagnostics at hand, and calls to ask about. */
#ifndef AC_TESTS_WITH_POLICY_H
#define AC_TESTS_WITH_POLICY_H

#include "base/text.h"
#include "policy/policy.h"
#include "tests/unit/cases.h"

/* How an unknown one is answered where none is near. */
#define ALL_OPERATIONS " (one of: * gemm conv gemm.single gemm.batched " \
	"gemm.strided gemm.grouped gemm.syrk gemm.lt conv.fprop conv.dgrad " \
	"conv.wgrad)"
#define ALL_ACTIONS " (one of: keep tf32 fp16 bf16 fp16x2 fp16x3 bf16x3 " \
	"bf16x6 auto)"
#define ALL_CONDITIONS " (one of: m n k batch cin cout groups filter stride " \
	"dilation spatial flops bytes intensity sm device rank ta tb type " \
	"asked layout epilogue fn caller program region site gpu lib solver " \
	"min(m,n) max(m,n))"
#define ALL_SETTINGS " (one of: tol guard tactic profit own workspace " \
	"conv-workspace respect-opt-out deepbind reproducible learn)"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char said_buffer[1 << 16];
static struct ac_text said;
static struct ac_policy_problems problems;

/* Parse; the diagnostics are in said_buffer, their number in `problems`. */
static inline struct ac_policy *
parse_with(const char *rules, const char *text)
{
	ac_text_init(&said, said_buffer, sizeof(said_buffer));
	problems = (struct ac_policy_problems){ .text = &said,
		.check = ac_check_cover, .slip = ac_slip_find };
	return ac_policy_parse(rules, text, strlen(text), "p", &problems);
}

/* Parse a text that must be good. */
static inline struct ac_policy *
parse_good(const char *text)
{
	struct ac_policy *policy = parse_with(NULL, text);

	if (policy == NULL)
		fail_msg("'%s' was refused:\n%s", text, said_buffer);
	return policy;
}

/* Of some diagnostics, the lines that begin with a place. */
static inline const char *
places(const char *diagnostics)
{
	static char out[8192];
	struct ac_text text;
	const char *end;

	ac_text_init(&text, out, sizeof(out));
	for (; *diagnostics != '\0'; diagnostics = end + 1) {
		end = strchr(diagnostics, '\n');
		if (*diagnostics != ' ')
			ac_text_add_bytes(&text, diagnostics,
			    (size_t)(end + 1 - diagnostics));
	}
	return out;
}

struct complaint {
	const char *text, *said;   /* `said`: the lines that name a place */
};

/* Each text has one error: that one. */
static inline void
assert_complaints(const struct complaint *complaints, size_t count)
{
	struct ac_policy *policy;
	unsigned wrong = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		policy = parse_with(NULL, complaints[i].text);
		if (policy == NULL && problems.errors == 1 &&
		    strcmp(places(said_buffer), complaints[i].said) == 0)
			continue;
		print_message("%s\n  said:   %s  wanted: %s",
		    complaints[i].text, places(said_buffer),
		    complaints[i].said);
		wrong++;
		ac_policy_destroy(policy);
	}
	assert_int_equal(wrong, 0);
}

/* An FP32 product on a GPU of compute capability `sm`. */
static inline struct ac_op
product(enum ac_operation operation, int64_t m, int64_t n, int64_t k, int sm)
{
	struct ac_op op = { .operation = operation };

	op.fact[AC_FACT_TYPE] = "f32";
	ac_op_set_product(&op, m, n, k, 1);
	if (sm != 0)
		ac_op_set(&op, AC_Q_SM, sm);
	return op;
}

/* What `policy` decides, as "rung tactic" or "keep: reason". */
static inline const char *
decided(const struct ac_policy *policy, const struct ac_op *op)
{
	static char answer[64];
	struct ac_decision d;

	memset(&d, 0xff, sizeof(d));
	ac_policy_decide(policy, op, &d);
	if (d.rung == AC_RUNG_KEEP) {
		assert_int_equal(d.tactic, AC_TACTIC_NONE);
		assert_int_not_equal(d.reason, AC_REASON_NONE);
		snprintf(answer, sizeof(answer), "keep: %s",
		    ac_reason_names[d.reason]);
	} else {
		assert_int_equal(d.reason, AC_REASON_NONE);
		snprintf(answer, sizeof(answer), "%s %s",
		    ac_rung_names[d.rung], ac_tactic_names[d.tactic]);
	}
	return answer;
}

/* The same for a text that must be good. */
static inline const char *
decided_by(const char *text, const struct ac_op *op)
{
	struct ac_policy *policy = parse_good(text);
	const char *answer = decided(policy, op);

	ac_policy_destroy(policy);
	return answer;
}

/* It decides `answer`. */
#define CHECK(text, op, answer) \
	assert_string_equal(decided_by(text, op), answer)

/* Line of the rule that decides. */
static inline unsigned
deciding_line(const struct ac_policy *policy, const struct ac_op *op)
{
	struct ac_decision d;

	ac_policy_decide(policy, op, &d);
	return d.line;
}

#endif
