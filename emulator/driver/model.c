/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/model.c -- the GPUs that can be emulated: their attributes
 * and rates. Data only; device.c chooses among them.
 *
 * Figures are from data sheets: dense products, boost clock, FP32 sums; memory
 * and link in bytes per second and direction; 2.5 us per launch are assumed.
 * Measured are the H200's rates (arithmetic and memory, on that GPU or one with
 * the same multiprocessors) and the H100's, by us (bench/results/: products of
 * 8192 and 16384, BF16 taken as FP16, a copy, empty kernels back to back; its
 * FAST_16F and FAST_16BF of FP32 operands were TF32, in numbers and in speed).
 * They are the emulator's own and independent of the product's table of rates,
 * so that a test can notice an error in one of them. */
#include "emulator/driver/device.h"

#include <string.h>
#include <strings.h>

#define GB (1000ull * 1000 * 1000)
#define KB 1024
#define MB (1024 * 1024)
#define LAUNCH 2.5e-6

static const struct emu_model models[] = {
	{ .key = "h200", .name = "NVIDIA H200 (emulated)", .major = 9,
	  .minor = 0, .multiprocessors = 132, .memory = 141 * GB,
	  .clock_khz = 1980000, .memory_clock_khz = 3201000,
	  .bus_width = 6144, .l2_bytes = 60 * MB,
	  .shared_per_block = 227 * KB, .shared_per_multiprocessor = 228 * KB,
	  .threads_per_multiprocessor = 2048,
	  .blocks_per_multiprocessor = 32,
	  .rate = { [EMU_FP64] = 67e12, [EMU_FP32] = 52e12,
	    [EMU_TF32] = 403e12, [EMU_BF16] = 790e12, [EMU_FP16] = 790e12,
	    [EMU_MEMORY] = 4.3e12, [EMU_LINK] = 64e9 }, .launch = LAUNCH },
	{ .key = "h100", .name = "NVIDIA H100 80GB HBM3 (emulated)",
	  .major = 9, .minor = 0, .multiprocessors = 132, .memory = 80 * GB,
	  .clock_khz = 1980000, .memory_clock_khz = 2619000,
	  .bus_width = 5120, .l2_bytes = 50 * MB,
	  .shared_per_block = 227 * KB, .shared_per_multiprocessor = 228 * KB,
	  .threads_per_multiprocessor = 2048,
	  .blocks_per_multiprocessor = 32,
	  .rate = { [EMU_FP64] = 67e12, [EMU_FP32] = 51.5e12,
	    [EMU_TF32] = 357e12, [EMU_BF16] = 636e12, [EMU_FP16] = 636e12,
	    [EMU_MEMORY] = 3e12, [EMU_LINK] = 64e9 }, .launch = 3.08e-6,
	  .fast16_is_tf32 = true },
	{ .key = "b200", .name = "NVIDIA B200 (emulated)", .major = 10,
	  .minor = 0, .multiprocessors = 148, .memory = 180 * GB,
	  .clock_khz = 1965000, .memory_clock_khz = 3906250,
	  .bus_width = 8192, .l2_bytes = 126 * MB,
	  .shared_per_block = 227 * KB, .shared_per_multiprocessor = 228 * KB,
	  .threads_per_multiprocessor = 2048,
	  .blocks_per_multiprocessor = 32,
	  .rate = { [EMU_FP64] = 37e12, [EMU_FP32] = 75e12,
	    [EMU_TF32] = 1125e12, [EMU_BF16] = 2250e12,
	    [EMU_FP16] = 2250e12, [EMU_MEMORY] = 8e12, [EMU_LINK] = 64e9 },
	  .launch = LAUNCH },
	{ .key = "b300", .name = "NVIDIA B300 SXM6 AC (emulated)", .major = 10,
	  .minor = 3, .multiprocessors = 148, .memory = 288 * GB,
	  .clock_khz = 1920000, .memory_clock_khz = 3906250,
	  .bus_width = 8192, .l2_bytes = 126 * MB,
	  .shared_per_block = 227 * KB, .shared_per_multiprocessor = 228 * KB,
	  .threads_per_multiprocessor = 2048,
	  .blocks_per_multiprocessor = 32,
	  .rate = { [EMU_FP64] = 1.25e12, [EMU_FP32] = 75e12,
	    [EMU_TF32] = 1125e12, [EMU_BF16] = 2250e12,
	    [EMU_FP16] = 2250e12, [EMU_MEMORY] = 8e12, [EMU_LINK] = 64e9 },
	  .launch = LAUNCH },
	{ .key = "a100", .name = "NVIDIA A100-SXM4-80GB (emulated)",
	  .major = 8, .minor = 0, .multiprocessors = 108, .memory = 80 * GB,
	  .clock_khz = 1410000, .memory_clock_khz = 1593000,
	  .bus_width = 5120, .l2_bytes = 40 * MB,
	  .shared_per_block = 163 * KB, .shared_per_multiprocessor = 164 * KB,
	  .threads_per_multiprocessor = 2048,
	  .blocks_per_multiprocessor = 32,
	  .rate = { [EMU_FP64] = 19.5e12, [EMU_FP32] = 19.5e12,
	    [EMU_TF32] = 156e12, [EMU_BF16] = 312e12, [EMU_FP16] = 312e12,
	    [EMU_MEMORY] = 2.039e12, [EMU_LINK] = 32e9 }, .launch = LAUNCH },
	{ .key = "l40s", .name = "NVIDIA L40S (emulated)", .major = 8,
	  .minor = 9, .multiprocessors = 142, .memory = 48 * GB,
	  .clock_khz = 2520000, .memory_clock_khz = 9001000,
	  .bus_width = 384, .l2_bytes = 96 * MB,
	  .shared_per_block = 99 * KB, .shared_per_multiprocessor = 100 * KB,
	  .threads_per_multiprocessor = 1536,
	  .blocks_per_multiprocessor = 24,
	  .rate = { [EMU_FP64] = 1.43e12, [EMU_FP32] = 91.6e12,
	    [EMU_TF32] = 183e12, [EMU_BF16] = 362e12, [EMU_FP16] = 362e12,
	    [EMU_MEMORY] = 864e9, [EMU_LINK] = 32e9 }, .launch = LAUNCH },
	{ .key = "rtx4090", .name = "NVIDIA GeForce RTX 4090 (emulated)",
	  .major = 8, .minor = 9, .multiprocessors = 128, .memory = 24 * GB,
	  .clock_khz = 2520000, .memory_clock_khz = 10501000,
	  .bus_width = 384, .l2_bytes = 72 * MB,
	  .shared_per_block = 99 * KB, .shared_per_multiprocessor = 100 * KB,
	  .threads_per_multiprocessor = 1536,
	  .blocks_per_multiprocessor = 24,
	  .rate = { [EMU_FP64] = 1.29e12, [EMU_FP32] = 82.6e12,
	    [EMU_TF32] = 82.6e12, [EMU_BF16] = 165.2e12,
	    [EMU_FP16] = 165.2e12, [EMU_MEMORY] = 1.008e12,
	    [EMU_LINK] = 32e9 }, .launch = LAUNCH },
	{ .key = "rtx5090", .name = "NVIDIA GeForce RTX 5090 (emulated)",
	  .major = 12, .minor = 0, .multiprocessors = 170, .memory = 32 * GB,
	  .clock_khz = 2407000, .memory_clock_khz = 14001000,
	  .bus_width = 512, .l2_bytes = 96 * MB,
	  .shared_per_block = 99 * KB, .shared_per_multiprocessor = 100 * KB,
	  .threads_per_multiprocessor = 1536,
	  .blocks_per_multiprocessor = 24,
	  .rate = { [EMU_FP64] = 1.64e12, [EMU_FP32] = 104.8e12,
	    [EMU_TF32] = 104.8e12, [EMU_BF16] = 209.5e12,
	    [EMU_FP16] = 209.5e12, [EMU_MEMORY] = 1.792e12,
	    [EMU_LINK] = 64e9 }, .launch = LAUNCH },
	{ .key = "rtxpro6000", .name = "NVIDIA RTX PRO 6000 Blackwell "
	    "Workstation Edition (emulated)",
	  .major = 12, .minor = 0, .multiprocessors = 188, .memory = 96 * GB,
	  .clock_khz = 2617000, .memory_clock_khz = 14001000,
	  .bus_width = 512, .l2_bytes = 128 * MB,
	  .shared_per_block = 99 * KB, .shared_per_multiprocessor = 100 * KB,
	  .threads_per_multiprocessor = 1536,
	  .blocks_per_multiprocessor = 24,
	  .rate = { [EMU_FP64] = 1.97e12, [EMU_FP32] = 126e12,
	    [EMU_TF32] = 251.9e12, [EMU_BF16] = 503.8e12,
	    [EMU_FP16] = 503.8e12, [EMU_MEMORY] = 1.792e12,
	    [EMU_LINK] = 64e9 }, .launch = LAUNCH },
	{ .key = "t4", .name = "Tesla T4 (emulated)", .major = 7, .minor = 5,
	  .multiprocessors = 40, .memory = 16 * GB, .clock_khz = 1590000,
	  .memory_clock_khz = 5001000, .bus_width = 256, .l2_bytes = 4 * MB,
	  .shared_per_block = 64 * KB, .shared_per_multiprocessor = 64 * KB,
	  .threads_per_multiprocessor = 1024,
	  .blocks_per_multiprocessor = 16,
	  .rate = { [EMU_FP64] = 0.254e12, [EMU_FP32] = 8.1e12,
	    [EMU_FP16] = 65e12, [EMU_MEMORY] = 320e9, [EMU_LINK] = 16e9 },
	  .launch = LAUNCH },
};

const struct emu_model *
emu_model_find(const char *key, size_t length)
{
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (strlen(models[i].key) == length &&
		    !strncasecmp(models[i].key, key, length))
			return &models[i];
	return NULL;
}
