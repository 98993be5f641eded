/* SPDX-License-Identifier: Apache-2.0 */
/* tests/cli/watched.c -- counts into the state directory what it is told to:
 * each number on standard input is so many products to recast and as many to
 * keep; it answers with its pid once they are counted. Ends with its input.
 * Usage: watched [LABEL], which is then part of what it calls its caller. */
#include "report/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	struct ac_site_key key;
	struct ac_decision decision;
} sites[] = {
	{ { .operation = AC_OP_GEMM_SINGLE, .symbol = "cublasSgemm_v2",
	    .caller = "train+1a2b", .ta = 'N', .tb = 'T', .solver = 'n',
	    .type = "f32", .asked = "fp32", .m = 4096, .n = 1024, .k = 4096,
	    .batch = 1 },
	  { .rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST,
	    .source = "amp", .line = 4, .guard = AC_GUARD_ON } },
	{ { .operation = AC_OP_GEMM_STRIDED,
	    .symbol = "cublasSgemmStridedBatched", .caller = "libnet.so+77",
	    .ta = 'T', .tb = 'N', .solver = 'n', .type = "f32",
	    .asked = "fp32", .m = 64, .n = 64, .k = 512, .batch = 12 },
	  { .rung = AC_RUNG_KEEP, .reason = AC_REASON_TOO_SMALL,
	    .source = "amp", .line = 4 } },
};

static void
count(size_t site, int calls, const char *label)
{
	struct ac_site_key key;
	struct ac_site_record *record;

	memcpy(&key, &sites[site].key, sizeof key);
	if (label)
		memcpy(key.caller, label,
		    strnlen(label, sizeof key.caller - 1) + 1);
	record = ac_report_site(&ac_outside, &key, &sites[site].decision, NULL,
	    NULL);
	for (int i = 0; i < calls; i++)
		ac_report_count_decided(record);
}

int
main(int argc, char **argv)
{
	const struct ac_policy_origin origin = {
		"amp", "nobody chose a policy: this is the default", false
	};
	int calls;

	while (scanf("%d", &calls) == 1) {
		if (calls) {
			ac_report_open(&origin, "");
			ac_report_machine("NVIDIA H200", 90, "cublas-13.1",
			    false);
		}
		for (size_t i = 0; calls && i < 2; i++)
			count(i, calls, argc > 1 ? argv[1] : NULL);
		printf("%d\n", (int)getpid());
		fflush(stdout);
	}
	return 0;
}
