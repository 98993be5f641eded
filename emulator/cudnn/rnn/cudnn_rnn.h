/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/rnn/cudnn_rnn.h -- what the files of recurrent networks share:
 * their descriptors, a network in plain numbers, the places of its parameters,
 * and one pass over sequences. FP32, without projection. */
#ifndef AC_EMULATOR_CUDNN_RNN_H
#define AC_EMULATOR_CUDNN_RNN_H

#include "emulator/cudnn/base/cudnn.h"

/* What the descriptors point to (cudnn_rnn_descriptor.c). */
struct cudnnRNNStruct {
	bool                is_set;
	cudnnRNNAlgo_t      algo;
	cudnnRNNMode_t      cell;
	cudnnRNNBiasMode_t  bias;
	cudnnDirectionMode_t direction;
	cudnnRNNInputMode_t input_mode;
	cudnnDataType_t     type, precision;
	cudnnMathType_t     math;
	int32_t             input, hidden, projection, layers;
	cudnnDropoutDescriptor_t dropout;
	uint32_t            flags;
};
struct cudnnRNNDataStruct {
	cudnnDataType_t      type;
	cudnnRNNDataLayout_t layout;
	int    steps, batch, vector;    /* steps: the longest; 0: not set */
	int   *length;                  /* of each sequence; owned */
	bool   fills;
	double fill;                    /* what pads short sequences */
};

/* ---- networks and their parameters (cudnn_rnn_space.c) ------------------ */

struct emu_rnn {
	cudnnRNNMode_t     cell;
	cudnnRNNBiasMode_t bias;
	int     directions, layers, gates;
	int64_t input, hidden;
	bool    converts;               /* ALLOW_CONVERSION */
	enum emu_rate arithmetic;       /* of products */
};

/* NOT_SUPPORTED for what is not emulated. Brings the device up. */
cudnnStatus_t emu_rnn_describe(cudnnRNNDescriptor_t descriptor,
    struct emu_rnn *rnn_out);
/* Inputs of a layer, in elements. */
int64_t emu_rnn_layer_input(const struct emu_rnn *rnn, int layer);
/* Elements of all parameters. `layer` is cuDNN's pseudo-layer: directions
 * alternate. Linear layers: of the input by gate, then recurrent ones. */
int64_t emu_rnn_parameters(const struct emu_rnn *rnn);
/* The offset of a matrix, stored row by row, one output per row; and of a bias,
 * -1 if there is none. In elements. */
int64_t emu_rnn_matrix(const struct emu_rnn *rnn, int layer, int linear);
int64_t emu_rnn_bias(const struct emu_rnn *rnn, int layer, int linear);
/* Bytes that a pass needs. */
size_t emu_rnn_workspace(const struct emu_rnn *rnn, int64_t steps,
    int64_t batch, bool trains);
size_t emu_rnn_reserve(const struct emu_rnn *rnn, int64_t steps,
    int64_t batch, bool trains);

/* ---- a pass (cudnn_rnn_call.c, cudnn_rnn_forward.c) --------------------- */

/* What the tape has of one step of a pseudo-layer, in units of `hidden`. */
enum emu_rnn_kept {
	EMU_RNN_STATE,                  /* the output */
	EMU_RNN_CELL,                   /* of an LSTM; of a GRU the factor of
	                                 * its reset gate */
	EMU_RNN_GATES                   /* followed by their gradients */
};

/* All pointers are to device memory; NULL where cuDNN allows it: zeros for
 * inputs, not wanted for outputs. */
struct emu_rnn_pass {
	void  (*run)(struct emu_rnn_pass *pass);
	const char *name;
	struct emu_rnn rnn;
	int64_t steps, batch;
	cudnnRNNDataLayout_t layout;
	const int *length;              /* by sequence */
	const int64_t *first;           /* packed: the row of each step */
	int64_t rows;                   /* of x and y */
	bool    fills;
	float   fill;
	float  *tape;
	float  *between[2];             /* gradients from layer to layer */
	const float *parameters, *x, *hx, *cx, *dy, *dhy, *dcy;
	float  *y, *hy, *cy, *dx, *dhx, *dcx, *dparameters;
};

/* The record of one step in the tape. */
float *emu_rnn_kept(const struct emu_rnn_pass *pass, int layer, int64_t step,
    int64_t sequence, enum emu_rnn_kept which);
/* The row of x or y for it. */
int64_t emu_rnn_row(const struct emu_rnn_pass *pass, int64_t step,
    int64_t sequence);
/* The n-th step in the order of this pseudo-layer. */
int64_t emu_rnn_step(const struct emu_rnn_pass *pass, int layer,
    int64_t sequence, int64_t n);
/* STATE or CELL before the n-th step; before the first one `initial`'s, NULL if
 * there is none. */
const float *emu_rnn_before(const struct emu_rnn_pass *pass, int layer,
    int64_t sequence, int64_t n, enum emu_rnn_kept which,
    const float *initial);
/* The operands of the n-th step's products: the layer's input and the state. */
void emu_rnn_read(const struct emu_rnn_pass *pass, int layer,
    int64_t sequence, int64_t n, float *input, float *state);
/* `count` numbers, rounded as products round their inputs; NULL means zeros. */
void emu_rnn_round(const struct emu_rnn_pass *pass, const float *from,
    int64_t count, float *to);

/* On the worker. EMU_OUT_OF_MEMORY poisons the device. */
void emu_rnn_forward(struct emu_rnn_pass *pass);
/* cudnn_rnn_backward.c */
void emu_rnn_backward_data(struct emu_rnn_pass *pass);
void emu_rnn_backward_weights(struct emu_rnn_pass *pass);

#endif
