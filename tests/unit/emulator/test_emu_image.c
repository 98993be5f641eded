/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/unit/emulator/test_emu_image.c -- device code as programs hand it over:
 * which text of a fat binary is taken, how it unpacks, and that no damage does
 * more than be refused; then the driver's calls for kernels by their PTX.
 * AC_TEST_IMAGES=N: N damaged images in place of 10,000.
 */
#include "emulator/driver/image/image.h"
#include "tests/unit/emulator/test_emu.h"
#include "tests/preload/programs/own_fatbin.h"

#include <cuda.h>

enum { CAPABILITY = 90, ROOM = 1 << 16 };

static const char text[] = ".version 6.0\n.target sm_70\n"
    ".address_size 64\n"
    ".global .align 4 .u32 hits;\n"
    ".visible .entry up(.param .u64 up_0, .param .u32 up_1)\n"
    ".maxntid 128, 1, 1\n"
    "{\n"
    "\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n"
    "\t.shared .align 4 .b8 own[400];\n"
    "\tld.param.u64 %rd1, [up_0];\n\tld.param.u32 %r1, [up_1];\n"
    "\tld.global.u32 %r2, [%rd1];\n\tadd.u32 %r2, %r2, %r1;\n"
    "\tst.global.u32 [%rd1], %r2;\n"
    "\tmov.u64 %rd2, hits;\n\tatom.global.add.u32 %r3, [%rd2], 1;\n"
    "\tret;\n}\n";

static unsigned char fat[ROOM];

static size_t
fat_bytes(void)
{
	struct fatbin_head head;

	memcpy(&head, fat, sizeof head);
	return sizeof head + head.size;
}

static int
take(const void *image, size_t bytes, const char *wanted)
{
	struct emu_refusal refusal;
	char *found = NULL;
	const int status = (int)emu_image_text(image, bytes, CAPABILITY, &found,
	    &refusal);

	if (status) {
		assert_null(found);
		assert_true(*refusal.text && !strchr(refusal.text, '\n'));
	} else {
		assert_non_null(found);
		if (wanted)
			assert_string_equal(found, wanted);
	}
	free(found);
	return status;
}

static void
choice(void **state)
{
	static const uint64_t packed[] = { 0, FATBIN_LZ4 };
	static const char older[] = "// older", newer[] = "// newer", best[] =
	    "// the best one, packed or plain";
	struct fatbin_wrapper wrapper = { FATBIN_WRAPPER, 1, fat, NULL };

	(void)state;
	for (int i = 0; i < 2; i++) {
		fatbin_begin(fat);
		fatbin_add(fat, FATBIN_ELF, 90, 0, "ELF", 3);
		fatbin_add(fat, FATBIN_PTX, 52, 0, older, sizeof older);
		fatbin_add(fat, FATBIN_PTX, 90, packed[i], best, sizeof best);
		fatbin_add(fat, FATBIN_PTX, 75, 0, older, sizeof older);
		fatbin_add(fat, FATBIN_PTX, 100, 0, newer, sizeof newer);
		assert_int_equal(take(fat, fat_bytes(), best), 0);
		assert_int_equal(take(fat, SIZE_MAX, best), 0);
		assert_int_equal(take(&wrapper, SIZE_MAX, best), 0);
	}
	assert_int_equal(take(" \n\t.version 8.0\n", SIZE_MAX,
	    " \n\t.version 8.0\n"), 0);
	assert_int_equal(take("// x", 4, "// x"), 0);
	assert_int_equal(take("", 1, NULL), 200);
	assert_int_equal(take(NULL, SIZE_MAX, NULL), 209);
	fatbin_begin(fat);
	assert_int_equal(take(fat, fat_bytes(), NULL), 209);
	fatbin_add(fat, FATBIN_PTX, 100, 0, newer, sizeof newer);
	assert_int_equal(take(fat, fat_bytes(), NULL), 209);
}

