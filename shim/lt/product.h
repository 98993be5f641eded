/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/product.h -- what cublasLt's descriptors describe, as a product of
 * matrices in column order: what cuBLAS would call it. Arithmetic on numbers;
 * calls nothing. */
#ifndef AC_SHIM_LT_PRODUCT_H
#define AC_SHIM_LT_PRODUCT_H

#include "shim/gemm/gemm.h"
#include "shim/lt/content.h"

/* One matrix, as it is stored: elements. */
struct ac_lt_stored {
	int64_t ld, stride;
};

struct ac_lt_product {
	cublasOperation_t   transa, transb;
	int64_t             m, n, k, batch;
	struct ac_lt_stored a, b, c, d;
	bool                swapped;   /* D is in row order: A is the program's
	                                * B, and B its A */
	cublasPointerMode_t pointer_mode;
	enum ac_epilogue    epilogue;  /* INPUT_SUMS, OTHER: leave it alone */
	enum ac_type_class  type;
	enum ac_asked       asked;
};

/* What `content` describes. What no recipe understands has the epilogue
 * OTHER. */
struct ac_lt_product ac_lt_product_of(const struct ac_lt_content *content);

/* Of supported content whose epilogue is OTHER: what it is that no
 * recipe understands, for a person. */
const char *ac_lt_other_name(const struct ac_lt_content *content);

/* Of an epilogue: NVIDIA's value, and what it does. */
enum ac_lt_aux { AC_LT_AUX_NO, AC_LT_AUX_OUT, AC_LT_AUX_IN };
struct ac_lt_epilogue {
	uint32_t       value;          /* cublasLtEpilogue_t */
	uint32_t       activation;     /* AC_ACTIVATION_* */
	enum ac_lt_aux aux;
	bool           adds_bias, sums_output;
};
extern const struct ac_lt_epilogue ac_lt_epilogues[AC_EPILOGUE_INPUT_SUMS]
    __attribute__((visibility("hidden")));

#endif
