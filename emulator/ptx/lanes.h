/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/lanes.h -- arithmetic of 32 lanes at a time, in plain loops that
 * a compiler can vectorise; shared by the files that do it.
 *
 * IEEE operations round exactly (compile without fused products). What PTX
 * calls approximate is the function in double, rounded once: within the bounds
 * of the ISA, but not with a GPU's bits. */
#ifndef AC_EMULATOR_PTX_LANES_H
#define AC_EMULATOR_PTX_LANES_H

#include "emulator/ptx/number.h"
#include "emulator/ptx/run.h"

/* One instruction for the lanes of `mask`. */
struct lanes {
	struct warp *w;
	const struct ptx_instruction *in;
	unsigned char *const *base;
	unsigned char *p[OPERANDS];     /* operands, a lane after the other */
	unsigned char *d;               /* the result; scratch if it has none */
	uint32_t mask;
};

/* False: it is not one of theirs. */
bool ptx_float(const struct lanes *l);
bool ptx_half(const struct lanes *l);
bool ptx_integer(const struct lanes *l);
bool ptx_bits(const struct lanes *l);
/* setp, set. */
void ptx_compare(const struct lanes *l);
void ptx_convert(const struct lanes *l);
/* All others, one lane after the other. */
void ptx_rare(const struct lanes *l);
/* FP32 and FP64 in a direction other than to nearest. */
void ptx_directed(const struct lanes *l);
/* Sums with a carry, in or out. */
void ptx_carry(const struct lanes *l);

/* The host's constant for a direction. */
int ptx_host_rounding(int round);
/* A double as a 16-bit format, rounded once. */
uint16_t ptx_to_half(int type, double x, int round);
/* Truncated to that type, and sign-extended. */
uint64_t ptx_narrowed(int type, uint64_t x);

/* ---- Loops ------------------------------------------------------------- */

#define K(op, type) (OP_##op * T_TYPES + T_##type)
#ifdef __clang__
#define IVDEP
#else
#define IVDEP _Pragma("GCC ivdep")
#endif

/* The lanes of operand k. */
#define S(T, k) ((const T *)(const void *)l->p[k])

#define EACH(T, e) do { \
	T *const d_ = (T *)(void *)l->d; \
	const uint32_t m_ = l->mask; \
	if (m_ == UINT32_MAX) { \
		IVDEP for (int i = 0; i < LANES; i++) \
			d_[i] = (T)(e); \
	} else { \
		IVDEP for (int i = 0; i < LANES; i++) { \
			const T v_ = (T)(e); \
			d_[i] = m_ >> i & 1 ? v_ : d_[i]; \
		} \
	} } while (0)
/* For operations that must not run in inactive lanes. */
#define ONLY(T, e) do { \
	T *const d_ = (T *)(void *)l->d; \
	for (int i = 0; i < LANES; i++) \
		if (l->mask >> i & 1) \
			d_[i] = (T)(e); \
	} while (0)

/* The cases of a switch: T is the type of operands and result. */
#define UNARY(T, e) { const T *const x = S(T, 1); EACH(T, e); break; }
#define BINARY(T, e) { const T *const x = S(T, 1), *const y = S(T, 2); \
	EACH(T, e); break; }
#define BINARY_ONLY(T, e) { const T *const x = S(T, 1), *const y = S(T, 2); \
	ONLY(T, e); break; }
#define TERNARY(T, e) { const T *const x = S(T, 1), *const y = S(T, 2), \
	*const z = S(T, 3); EACH(T, e); break; }

#endif
