/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_describe.c -- a call in the words of policy and report:
 * each word by what says it, and what is not known is not said. */
#include "tests/unit/shim/site_world.h"

#include "base/elf.h"

#include <dlfcn.h>

static int handle_of;
static const char here[1]; /* an address of the program */
static const cublasHandle_t handle = (cublasHandle_t)&handle_of;

static struct ac_call
call_of_form(uint64_t form)
{
	const struct ac_site_call call = { handle, here, 11, 12,
		13, 14, form, NULL };

	return ac_call_of(&call);
}

static struct ac_call
call_of(cublasOperation_t ta, cublasOperation_t tb, enum ac_type_class type,
    enum ac_asked asked)
{
	return call_of_form(ac_form_of(ENTRY_cublasGemmEx, ta, tb, type, asked)
	    | (uint64_t)DEVICE << 32);
}

static void
describe(struct ac_description *d)
{
	const struct ac_call call = call_of(CUBLAS_OP_N, CUBLAS_OP_T,
	    AC_TYPE_F32, AC_ASKED_FP32);

	ac_describe(&call, world.binding.provider, d);
}

/* ---- The call ------------------------------------------------------------ */

CASE_WITH(test_forms, begin, NULL)
{
	static const struct {
		enum ac_entry entry;
		cublasOperation_t ta, tb;
		enum ac_type_class type;
		enum ac_asked asked;
		int device;
		uint32_t via, region;
	} rows[] = {
		{ ENTRY_cublasSgemm_v2, CUBLAS_OP_N, CUBLAS_OP_N, AC_TYPE_F32,
		    AC_ASKED_UNSAID, 0, 0, 0 },
		{ ENTRY_cublasGemmEx, CUBLAS_OP_T, CUBLAS_OP_N, AC_TYPE_OTHER,
		    AC_ASKED_EMULATED, -1, 0, 0 },
		{ ENTRY_cublasGemmEx, CUBLAS_OP_N, CUBLAS_OP_C, AC_TYPE_C32,
		    AC_ASKED_TF32, 127, 0x1000, 4000 },
		{ ENTRY_cublasCgemm_v2, CUBLAS_OP_C, CUBLAS_OP_T, AC_TYPE_BF16,
		    AC_ASKED_PEDANTIC, 5, 0x100, REGION },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ac_call call = call_of_form(ac_form_of(
		    rows[i].entry, rows[i].ta, rows[i].tb, rows[i].type,
		    rows[i].asked) | rows[i].via
		    | (uint64_t)(uint8_t)rows[i].device << 32
		    | (uint64_t)rows[i].region << AC_REGION_SHIFT);

		assert_ptr_equal(call.handle, handle);
		assert_ptr_equal(call.caller, here);
		assert_int_equal(call.m, 11);
		assert_int_equal(call.n, 12);
		assert_int_equal(call.k, 13);
		assert_int_equal(call.batch, 14);
		assert_int_equal(call.entry, rows[i].entry);
		assert_int_equal(call.transa, rows[i].ta);
		assert_int_equal(call.transb, rows[i].tb);
		assert_int_equal(call.type, rows[i].type);
		assert_int_equal(call.asked, rows[i].asked);
		assert_int_equal(call.device, rows[i].device);
		assert_int_equal(call.via, rows[i].via);
		assert_int_equal(call.region, rows[i].region);
	}
}

CASE_WITH(test_product, begin, NULL)
{
	struct ac_description d;

	memset(&d, 0x55, sizeof d);
	describe(&d);
	assert_string_equal(d.key.symbol, "cublasGemmEx");
	assert_int_equal(d.key.operation, AC_OP_GEMM_SINGLE);
	assert_int_equal(d.op.operation, AC_OP_GEMM_SINGLE);
	assert_string_equal(d.op.fact[AC_FACT_FN], "cublasGemmEx");
	assert_int_equal(d.key.m, 11);
	assert_int_equal(d.key.n, 12);
	assert_int_equal(d.key.k, 13);
	assert_int_equal(d.key.batch, 14);
	assert_true(d.op.quantity[AC_Q_M] == 11);
	assert_true(d.op.quantity[AC_Q_N] == 12);
	assert_true(d.op.quantity[AC_Q_K] == 13);
	assert_true(d.op.quantity[AC_Q_BATCH] == 14);
	assert_string_equal(d.key.shape, "");
	assert_int_equal(d.key.reserved, 0);
}

/* What follows a product of cublasLt, to the policy and in a report; of another
 * function nothing does. */
