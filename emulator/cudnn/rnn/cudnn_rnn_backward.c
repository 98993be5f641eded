/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/rnn/cudnn_rnn_backward.c -- gradients of a recurrent network,
 * on the stream's worker. First those of its data, which leave the gates'
 * gradients on the tape, then those of its parameters. Rounded as in the
 * forward pass. */
#include "emulator/cudnn/rnn/cudnn_rnn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Room for one step: gradients of its state, of the LSTM's cell, and of the
 * outputs of input and recurrent linear layers. */
struct room {
	float *rounded, *state, *cell, *in, *recurrent, *before;
};

/* The gates' own gradients on the tape. */
static float *
gradients(const struct emu_rnn_pass *p, int layer, int64_t step,
    int64_t sequence)
{
	return emu_rnn_kept(p, layer, step, sequence, EMU_RNN_GATES) +
	    p->rnn.gates * p->rnn.hidden;
}

/* In a GRU the reset gate scales the recurrent part of the new state. */
static void
spread(const struct emu_rnn_pass *p, const float *gates, const float *own,
    float *recurrent)
{
	const int64_t hidden = p->rnn.hidden;

	memcpy(recurrent, own, (size_t)(p->rnn.gates * hidden) *
	    sizeof *recurrent);
	for (int64_t j = 0; p->rnn.cell == CUDNN_GRU && j < hidden; j++)
		recurrent[2 * hidden + j] *= gates[j];
}

/* ---- one step back ------------------------------------------------------ */

/* Each goes from the gradient `dh` of the state to those of the gates' inputs,
 * and to the part of the previous state's gradient that did not pass through
 * gates. */
static void
back_lstm(int64_t hidden, const float *gates, const float *cell,
    const float *cell_before, const float *dh, float *dc, float *own)
{
	for (int64_t j = 0; j < hidden; j++) {
		const float i = gates[j], f = gates[hidden + j];
		const float c = gates[2 * hidden + j];
		const float o = gates[3 * hidden + j], t = tanhf(cell[j]);
		const float d = dc[j] + dh[j] * o * (1 - t * t);

		own[j] = d * c * i * (1 - i);
		own[hidden + j] = d * (cell_before ? cell_before[j] : 0) * f *
		    (1 - f);
		own[2 * hidden + j] = d * i * (1 - c * c);
		own[3 * hidden + j] = dh[j] * t * o * (1 - o);
		dc[j] = d * f;
	}
}

static void
back_gru(int64_t hidden, const float *gates, const float *reset,
    const float *state_before, const float *dh, float *own, float *before)
{
	for (int64_t j = 0; j < hidden; j++) {
		const float r = gates[j], z = gates[hidden + j];
		const float n = gates[2 * hidden + j];
		const float h = state_before ? state_before[j] : 0;
		const float d = dh[j] * (1 - z) * (1 - n * n);

		own[j] = d * reset[j] * r * (1 - r);
		own[hidden + j] = dh[j] * (h - n) * z * (1 - z);
		own[2 * hidden + j] = d;
		before[j] = dh[j] * z;
	}
}

static void
back_plain(bool relu, int64_t hidden, const float *state, const float *dh,
    float *own)
{
	for (int64_t j = 0; j < hidden; j++)
		own[j] = !relu ? dh[j] * (1 - state[j] * state[j]) :
		    state[j] > 0 ? dh[j] : 0;
}

/* to += the matrix, transposed, times the vector. */
static void
add_transposed(const struct emu_rnn_pass *p, const float *rounded, int layer,
    int linear, const float *vector, int64_t count, float *to)
{
	const float *row = rounded + emu_rnn_matrix(&p->rnn, layer, linear);

	for (int64_t i = 0; i < p->rnn.hidden; i++, row += count)
		for (int64_t k = 0; k < count; k++)
			to[k] += row[k] * vector[i];
}

