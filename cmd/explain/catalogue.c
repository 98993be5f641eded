/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/explain/catalogue.c -- autocast explain --functions: every symbol the
 * library wraps and what it does with it, from the rows of shim/bind/; and
 * --rates: those behind estimates. */
#include "cmd/explain/explain.h"
#include "policy/profit/profit.h"

#include <stdio.h>
#include <string.h>

/* Show the rows of every CUDA release, and those of cuDNN. */
#define CUBLAS_VERSION 99999999
#undef AC_HAVE_CUDNN
#define AC_HAVE_CUDNN

static const struct {
	const char *id, *fate;
} kinds[] = {
#define KIND(id, fate) { #id, fate },
#include "shim/bind/entries.def"
};

static const struct { const char *symbol, *kind; } rows[] = {
#define WRAPPED(kind, symbol, provider) { #symbol, #kind },
#include "shim/bind/entries.def"
};

static const char *
fate_of(const char *kind)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].id, kind))
			return kinds[i].fate;
	return "passed through";
}

int
ac_explain_functions(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		printf("%-38s %s\n", rows[i].symbol, fate_of(rows[i].kind));
	return ac_say_done();
}

bool
ac_explain_is_function(const char *name)
{
	const size_t length = strlen(name);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strncmp(rows[i].symbol, name, length) &&
		    (!rows[i].symbol[length] ||
		    !strcmp(rows[i].symbol + length, "_v2")))
			return true;
	return false;
}

static void
add_rate(struct ac_text *t, double rate, double unit, size_t column)
{
	if (rate > 0)
		ac_text_add_double(t, rate / unit, 3);
	else
		ac_text_add(t, "-");
	ac_text_pad(t, column);
}

/* One GPU a line; where its numbers are from stands behind them. */
int
ac_explain_rates(void)
{
	const struct ac_rates *row;

	puts("                                TFLOP/s                   TB/s  "
	    "us for one more kernel\nGPU                      sm   fp32  tf32  "
	    "fp16  bf16  memory  device host");
	for (unsigned i = 0; (row = ac_rates_row(i)); i++) {
		struct ac_text t = AC_TEXT_OF(512);

		ac_text_addf(&t, "%-24s %-4d ", row->name, row->sm);
		add_rate(&t, row->fp32, 1e12, 35);
		add_rate(&t, row->tf32, 1e12, 41);
		add_rate(&t, row->fp16, 1e12, 47);
		add_rate(&t, row->bf16, 1e12, 53);
		add_rate(&t, row->bandwidth, 1e12, 61);
		add_rate(&t, row->launch, 1e-6, 68);
		add_rate(&t, row->host_launch, 1e-6, 73);
		ac_rates_add_source(row, &t);
		puts(t.data);
	}
	return ac_say_done();
}