CASE_WITH(test_epilogues, begin, NULL)
{
	const struct ac_site_call odd = { handle, here, 11, 12, 13, 14,
		ac_form_of(ENTRY_cublasLtMatmul, CUBLAS_OP_N, CUBLAS_OP_N,
		    AC_TYPE_F32, AC_ASKED_FP32)
		| (uint64_t)AC_EPILOGUE_OTHER << AC_EPILOGUE_SHIFT,
		"A_SCALE_POINTER" };
	const struct ac_call noted = ac_call_of(&odd);
	struct ac_description d;

	for (uint64_t i = 0; i < AC_EPILOGUE_COUNT; i++) {
		const struct ac_call call = call_of_form(ac_form_of(
		    ENTRY_cublasLtMatmul, CUBLAS_OP_N, CUBLAS_OP_N,
		    AC_TYPE_F32, AC_ASKED_FP32) | i << AC_EPILOGUE_SHIFT);

		assert_int_equal(call.epilogue, i);
		ac_describe(&call, NULL, &d);
		assert_int_equal(d.key.operation, AC_OP_GEMM_LT);
		assert_string_equal(d.key.shape, i ? ac_epilogue_names[i]
		    : "");
		assert_string_equal(d.op.fact[AC_FACT_EPILOGUE],
		    ac_epilogue_names[i]);
	}
	ac_describe(&noted, NULL, &d);
	assert_string_equal(d.key.shape, "other: A_SCALE_POINTER");
	assert_string_equal(d.op.fact[AC_FACT_EPILOGUE], "other");
	describe(&d);
	assert_null(d.op.fact[AC_FACT_EPILOGUE]);
}

CASE_WITH(test_letters, begin, NULL)
{
	static const char letters[] = "NTC?";
	struct ac_description d;

	for (int a = 0; a < 4; a++)
		for (int b = 0; b < 4; b++) {
			const struct ac_call call = call_of(
			    (cublasOperation_t)a, (cublasOperation_t)b,
			    AC_TYPE_F32, AC_ASKED_FP32);
			const char ta[2] = { letters[a] };
			const char tb[2] = { letters[b] };

			ac_describe(&call, NULL, &d);
			assert_int_equal(d.key.ta, letters[a]);
			assert_int_equal(d.key.tb, letters[b]);
			assert_string_equal(d.op.fact[AC_FACT_TA], ta);
			assert_string_equal(d.op.fact[AC_FACT_TB], tb);
		}
}

CASE_WITH(test_types, begin, NULL)
{
	static const char *const names[] = {
		[AC_TYPE_F32] = "f32", [AC_TYPE_F16] = "f16",
		[AC_TYPE_BF16] = "bf16", [AC_TYPE_F64] = "f64",
		[AC_TYPE_C32] = "c32", [AC_TYPE_OTHER] = "other"
	};
	struct ac_description d;

	for (int i = AC_TYPE_F32; i <= AC_TYPE_OTHER; i++) {
		const struct ac_call call = call_of(CUBLAS_OP_N, CUBLAS_OP_N,
		    (enum ac_type_class)i, AC_ASKED_FP32);

		ac_describe(&call, NULL, &d);
		assert_string_equal(d.key.type, names[i]);
		assert_string_equal(d.op.fact[AC_FACT_TYPE], names[i]);
	}
}

/* ---- What is asked for --------------------------------------------------- */

enum { OPTED = 1, BATCH = 2, EMULATED = 4 };

