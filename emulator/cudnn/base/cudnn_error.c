/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/base/cudnn_error.c -- cuDNN calls: versions and the names of
 * statuses. Contracts are NVIDIA's. */
#include "emulator/cudnn/base/cudnn.h"

const char *
cudnnGetErrorString(cudnnStatus_t status)
{
	switch ((int)status) {
#define STATUS(number, name)                                              \
	case number:                                                      \
		return "CUDNN_STATUS_" #name;
#if CUDNN_MAJOR > 8
#include "emulator/cudnn/base/cudnn_error.def"
#else
#include "emulator/cudnn/base/cudnn_error_8.def"
#endif
#undef STATUS
	default:
		return "CUDNN_UNKNOWN_STATUS";
	}
}

/* The emulator reports errors on standard error, not here. */
void
cudnnGetLastErrorString(char *message, size_t max_size)
{
	if (message && max_size)
		*message = '\0';
}

size_t
cudnnGetVersion(void)
{
	return CUDNN_VERSION;
}

size_t
cudnnGetCudartVersion(void)
{
	return CUDART_VERSION;
}

cudnnStatus_t
cudnnGetProperty(libraryPropertyType type, int *value)
{
	static const int version[] = { CUDNN_MAJOR, CUDNN_MINOR,
		CUDNN_PATCHLEVEL };

	EMU_ENTER(&emu_dnn);
	if (!value || (unsigned)type >= sizeof version / sizeof *version)
		return CUDNN_STATUS_BAD_PARAM;
	*value = version[type];
	return CUDNN_STATUS_SUCCESS;
}

/* The parts of cuDNN are one library here, so their versions agree. */
#define VERSION_CHECK(part)                                               \
cudnnStatus_t                                                             \
cudnn##part##VersionCheck(void)                                           \
{                                                                         \
	EMU_ENTER(&emu_dnn);                                              \
	return CUDNN_STATUS_SUCCESS;                                      \
}
VERSION_CHECK(Adv)
VERSION_CHECK(Cnn)
VERSION_CHECK(Graph)
VERSION_CHECK(Ops)
