/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/rnn/cudnn_rnn_forward.c -- a recurrent network over sequences,
 * on the stream's worker. Operands of products are rounded as its arithmetic
 * says, all else is FP32, in a fixed order. The backward passes read the
 * tape. */
#include "emulator/cudnn/rnn/cudnn_rnn.h"
#include "emulator/shared/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

float *
emu_rnn_kept(const struct emu_rnn_pass *p, int layer, int64_t step,
    int64_t sequence, enum emu_rnn_kept which)
{
	const int64_t parts = EMU_RNN_GATES + 2 * p->rnn.gates;
	const int64_t place = (layer * p->steps + step) * p->batch + sequence;

	return p->tape + (place * parts + which) * p->rnn.hidden;
}

int64_t
emu_rnn_row(const struct emu_rnn_pass *p, int64_t step, int64_t sequence)
{
	switch (p->layout) {
	case CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
		return sequence * p->steps + step;
	case CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
		return p->first[step] + sequence;
	default:
		return step * p->batch + sequence;
	}
}

int64_t
emu_rnn_step(const struct emu_rnn_pass *p, int layer, int64_t sequence,
    int64_t n)
{
	return layer % p->rnn.directions ? p->length[sequence] - 1 - n : n;
}

const float *
emu_rnn_before(const struct emu_rnn_pass *p, int layer, int64_t sequence,
    int64_t n, enum emu_rnn_kept which, const float *initial)
{
	if (n > 0)
		return emu_rnn_kept(p, layer, emu_rnn_step(p, layer, sequence,
		    n - 1), sequence, which);
	return initial ? initial + (layer * p->batch + sequence) *
	    p->rnn.hidden : NULL;
}

void
emu_rnn_round(const struct emu_rnn_pass *p, const float *from, int64_t count,
    float *to)
{
	for (int64_t i = 0; i < count; i++)
		to[i] = from ? emu_round(from[i], p->rnn.arithmetic) : 0;
}

void
emu_rnn_read(const struct emu_rnn_pass *p, int layer, int64_t sequence,
    int64_t n, float *input, float *state)
{
	const int64_t hidden = p->rnn.hidden;
	const int64_t step = emu_rnn_step(p, layer, sequence, n);
	const int below = (layer / p->rnn.directions - 1) * p->rnn.directions;

	if (below < 0)
		emu_rnn_round(p, p->x + emu_rnn_row(p, step, sequence) *
		    p->rnn.input, p->rnn.input, input);
	else
		for (int d = 0; d < p->rnn.directions; d++)
			emu_rnn_round(p, emu_rnn_kept(p, below + d, step,
			    sequence, EMU_RNN_STATE), hidden,
			    input + d * hidden);
	emu_rnn_round(p, emu_rnn_before(p, layer, sequence, n, EMU_RNN_STATE,
	    p->hx), hidden, state);
}

/* ---- one step ----------------------------------------------------------- */

/* One linear layer: matrix times vector, plus its bias. */
static void
apply(const struct emu_rnn_pass *p, const float *rounded, int layer,
    int linear, const float *vector, int64_t count, float *to)
{
	const float *row = rounded + emu_rnn_matrix(&p->rnn, layer, linear);
	const int64_t bias = emu_rnn_bias(&p->rnn, layer, linear);

	for (int64_t i = 0; i < p->rnn.hidden; i++, row += count) {
		float sum = 0;

		for (int64_t k = 0; k < count; k++)
			sum += row[k] * vector[k];
		to[i] = bias < 0 ? sum : sum + p->parameters[bias + i];
	}
}

static float
sigmoid(float x)
{
	return 1 / (1 + expf(-x));
}

/* `in` and `recurrent`: outputs of the linear layers, by gate. Gates are stored
 * as they open. */
static void
step_lstm(const float *in, const float *recurrent, int64_t hidden,
    const float *cell_before, float *state, float *cell, float *gates)
{
	for (int64_t j = 0; j < hidden; j++) {
		float g[4];

		for (int k = 0; k < 4; k++) {
			const float a = in[k * hidden + j] +
			    recurrent[k * hidden + j];

			g[k] = k == 2 ? tanhf(a) : sigmoid(a);
			gates[k * hidden + j] = g[k];
		}
		cell[j] = g[1] * (cell_before ? cell_before[j] : 0) +
		    g[0] * g[2];
		state[j] = g[3] * tanhf(cell[j]);
	}
}

static void
step_gru(const float *in, const float *recurrent, int64_t hidden,
    const float *before, float *state, float *reset, float *gates)
{
	for (int64_t j = 0; j < hidden; j++) {
		const float r = sigmoid(in[j] + recurrent[j]);
		const float z = sigmoid(in[hidden + j] +
		    recurrent[hidden + j]);
		const float n = tanhf(in[2 * hidden + j] +
		    r * recurrent[2 * hidden + j]);

		reset[j] = recurrent[2 * hidden + j];
		gates[j] = r;
		gates[hidden + j] = z;
		gates[2 * hidden + j] = n;
		state[j] = (1 - z) * n + z * (before ? before[j] : 0);
	}
}