/* A plain text says itself what it is for. */
static void
plain(void **state)
{
	static const struct {
		const char *text;
		int status;
	} wanted[] = {
		{ ".version 9.9\n.target sm_90\n", 0 },
		{ ".version 10.0\n.target sm_90\n", 222 },
		{ "// .version 8.0\n/* x */ .version 99.0\n", 222 },
		{ "// .version 99.0\n.version 8.0 // .target sm_120\n"
		  ".target sm_90, debug\n", 0 },
		{ ".version 8.0\n.target sm_90a\n", 0 },
		{ ".version 8.0\n.target\tsm_30", 0 },
		{ ".version 8.0\n.target sm_120\n", 209 },
		{ ".version 8.0\n.target sm_100f\n", 209 },
		{ ".version 8.0\n/* x */\n.target sm_80a", 209 },
		{ ".version 8.0\n.target sm_80f\n", 209 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		assert_int_equal(take(wanted[i].text, SIZE_MAX,
		    wanted[i].text), wanted[i].status);
}

/* Copies that overlap, and lengths of several bytes, by hand. */
static void
lz4(void **state)
{
	static const unsigned char block[] = { 0x3f, 'a', 'b', 'c', 3, 0, 255,
		2, 0x10, '!' };
	unsigned char out[3 + 15 + 4 + 255 + 2 + 1];

	(void)state;
	assert_true(emu_unpack_lz4(block, sizeof block, out, sizeof out));
	for (size_t i = 0; i < sizeof out - 1; i++)
		assert_int_equal(out[i], "abc"[i % 3]);
	assert_int_equal(out[sizeof out - 1], '!');
	assert_false(emu_unpack_lz4(block, sizeof block, out, sizeof out - 1));
	assert_false(emu_unpack_lz4(block, sizeof block - 1, out,
	    sizeof out));
}

/* Any byte may be wrong, and any image cut short: it is refused or read, within
 * its bytes (they end where the memory ends). */
static void
damage(void **state)
{
	static const uint64_t packed[] = { 0, FATBIN_LZ4, FATBIN_ZSTD };
	const char *asked = getenv("AC_TEST_IMAGES");
	const long turns = asked ? atol(asked) : 10000;
	uint64_t random = 88172645463325252u;

	(void)state;
	for (long turn = 0; turn < turns; turn++) {
		size_t bytes;
		unsigned char *image;

		fatbin_begin(fat);
		fatbin_add(fat, FATBIN_ELF, 90, 0, "ELF", 3);
		fatbin_add(fat, FATBIN_PTX, 75, packed[turn % 3], text,
		    sizeof text);
		bytes = fat_bytes();
		for (int k = 0; k < 1 + turn % 4; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			fat[random % (turn & 8 ? bytes : 160)] =
			    (unsigned char)(random >> 32);
		}
		if (turn & 16)
			bytes = random >> 40 & 1 ? bytes - 1 : random % bytes;
		image = malloc(bytes ? bytes : 1);
		assert_non_null(image);
		memcpy(image, fat, bytes);
		/* No wrapper: what it points to cannot be known. */
		if (bytes >= 4 && !memcmp(image, "\xb1\x43\x62\x46", 4))
			image[0] = 0;
		(void)take(image, bytes, NULL);
		free(image);
	}
}

/* ---- the driver's calls -------------------------------------------------- */

static unsigned
word(CUdeviceptr address)
{
	unsigned value = 0;

	OK(cuMemcpyDtoH(&value, address, sizeof value));
	return value;
}

static void
launches(CUfunction up, CUdeviceptr at)
{
	CUlaunchAttribute together = { .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
		.value.cooperative = 1 };
	CUlaunchConfig config = { .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
		.blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
		.attrs = &together, .numAttrs = 1 };
	unsigned by = 5;
	void *params[] = { &at, &by };

	OK(cuLaunchKernel(up, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	OK(cuLaunchCooperativeKernel(up, 1, 1, 1, 1, 1, 1, 0, NULL, params));
	OK(cuLaunchKernelEx(&config, up, params, NULL));
	assert_int_equal(word(at), 15);
	assert_int_equal(cuLaunchKernel(up, 1, 1, 1, 129, 1, 1, 0, NULL,
	    params, NULL), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
	assert_int_equal(cuLaunchKernel(up, 1, 1, 1, 1, 1, 1, 48 * 1024, NULL,
	    params, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuFuncSetAttribute(up,
	    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 * 1024));
	OK(cuLaunchKernel(up, 1, 1, 1, 1, 1, 1, 48 * 1024, NULL, params,
	    NULL));
	assert_int_equal(cuFuncSetAttribute(up,
	    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024),
	    CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(word(at), 20);
}

static void
attributes(CUfunction up)
{
	static const struct {
		CUfunction_attribute attribute;
		int value;
	} wanted[] = {
		{ CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 400 },
		{ CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 128 },
		{ CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
		  48 * 1024 - 400 },
		{ CU_FUNC_ATTRIBUTE_BINARY_VERSION, 90 },
		{ CU_FUNC_ATTRIBUTE_PTX_VERSION, 70 },
	};
	int value = -1;

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		OK(cuFuncGetAttribute(&value, wanted[i].attribute, up));
		assert_int_equal(value, wanted[i].value);
	}
	assert_int_equal(cuFuncGetAttribute(&value, (CUfunction_attribute)99,
	    up), CUDA_ERROR_INVALID_VALUE);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, up, 128, 0));
	assert_int_equal(value, 16); /* of 2048 threads */
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, up, 256, 0));
	assert_int_equal(value, 0);
}

static void
driver(void **state)
{
	CUdeviceptr at, hits;
	CUfunction up;
	CUlibrary library;
	CUmodule module;
	size_t bytes;
	char log[256] = "";
	CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER,
		CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)(uintptr_t)sizeof log };

	(void)state;
	OK(cuMemAlloc(&at, 4));
	OK(cuMemsetD32(at, 0, 1));
	fatbin_begin(fat);
	fatbin_add(fat, FATBIN_PTX, 70, FATBIN_LZ4, text, sizeof text);
	OK(cuModuleLoadFatBinary(&module, fat));
	OK(cuModuleGetFunction(&up, module, "up"));
	attributes(up);
	launches(up, at);
	OK(cuModuleGetGlobal(&hits, &bytes, module, "hits"));
	assert_int_equal(bytes, 4);
	assert_int_equal(word(hits), 4);
	assert_int_equal(cuModuleGetGlobal(&hits, &bytes, module, "absent"),
	    CUDA_ERROR_NOT_FOUND);
	OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetGlobal(&hits, &bytes, library, "hits"));
	assert_int_equal(word(hits), 0); /* a module's own */
	OK(cuLibraryUnload(library));
	assert_int_equal(cuModuleLoadDataEx(&module, ".version 6.0\n"
	    ".target sm_70\n.visible nothing\n", 2,
	    options, values), CUDA_ERROR_INVALID_PTX);
	assert_non_null(strstr(log, "the PTX: "));
	assert_int_equal(cuModuleLoadData(&module, ".version 99.0\n"),
	    CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
	assert_int_equal(cuModuleLoadData(&module, ".version 8.0\n"
	    ".target sm_120\n"), CUDA_ERROR_NO_BINARY_FOR_GPU);
	OK(cuModuleUnload(module));
	OK(cuMemFree(at));
}

