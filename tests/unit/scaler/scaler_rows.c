/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_rows.c -- where the answer is not PyTorch's. */
#include "tests/unit/scaler/scaler_rows.h"
#include "tests/unit/cases.h"

#include <ctype.h>

enum { BOTH, LOOSE, STRICT };

static const char devices[] = "a CPU is one device";
static const char refused[] = "strict: what cannot work is refused";
static const char nan_factor[]
    = "PyTorch 2.15 takes it, by the way its test is written; here a NaN is "
    "refused";
static const char fused[]
    = "PyTorch calls the fused optimizer all the same; here the program does";

/* By the row's id and column. */
static const struct {
	const char *id;
	int column;
	const char *result, *why;
} answers[] = {
	{ "K20", STRICT, "n*166 !E_AT_MINIMUM 00000001/0",
	    "strict: the scale does not become 0" },
	{ "K21", STRICT, "n*166 !E_AT_MINIMUM n [7f800000,7f800000] "
	    "!E_AT_MINIMUM 00000001/0",
	    "strict: the scale did not become 0, and what it made is refused" },
	{ "K22", STRICT, "!E_INVALID n 47000000/0", refused },
	{ "K22b", STRICT, "!E_INVALID 47800000/0 !E_INVALID 47800000/0 "
	    "!E_INVALID 47800000/0", refused },
	{ "K40b", STRICT, "!E_NO_CHECKS_GROUP 47800000/0",
	    "strict: the group stays ready" },
	{ "K41b", STRICT, "!E_NO_CHECKS_GROUP !E_NO_CHECKS 47800000/0",
	    "strict: the group stays ready" },
	{ "K46", BOTH, "n 47000000/0", devices },
	{ "K47", BOTH, "n 47000000/0", devices },
	{ "K47b", BOTH, "F(3f800000,47800000) 47000000/0", devices },
	{ "K53", STRICT, "!E_INVALID", refused },
	{ "K53b", STRICT, "!E_INVALID", refused },
	{ "K54b", BOTH, "!E_INVALID", nan_factor },
	{ "K54d", BOTH, "!E_INVALID", nan_factor },
	{ "K55", STRICT, "!E_INVALID", refused },
	{ "K55b", STRICT, "!E_INVALID", refused },
	{ "K55c", STRICT, "!E_INVALID", refused },
	{ "K55d", STRICT, "!E_INVALID", refused },
	{ "K55e", STRICT, "!E_INVALID", refused },
	{ "K55f", STRICT, "!E_INVALID", refused },
	{ "K55g", STRICT, "!E_INVALID", refused },
	{ "K78", BOTH, "y 4b800000/0", "Apex's rule" },
	{ "K78b", BOTH, "4b800000/0 y 4b800000/0", "Apex's rule" },
	{ "K79", LOOSE, "n 3f800000/0 n 3f800000/0", "Apex's rule" },
	{ "K79", STRICT, "n 3f800000/0 n !E_AT_MINIMUM 3f800000/0",
	    "Apex's rule; strict: says so" },
	{ "K80", LOOSE, "n 3f800000/0", "TensorFlow's rule" },
	{ "K80", STRICT, "n !E_AT_MINIMUM 3f800000/0",
	    "TensorFlow's rule; strict: says so" },
	{ "K81", BOTH, "y 41000000/1 n 41000000/0 n 40800000/0 n 40000000/0 "
	    "y 40000000/1 y 40000000/2 y 40800000/0 n 40800000/0",
	    "NVIDIA's rule" },
	{ "X2", STRICT, "n 00000001/0 n !E_AT_MINIMUM 00000001/0 n "
	    "!E_AT_MINIMUM 00000001/0 n !E_AT_MINIMUM 00000001/0",
	    "strict: no step by a scale that has no inverse" },
	{ "X9", STRICT, "[7f800000,7f800000,nan,nan] 00000001/0",
	    "strict: no step by a scale that has no inverse" },
	{ "X8", STRICT, "y*3 42000000/0 n 41000000/0 !E_INVALID y 42000000/0",
	    refused },
	{ "X28", LOOSE,
	    "41800000/0 44000000/1 41800000/1 44000000/0 41800000/0",
	    "what is loaded stays within the bounds" },
	{ "X28", STRICT, "41800000/0 !E_STATE_FORMAT 41800000/0 "
	    "!E_STATE_FORMAT 41800000/0 44000000/0 41800000/0", refused },
	{ "X29", BOTH, "3e99999a/0", "a bound that FP32 does not have" },
	{ "X30", BOTH, "3f333333/0", "a bound that FP32 does not have" },
	{ "X12", BOTH, "!E_NO_CHECKS_GROUP !E_NO_CHECKS 47800000/0", fused },
};

