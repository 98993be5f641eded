/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/inside.h -- the decoded form of PTX, for the parser and the
 * executor. */
#ifndef AC_EMULATOR_PTX_INSIDE_H
#define AC_EMULATOR_PTX_INSIDE_H

#include "emulator/ptx/ptx.h"

#include <string.h>

enum { LANES = 32 };

enum ptx_type {
	T_NONE, T_PRED, T_B8, T_U8, T_S8, T_B16, T_U16, T_S16, T_F16, T_BF16,
	T_B32, T_U32, T_S32, T_F32, T_F16X2, T_BF16X2, T_B64, T_U64, T_S64,
	T_F64, T_B128, T_TF32, T_U16X2, T_S16X2, T_TYPES
};
extern const uint8_t ptx_type_bytes[T_TYPES];

/* First words of instructions. */
#define PTX_OPS(X) \
	X(add) X(sub) X(mul) X(mad) X(fma) X(div) X(rem) X(abs) X(neg) \
	X(min) X(max) X(sad) X(mul24) X(mad24) X(popc) X(clz) X(bfind) \
	X(brev) X(bfe) X(bfi) X(dp4a) X(addc) X(subc) X(madc) X(testp) \
	X(copysign) X(rcp) X(sqrt) X(rsqrt) X(sin) X(cos) X(lg2) X(ex2) \
	X(tanh) X(set) X(setp) X(selp) X(slct) X(and) X(or) X(xor) X(not) \
	X(cnot) X(lop3) X(shf) X(shl) X(shr) X(mov) X(prmt) X(ld) X(ldu) \
	X(st) X(prefetch) X(prefetchu) X(isspacep) X(cvta) X(cvt) X(bra) \
	X(brx) X(call) X(ret) X(exit) X(bar) X(barrier) X(membar) X(fence) \
	X(atom) X(red) X(vote) X(match) X(activemask) X(redux) X(shfl) \
	X(nanosleep) X(trap) X(brkpt) X(pmevent) X(griddepcontrol) \
	X(discard) X(applypriority) X(fns) X(bmsk) X(szext) X(elect) \
	X(dp2a) X(vabsdiff4) X(createpolicy) X(cp) X(mbarrier) \
	X(ldmatrix) X(stmatrix) X(mma) X(wmma)
enum ptx_op {
#define X(name) OP_##name,
	PTX_OPS(X)
#undef X
	OP_pack, OP_unpack,     /* mov between a vector and a scalar */
	OP_address,             /* mov of a local variable's address */
	OP_clock,               /* mov of values that change by themselves */
	OP_unsupported,         /* not known to the parser: call->name */
	OP_COUNT
};

enum ptx_space {
	SPACE_GENERIC, SPACE_GLOBAL, SPACE_CONST, SPACE_SHARED, SPACE_LOCAL,
	SPACE_PARAM,            /* of the kernel */
	SPACE_ARGUMENT          /* of a function's frame, per lane */
};

enum ptx_round { ROUND_NONE, ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP,
	ROUND_RNI, ROUND_RZI, ROUND_RMI, ROUND_RPI, ROUND_RNA };

enum ptx_compare { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE,
	CMP_EQU, CMP_NEU, CMP_LTU, CMP_LEU, CMP_GTU, CMP_GEU, CMP_NUM,
	CMP_NAN };
enum ptx_mode {
	MODE_NONE, MODE_LO, MODE_HI, MODE_WIDE, MODE_UP, MODE_DOWN, MODE_BFLY,
	MODE_IDX, MODE_ALL, MODE_ANY, MODE_UNI, MODE_BALLOT, MODE_SYNC,
	MODE_RED, MODE_ARRIVE, MODE_WARP, MODE_L, MODE_R, MODE_CLAMP,
	MODE_WRAP, MODE_ADD, MODE_MIN, MODE_MAX, MODE_INC, MODE_DEC, MODE_AND,
	MODE_OR, MODE_XOR, MODE_EXCH, MODE_CAS, MODE_POPC, MODE_FINITE,
	MODE_INFINITE, MODE_NUMBER, MODE_NOTANUMBER, MODE_NORMAL,
	MODE_SUBNORMAL, MODE_F4E, MODE_B4E, MODE_RC8, MODE_ECL, MODE_ECR,
	MODE_RC16, MODE_TO,
	/* Of mbarrier, cp.async, wmma. */
	MODE_INIT, MODE_INVAL, MODE_DROP, MODE_EXPECT, MODE_COMPLETE,
	MODE_TEST, MODE_TRY, MODE_PENDING, MODE_PARITY, MODE_NOINC,
	MODE_NOCOMPLETE, MODE_COMMIT, MODE_WAIT, MODE_WAIT_ALL, MODE_BARRIER,
	MODE_LOAD, MODE_STORE, MODE_MMA
};

enum ptx_flag { FLAG_FTZ = 1, FLAG_SAT = 2, FLAG_APPROX = 4, FLAG_SYNC = 8,
	FLAG_ALIGNED = 16, FLAG_VOLATILE = 32, FLAG_CC = 64,
	FLAG_SHIFTAMT = 128,
	FLAG_FULL = 256, FLAG_NAN = 512, FLAG_RELU = 1024,
	FLAG_TRANS = 2048, FLAG_HINT = 4096, FLAG_FINITE = 8192,
	FLAG_POLL = 16384,      /* a load of what others may change */
	FLAG_RELEASE = 32768 };