static void
back_step(const struct emu_rnn_pass *p, const struct room *room, int layer,
    int64_t sequence, int64_t n, float *dinput)
{
	const int64_t hidden = p->rnn.hidden;
	const int64_t step = emu_rnn_step(p, layer, sequence, n);
	const float *state = emu_rnn_kept(p, layer, step, sequence,
	    EMU_RNN_STATE);
	const float *cell = emu_rnn_kept(p, layer, step, sequence,
	    EMU_RNN_CELL);
	const float *gates = emu_rnn_kept(p, layer, step, sequence,
	    EMU_RNN_GATES);
	float *own = gradients(p, layer, step, sequence);

	memset(room->before, 0, (size_t)hidden * sizeof *room->before);
	if (p->rnn.cell == CUDNN_LSTM)
		back_lstm(hidden, gates, cell, emu_rnn_before(p, layer,
		    sequence, n, EMU_RNN_CELL, p->cx), room->state,
		    room->cell, own);
	else if (p->rnn.cell == CUDNN_GRU)
		back_gru(hidden, gates, cell, emu_rnn_before(p, layer,
		    sequence, n, EMU_RNN_STATE, p->hx), room->state, own,
		    room->before);
	else
		back_plain(p->rnn.cell == CUDNN_RNN_RELU, hidden, state,
		    room->state, own);
	spread(p, gates, own, room->recurrent);
	emu_rnn_round(p, own, p->rnn.gates * hidden, room->in);
	emu_rnn_round(p, room->recurrent, p->rnn.gates * hidden,
	    room->recurrent);
	for (int k = 0; k < p->rnn.gates; k++) {
		add_transposed(p, room->rounded, layer, k, room->in +
		    k * hidden, emu_rnn_layer_input(&p->rnn, layer), dinput);
		add_transposed(p, room->rounded, layer, p->rnn.gates + k,
		    room->recurrent + k * hidden, hidden, room->before);
	}
	memcpy(room->state, room->before, (size_t)hidden * sizeof(float));
}

/* ---- of the data -------------------------------------------------------- */

static void
take(const struct emu_rnn_pass *p, const float *from, int layer,
    int64_t sequence, float *to)
{
	for (int64_t j = 0; j < p->rnn.hidden; j++)
		to[j] = from ? from[(layer * p->batch + sequence) *
		    p->rnn.hidden + j] : 0;
}

static void
give(const struct emu_rnn_pass *p, float *to, int layer, int64_t sequence,
    const float *from)
{
	if (to)
		memcpy(to + (layer * p->batch + sequence) * p->rnn.hidden,
		    from, (size_t)p->rnn.hidden * sizeof *to);
}

/* The gradient of a layer's outputs: dy for the top layer, else what the layer
 * above left, step by step. */
static const float *
from_above(const struct emu_rnn_pass *p, int layer, int64_t step,
    int64_t sequence)
{
	const int directions = p->rnn.directions;
	const int level = layer / directions;
	const int64_t row = level == p->rnn.layers - 1 ?
	    emu_rnn_row(p, step, sequence) : step * p->batch + sequence;

	return (level == p->rnn.layers - 1 ? p->dy : p->between[level % 2]) +
	    (row * directions + layer % directions) * p->rnn.hidden;
}

static float *
to_below(const struct emu_rnn_pass *p, int layer, int64_t step,
    int64_t sequence)
{
	const int level = layer / p->rnn.directions;

	if (level == 0)
		return p->dx + emu_rnn_row(p, step, sequence) * p->rnn.input;
	return p->between[(level - 1) % 2] + (step * p->batch + sequence) *
	    p->rnn.directions * p->rnn.hidden;
}

static void
back_through(const struct emu_rnn_pass *p, const struct room *room, int layer,
    int64_t sequence)
{
	take(p, p->dhy, layer, sequence, room->state);
	take(p, p->dcy, layer, sequence, room->cell);
	for (int64_t n = p->length[sequence] - 1; n >= 0; n--) {
		const int64_t step = emu_rnn_step(p, layer, sequence, n);
		const float *above = from_above(p, layer, step, sequence);

		for (int64_t j = 0; j < p->rnn.hidden; j++)
			room->state[j] += above[j];
		back_step(p, room, layer, sequence, n, to_below(p, layer, step,
		    sequence));
	}
	give(p, p->dhx, layer, sequence, room->state);
	if (p->rnn.cell == CUDNN_LSTM)
		give(p, p->dcx, layer, sequence, room->cell);
}