static void
step_plain(bool relu, const float *in, const float *recurrent, int64_t hidden,
    float *state)
{
	for (int64_t j = 0; j < hidden; j++) {
		const float a = in[j] + recurrent[j];

		state[j] = !relu ? tanhf(a) : a > 0 || a != a ? a : 0;
	}
}

/* Room for one step: its inputs, and the outputs of its linear layers. */
struct room {
	float *rounded, *input, *state, *in, *recurrent;
};

static void
run_step(const struct emu_rnn_pass *p, const struct room *room, int layer,
    int64_t sequence, int64_t n)
{
	const int64_t hidden = p->rnn.hidden;
	const int64_t step = emu_rnn_step(p, layer, sequence, n);
	float *state = emu_rnn_kept(p, layer, step, sequence, EMU_RNN_STATE);
	float *cell = emu_rnn_kept(p, layer, step, sequence, EMU_RNN_CELL);
	float *gates = emu_rnn_kept(p, layer, step, sequence, EMU_RNN_GATES);

	emu_rnn_read(p, layer, sequence, n, room->input, room->state);
	for (int k = 0; k < p->rnn.gates; k++) {
		apply(p, room->rounded, layer, k, room->input,
		    emu_rnn_layer_input(&p->rnn, layer), room->in +
		    k * hidden);
		apply(p, room->rounded, layer, p->rnn.gates + k, room->state,
		    hidden, room->recurrent + k * hidden);
	}
	if (p->rnn.cell == CUDNN_LSTM)
		step_lstm(room->in, room->recurrent, hidden, emu_rnn_before(p,
		    layer, sequence, n, EMU_RNN_CELL, p->cx), state, cell,
		    gates);
	else if (p->rnn.cell == CUDNN_GRU)
		step_gru(room->in, room->recurrent, hidden, emu_rnn_before(p,
		    layer, sequence, n, EMU_RNN_STATE, p->hx), state, cell,
		    gates);
	else
		step_plain(p->rnn.cell == CUDNN_RNN_RELU, room->in,
		    room->recurrent, hidden, state);
}

/* ---- all of it ---------------------------------------------------------- */

static void
copy(float *to, const float *from, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		to[i] = from ? from[i] : 0;
}

/* The state after the last step of a sequence. */
static void
give_states(const struct emu_rnn_pass *p, int layer, int64_t sequence)
{
	const int64_t hidden = p->rnn.hidden, n = p->length[sequence];
	const int64_t at = (layer * p->batch + sequence) * hidden;

	if (p->hy)
		copy(p->hy + at, emu_rnn_before(p, layer, sequence, n,
		    EMU_RNN_STATE, p->hx), hidden);
	if (p->cy && p->rnn.cell == CUDNN_LSTM)
		copy(p->cy + at, emu_rnn_before(p, layer, sequence, n,
		    EMU_RNN_CELL, p->cx), hidden);
}

/* y: outputs of the top layer, and the padding behind short sequences. */
static void
give_outputs(const struct emu_rnn_pass *p)
{
	const int64_t hidden = p->rnn.hidden;
	const int directions = p->rnn.directions;
	const int top = (p->rnn.layers - 1) * directions;

	for (int64_t b = 0; b < p->batch; b++) {
		int64_t t;

		for (t = 0; t < p->length[b]; t++)
			for (int d = 0; d < directions; d++)
				copy(p->y + (emu_rnn_row(p, t, b) *
				    directions + d) * hidden, emu_rnn_kept(p,
				    top + d, t, b, EMU_RNN_STATE), hidden);
		if (p->layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED ||
		    !p->fills)
			continue;
		for (; t < p->steps; t++)
			for (int64_t j = 0; j < directions * hidden; j++)
				p->y[emu_rnn_row(p, t, b) * directions *
				    hidden + j] = p->fill;
	}
}

void
emu_rnn_forward(struct emu_rnn_pass *p)
{
	const int64_t parameters = emu_rnn_parameters(&p->rnn);
	const int64_t hidden = p->rnn.hidden;
	const int64_t widest = p->rnn.input > 2 * hidden ? p->rnn.input :
	    2 * hidden;
	struct room room = { .rounded = malloc((size_t)(parameters + widest +
	    (1 + 2 * p->rnn.gates) * hidden) * sizeof(float)) };

	if (!room.rounded) {
		emu_device_poison(EMU_OUT_OF_MEMORY);
		return;
	}
	room.input = room.rounded + parameters;
	room.state = room.input + widest;
	room.in = room.state + hidden;
	room.recurrent = room.in + p->rnn.gates * hidden;
	emu_rnn_round(p, p->parameters, parameters, room.rounded);
	for (int layer = 0; layer < p->rnn.layers * p->rnn.directions; layer++)
		for (int64_t b = 0; b < p->batch; b++) {
			for (int64_t n = 0; n < p->length[b]; n++)
				run_step(p, &room, layer, b, n);
			give_states(p, layer, b);
		}
	give_outputs(p);
	free(room.rounded);
}
