/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/content.c -- reads a call of cublasLtMatmul(). */
#include "shim/lt/content.h"

#include "shim/lt/library.h"

#include <stddef.h>
#include <string.h>

/* The values of struct ac_lt_content.unsupported: an attribute of an operation,
 * plus one; of a layout; something else. */
enum {
	IN_OPERATION = 1,
	IN_LAYOUT = IN_OPERATION + AC_LT_ATTRIBUTES,
	UNEQUAL_BATCHES = IN_LAYOUT + CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET + 2,
	LARGE_ATTRIBUTE, UNSUPPORTED_END
};

/* By number: older headers lack the last. */
enum { BATCH_MODE = 8 };
_Static_assert(BATCH_MODE == CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET + 1,
    "one more than all headers have");

static const char names[UNSUPPORTED_END][40] = {
#define OPERATION(name) \
	[IN_OPERATION + CUBLASLT_MATMUL_DESC_##name] = #name,
#define LATER(number, name) [IN_OPERATION + (number)] = #name,
#define LAYOUT(name) \
	[IN_LAYOUT + CUBLASLT_MATRIX_LAYOUT_##name] = "layout's " #name,
	OPERATION( COMPUTE_TYPE )
	OPERATION( SCALE_TYPE )
	OPERATION( POINTER_MODE )
	OPERATION( TRANSA )
	OPERATION( TRANSB )
	OPERATION( TRANSC )
	OPERATION( FILL_MODE )
	OPERATION( EPILOGUE )
	OPERATION( BIAS_BATCH_STRIDE )
	OPERATION( ALPHA_VECTOR_BATCH_STRIDE )
	OPERATION( SM_COUNT_TARGET )
	OPERATION( A_SCALE_POINTER )
	OPERATION( B_SCALE_POINTER )
	OPERATION( C_SCALE_POINTER )
	OPERATION( D_SCALE_POINTER )
	OPERATION( AMAX_D_POINTER )
	OPERATION( EPILOGUE_AUX_DATA_TYPE )
	OPERATION( EPILOGUE_AUX_SCALE_POINTER )
	OPERATION( EPILOGUE_AUX_AMAX_POINTER )
	OPERATION( FAST_ACCUM )
	OPERATION( BIAS_DATA_TYPE )
	LATER( 31, A_SCALE_MODE )
	LATER( 32, B_SCALE_MODE )
	LATER( 33, C_SCALE_MODE )
	LATER( 34, D_SCALE_MODE )
	LATER( 35, EPILOGUE_AUX_SCALE_MODE )
	LATER( 36, D_OUT_SCALE_POINTER )
	LATER( 37, D_OUT_SCALE_MODE )
	LATER( 38, EMULATION_DESCRIPTOR )
	LAYOUT( TYPE )
	LAYOUT( ORDER )
	LAYOUT( ROWS )
	LAYOUT( COLS )
	LAYOUT( LD )
	LAYOUT( BATCH_COUNT )
	LAYOUT( STRIDED_BATCH_OFFSET )
	LAYOUT( PLANE_OFFSET )
	[IN_LAYOUT + BATCH_MODE] = "layout's BATCH_MODE",
	[UNEQUAL_BATCHES] = "unequal BATCH_COUNTs",
	[LARGE_ATTRIBUTE] = "a large attribute",
};

const char *
ac_lt_unsupported_name(int32_t what)
{
	const char *name = what > 0 && what < UNSUPPORTED_END
	    ? names[what] : "";

	return *name ? name : "an unknown attribute";
}

/* ---- The operation ------------------------------------------------------- */

struct row {
	uint8_t number, bytes, at;
	bool    is_needed;  /* else a short descriptor may lack it */
};

#define ROW(number, type, member, is_needed)                              \
	{ number, sizeof ((struct type *)0)->member,                      \
	    offsetof(struct type, member), is_needed }

/* Attributes in no table must be as in a new descriptor. */
static const struct row operation_rows[] = {
#define OPERATION_ROW(name, member, is_needed) \
	ROW(CUBLASLT_MATMUL_DESC_##name, ac_lt_content, member, is_needed)
	OPERATION_ROW(COMPUTE_TYPE, compute, true),
	OPERATION_ROW(SCALE_TYPE, scale, true),
	OPERATION_ROW(POINTER_MODE, pointer_mode, true),
	OPERATION_ROW(TRANSA, transa, true),
	OPERATION_ROW(TRANSB, transb, true),
	OPERATION_ROW(EPILOGUE, epilogue, true),
	OPERATION_ROW(BIAS_BATCH_STRIDE, bias_stride, false),
	OPERATION_ROW(SM_COUNT_TARGET, sm_count_target, false),
	OPERATION_ROW(EPILOGUE_AUX_DATA_TYPE, aux_type, false),
	OPERATION_ROW(BIAS_DATA_TYPE, bias_type, false),
};

#define COUNT(rows) (sizeof (rows) / sizeof *(rows))

/* ---- Reading ------------------------------------------------------------- */

struct reading {
	const struct ac_lt_library *library;
	struct ac_lt_content content;
	bool has_failed;    /* the library, for a reason of its own */
};

static void
note(struct reading *reading, int32_t what)
{
	if (!reading->content.unsupported)
		reading->content.unsupported = what;
}

/* False: the library, or a descriptor of this size, lacks the attribute. */
static bool
take(struct reading *reading, cublasStatus_t status, const void *value,
    void *to, size_t bytes)
{
	if (status == CUBLAS_STATUS_SUCCESS)
		memcpy(to, value, bytes);
	else if (status != CUBLAS_STATUS_INVALID_VALUE)
		reading->has_failed = true;
	return status == CUBLAS_STATUS_SUCCESS;
}

static bool
get(struct reading *reading, cublasLtMatmulDesc_t desc, int number, void *to,
    size_t bytes)
{
	_Alignas(int64_t) unsigned char value[AC_LT_VALUE];
	size_t written;

	return take(reading, reading->library->get(desc,
	    (cublasLtMatmulDescAttributes_t)number, value, bytes, &written),
	    value, to, bytes);
}

static bool
get_layout(struct reading *reading, cublasLtMatrixLayout_t layout, int number,
    void *to, size_t bytes)
{
	_Alignas(int64_t) unsigned char value[AC_LT_VALUE];
	size_t written;

	return take(reading, reading->library->get_layout(layout,
	    (cublasLtMatrixLayoutAttribute_t)number, value, bytes, &written),
	    value, to, bytes);
}

static bool
is_understood(uint8_t number)
{
	for (unsigned i = 0; i < COUNT(operation_rows); i++)
		if (operation_rows[i].number == number)
			return true;
	return memchr(ac_lt_pointer_numbers, number, AC_LT_POINTERS);
}

/* Whether the attribute is set; a descriptor that lacks it has not set it. */
static bool
is_set(struct reading *reading, cublasLtMatmulDesc_t desc,
    const struct ac_lt_attribute *attribute)
{
	unsigned char value[AC_LT_VALUE];

	return get(reading, desc, attribute->number, value, attribute->bytes)
	    && memcmp(value, attribute->fresh, attribute->bytes);
}

static void
read_operation(struct reading *reading, cublasLtMatmulDesc_t desc)
{
	const struct ac_lt_library *library = reading->library;
	struct ac_lt_content *to = &reading->content;

	to->bias_type = to->aux_type = -1;
	for (unsigned i = 0; i < COUNT(operation_rows); i++) {
		const struct row *row = &operation_rows[i];

		if (!get(reading, desc, row->number, (char *)to + row->at,
		    row->bytes) && row->is_needed)
			note(reading, IN_OPERATION + row->number);
	}
	if (to->pointer_mode != CUBLASLT_POINTER_MODE_HOST
	    && to->pointer_mode != CUBLASLT_POINTER_MODE_DEVICE)
		note(reading, IN_OPERATION
		    + CUBLASLT_MATMUL_DESC_POINTER_MODE);
	for (unsigned i = 0; i < library->count; i++) {
		const struct ac_lt_attribute *other = &library->attributes[i];

		if (!is_understood(other->number)
		    && is_set(reading, desc, other))
			note(reading, IN_OPERATION + other->number);
	}
	if (library->is_larger)
		note(reading, LARGE_ATTRIBUTE);
}

/* ---- Layouts ------------------------------------------------------------- */

static const struct row layout_rows[] = {
#define LAYOUT_ROW(name, member) \
	ROW(CUBLASLT_MATRIX_LAYOUT_##name, ac_lt_matrix, member, true)
	LAYOUT_ROW(TYPE, type),
	LAYOUT_ROW(ORDER, order),
	LAYOUT_ROW(ROWS, rows),
	LAYOUT_ROW(COLS, cols),
	LAYOUT_ROW(LD, ld),
	LAYOUT_ROW(BATCH_COUNT, batch),
	LAYOUT_ROW(STRIDED_BATCH_OFFSET, stride),
};

/* What is unsupported in it, or 0. Batches of several sizes, or of pointers,
 * have other attributes behind BATCH_MODE, which older libraries lack. */
static int32_t
read_layout(struct reading *reading, cublasLtMatrixLayout_t layout,
    struct ac_lt_matrix *to)
{
	int64_t plane = 0;
	uint32_t mode = 0;

	for (unsigned i = 0; i < COUNT(layout_rows); i++)
		if (!get_layout(reading, layout, layout_rows[i].number,
		    (char *)to + layout_rows[i].at, layout_rows[i].bytes))
			return IN_LAYOUT + layout_rows[i].number;
	if (to->order != CUBLASLT_ORDER_COL && to->order != CUBLASLT_ORDER_ROW)
		return IN_LAYOUT + CUBLASLT_MATRIX_LAYOUT_ORDER;
	if (to->rows < 0)
		return IN_LAYOUT + CUBLASLT_MATRIX_LAYOUT_ROWS;
	if (to->cols < 0)
		return IN_LAYOUT + CUBLASLT_MATRIX_LAYOUT_COLS;
	if (!get_layout(reading, layout, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET,
	    &plane, sizeof plane) || plane)
		return IN_LAYOUT + CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET;
	if (get_layout(reading, layout, BATCH_MODE, &mode, sizeof mode)
	    && mode)
		return IN_LAYOUT + BATCH_MODE;
	return 0;
}

/* ---- The call ------------------------------------------------------------ */

bool
ac_lt_read(const struct ac_lt_asked *asked, struct ac_lt_content *content_out)
{
	struct reading reading = { .library = asked->desc && asked->a
	    && asked->b && asked->d ? ac_lt_library_of(asked->provider)
	    : NULL };
	struct ac_lt_content *const to = &reading.content;
	const struct {
		cublasLtMatrixLayout_t from;
		struct ac_lt_matrix *to;
	} layouts[] = {
		{ asked->a, &to->a }, { asked->b, &to->b },
		{ asked->c ? asked->c : asked->d, &to->c },
		{ asked->d, &to->d }
	};

	if (!reading.library)
		return false;
	read_operation(&reading, asked->desc);
	for (unsigned i = 0; i < COUNT(layouts); i++) {
		note(&reading, read_layout(&reading, layouts[i].from,
		    layouts[i].to));
		if (layouts[i].to->batch != to->a.batch)
			note(&reading, UNEQUAL_BATCHES);
	}
	if (reading.has_failed)
		return false;
	*content_out = reading.content;
	return true;
}

__attribute__((cold, noinline))
static bool
ask_pointer(const struct ac_lt_asked *asked, enum ac_lt_pointer which, void *to)
{
	struct reading reading = {
		.library = ac_lt_library_of(asked->provider)
	};

	return reading.library && get(&reading, asked->desc,
	    ac_lt_pointer_numbers[which], to, sizeof(uint64_t));
}

/* One that is where it was proven to be, or as the library's getter says. */
static inline bool
get_pointer(const struct ac_lt_asked *asked,
    const struct ac_lt_version *version, enum ac_lt_pointer which, void *to)
{
	if (!version || !version->at[which])
		return ask_pointer(asked, which, to);
	memcpy(to, (const char *)asked->desc + version->at[which],
	    sizeof(uint64_t));
	return true;
}

bool
ac_lt_read_pointers(const struct ac_lt_asked *asked,
    const struct ac_lt_content *content, const struct ac_lt_version *version,
    struct ac_lt_pointers *pointers_out)
{
	enum { BGRAD = 16, AUX = 128, /* bits that have no name */
	    BIAS = CUBLASLT_EPILOGUE_BIAS | BGRAD | CUBLASLT_EPILOGUE_BGRADA
	    | CUBLASLT_EPILOGUE_BGRADB };
	struct ac_lt_pointers read = { NULL, NULL, 0, 0 };

	if (content->epilogue & BIAS
	    && !get_pointer(asked, version, AC_LT_BIAS, &read.bias))
		return false;
	if (content->epilogue & AUX
	    && !(get_pointer(asked, version, AC_LT_AUX, &read.aux)
	    && get_pointer(asked, version, AC_LT_AUX_LD, &read.aux_ld)
	    && get_pointer(asked, version, AC_LT_AUX_STRIDE, &read.aux_stride)))
		return false;
	*pointers_out = read;
	return true;
}
