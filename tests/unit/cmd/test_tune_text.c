/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_tune_text.c -- the policy of a plan: its lines, and that
 * it decides just so. */
#include "tests/unit/cmd/with_plan.h"

enum { PLANS = 3000 };

static uint64_t seed;

static uint64_t
draw(uint64_t below)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % below;
}

/* ---- The text ----------------------------------------------------------- */

static char buffer[1 << 16];

static const char *
text_of(const unsigned char *levels, double tol)
{
	struct ac_text text;

	ac_text_init(&text, buffer, sizeof buffer);
	if (levels)
		ac_tune_add_policy(&text, &plan, levels, tol);
	else
		ac_tune_add_frozen(&text, &plan);
	assert_false(text.truncated);
	return buffer;
}

/* The same without comments. */
static const char *
lines_of(const unsigned char *levels, double tol)
{
	const char *from = text_of(levels, tol);
	char *to = buffer;

	while (*from) {
		const size_t length = strcspn(from, "\n") + 1;

		if (*from != '#') {
			memmove(to, from, length);
			to += length;
		}
		from += length;
	}
	*to = '\0';
	return buffer;
}

static void
recast(const struct ac_site_key *key, enum ac_rung rung)
{
	add(key, rung ? rung : AC_RUNG_FP16, 10, 100, rung ? 50 : 100, 2e-6f,
	    10);
}

