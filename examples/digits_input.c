/* SPDX-License-Identifier: Apache-2.0 */
/* examples/digits_input.c -- options and CSV of both digits programs; knows no
 * CUDA. */
#include "digits_input.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXEL_MAX = 16, FEWEST = 10 };

static int
complain(const char *path, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", path, line, what);
	return -1;
}

/* NULL, or what is wrong with this line. */
static const char *
parse_scan(char *text, float *pixels, int *label)
{
	for (int column = 0; column <= PIXELS; column++) {
		const int last = column == PIXELS;
		char *end;
		double value = strtod(text, &end);

		if (end == text)
			return "expected 65 numbers separated by commas";
		if (!last && !(value >= 0 && value <= PIXEL_MAX))
			return "a pixel is not 0 to 16";
		if (last && (!(value >= 0 && value < CLASSES) ||
		    value != (int)value))
			return "the digit is not 0 to 9";
		end += strspn(end, " \t\r\n");
		if (*end != (last ? '\0' : ','))
			return "expected 65 numbers separated by commas";
		if (last)
			*label = (int)value;
		else
			pixels[column] = (float)(value / PIXEL_MAX);
		text = end + 1;
	}
	return NULL;
}

static const char *
append(struct dataset *data, int *room, char *line)
{
	if (!strncmp(line, "\x1f\x8b", 2))
		return "compressed; decompress it with gzip -dc";
	if (data->count == *room) {
		const size_t wanted = *room ? 2 * (size_t)*room : 2048;
		float *pixels = realloc(data->pixels,
		    wanted * PIXELS * sizeof *pixels);
		int *labels;

		if (!pixels)
			return strerror(errno);
		data->pixels = pixels;
		labels = realloc(data->labels, wanted * sizeof *labels);
		if (!labels)
			return strerror(errno);
		data->labels = labels;
		*room = (int)wanted;
	}
	return parse_scan(line, data->pixels + (size_t)data->count * PIXELS,
	    &data->labels[data->count]);
}

int
dataset_load(const char *path, struct dataset *data_out)
{
	struct dataset data = { NULL, NULL, 0 };
	FILE *file = fopen(path, "r");
	const char *wrong = NULL;
	char *line = NULL;
	size_t line_bytes = 0;
	int room = 0;

	if (!file) {
		fprintf(stderr, "%s: %s: %s\n",
		    program_invocation_short_name, path, strerror(errno));
		return -1;
	}
	while (!wrong && getline(&line, &line_bytes, file) > 0) {
		wrong = append(&data, &room, line);
		data.count += !wrong;
	}
	if (!wrong && ferror(file))
		wrong = strerror(errno);
	if (!wrong && data.count < FEWEST)
		wrong = "fewer than 10 scans";
	free(line);
	fclose(file);
	if (wrong) {
		dataset_free(&data);
		return complain(path, data.count + 1, wrong);
	}
	*data_out = data;
	return 0;
}

void
dataset_free(struct dataset *data)
{
	free(data->pixels);
	free(data->labels);
}

int
dataset_right(const struct dataset *data, const int *order, int count,
    const float *scores)
{
	int right = 0;

	for (int i = 0; i < count; i++) {
		const float *p = scores + i * CLASSES;
		int best = 0;

		for (int c = 1; c < CLASSES; c++)
			best = p[c] > p[best] ? c : best;
		right += best == data->labels[order[i]];
	}
	return right;
}

static const char *more_usage = "";

static void
usage(const char *what, const char *value)
{
	const char *const name = program_invocation_short_name;

	fprintf(stderr, "%s: %s%s; usage: %s [--epochs N] [--batch N] "
	    "%s[--loss-scale S] [--weights FILE] digits.csv\n", name, what,
	    value, name, more_usage);
	exit(EXIT_BAD_INPUT);
}

static int
to_count(const char *name, const char *text, int most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < 1 || value > most)
		usage(name, text);
	return (int)value;
}

static float
to_factor(const char *name, const char *text)
{
	char *end;
	float value = strtof(text, &end);

	if (end == text || *end || !(value > 0) || isinf(value))
		usage(name, text);
	return value;
}

static struct options
parse(int argc, char **argv, const struct option *options)
{
	struct options opt = { .epochs = 20, .batch = 32, .loss_scale = 1,
		.width = 256, .rate = 0.02f };
	int found;

	opterr = 0;
	while ((found = getopt_long(argc, argv, ":", options, NULL)) != -1)
		switch (found) {
		case 'e':
			opt.epochs = to_count("bad --epochs ", optarg, 10000);
			break;
		case 'b':
			opt.batch = to_count("bad --batch ", optarg, 65536);
			break;
		case 'h':
			opt.width = to_count("bad --width ", optarg, 65536);
			break;
		case 'r':
			opt.rate = to_factor("bad --rate ", optarg);
			break;
		case 't':
			opt.is_timed = 1;
			break;
		case 's':
			opt.loss_scale = to_factor("bad --loss-scale ",
			    optarg);
			break;
		case 'w':
			opt.weights = optarg;
			break;
		case ':':
			usage("no value for ", argv[optind - 1]);
			break;
		default:
			usage("unknown option ", argv[optind - 1]);
		}
	if (optind + 1 != argc)
		usage(optind < argc ? "one file only" : "no file named", "");
	opt.data = argv[optind];
	return opt;
}

/* The first are digits_mlp's alone. */
enum { MLP_ALONE = 3 };
static const struct option known[] = {
	{ "width",      required_argument, NULL, 'h' },
	{ "rate",       required_argument, NULL, 'r' },
	{ "time",       no_argument,       NULL, 't' },
	{ "epochs",     required_argument, NULL, 'e' },
	{ "batch",      required_argument, NULL, 'b' },
	{ "loss-scale", required_argument, NULL, 's' },
	{ "weights",    required_argument, NULL, 'w' },
	{ NULL, 0, NULL, 0 },
};

struct options
options_parse(int argc, char **argv)
{
	return parse(argc, argv, known + MLP_ALONE);
}

struct options
options_parse_mlp(int argc, char **argv)
{
	more_usage = "[--width N] [--rate R] [--time] ";
	return parse(argc, argv, known);
}