void
emu_rnn_backward_data(struct emu_rnn_pass *p)
{
	const int64_t parameters = emu_rnn_parameters(&p->rnn);
	const int64_t hidden = p->rnn.hidden;
	const int directions = p->rnn.directions;
	struct room room = { .rounded = malloc((size_t)(parameters +
	    (3 + 2 * p->rnn.gates) * hidden) * sizeof(float)) };

	if (!room.rounded) {
		emu_device_poison(EMU_OUT_OF_MEMORY);
		return;
	}
	room.state = room.rounded + parameters;
	room.cell = room.state + hidden;
	room.before = room.cell + hidden;
	room.in = room.before + hidden;
	room.recurrent = room.in + p->rnn.gates * hidden;
	emu_rnn_round(p, p->parameters, parameters, room.rounded);
	for (int level = p->rnn.layers - 1; level >= 0; level--) {
		float *below = to_below(p, level * directions, 0, 0);

		memset(level ? below : p->dx, 0, (size_t)(level ? p->steps *
		    p->batch * directions * hidden : p->rows * p->rnn.input) *
		    sizeof *below);
		for (int d = 0; d < directions; d++)
			for (int64_t b = 0; b < p->batch; b++)
				back_through(p, &room, level * directions + d,
				    b);
	}
	free(room.rounded);
}

/* ---- of the parameters -------------------------------------------------- */

/* One linear layer's part of one step; `rounded` is its gradient as products
 * read it. */
static void
add_outer(const struct emu_rnn_pass *p, int layer, int linear,
    const float *gradient, const float *rounded, const float *read,
    int64_t count)
{
	float *row = p->dparameters + emu_rnn_matrix(&p->rnn, layer, linear);
	const int64_t bias = emu_rnn_bias(&p->rnn, layer, linear);

	for (int64_t i = 0; i < p->rnn.hidden; i++, row += count) {
		for (int64_t k = 0; k < count; k++)
			row[k] += rounded[i] * read[k];
		if (bias >= 0)
			p->dparameters[bias + i] += gradient[i];
	}
}

static void
add_step(const struct emu_rnn_pass *p, int layer, int64_t sequence, int64_t n,
    float *room)
{
	const int64_t hidden = p->rnn.hidden, all = p->rnn.gates * hidden;
	const int64_t width = emu_rnn_layer_input(&p->rnn, layer);
	const int64_t step = emu_rnn_step(p, layer, sequence, n);
	const float *own = gradients(p, layer, step, sequence);
	float *recurrent = room, *rounded = room + all;
	float *state = rounded + all, *input = state + hidden;

	emu_rnn_read(p, layer, sequence, n, input, state);
	emu_rnn_round(p, own, all, rounded);
	for (int k = 0; k < p->rnn.gates; k++)
		add_outer(p, layer, k, own + k * hidden, rounded + k * hidden,
		    input, width);
	spread(p, emu_rnn_kept(p, layer, step, sequence, EMU_RNN_GATES), own,
	    recurrent);
	emu_rnn_round(p, recurrent, all, rounded);
	for (int k = 0; k < p->rnn.gates; k++)
		add_outer(p, layer, p->rnn.gates + k, recurrent + k * hidden,
		    rounded + k * hidden, state, hidden);
}

void
emu_rnn_backward_weights(struct emu_rnn_pass *p)
{
	const int64_t hidden = p->rnn.hidden;
	const int64_t widest = p->rnn.input > 2 * hidden ? p->rnn.input :
	    2 * hidden;
	float *room = malloc((size_t)((2 * p->rnn.gates + 1) * hidden +
	    widest) * sizeof *room);

	if (!room) {
		emu_device_poison(EMU_OUT_OF_MEMORY);
		return;
	}
	for (int layer = 0; layer < p->rnn.layers * p->rnn.directions; layer++)
		for (int64_t b = 0; b < p->batch; b++)
			for (int64_t n = 0; n < p->length[b]; n++)
				add_step(p, layer, b, n, room);
	free(room);
}
