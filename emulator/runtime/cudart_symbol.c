/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_symbol.c -- runtime calls: the program's variables on
 * the device, by what the host calls them. Contracts are NVIDIA's. */
#include "emulator/runtime/cudart_register.h"

cudaError_t
cudaGetSymbolAddress(void **address, const void *symbol)
{
	size_t bytes;
	void *at;
	int status;

	RUNTIME_ENTER();
	if (!address)
		return emu_runtime_keep(cudaErrorInvalidValue);
	status = emu_registered_variable(symbol, &at, &bytes);
	if (!status)
		*address = at;
	return emu_runtime_keep(status);
}

cudaError_t
cudaGetSymbolSize(size_t *size, const void *symbol)
{
	size_t bytes;
	void *at;
	int status;

	RUNTIME_ENTER();
	if (!size)
		return emu_runtime_keep(cudaErrorInvalidValue);
	status = emu_registered_variable(symbol, &at, &bytes);
	if (!status)
		*size = bytes;
	return emu_runtime_keep(status);
}

/* `bytes` of the variable, from `offset` on. */
static int
part_of(const void *symbol, size_t bytes, size_t offset, void **at_out)
{
	size_t all;
	void *at;
	const int status = emu_registered_variable(symbol, &at, &all);

	if (status)
		return status;
	if (offset > all || bytes > all - offset)
		return cudaErrorInvalidValue;
	*at_out = (char *)at + offset;
	return cudaSuccess;
}

static cudaError_t
copy_to(const void *symbol, const void *from, size_t bytes, size_t offset,
    enum cudaMemcpyKind kind, bool wait, cudaStream_t stream)
{
	struct emu_copy c = { .from = from, .bytes = bytes, .rows = 1,
		.to_pitch = bytes, .from_pitch = bytes,
		.direction = (enum emu_direction)kind, .wait = wait };
	const int status = part_of(symbol, bytes, offset, &c.to);

	if (status)
		return emu_runtime_keep(status);
	if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
		return emu_runtime_keep(cudaErrorInvalidMemcpyDirection);
	return emu_runtime_keep(emu_copy(&c, stream));
}

static cudaError_t
copy_from(void *to, const void *symbol, size_t bytes, size_t offset,
    enum cudaMemcpyKind kind, bool wait, cudaStream_t stream)
{
	struct emu_copy c = { .to = to, .bytes = bytes, .rows = 1,
		.to_pitch = bytes, .from_pitch = bytes,
		.direction = (enum emu_direction)kind, .wait = wait };
	void *from;
	const int status = part_of(symbol, bytes, offset, &from);

	if (status)
		return emu_runtime_keep(status);
	if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
		return emu_runtime_keep(cudaErrorInvalidMemcpyDirection);
	c.from = from;
	return emu_runtime_keep(emu_copy(&c, stream));
}

cudaError_t
cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
    size_t offset, enum cudaMemcpyKind kind)
{
	RUNTIME_ENTER();
	return copy_to(symbol, from, bytes, offset, kind, true, NULL);
}

cudaError_t
cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	RUNTIME_ENTER();
	return copy_to(symbol, from, bytes, offset, kind, false, stream);
}

cudaError_t
cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
    size_t offset, enum cudaMemcpyKind kind)
{
	RUNTIME_ENTER();
	return copy_from(to, symbol, bytes, offset, kind, true, NULL);
}

cudaError_t
cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	RUNTIME_ENTER();
	return copy_from(to, symbol, bytes, offset, kind, false, stream);
}
