/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_doctor_epilogue.c -- what the doctor says of products of
 * cublasLt that are kept by design: that, and nothing of GPUs and rules. */
#include "cmd/doctor/doctor.h"
#include "tests/unit/cases.h"

CASE(test_by_design)
{
	static const struct {
		const char *shape, *says;
		uint32_t sm;
	} rows[] = {
		{ "bgrada/bgradb", "; most of them have the epilogue "
		    "bgrada/bgradb, kept by design: it adds up an input, which a "
		    "cast scales", 90 },
		{ "other: A_SCALE_POINTER", "; most of them have the epilogue "
		    "other: A_SCALE_POINTER, kept by design: autocast has no "
		    "recipe for it", 75 },
		{ "gelu_bias", "; the rule is amp:4", 90 },
	};
	char said[1024], command[256];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ac_doctor_facts facts = { .autocast = "autocast",
			.work = { .gpu = "a GPU", .sm = rows[i].sm } };
		struct ac_site_total *most =
		    &facts.work.kept_most[AC_REASON_UNSUPPORTED];
		struct ac_text text, fix;

		facts.work.kept[AC_REASON_UNSUPPORTED] = 3;
		most->key.operation = AC_OP_GEMM_LT;
		most->reason = AC_REASON_UNSUPPORTED;
		most->id = 0xabcd;
		most->line = 4;
		strcpy(most->source, "amp");
		strcpy(most->key.shape, rows[i].shape);
		ac_text_init(&text, said, sizeof said);
		ac_text_init(&fix, command, sizeof command);
		ac_doctor_explain_kept(&facts, AC_REASON_UNSUPPORTED, &text,
		    &fix);
		assert_string_equal(strchr(said, ';'), rows[i].says);
		assert_string_equal(command, "autocast explain 0000abcd");
	}
}

CASES_RUN(NULL, NULL)