const struct script_row rows_own[] = {
	{ "K21", "0x1p-127,2,.5,3,strict", "S A:f:00000001,80000000,3f800000 "
	    "UA =A TA P ?", "[34800000,80000000,7f000000] y 00400000/1",
	    "the last scale that has an inverse" },
	{ "K21", "0x1p-128,2,.5,3,strict", "S A:f:00000001,80000000,3f800000 "
	    "UA TA P ?", "n 00100000/0",
	    "strict: what becomes NaN by it is not applied" },
	{ "K21", "0x1p-128,2,.5,3,strict", "S A:f:00000000 TA P ?",
	    "n 00100000/0", "in one go" },
	{ "K21", "0x1p-128,2,.5,3,strict", "S A:f:00000000 FA P ?",
	    "F(3f800000,00200000) 00100000/0", "nor by a step of the program" },
	{ "K20", "1e-60,2,.5,3,strict", "? i ?",
	    "00000001/0 n !E_AT_MINIMUM 00000001/0", "nor is the first one 0" },
	{ "K20", "1e-60,2,.5,3,strict,min=1e-60", "? i ?",
	    "00000001/0 n !E_AT_MINIMUM 00000001/0", "whatever is named" },
	{ "K20", "1,2,.5,3,strict,max=1e-46", "?", "!E_INVALID",
	    "no room below that one" },
	{ "K55", "inf,2,.5,3,strict", "?", "!E_INVALID",
	    "the first scale is finite" },
	{ "K55", "D,disabled,strict", "G=1 B=1.5 I=0", "ok",
	    "what is disabled takes anything" },
	{ "K62", "D", "L=4,2,.5,3,2 ? c ?", "40800000/2 y 41000000/0",
	    "what is loaded counts before anything is scaled" },
	{ "K71", ".5,2,.5,2000,after", "S A:f:7f61b1e6 UA =A TA P ?",
	    "[7f800000] n 3e800000/0", "an inf that unscaling made" },
	{ "K71", ".5,2,.5,2000,after", "S A:d:7feffffffffffff0 UA TA P ?",
	    "n 3e800000/0", "the same in FP64" },
	{ "K71", ".5,2,.5,2000,after,fp16", "S A:h:7bff UA =A TA P ?",
	    "[7c00] n 3e800000/0", "the same in FP16" },
	{ "K71", ".5,2,.5,2000,after", "S A:b:7f7f UA =A TA P ?",
	    "[7f80] n 3e800000/0", "the same in BF16" },
	{ "K65", "3,2,.5,2000,fp16", "S A:h:4600,3c01,0001,8000 UA =A TA P ?",
	    "[4000,3557,0000,8000] y 40400000/1", "FP16 where it is allowed" },
	{ "K65", "D,fp16", "S UAH TA P ?", "n 47000000/0",
	    "FP16 where it is allowed" },
	{ "K62", "8,2,.5,3,hysteresis=3", "i ? i ? V i ? i ? c i ?",
	    "n 41000000/0 n 41000000/0 n 40800000/0 n 40000000/0 y n "
	    "40000000/0", "the bad updates in a row are saved, too" },
	{ "K62", "8,2,.5,3,hysteresis=2", "i*4 V i ?", "n*5 3f000000/0",
	    "once they are used up as well" },
	{ "K81", "8,2,.5,3,hysteresis=2", "S UA1 P ? S UA1 P=16 ? i ? i ?",
	    "41000000/0 41800000/0 n 41000000/0 n 40800000/0",
	    "setting the scale is no bad update" },
	{ "K78", "3,2,.5,1,max=10", "c ? c ? c ?",
	    "y 40c00000/0 y 41200000/0 y 41200000/0", "not a power of two" },
	{ "K40", "D", "S TAe A:f:47800000 TA =A P ?",
	    "!E_NO_CHECKS_GROUP y [3f800000] 47800000/1",
	    "gradients that were forgotten may still be set" },
	{ "K40", "D", "S UAe A:f:47800000 UA =A TA P ?",
	    "[3f800000] y 47800000/1",
	    "gradients that were forgotten may still be set" },
	{ "K77", "D", "R=1 S UAe TA P ?", "n 47000000/0",
	    "no gradients here, an inf elsewhere" },
	{ "K77", "D", "R=0 S TAe P ?", "y 47800000/1",
	    "no gradients here: takes part with 0" },
	{ "K77", "D", "S UAe R=0 TA P ?",
	    "!E_NO_CHECKS_GROUP !E_NO_CHECKS 47800000/0",
	    "what was unscaled without a flag has none" },
	{ "K77", "D", "S UA1 R=0 TA P R=0 c ?",
	    "!E_BUSY n y 47000000/1", "not during an iteration" },
};
const size_t rows_own_count = sizeof rows_own / sizeof *rows_own;

const char *
rows_expected(const struct script_row *row, bool strict, const char **why_out)
{
	*why_out = NULL;
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
		if (!strcmp(answers[i].id, row->id)
		    && answers[i].column != (strict ? LOOSE : STRICT)) {
			*why_out = answers[i].why;
			return answers[i].result;
		}
	if (!strcmp(row->result, "-"))
		fail_msg("%s: neither PyTorch nor a rule of ours", row->id);
	return row->result;
}

int
rows_number(const struct script_row *row)
{
	return row->id[0] == 'K' ? atoi(row->id + 1) : 0;
}

void
rows_check(const struct script_end *end, void *self,
    const struct script_row *row, bool strict)
{
	autocast_scaler_options options = script_options(row->options);
	char result[SCRIPT_TEXT];
	const char *why, *expected;

	expected = row >= rows_own && row < rows_own + rows_own_count
	    ? row->result : rows_expected(row, strict, &why);
	options.strict |= strict;
	script_run(end, self, &options, row->sequence, result);
	if (strcmp(result, expected))
		fail_msg("%s%s (%s): %s\n  gives %s\n  not   %s", row->id,
		    strict ? ", strict" : "", row->options, row->sequence,
		    result, expected);
}