/* The place of an operand's lanes. */
enum ptx_base { BASE_FRAME, BASE_POOL, BASE_SPECIAL, BASE_NONE };

struct ptx_operand {
	uint8_t base;           /* enum ptx_base */
	uint8_t width;          /* bytes of a lane; 0: a predicate */
	uint8_t inverted;       /* of a predicate */
	int32_t at;             /* bytes from the base */
};

enum { OPERANDS = 5, VECTOR = 4 };

/* Offsets in shared memory: of the kernel (0); of others' declarations, of
 * which a module may have many times what one kernel uses; of the dynamic
 * part. */
enum { SHARED_COMMON = 1 << 18, SHARED_DYNAMIC = SHARED_COMMON + (1 << 22),
	SHARED_ALL = SHARED_DYNAMIC + SHARED_COMMON };

struct warp;
struct ptx_instruction;
/* An instruction's loop over all lanes. False: it has done nothing, and the
 * general way is to be taken; of arithmetic always true. */
typedef bool (*ptx_quick)(struct warp *w, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask);

struct ptx_instruction {
	ptx_quick quick;        /* or NULL */
	uint16_t op, flags;
	uint8_t  type, from;    /* the last type, and the one before it */
	uint8_t  round, compare, combine, mode, space, vector;
	uint8_t  guarded, guard_inverted, operands;
	uint8_t  lut;
	int32_t  guard;         /* where its predicate is */
	uint32_t line;
	/* [0] is the destination, if there is one. `second` is the one after a
	 * bar: p|q. Of memory: [1] the address, [2], [3] values. */
	struct ptx_operand operand[OPERANDS], second;
	struct ptx_operand part[VECTOR]; /* of a vector */
	int64_t  offset;        /* of an address; where a branch goes */
	int64_t  to_offset;     /* of cp.async: of its first address */
	struct ptx_call *call;
	struct ptx_matrix *matrix;
	const struct ptx_target *target;
	uint64_t hits;
};

/* Registers that hold a matrix, in the order of the text. */
enum { MATRICES = 4, PARTS = 8 };
struct ptx_registers {
	size_t   count;
	struct ptx_operand part[PARTS];
};

/* Of mma and wmma: D = A B + C. */
enum ptx_matrix_name { MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C };
struct ptx_matrix {
	uint8_t  m, n, k;
	uint8_t  type[MATRICES], types; /* in the order of the text */
	uint8_t  name;          /* that is loaded or stored */
	uint8_t  columns[2], layouts; /* .col, for A and B */
	bool     finite;        /* integers saturate */
	struct ptx_registers of[MATRICES];
};

struct ptx_variable {
	char    *name;
	uint8_t  space, type;
	uint32_t align;
	uint64_t bytes;
	int64_t  at;            /* offset, or a host address */
};

struct ptx_call {
	struct ptx_function *callee; /* NULL: by the address in operand 0 */
	char     name[128];
	bool     indirect;
	size_t   arguments, results;
	struct { int32_t at, bytes; } argument[64], result[2];
};

struct ptx_target {             /* of brx */
	struct ptx_target *next;
	size_t   count;
	int64_t *pc;
};

struct ptx_function {
	char    *name;
	struct ptx_module *module;
	bool     kernel, defined;
	bool     ordered;       /* the order of blocks shows in its results */
	size_t   parameters, results;
	struct ptx_variable parameter[128];
	size_t   parameter_bytes;       /* of a kernel, all of them */
	struct ptx_instruction *code;
	size_t   count, room;
	/* Of a frame: registers, arguments per lane, local memory per lane. */
	size_t   register_bytes, argument_bytes, local_bytes;
	uint64_t shared_bytes;          /* static */
	unsigned most_threads;          /* of a block; 0: any number */
	struct ptx_function *next, *alike; /* names of one hash */
};

struct ptx_module {
	struct ptx_function *functions, **last;
	struct ptx_variable *variable;
	size_t   variables, variable_room;
	unsigned char *pool;            /* constants, 32 times each */
	size_t   pool_bytes, pool_room;
	uint64_t shared_bytes;          /* of no kernel alone */
	size_t   unsupported;           /* instructions */
	struct ptx_target *target;      /* all of them */
};

/* The quick loop of an instruction, or NULL. */
ptx_quick ptx_quick_of(const struct ptx_instruction *in);

/* Its instructions go. */
void ptx_forget_code(struct ptx_function *f);

/* Special registers: one slot of 32 lanes of 8 bytes (or 4). */
enum ptx_special {
	S_TID_X, S_TID_Y, S_TID_Z, S_NTID_X, S_NTID_Y, S_NTID_Z, S_CTAID_X,
	S_CTAID_Y, S_CTAID_Z, S_NCTAID_X, S_NCTAID_Y, S_NCTAID_Z, S_LANEID,
	S_WARPID, S_NWARPID, S_SMID, S_NSMID, S_GRIDID, S_LANEMASK_EQ,
	S_LANEMASK_LT, S_LANEMASK_LE, S_LANEMASK_GT, S_LANEMASK_GE, S_WARPSZ,
	S_DYNAMIC_SMEM, S_TOTAL_SMEM, S_ENVREG1, S_ENVREG2, S_ZERO,
	S_ONE, S_SPECIALS,
	S_CLOCK = S_SPECIALS, S_CLOCK64, S_GLOBALTIMER
};
enum { SPECIAL_BYTES = LANES * 4 };

#endif
