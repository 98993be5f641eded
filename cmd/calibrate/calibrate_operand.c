/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/calibrate/calibrate_operand.c -- the matrices that are multiplied
 * while a GPU is measured. */
#include "cmd/calibrate/calibrate.h"

#include <stdint.h>
#include <string.h>

void
ac_calibrate_operand(unsigned char *block, size_t bytes, int type)
{
	uint64_t seed = 20261121;

	for (size_t i = 0; i < bytes; i += type == TYPE_F32 ? 4 : 2) {
		uint32_t bits, sign, exponent;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bits = (uint32_t)(seed >> 32);
		sign = bits & 0x80000000;
		exponent = bits >> 28 & 7;
		if (type == TYPE_F16) {
			const uint16_t half = (uint16_t)(sign >> 16 |
			    (exponent + 8) << 10 | (bits & 1023));

			memcpy(block + i, &half, sizeof half);
			continue;
		}
		bits = sign | (exponent + 120) << 23 | (bits & 0x7fffff);
		/* The upper half of a float is a bfloat16. */
		if (type == TYPE_BF16)
			bits >>= 16;
		memcpy(block + i, &bits, type == TYPE_F32 ? 4 : 2);
	}
}
