/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_copy.c -- runtime calls: copies and fills. Contracts
 * are NVIDIA's. */
#include "emulator/runtime/cudart.h"

/* cudaMemcpyKind has the numbers of enum emu_direction. */
static cudaError_t
copy(const struct emu_copy *c, cudaStream_t stream)
{
	return emu_runtime_keep(emu_copy(c, stream));
}

static cudaError_t
fill(void *to, size_t pitch, int value, size_t width, size_t height,
    cudaStream_t stream)
{
	const struct emu_fill f = {
		.to = to, .value = (unsigned char)value, .size = 1,
		.count = width, .rows = height, .pitch = pitch
	};

	return emu_runtime_keep(emu_fill(&f, stream));
}

#define FLAT .to = to, .from = from, .bytes = bytes, .rows = 1, \
	.to_pitch = bytes, .from_pitch = bytes

cudaError_t
cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	const struct emu_copy c = { FLAT, (enum emu_direction)kind, true };

	RUNTIME_ENTER();
	return copy(&c, NULL);
}

cudaError_t
cudaMemcpyAsync(void *to, const void *from, size_t bytes,
    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	const struct emu_copy c = { FLAT, (enum emu_direction)kind, false };

	RUNTIME_ENTER();
	return copy(&c, stream);
}

cudaError_t
cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
    size_t width, size_t height, enum cudaMemcpyKind kind)
{
	const struct emu_copy c = { to, from, width, height, to_pitch,
		from_pitch, (enum emu_direction)kind, true };

	RUNTIME_ENTER();
	return copy(&c, NULL);
}

cudaError_t
cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
    size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
    cudaStream_t stream)
{
	const struct emu_copy c = { to, from, width, height, to_pitch,
		from_pitch, (enum emu_direction)kind, false };

	RUNTIME_ENTER();
	return copy(&c, stream);
}

cudaError_t
cudaMemset(void *to, int value, size_t bytes)
{
	RUNTIME_ENTER();
	return fill(to, bytes, value, bytes, 1, NULL);
}

cudaError_t
cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
	RUNTIME_ENTER();
	return fill(to, bytes, value, bytes, 1, stream);
}

cudaError_t
cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
	RUNTIME_ENTER();
	return fill(to, pitch, value, width, height, NULL);
}

cudaError_t
cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width,
    size_t height, cudaStream_t stream)
{
	RUNTIME_ENTER();
	return fill(to, pitch, value, width, height, stream);
}

/* ---- from one device to another ----------------------------------------- */

/* A copy that waits comes after all earlier work of both devices and before
 * all later work. */
static cudaError_t
copy_peer(void *to, int to_device, const void *from, int from_device,
    size_t bytes, bool wait, cudaStream_t stream)
{
	const struct emu_copy c = { FLAT, EMU_DEVICE_TO_DEVICE, wait };
	int status;

	if (!emu_device_exists(to_device) || !emu_device_exists(from_device))
		return emu_runtime_keep(cudaErrorInvalidDevice);
	if (!wait)
		return copy(&c, stream);
	emu_stream_wait_device(to_device);
	emu_stream_wait_device(from_device);
	status = emu_copy(&c, NULL);
	return emu_runtime_keep(status ? status : emu_stream_wait(NULL));
}

cudaError_t
cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
    size_t bytes)
{
	RUNTIME_ENTER();
	return copy_peer(to, to_device, from, from_device, bytes, true, NULL);
}

cudaError_t
cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
    int from_device, size_t bytes, cudaStream_t stream)
{
	RUNTIME_ENTER();
	return copy_peer(to, to_device, from, from_device, bytes, false,
	    stream);
}