/* What no GPU has. */
static void
too_much_shared(void **state)
{
	static const char wide[] = ".version 8.0\n.target sm_80\n"
	    ".visible .entry fits() { .shared .b8 x[49152]; ret; }\n"
	    ".visible .entry wide() { .shared .b8 x[49156]; ret; }\n";
	CUfunction function;
	CUmodule module;

	(void)state;
	OK(cuModuleLoadData(&module, wide));
	OK(cuModuleGetFunction(&function, module, "fits"));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	OK(cuModuleGetFunction(&function, module, "wide"));
	assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL,
	    NULL, NULL), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
	OK(cuModuleUnload(module));
}

/* Each context has the variables for itself, and a new one has them new. */
static void
contexts(void **state)
{
	CUdeviceptr first, second;
	CUcontext home, other;
	CUlibrary library;
	size_t bytes;

	(void)state;
	OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetGlobal(&first, &bytes, library, "hits"));
	OK(cuMemsetD32(first, 7, 1));
	OK(cuCtxGetCurrent(&home));
	OK(cuCtxCreate(&other, NULL, 0, 0));
	OK(cuLibraryGetGlobal(&second, &bytes, library, "hits"));
	assert_true(first != second);
	assert_int_equal(word(second), 0);
	OK(cuCtxDestroy(other));
	OK(cuCtxSetCurrent(home));
	assert_int_equal(word(first), 7);
	OK(cuLibraryUnload(library));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choice),
		cmocka_unit_test(plain),
		cmocka_unit_test(lz4),
		cmocka_unit_test(damage),
		cmocka_unit_test(driver),
		cmocka_unit_test(too_much_shared),
		cmocka_unit_test(contexts),
	};

	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	OK(cudaFree(NULL)); /* a context is current */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
