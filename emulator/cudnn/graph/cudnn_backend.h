/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/graph/cudnn_backend.h -- what the files of cuDNN's graph
 * interface share: descriptors as lists of attributes, operation graphs,
 * engines.
 *
 * What a descriptor holds is a body that counts its users. A body no longer
 * changes once it is final, so that a descriptor that is set as an attribute of
 * another one may be destroyed at once: the body stays. Threads as in cuDNN:
 * a descriptor that is not final is one thread's. */
#ifndef AC_EMULATOR_CUDNN_BACKEND_H
#define AC_EMULATOR_CUDNN_BACKEND_H

#include "emulator/cudnn/base/cudnn.h"

/* ---- attributes (cudnn_backend.c, cudnn_backend_attribute.c) ----------- */

struct emu_body;

/* The values of one attribute: numbers as the program gave them, or bodies. */
struct emu_value {
	struct emu_value *next;
	int      name;                  /* cudnnBackendAttributeName_t */
	int      type;                  /* cudnnBackendAttributeType_t */
	int64_t  count;
	union {
		unsigned char    bytes[1];
		int64_t          number[1];
		void            *pointer[1];
		struct emu_body *body[1];
	} at;
};

struct emu_graph;

struct emu_body {
	_Atomic int users;
	int   type;                     /* cudnnBackendDescriptorType_t */
	bool  is_final;
	struct emu_value *values;
	struct emu_graph *graph;        /* of a final OPERATIONGRAPH */
};

struct emu_body *emu_body_new(int type); /* NULL: no memory */
struct emu_body *emu_body_use(struct emu_body *body);
void emu_body_drop(struct emu_body *body); /* NULL is ignored */

/* NULL if it is not set. */
const struct emu_value *emu_body_find(const struct emu_body *body, int name);
/* `values` are copied; what was there is gone. */
cudnnStatus_t emu_body_set(struct emu_body *body, int name, int type,
    int64_t count, const void *values);
/* The first value, or `otherwise`. Enumerations are numbers, too. */
int64_t emu_body_number(const struct emu_body *body, int name,
    int64_t otherwise);
double emu_body_real(const struct emu_body *body, int name, double otherwise);
struct emu_body *emu_body_child(const struct emu_body *body, int name);

/* What an attribute may be. */
struct emu_attribute {
	short type, name, kind, other;  /* `other`: a second kind, or -1 */
	int   most;                     /* values */
	char  access;                   /* 's' set, 'g' get, 'b' both */
	char  has_default;              /* unset, it reads as `number` */
	int   number;
};
/* NULL: descriptors of this type have no such attribute. */
const struct emu_attribute *emu_attribute_find(int type, int name);
/* Bytes of a value of this type; 0: unknown. */
size_t emu_attribute_bytes(int type);
bool emu_attribute_is_type(int type); /* of descriptors that are emulated */

/* Check and freeze (cudnn_backend_final.c). */
cudnnStatus_t emu_body_finalize(struct emu_body *body);

/* ---- operation graphs (cudnn_backend_graph.c) -------------------------- */

enum { EMU_GRAPH_STEPS = 8, EMU_GRAPH_TENSORS = 3 + 2 * EMU_GRAPH_STEPS };

struct emu_edge {
	struct emu_tensor tensor;       /* dims 0: there is none */
	int64_t uid, alignment;
	bool    is_virtual;
};

/* A pointwise operation: out = mode(alpha1 in + alpha2 other); modes of one
 * input have no `other`. */
struct emu_pointwise {
	cudnnPointwiseMode_t mode;
	double alpha1, alpha2, lower, upper, slope;
	struct emu_edge other, out;
};

/* One convolution and what is done to its output, in order. */
struct emu_graph {
	bool is_convolution;            /* false: no engine knows it */
	struct emu_conv conv;           /* but for its arithmetic */
	cudnnDataType_t compute;
	struct emu_edge x, w, y;
	int    steps;
	struct emu_pointwise step[EMU_GRAPH_STEPS];
};

/* What the finalized operations mean: BAD_PARAM if they do not fit together. */
cudnnStatus_t emu_graph_read(const struct emu_value *operations,
    struct emu_graph *out);
void emu_edge_read(const struct emu_body *tensor, struct emu_edge *out);
/* The convolution of an OPERATION_CONVOLUTION_* body; false: incomplete. */
bool emu_graph_read_conv(const struct emu_body *operation,
    struct emu_graph *out);
bool emu_graph_is_nhwc(const struct emu_graph *graph);
/* Whether a POINTWISE body's mode, as far as it is known, has two inputs. */
bool emu_graph_needs_other(const struct emu_body *pointwise);

/* ---- engines and plans (cudnn_backend_engine.c) ------------------------ */

/* The compute capability (90: 9.0) that a body, or else a graph, was made for;
 * false if there is no device. */
bool emu_engine_device(const struct emu_body *properties,
    const struct emu_body *graph, int *capability_out, bool *has_tf32_out);

enum { EMU_ENGINES = 71 };              /* indices */

struct emu_engine {
	int index;                      /* CUDNN_ATTR_ENGINE_GLOBAL_INDEX */
	enum emu_rate arithmetic;
	bool round_output;
	int  notes, note[4];
	int  knobs, knob[2];            /* types; values are 0 to 3 */
};

/* The engine of this index on that graph, as it is there. NULL after
 * *status_out says why not. */
const struct emu_engine *emu_engine_find(const struct emu_graph *graph,
    int capability, bool has_tf32, int64_t index, cudnnStatus_t *status_out);
/* Engine indices and knob values that the heuristics name, best first. */
enum { EMU_CHOICES = 16 };
struct emu_choice {
	int index, value[2];
};
int emu_engine_choose(const struct emu_graph *graph, int capability,
    bool has_tf32, cudnnBackendHeurMode_t mode,
    struct emu_choice choices[EMU_CHOICES]);
int64_t emu_engine_workspace(const struct emu_engine *engine,
    const struct emu_graph *graph);
/* The engine of a final ENGINE body. */
const struct emu_engine *emu_engine_of(const struct emu_body *engine,
    const struct emu_graph **graph_out, cudnnStatus_t *status_out);

/* GetAttribute() of what is not a stored value: heuristic results, notes, knob
 * ranges, sizes. -1: it is a stored value (cudnn_backend_answer.c). */
int emu_engine_get(const struct emu_body *body, int name, int64_t requested,
    int64_t *count_out, void *values);
/* Queue a final plan's work (cudnn_backend_execute.c). */
cudnnStatus_t emu_plan_execute(cudnnHandle_t handle,
    const struct emu_body *plan, const struct emu_body *pack);

/* ---- plans as JSON (cudnn_backend_json.c, cudnn_backend_load.c) --------- */

enum { EMU_JSON = 16384 };              /* bytes at most */

/* What the three convolutions are named, by enum emu_conv_operation. */
struct emu_json_operation {
	const char *mode, *name, *tensor[3];
};
extern const struct emu_json_operation emu_json_operations[3];
const char *emu_json_type(cudnnDataType_t type); /* NULL: it has none here */

/* GetAttribute() of a final plan's text. */
cudnnStatus_t emu_json_get(const struct emu_body *plan, int64_t requested,
    int64_t *count_out, void *values);
/* Give a plan that has a text the configuration that this describes. */
cudnnStatus_t emu_json_load(struct emu_body *plan);

/* Fill the program's own descriptor. */
cudnnStatus_t emu_backend_give(cudnnBackendDescriptor_t descriptor,
    struct emu_body *body);

#endif
