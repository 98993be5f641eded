/* SPDX-License-Identifier: Apache-2.0 */
/* shim/start/asked.h -- where a variable of NVIDIA's has an effect on FP32
 * products. Pure. */
#ifndef AC_SHIM_ASKED_H
#define AC_SHIM_ASKED_H

#include <stdbool.h>

/* Whether CUBLAS_EMULATE_SINGLE_PRECISION=1 makes cuBLAS `version` (130100: as
 * cublasGetVersion() has it) emulate FP32 on a GPU of capability `sm`: NVIDIA's
 * manual has BF16x9 from 12.9 on, for 10.0 and 10.3. */
static inline bool
ac_asked_is_emulated(int sm, int version)
{
	return sm / 10 == 10 && version >= 120900;
}

#endif
