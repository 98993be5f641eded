/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_walk.c -- random calls of the gradient scaler's
 * public functions, on one device and on two, right ones and wrong ones, and
 * the model, which is held against PyTorch here: the same answers, states and
 * bits. */
#include "tests/unit/cases.h"
#include "tests/unit/scaler/scaler_device.h"
#include "tests/unit/scaler/scaler_model.h"
#include "tests/unit/scaler/scaler_rows.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { WALKS = 300 };
#else
enum { WALKS = 2000 };
#endif

static uint64_t dice = 88172645463325252u;

static unsigned
roll(unsigned sides)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (unsigned)(dice >> 33) % sides;
}

#define ANY(array) ((array)[roll(COUNT(array))])

static void
random_options(char text[128])
{
	static const char *const rules[] = { "D", "8,2,.5,3", "1e38,16,.5,1",
		"1,1.1,.8,2", "0x1p-146,2,.5,2", "0.1,3,.3,1", "3,2,.5,2",
		"8,2,0,3", "8,2,.5,0", "8,1,.5,3", "0,2,.5,3" };
	static const char *const more[] = { ",strict", ",strict", ",after",
		",fp16", ",min=1", ",max=16", ",min=0.25,max=1024",
		",hysteresis=2", ",hysteresis=3", ",hysteresis=0", ",disabled",
		",min=2,max=1" };

	strcpy(text, rules[roll(roll(4) ? 7 : COUNT(rules))]);
	for (unsigned i = roll(4); i; i--)
		strcat(text, more[roll(roll(4) ? 9 : COUNT(more))]);
}

static void
random_word(char word[96], bool plain)
{
	static const char *const gradients[] = { "0", "0", "0", "0", "1", "1",
		"n", "m", "z", "e", "h", "H", "00", "01", "10" };
	static const char *const values[] = {
		":f:7f7fffff,80000001,00000001,33d6bf95",
		":d:47efffffe0000000,0000000000000001,c059000000000000",
		":b:7f7f,0001,4049,8000", ":h:7bff,0001,8000,3c01",
		":f:ffc00000", ":d:7ff0000000000000", ":b:ff80", ":f:" };
	static const char *const settings[] = { "P=4", "P=1e-40", "P=3e38",
		"P=0.1", "I=1", "I=2", "I=5", "G=1.1", "G=16", "B=.8", "B=0.1",
		"L=", "R=1", "R=0" };
	static const char *const odd[] = { "P=inf", "P=0", "P=-1", "P=nan",
		"I=0", "I=-7", "G=1", "G=nan", "B=1.5", "B=0", "B=-1",
		"L=4,2,.5,3,1", "L=0x1p-149,1.5,.25,7,3" };
	static const char calls[] = "SSSUUUUTTTTTTFFPPPPPPciV";
	static const char *const shows[] = { "?", "f?", "=A", "=B", "=C" };
	const char name = "AAABBC"[roll(6)];
	const unsigned which = roll(20);

	if (which == 0)
		snprintf(word, 96, "%s", ANY(shows));
	else if (which == 1)
		snprintf(word, 96, "%c%s", name, ANY(values));
	else if (which == 2)
		snprintf(word, 96, "%s", ANY(settings));
	else if (which == 3 && !plain)
		snprintf(word, 96, "%s", ANY(odd));
	else {
		const char call = calls[roll(sizeof calls - 1
		    - !plain)];      /* what is odd cannot be loaded again */

		if (!strchr("UTF", call))
			snprintf(word, 96, "%c", call);
		else
			snprintf(word, 96, "%c%c%s", call, name,
			    roll(4) ? ANY(gradients) : "");
	}
}

CASE(walk)
{
	static char ours[SCRIPT_TEXT], expected[SCRIPT_TEXT];
	static struct device_end device;
	cudaStream_t own;
	int refused = 0;

	device_open(&device);
	assert_int_equal(cudaStreamCreateWithFlags(&own,
	    cudaStreamNonBlocking), 0);
	for (int i = 0; i < WALKS; i++) {
		char text[128], sequence[4096] = "";
		const bool plain = roll(2);
		autocast_scaler_options options;
		struct model model;

		random_options(text);
		options = script_options(text);
		for (unsigned n = 6 + roll(24); n; n--) {
			random_word(sequence + strlen(sequence), plain);
			strcat(sequence, " ");
		}
		strcat(sequence, "? =A =B =C");
		script_run(&model_end, &model, &options, sequence, expected);
		device.stream = i % 2 ? own : NULL;
		script_run(&device_script_end, &device, &options, sequence,
		    ours);
		if (strcmp(ours, expected))
			fail_msg("walk %d (%s): %s\n  gives %s\n  model %s", i,
			    text, sequence, ours, expected);
		refused += !strcmp(ours, "!E_INVALID");
	}
	assert_true(refused > WALKS / 40 && refused < WALKS / 2);
	assert_int_equal(cudaStreamDestroy(own), 0);
	device_close(&device);
}

/* The model itself. */
CASE(as_pytorch)
{
	struct script_row *table;
	struct model model;
	size_t count;

	table = script_table(&count);
	assert_true(count >= 400);
	for (size_t i = 0; i < count; i++) {
		rows_check(&model_end, &model, &table[i], false);
		if (table[i].id[0] != 'R')
			rows_check(&model_end, &model, &table[i], true);
	}
	for (size_t i = 0; i < rows_own_count; i++) {
		rows_check(&model_end, &model, &rows_own[i], false);
		rows_check(&model_end, &model, &rows_own[i], true);
	}
	free(table);
}

CASES_RUN_ON("h200,t4", NULL, NULL)