CASE_WITH(test_lines, begin, NULL)
{
	static const struct {
		struct {
			enum ac_operation operation;
			int64_t m, n, k, batch;
			enum ac_rung rung;
		} at[5];
		double tol;
		const char *lines;
	} rows[] = {
		{ { { 0, 512, 512, 1024, 1, AC_RUNG_FP16 },
		    { 0, 512, 512, 2048, 1, AC_RUNG_FP16 } }, 5e-4,
		    "gemm flops>=536M -> fp16 tol=5e-4 profit=off\n"
		    "gemm -> keep\n"
		    "otherwise amp\n" },
		{ { { 0, 512, 512, 1024, 1, AC_RUNG_FP16 },
		    { 0, 512, 520, 1024, 1, AC_RUNG_KEEP },
		    { 0, 512, 528, 1024, 1, AC_RUNG_FP16 } }, 0,
		    "gemm m=512 n=520 k=1024 -> keep\n"
		    "gemm flops>=536M -> fp16 profit=off\ngemm -> keep\n"
		    "otherwise amp\n" },
		/* Two of 64 at most in one direction. */
		{ { { 0, 512, 512, 1024, 1, AC_RUNG_TF32 },
		    { 0, 4096, 4096, 32, 1, AC_RUNG_KEEP },
		    { 0, 64, 4096, 4096, 1, AC_RUNG_KEEP },
		    { 0, 4096, 512, 4096, 1, AC_RUNG_TF32 } }, 0,
		    "gemm min(m,n,k)<=64 -> keep\n"
		    "gemm flops>=536M -> tf32 profit=off\ngemm -> keep\n"
		    "otherwise amp\n" },
		/* Less work than the least that is recast. */
		{ { { 0, 512, 512, 1024, 1, AC_RUNG_FP16 },
		    { 0, 512, 512, 600, 1, AC_RUNG_KEEP } }, 0,
		    "gemm flops>=536M -> fp16 profit=off\ngemm -> keep\n"
		    "otherwise amp\n" },
		/* Of what has a line nothing is said again. */
		{ { { AC_OP_GEMM_SINGLE, 4096, 4096, 512, 1, AC_RUNG_FP16 },
		    { AC_OP_GEMM_SINGLE, 8192, 8192, 8192, 1, AC_RUNG_FP16 },
		    { AC_OP_GEMM_STRIDED, 512, 512, 600, 2, AC_RUNG_TF32 },
		    { AC_OP_GEMM_STRIDED, 65536, 4096, 64, 1,
		    AC_RUNG_KEEP },
		    { AC_OP_GEMM_SINGLE, 65536, 8192, 32, 1,
		    AC_RUNG_KEEP } },
		    0,
		    "gemm min(m,n,k)<=64 -> keep\n"
		    "gemm.strided -> tf32 profit=off\n"
		    "gemm flops>=17100M -> fp16 profit=off\ngemm -> keep\n"
		    "otherwise amp\n" },
		/* Of another operation. */
		{ { { AC_OP_GEMM_SINGLE, 512, 512, 1024, 1, AC_RUNG_FP16 },
		    { AC_OP_GEMM_SINGLE, 512, 512, 2048, 1, AC_RUNG_FP16 },
		    { AC_OP_GEMM_STRIDED, 512, 512, 600, 2, AC_RUNG_TF32 },
		    { AC_OP_GEMM_STRIDED, 512, 512, 512, 2, AC_RUNG_TF32 } },
		    0,
		    "gemm.strided -> tf32 profit=off\n"
		    "gemm flops>=536M -> fp16 profit=off\ngemm -> keep\n"
		    "otherwise amp\n" },
		{ { { 0, 512, 512, 1024, 1, AC_RUNG_KEEP } }, 0,
		    "gemm -> keep\notherwise amp\n" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		unsigned char levels[5] = { 0 };

		for (unsigned at = 0; at < 5 && rows[i].at[at].m; at++) {
			const struct ac_site_key key = product(
			    rows[i].at[at].operation, rows[i].at[at].m,
			    rows[i].at[at].n, rows[i].at[at].k,
			    rows[i].at[at].batch, at);

			recast(&key, rows[i].at[at].rung);
		}
		make_plan(rows[i].tol);
		assert_string_equal(lines_of(levels, rows[i].tol),
		    rows[i].lines);
		end();
	}
}

/* Two places, one size: each by its name. */
CASE_WITH(test_places, begin, NULL)
{
	const struct ac_site_key one = product(AC_OP_GEMM_SINGLE, 512, 512,
	    1024, 1, 1), other = product(AC_OP_GEMM_SINGLE, 512, 512, 1024, 1,
	    2), third = product(AC_OP_GEMM_SINGLE, 512, 512, 2048, 1, 1);
	unsigned char levels[3] = { 0 };
	char wanted[200];

	recast(&one, AC_RUNG_FP16);
	recast(&other, AC_RUNG_FP16);
	recast(&third, AC_RUNG_FP16);
	make_plan(0);
	levels[1] = AC_TUNE_KEPT; /* behind the third, which is most work */
	snprintf(wanted, sizeof wanted, "gemm site=%08x -> keep\n"
	    "gemm flops>=536M -> fp16 profit=off\ngemm -> keep\n"
	    "otherwise amp\n", plan.units[1]->row->rungs[0]->id);
	assert_string_equal(lines_of(levels, 0), wanted);
	end();
}

/* A convolution that was not measured is left to the profile, unless it is
 * kept. */
CASE_WITH(test_convolutions, begin, NULL)
{
	struct ac_site_key key = product(AC_OP_CONV_FPROP, 512, 512, 1024, 1,
	    1);
	unsigned char levels[5] = { AC_TUNE_CHOSEN };
	char wanted[400];
	uint32_t ids[7];

	key.ta = key.tb = '\0';
	strcpy(key.shape, "n32 c256 28x28 k256 3x3 s1 p1 d1 g1 nchw");
	add(&key, AC_RUNG_KEEP, 10, 0, 0, 0, 0);
	make_plan(0);
	assert_int_equal(plan.unit_count, 1);
	assert_string_equal(lines_of(levels, 0),
	    "gemm -> keep\notherwise amp\n");
	levels[0] = AC_TUNE_KEPT;
	assert_string_equal(lines_of(levels, 0),
	    "gemm -> keep\nconv.fprop -> keep\notherwise amp\n");
	end();
	/* What was measured has the usual way of its operation, but for what
	 * has not; two of a third, which is left, have lines of their own. */
	for (unsigned i = 0; i < 7; i++) {
		static const struct {
			enum ac_operation operation;
			float error;
			uint64_t judged;
		} rows[7] = {
			{ AC_OP_CONV_FPROP, 1e-4f, 9 },
			{ AC_OP_CONV_FPROP, 0.1f, 9 },
			{ AC_OP_CONV_FPROP, 2e-4f, 9 },
			{ AC_OP_CONV_DGRAD, 1e-4f, 9 },
			{ AC_OP_CONV_DGRAD, 0, 0 },
			{ AC_OP_CONV_WGRAD, 0, 0 },
			{ AC_OP_CONV_WGRAD, 0.1f, 9 },
		};
		struct ac_site_record *at;

		key.operation = rows[i].operation;
		key.m = 512 + i;
		at = add(&key, AC_RUNG_TF32, 10, 100, 50, rows[i].error,
		    rows[i].judged);
		at->tactic = AC_TACTIC_LIBRARY;
		ids[i] = at->id;
	}
	make_plan(0);
	assert_int_equal(plan.unit_count, 5);
	memset(levels, AC_TUNE_CHOSEN, sizeof levels);
	snprintf(wanted, sizeof wanted, "gemm -> keep\n"
	    "conv.fprop site=%08x -> keep\n"
	    "conv.fprop flops>=536M -> tf32 profit=off\n"
	    "conv.dgrad site=%08x -> tf32 profit=off\n"
	    "conv.wgrad site=%08x -> keep\notherwise amp\n", ids[1], ids[3],
	    ids[6]);
	assert_string_equal(lines_of(levels, 0), wanted);
	end();
}

/* ---- What it does ------------------------------------------------------- */

static void
ask(const struct ac_policy *policy, const struct ac_site_total *site,
    struct ac_decision *decision)
{
	struct ac_op op = { .operation = (enum ac_operation)
		site->key.operation };
	char id[9];

	snprintf(id, sizeof id, "%08x", site->id);
	op.fact[AC_FACT_TYPE] = site->key.type;
	op.fact[AC_FACT_ASKED] = site->key.asked;
	op.fact[AC_FACT_SOLVER] = "no";
	op.fact[AC_FACT_SITE] = id;
	ac_op_set(&op, AC_Q_SM, 90);
	ac_op_set_product(&op, site->key.m, site->key.n, site->key.k,
	    site->key.batch);
	ac_policy_decide(policy, &op, decision);
}

/* The text is a policy without a problem. */
static struct ac_policy *
parse(const char *text)
{
	char said[4096];
	struct ac_text why;
	struct ac_policy_problems problems = { .text = &why,
		.check = ac_check_cover };
	struct ac_policy *policy;

	ac_text_init(&why, said, sizeof said);
	policy = ac_policy_parse(NULL, text, strlen(text), "p", &problems);
	if (!policy || problems.errors || problems.warnings)
		fail_msg("%s\n%s", said, text);
	return policy;
}

static void
fail_at(const struct ac_site_total *site, const struct ac_decision *decision,
    int wanted, const char *text)
{
	fail_msg("%s %dx%dx%d batch %d, %08x: %s, not %s; guard %d, tactic %d, "
	    "tol %g\n%s", ac_operation_names[site->key.operation],
	    (int)site->key.m, (int)site->key.n, (int)site->key.k,
	    (int)site->key.batch, site->id, ac_rung_names[decision->rung],
	    ac_rung_names[wanted], (int)decision->guard,
	    (int)decision->tactic, decision->tol, text);
}

/* It gives each site `wanted`. */
static void
assert_does(const char *text, const int *wanted)
{
	struct ac_policy *policy = parse(text);

	for (size_t i = 0; i < plan.count; i++) {
		const struct ac_site_total *site = plan.rows[i].rungs[0];
		struct ac_decision decision;

		ask(policy, site, &decision);
		if ((int)decision.rung != wanted[i])
			fail_at(site, &decision, wanted[i], text);
	}
	ac_policy_destroy(policy);
}

/* Sites of few sizes, so that many share something. */
static struct ac_site_key
any_product(unsigned caller)
{
	static const int64_t sizes[] = { 8, 33, 512, 520, 2048, 4096 };
	static const enum ac_operation operations[] = { AC_OP_GEMM_SINGLE,
		AC_OP_GEMM_SINGLE, AC_OP_GEMM_STRIDED, AC_OP_GEMM_LT };

	const enum ac_operation operation = operations[draw(4)];
	const int64_t m = sizes[draw(6)], n = sizes[draw(6)];

	return product(operation, m, n, sizes[draw(6)],
	    operation == AC_OP_GEMM_SINGLE || draw(2) ? 1 : 16,
	    1 + caller % 3 * (unsigned)draw(2));
}

static void
any_sites(void)
{
	static const enum ac_rung rungs[] = { AC_RUNG_FP16, AC_RUNG_TF32,
		AC_RUNG_FP16X3, AC_RUNG_BF16X3 };
	const unsigned sites = 1 + (unsigned)draw(SITES);

	for (unsigned i = 0; i < sites; i++) {
		const struct ac_site_key key = any_product(i);
		const unsigned count = 1 + (unsigned)draw(4);
		bool is_there = false;

		for (uint32_t k = 0; k < made_count; k++)
			is_there |= made[k].id == ac_site_id(&key, "");
		for (unsigned at = 0; !is_there && at < count; at++)
			add(&key, rungs[at], at ? 0 : 1 + draw(100), 100,
			    (float)(20 + draw(100)), (float)(rungs[at]
			    > AC_RUNG_BF16 ? 1e-5 : 1e-3) * (float)draw(100)
			    / 90, draw(20));
	}
}

CASE_WITH(test_does, begin, NULL)
{
	static const double tols[] = { 0, 0, 1e-3, 2e-4, 5e-3 };

	seed = 1;
	for (int i = 0; i < PLANS; i++) {
		const double tol = tols[i % 5];
		const unsigned kept = (unsigned)draw(4);
		unsigned char levels[SITES] = { 0 };
		int wanted[SITES] = { 0 };

		any_sites();
		make_plan(tol);
		for (size_t u = 0; u < plan.unit_count; u++) {
			levels[u] = draw(4) < kept ? (unsigned char)draw(3)
			    : AC_TUNE_CHOSEN;
			if (ac_tune_way_of(plan.units[u],
			    (enum ac_tune_level)levels[u]) != AC_TUNE_KEEP)
				wanted[plan.units[u] - plan.sites] = (int)
				    plan.units[u]->way[ac_tune_way_of(
				    plan.units[u], (enum ac_tune_level)
				    levels[u])].at->rung;
		}
		assert_does(text_of(levels, tol), wanted);
		end();
	}
}

/* ---- A run, frozen ------------------------------------------------------ */

/* One that a policy may come to. */
static void
decide(struct ac_site_record *site, enum ac_rung rung)
{
	static const struct {
		enum ac_rung rung;
		enum ac_tactic tactics[2];
		float tols[3];
	} rows[] = {
		{ AC_RUNG_TF32, { AC_TACTIC_LIBRARY, AC_TACTIC_LIBRARY },
		    { 1e-3f, 4.4e-4f, 5e-3f } },
		{ AC_RUNG_FP16, { AC_TACTIC_CAST, AC_TACTIC_LIBRARY },
		    { 1e-3f, 4.5e-4f, 5e-3f } },
		{ AC_RUNG_BF16, { AC_TACTIC_CAST, AC_TACTIC_LIBRARY },
		    { 8e-3f, 3.7e-3f, 1 } },
		{ AC_RUNG_FP16X2, { AC_TACTIC_CAST, AC_TACTIC_CAST },
		    { 1e-5f, 2e-6f, 1e-5f } },
		{ AC_RUNG_BF16X6, { AC_TACTIC_CAST, AC_TACTIC_CAST },
		    { 1e-5f, 8e-7f, 1e-5f } },
	};
	size_t i = 0;

	site->rung = rung;
	if (!rung)
		return;
	while (rows[i].rung != rung)
		i++;
	site->tactic = rows[i].tactics[draw(4) == 0];
	site->tol = rows[i].tols[draw(4) ? 0 : draw(3)];
	site->guard = draw(3) ? AC_GUARD_ON : draw(2) ? AC_GUARD_OFF
	    : AC_GUARD_STRICT;
	atomic_store(&site->recast, 1 + draw(50));
}

static const struct ac_site_total *
most_of(const struct ac_site_row *row)
{
	const struct ac_site_total *most = NULL;

	for (size_t at = 0; at < row->rung_count; at++)
		if (row->rungs[at]->recast && (!most
		    || row->rungs[at]->recast > most->recast))
			most = row->rungs[at];
	return most;
}

/* The policy decides as the run did about the most recast rung of each. */
static void
assert_is_as_it_was(const char *text)
{
	struct ac_policy *policy = parse(text);

	for (size_t i = 0; i < plan.count; i++) {
		const struct ac_site_total *was = most_of(&plan.rows[i]);
		struct ac_decision decision;

		ask(policy, plan.rows[i].rungs[0], &decision);
		if (decision.rung != (was ? was->rung : AC_RUNG_KEEP))
			fail_at(plan.rows[i].rungs[0], &decision, was
			    ? (int)was->rung : AC_RUNG_KEEP, text);
		if (was && (decision.guard != was->guard || decision.tactic
		    != was->tactic || fabs(decision.tol / was->tol - 1)
		    > 1e-5 || !decision.reproducible || decision.own))
			fail_at(was, &decision, (int)was->rung, text);
	}
	ac_policy_destroy(policy);
}

CASE_WITH(test_frozen, begin, NULL)
{
	static const enum ac_rung rungs[] = { AC_RUNG_KEEP, AC_RUNG_FP16,
		AC_RUNG_FP16, AC_RUNG_TF32, AC_RUNG_BF16, AC_RUNG_FP16X2,
		AC_RUNG_BF16X6 };

	seed = 2;
	for (int i = 0; i < PLANS; i++) {
		const unsigned usual = 1 + (unsigned)draw(6);

		any_sites();
		for (uint32_t k = 0; k < made_count; k++)
			decide(&made[k], draw(3) ? rungs[usual]
			    : rungs[draw(7)]);
		make_report();
		assert_true(ac_tune_plan_recast(&plan, report));
		assert_is_as_it_was(text_of(NULL, 0));
		end();
	}
}

/* Only what is not as usual is said. */
CASE_WITH(test_frozen_lines, begin, NULL)
{
	struct ac_site_key key = product(AC_OP_GEMM_SINGLE, 512, 512, 1024, 1,
	    1);
	struct ac_site_record *site = add(&key, AC_RUNG_FP16, 1, 0, 0, 0, 0);
	char wanted[300];

	site->guard = AC_GUARD_ON;
	site->recast = 9;
	key.m = 520;
	site = add(&key, AC_RUNG_FP16, 1, 0, 0, 0, 0);
	site->guard = AC_GUARD_STRICT;
	site->tol = 4e-4f;
	site->recast = 1;
	key = product(AC_OP_CONV_WGRAD, 0, 0, 0, 0, 1);
	key.ta = key.tb = '\0';
	site = add(&key, AC_RUNG_TF32, 1, 0, 0, 0, 0);
	site->tactic = AC_TACTIC_LIBRARY;
	site->guard = AC_GUARD_OFF;
	site->recast = 1;
	make_report();
	assert_true(ac_tune_plan_recast(&plan, report));
	snprintf(wanted, sizeof wanted, "set reproducible=on own=0\n"
	    "gemm m=520 n=512 k=1024 -> fp16 guard=strict tol=4e-4 profit=off\n"
	    "gemm flops>=536M -> fp16 profit=off\ngemm -> keep\n"
	    "conv.wgrad site=%08x -> tf32 guard=off profit=off\n"
	    "otherwise off\n", site->id);
	assert_string_equal(lines_of(NULL, 0), wanted);
	end();
}

CASES_RUN(NULL, NULL)