CASE_WITH(test_asked, begin, NULL)
{
	static const struct {
		enum ac_asked asked;
		enum ac_type_class type;
		int sm, version;
		unsigned environment;
		const char *name;
	} rows[] = {
		{ AC_ASKED_UNSAID, AC_TYPE_F32, 90, 130100, 0, "fp32" },
		{ AC_ASKED_FP32, AC_TYPE_F32, 90, 130100, 0, "fp32" },
		{ AC_ASKED_TF32, AC_TYPE_F32, 90, 130100, 0, "tf32" },
		{ AC_ASKED_FAST16F, AC_TYPE_F32, 90, 130100, 0, "fast16f" },
		{ AC_ASKED_FAST16BF, AC_TYPE_F32, 90, 130100, 0, "fast16bf" },
		{ AC_ASKED_PEDANTIC, AC_TYPE_F32, 90, 130100, 0, "pedantic" },
		{ AC_ASKED_EMULATED, AC_TYPE_F32, 90, 130100, 0, "emulated" },
		{ AC_ASKED_TF32, AC_TYPE_F32, 90, 130100, OPTED, "opted-out" },
		{ AC_ASKED_FP32, AC_TYPE_F32, 90, 130100, BATCH, "opted-out" },
		{ AC_ASKED_FP32, AC_TYPE_F32, 100, 130100, OPTED | EMULATED,
		    "opted-out" },
		/* By the environment, where cuBLAS does it. */
		{ AC_ASKED_FP32, AC_TYPE_F32, 100, 130100, EMULATED,
		    "emulated" },
		{ AC_ASKED_UNSAID, AC_TYPE_C32, 100, 130100, EMULATED,
		    "emulated" },
		{ AC_ASKED_FP32, AC_TYPE_F32, 100, 130100, 0, "fp32" },
		{ AC_ASKED_FP32, AC_TYPE_F32, 90, 130100, EMULATED, "fp32" },
		{ AC_ASKED_FP32, AC_TYPE_F32, 100, 120800, EMULATED, "fp32" },
		{ AC_ASKED_FP32, AC_TYPE_F32, 100, 0, EMULATED, "fp32" },
		{ AC_ASKED_TF32, AC_TYPE_F32, 100, 130100, EMULATED, "tf32" },
		{ AC_ASKED_FP32, AC_TYPE_F64, 100, 130100, EMULATED, "fp32" },
	};
	struct ac_description d;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ac_call call = call_of(CUBLAS_OP_N, CUBLAS_OP_N,
		    rows[i].type, rows[i].asked);

		begin(state);
		world.gpu.sm = rows[i].sm;
		world.cublas_version = rows[i].version;
		world.shim.environment_opted_out = rows[i].environment & OPTED;
		world.shim.wants_batch_invariance = rows[i].environment & BATCH;
		world.shim.wants_emulated = rows[i].environment & EMULATED;
		ac_describe(&call, world.binding.provider, &d);
		assert_string_equal(d.key.asked, rows[i].name);
		assert_string_equal(d.op.fact[AC_FACT_ASKED], rows[i].name);
	}
}

/* ---- Where it is from ---------------------------------------------------- */

/* Begin to describe a call from `address`; `to` as the report has it. */
static void
from(struct ac_description *d, const void *address, char to[64])
{
	Dl_info info;

	ac_describe_begin(d, AC_OP_GEMM_SINGLE, ENTRY_cublasSgemm_v2, address);
	assert_true(dladdr(address, &info));
	snprintf(to, 64, "%s+%zx", d->module, (size_t)((uintptr_t)address
	    - (uintptr_t)info.dli_fbase));
}

CASE_WITH(test_caller, begin, NULL)
{
	struct ac_description d;
	char to[64];

	/* The program has no path to the loader. */
	from(&d, here, to);
	assert_string_equal(d.module, "train");
	assert_string_equal(d.key.caller, to);
	/* What no sanitizer has a function of its own for. */
	from(&d, dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), to);
	assert_string_equal(d.module, "libc.so.6");
	assert_string_equal(d.key.caller, to);
	ac_describe_begin(&d, AC_OP_GEMM_SINGLE, ENTRY_cublasSgemm_v2,
	    (const void *)8);
	assert_string_equal(d.module, "?");
	assert_string_equal(d.key.caller, "?");
	assert_null(d.solver);
	assert_false(d.is_solver);
	assert_int_equal(d.key.solver, 'n');
}

CASE_WITH(test_solver, begin, NULL)
{
	struct ac_elf_object self;
	struct ac_description d;

	assert_true(ac_elf_object_at(here, &self));
	describe(&d);
	assert_null(d.solver);
	assert_string_equal(d.op.fact[AC_FACT_SOLVER], "no");
	world.solver_base = self.base;
	/* Builds that are not position-independent lie at 0. */
	if (!self.base)
		skip();
	describe(&d);
	assert_ptr_equal(d.solver, &world.solver);
	assert_false(d.is_solver);
	assert_int_equal(d.key.solver, 'n');
	world.solver.counts = true;
	describe(&d);
	assert_true(d.is_solver);
	assert_int_equal(d.key.solver, 'y');
	assert_string_equal(d.op.fact[AC_FACT_SOLVER], "yes");
}

