/* SPDX-License-Identifier: Apache-2.0 */
/* examples/digits_input.h -- what a digits program is given: options,
 * digits. */
#ifndef EXAMPLES_DIGITS_INPUT_H
#define EXAMPLES_DIGITS_INPUT_H

enum { PIXELS = 64, CLASSES = 10, EXIT_BAD_INPUT = 2 };

/* One scan per column, column-major, as cuBLAS wants it. */
struct dataset {
	float *pixels;  /* PIXELS x count, 0..1 */
	int   *labels;
	int    count;
};

struct options {
	int epochs, batch;
	float loss_scale;
	/* Of digits_mlp only: */
	int   width;         /* of the hidden layers */
	float rate;          /* of learning, at first */
	int   is_timed;      /* print the GPU time of the last epoch's
	                      * products */
	const char *weights; /* where to save them; NULL: nowhere */
	const char *data;
};

/* Never returns from a bad command line: one line on stderr, exit status 2. */
struct options options_parse(int argc, char **argv);
/* The same for digits_mlp, which has three more. */
struct options options_parse_mlp(int argc, char **argv);

/* Read `path` (format: examples/data/README.md) into data_out; the caller
 * frees it. Returns 0, or -1 after one line on stderr that names the file and
 * the line; data_out is then untouched. */
int dataset_load(const char *path, struct dataset *data_out);
void dataset_free(struct dataset *data);

/* For how many of the `count` scans named in `order` is the largest of their
 * scores, CLASSES x count and column-major, that of their label? */
int dataset_right(const struct dataset *data, const int *order, int count,
    const float *scores);

#endif
