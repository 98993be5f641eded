/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_link.c -- driver calls: the linker. It takes one
 * piece of PTX, as those do who call it as a compiler, and hands the text back
 * as the "cubin": what is loaded afterwards is read and refused there. Several
 * pieces are refused. Contracts are NVIDIA's. */
#include "emulator/driver/api/cuda.h"

#include <stdlib.h>
#include <string.h>

/* What NVIDIA's headers know as CUlinkState. */
struct CUlinkState_st {
	_Atomic uint32_t mark;
	char  *text;            /* NULL: none yet */
	size_t bytes;           /* with a zero byte at the end */
};
enum { MARK_LINK = 0x4c494e4b };

static int
check(const struct CUlinkState_st *state)
{
	return state && atomic_load(&state->mark) == MARK_LINK ?
	    EMU_OK : EMU_INVALID_HANDLE;
}

/* Options tune what a compiler does, or ask for its words: there are none. */
CUresult
cuLinkCreate(unsigned count, CUjit_option *options, void **values,
    CUlinkState *state)
{
	struct CUlinkState_st *new;

	DRIVER_ENTER();
	if (!state || (count && (!options || !values)))
		return CUDA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof *new);
	if (!new)
		return CUDA_ERROR_OUT_OF_MEMORY;
	atomic_store(&new->mark, MARK_LINK);
	*state = new;
	return CUDA_SUCCESS;
}

CUresult
cuLinkAddData(CUlinkState state, CUjitInputType type, void *data,
    size_t bytes, const char *name, unsigned count, CUjit_option *options,
    void **values)
{
	DRIVER_ENTER();
	(void)count;
	(void)options;
	(void)values;
	if (check(state))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!data || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (type != CU_JIT_INPUT_PTX) {
		emu_complain("%s is no PTX; the emulated GPU runs PTX, and has "
		    "no other linker", name ? name : "the input");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	if (state->text) {
		emu_complain("%s is a second piece of PTX; the emulated GPU "
		    "does not link several", name ? name : "the input");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	bytes = strnlen(data, bytes);
	state->text = malloc(bytes + 1);
	if (!state->text)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(state->text, data, bytes);
	state->text[bytes] = '\0';
	state->bytes = bytes + 1;
	return CUDA_SUCCESS;
}

/* The "cubin" is the linker's until that is destroyed. */
CUresult
cuLinkComplete(CUlinkState state, void **cubin, size_t *bytes)
{
	DRIVER_ENTER();
	if (check(state))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!cubin || !state->text)
		return CUDA_ERROR_INVALID_VALUE;
	*cubin = state->text;
	if (bytes)
		*bytes = state->bytes;
	return CUDA_SUCCESS;
}

CUresult
cuLinkDestroy(CUlinkState state)
{
	DRIVER_ENTER();
	if (check(state))
		return CUDA_ERROR_INVALID_HANDLE;
	atomic_store(&state->mark, 0);
	free(state->text);
	free(state);
	return CUDA_SUCCESS;
}