CASE_WITH(test_cublas, begin, NULL)
{
	static const struct {
		int version, returned;
		const char *name;
	} rows[] = {
		{ 130100, 130100, "cublas-13.1" },
		{ 120803, 120803, "cublas-12.8" },
		{ 111103, 111103, "cublas-11.11" },
		{ 0, 0, NULL }, { -1, 0, NULL },
	};
	struct ac_description d;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		memset(&d, 0x55, sizeof d);
		world.cublas_version = rows[i].version;
		assert_int_equal(ac_describe_library(&d, handle,
		    world.binding.provider), rows[i].returned);
		assert_string_equal(d.library, rows[i].name ? rows[i].name
		    : "");
		describe(&d);
		if (rows[i].name)
			assert_string_equal(d.op.fact[AC_FACT_LIB],
			    rows[i].name);
		else
			assert_null(d.op.fact[AC_FACT_LIB]);
	}
	world.cublas_version = 130100;
	assert_int_equal(ac_describe_library(&d, handle, NULL), 0);
	assert_string_equal(d.library, "");
}

#ifdef AC_HAVE_CUDNN
CASE_WITH(test_cudnn, begin, NULL)
{
	static const struct { size_t version; const char *name; } rows[] = {
		{ 90800, "cudnn-9.8" }, { 91002, "cudnn-9.10" },
		{ 90000, "cudnn-9.0" }, { 8907, "cudnn-8.9" }, { 0, "" },
	};
	struct ac_description d;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		memset(&d, 0x55, sizeof d);
		world.cudnn_version = rows[i].version;
		ac_describe_dnn(&d, world.binding.provider);
		assert_string_equal(d.library, rows[i].name);
	}
}
#endif

/* ---- Region, GPU, process ------------------------------------------------ */

static void
end(struct ac_description *d, enum ac_operation operation, uint32_t region,
    int device)
{
	ac_describe_begin(d, operation, ENTRY_cublasSaxpy_v2,
	    here);
	ac_describe_library(d, handle, world.binding.provider);
	ac_describe_asked(d, "f32", "fp32");
	ac_describe_end(d, region, device);
}

CASE_WITH(test_region, begin, NULL)
{
	struct ac_description d;

	end(&d, AC_OP_GEMM_SINGLE, 0, DEVICE);
	assert_null(d.op.fact[AC_FACT_REGION]);
	assert_string_equal(d.region.name, "");
	assert_false(d.op.region_keeps);
	end(&d, AC_OP_GEMM_SINGLE, REGION, DEVICE);
	assert_string_equal(d.op.fact[AC_FACT_REGION], "loss");
	assert_string_equal(d.region.name, "loss");
	assert_int_equal(d.region.is_disabled, 0);
	assert_false(d.op.region_keeps);
	assert_int_equal(d.op.region_rungs, 0);
	assert_int_equal(d.region.rung_count, 0);
	world.region.enabled = 0;
	world.region.rung_count = 2;
	world.region.rung[0] = AC_RUNG_BF16;
	world.region.rung[1] = AC_RUNG_TF32;
	end(&d, AC_OP_GEMM_SINGLE, REGION, DEVICE);
	assert_int_equal(d.region.is_disabled, 1);
	assert_true(d.op.region_keeps);
	assert_int_equal(d.op.region_rungs, 2);
	assert_int_equal(d.region.rung_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(d.op.region_rung[i], world.region.rung[i]);
		assert_int_equal(d.region.rung[i], world.region.rung[i]);
	}
	/* "auto" is every rung, in their order. */
	world.region.is_auto = 1;
	end(&d, AC_OP_GEMM_SINGLE, REGION, DEVICE);
	assert_int_equal(d.op.region_rungs, AC_REGION_RUNGS);
	for (unsigned i = 0; i < AC_REGION_RUNGS; i++)
		assert_int_equal(d.op.region_rung[i], i + 1);
}

CASE_WITH(test_id, begin, NULL)
{
	struct ac_call call = call_of(CUBLAS_OP_N, CUBLAS_OP_N, AC_TYPE_F32,
	    AC_ASKED_FP32);
	struct ac_description d;
	char id[12];

	call.region = REGION;
	ac_describe(&call, NULL, &d);
	assert_int_equal(d.id, ac_site_id(&d.key, "loss"));
	end(&d, AC_OP_GEMM_SINGLE, 0, DEVICE);
	assert_int_equal(d.id, ac_site_id(&d.key, ""));
	snprintf(id, sizeof id, "%08x", d.id);
	assert_string_equal(d.op.fact[AC_FACT_SITE], id);
	/* Eight digits, whatever they are. */
	do {
		call.m++;
		ac_describe(&call, NULL, &d);
	} while (d.id >> 28);
	assert_int_equal(strlen(d.op.fact[AC_FACT_SITE]), 8);
}

CASE_WITH(test_gpu, begin, NULL)
{
	struct ac_description d;

	end(&d, AC_OP_GEMM_SINGLE, 0, DEVICE);
	assert_string_equal(d.op.fact[AC_FACT_GPU], "NVIDIA H200");
	assert_true(ac_op_has(&d.op, AC_Q_SM) && ac_op_has(&d.op, AC_Q_DEVICE));
	assert_true(d.op.quantity[AC_Q_SM] == 90);
	assert_true(d.op.quantity[AC_Q_DEVICE] == DEVICE);
	assert_ptr_equal(d.op.rates, &world.rates);
	assert_string_equal(world.rates_library, "cublas-13.1");
	assert_int_equal(world.machines, 1);
	assert_string_equal(world.machine, "NVIDIA H200");
	assert_string_equal(world.machine_library, "cublas-13.1");
	assert_int_equal(world.machine_sm, 90);
	assert_true(world.machine_is_emulated);
	end(&d, AC_OP_GEMM_SINGLE, 0, -1);
	assert_null(d.op.fact[AC_FACT_GPU]);
	assert_false(ac_op_has(&d.op, AC_Q_SM));
	assert_false(ac_op_has(&d.op, AC_Q_DEVICE));
	assert_null(d.op.rates);
	assert_int_equal(world.machines, 1);
}

CASE_WITH(test_process, begin, NULL)
{
	struct ac_description d;

	end(&d, AC_OP_GEMM_SINGLE, 0, DEVICE);
	assert_string_equal(d.op.fact[AC_FACT_PROGRAM], "train");
	assert_string_equal(d.op.fact[AC_FACT_CALLER], "train");
	assert_false(ac_op_has(&d.op, AC_Q_RANK));
	world.shim.rank = 0;
	end(&d, AC_OP_GEMM_SINGLE, 0, DEVICE);
	assert_true(ac_op_has(&d.op, AC_Q_RANK));
	assert_true(d.op.quantity[AC_Q_RANK] == 0);
}

/* A call that is none of those that may be recast has no site, and asks for no
 * rates: the first library that is asked about counts. */
CASE_WITH(test_no_operation, begin, NULL)
{
	struct ac_description d;

	end(&d, AC_OP_COUNT, REGION, DEVICE);
	assert_string_equal(d.op.fact[AC_FACT_FN], "cublasSaxpy_v2");
	assert_string_equal(d.op.fact[AC_FACT_REGION], "loss");
	assert_string_equal(d.op.fact[AC_FACT_GPU], "NVIDIA H200");
	assert_string_equal(d.op.fact[AC_FACT_LIB], "cublas-13.1");
	assert_int_equal(world.machines, 1);
	assert_null(d.op.fact[AC_FACT_SITE]);
	assert_null(d.op.fact[AC_FACT_TYPE]);
	assert_null(d.op.fact[AC_FACT_ASKED]);
	assert_null(d.op.rates);
	assert_string_equal(world.rates_library, "");
}

/* ---- What was decided ---------------------------------------------------- */

CASE_WITH(test_decided, begin, NULL)
{
	struct ac_decision decision = { .rung = AC_RUNG_TF32, .tol = 0.5 };
	struct ac_policy_problems problems = { 0 };
	struct ac_policy *policy;
	struct ac_description d;
	char text[64];

	end(&d, AC_OP_GEMM_SINGLE, REGION, DEVICE);
	snprintf(text, sizeof text, "site qkv = %08x\n", d.id);
	policy = ac_policy_parse(NULL, text, strlen(text), "a", &problems);
	assert_non_null(policy);
	world.shim.policy = policy;
	world.next_record = 1;
	assert_ptr_equal(ac_describe_decided(&d, &decision), &world.record[1]);
	assert_string_equal(world.name, "qkv");
	assert_memory_equal(&world.key, &d.key, sizeof d.key);
	assert_string_equal(world.told_region.name, "loss");
	assert_int_equal(world.decision.rung, AC_RUNG_TF32);
	assert_int_equal(decision.rung, AC_RUNG_TF32);
	world.is_overflow = true;
	assert_ptr_equal(ac_describe_decided(&d, &decision), &world.record[1]);
	assert_int_equal(decision.rung, AC_RUNG_KEEP);
	assert_int_equal(decision.reason, AC_REASON_NO_RULE);
	ac_policy_destroy(policy);
}

CASES_RUN(NULL, NULL)
