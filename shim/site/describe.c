/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site/describe.c -- who calls, from where, for what, on which GPU. */
#include "shim/site/describe.h"

#include "base/elf.h"
#include "base/text.h"
#include "shim/start/asked.h"
#include "shim/device/device.h"
#include "shim/bind/solver.h"
#include "shim/start/start.h"

#ifdef AC_HAVE_CUDNN
#include <cudnn.h>
#endif

#include <string.h>

static const char *const type_names[] = { "f32", "f16", "bf16", "f64", "c32",
	"other" };
static const char *const asked_names[] = {
	"fp32", "fp32", "tf32", "fast16f", "fast16bf", "pedantic", "emulated"
};

struct ac_call
ac_call_of(const struct ac_site_call *call)
{
	const uint64_t form = call->form;

	return (struct ac_call){
		.handle = call->handle, .caller = call->caller,
		.note = call->note,
		.m = call->m, .n = call->n, .k = call->k,
		.batch = call->batch,
		.entry = (enum ac_entry)(form & 0xff),
		.transa = (cublasOperation_t)(form >> 16 & 3),
		.transb = (cublasOperation_t)(form >> 18 & 3),
		.asked = (enum ac_asked)(form >> 20 & 0xf),
		.type = (enum ac_type_class)(form >> 24 & 0xf),
		.epilogue = (enum ac_epilogue)(form >> AC_EPILOGUE_SHIFT & 0xf),
		.device = (int)(int8_t)(form >> 32),
		.via = (uint32_t)(form & 0xff00),
		.region = (uint32_t)(form >> AC_REGION_SHIFT),
	};
}

static char
letter_of(cublasOperation_t op)
{
	switch (op) {
	case CUBLAS_OP_N: return 'N';
	case CUBLAS_OP_T: return 'T';
	case CUBLAS_OP_C: return 'C';
	default:          return '?';
	}
}

static void
describe_caller(struct ac_description *d, const void *caller)
{
	const struct ac_shim *shim = ac_shim_get();
	struct ac_elf_object module;
	const char *name = shim->program;
	struct ac_text text = AC_TEXT_IN(d->module);

	if (!ac_elf_object_at(caller, &module)) {
		ac_text_add(&text, "?");
		ac_text_init(&text, d->key.caller, sizeof d->key.caller);
		ac_text_add(&text, "?");
		return;
	}
	if (*module.path) {
		const char *slash = strrchr(module.path, '/');

		name = slash ? slash + 1 : module.path;
	}
	ac_text_add(&text, name);
	ac_text_init(&text, d->key.caller, sizeof d->key.caller);
	ac_text_addf(&text, "%s+%zx", d->module,
	    (size_t)((uintptr_t)caller - module.base));
	ac_report_module(d->module, module.path);
	d->solver = ac_solver_of(module.base);
	d->is_solver = ac_solver_counts(d->solver);
}

void
ac_describe_begin(struct ac_description *d, enum ac_operation operation,
    enum ac_entry entry, const void *caller)
{
	struct ac_text text;

	memset(d, 0, sizeof *d);
	d->key.operation = (uint32_t)operation;
	ac_text_init(&text, d->key.symbol, sizeof d->key.symbol);
	ac_text_add(&text, ac_entries[entry].symbol);
	describe_caller(d, caller);
	d->key.solver = d->is_solver ? 'y' : 'n';
}

void
ac_describe_asked(struct ac_description *d, const char *type,
    const char *asked)
{
	struct ac_text text = AC_TEXT_IN(d->key.type);

	ac_text_add(&text, type);
	ac_text_init(&text, d->key.asked, sizeof d->key.asked);
	ac_text_add(&text, asked);
}

/* 13.1.0 is 130100 since CUDA 10.1; before, 8.0 was 8000. Of one release,
 * cuBLAS and cublasLt say the same. */
int
ac_describe_library(struct ac_description *d, cublasHandle_t handle,
    struct ac_provider *provider)
{
	int version = 0;
	struct ac_text text = AC_TEXT_IN(d->library);

	if (!provider)
		return 0;
	__typeof__(&cublasGetVersion_v2) get_version =
	    PROVIDER(provider, cublasGetVersion_v2);
	__typeof__(&cublasLtGetVersion) get_lt_version =
	    PROVIDER(provider, cublasLtGetVersion);
	if (get_lt_version)
		version = (int)get_lt_version();
	else if (!get_version || get_version(handle, &version))
		return 0;
	ac_text_addf(&text, "cublas-%d.%d", version / 10000,
	    version / 100 % 100);
	return version;
}

#ifdef AC_HAVE_CUDNN
void
ac_describe_dnn(struct ac_description *d, struct ac_provider *provider)
{
	__typeof__(&cudnnGetVersion) get_version =
	    PROVIDER(provider, cudnnGetVersion);
	const size_t version = get_version ? get_version() : 0;
	/* 9.8.0 is 90800; before 9, 8.9.7 was 8907. */
	const size_t major = version >= 90000 ? 10000 : 1000;
	struct ac_text text = AC_TEXT_IN(d->library);

	if (version)
		ac_text_addf(&text, "cudnn-%zu.%zu", version / major,
		    version % major / 100);
}
#endif

/* By the program or, for it, by the environment. `sm` 0, `version` 0:
 * unknown. */
static const char *
asked_by(const struct ac_call *call, int sm, int version)
{
	const struct ac_shim *shim = ac_shim_get();
	enum ac_asked asked = call->asked;

	if (shim->environment_opted_out || shim->wants_batch_invariance)
		return "opted-out";
	if (shim->wants_emulated && ac_asked_is_emulated(sm, version) &&
	    (asked == AC_ASKED_UNSAID || asked == AC_ASKED_FP32) &&
	    (call->type == AC_TYPE_F32 || call->type == AC_TYPE_C32))
		asked = AC_ASKED_EMULATED;
	return asked_names[asked];
}

/* What the program asks for there. "auto" is every rung, in their order. */
static void
describe_region(struct ac_description *d, uint32_t number)
{
	const struct ac_region *region = ac_region_get(number);

	_Static_assert(AC_REGION_RUNGS == AC_RUNG_COUNT - 1
	    && sizeof d->region.name == AC_REGION_NAME,
	    "regions have the policy's rungs, and room in the report");
	if (!region)
		return;
	memcpy(d->region.name, region->name, sizeof d->region.name);
	d->op.fact[AC_FACT_REGION] = region->name;
	d->region.is_disabled = !region->enabled;
	d->op.region_keeps = !region->enabled;
	d->op.region_rungs = region->is_auto ? AC_REGION_RUNGS
	    : region->rung_count;
	d->region.rung_count = (uint8_t)d->op.region_rungs;
	for (unsigned i = 0; i < d->op.region_rungs; i++) {
		d->region.rung[i] = region->is_auto ? (uint8_t)(i + 1)
		    : region->rung[i];
		d->op.region_rung[i] = d->region.rung[i];
	}
}

/* What a call has that may be recast, and another has not. */
static void
describe_site(struct ac_description *d, int device)
{
	struct ac_text text;

	d->id = ac_site_id(&d->key, d->region.name);
	ac_text_init(&text, d->site, sizeof d->site);
	ac_text_addf(&text, "%08x", d->id);
	d->op.fact[AC_FACT_TYPE] = d->key.type;
	d->op.fact[AC_FACT_ASKED] = d->key.asked;
	d->op.fact[AC_FACT_SITE] = d->site;
	d->op.rates = ac_device_rates(device, d->library);
}

void
ac_describe_end(struct ac_description *d, uint32_t region, int device)
{
	const struct ac_device *gpu = ac_device_get(device);
	const struct ac_shim *shim = ac_shim_get();

	describe_region(d, region);
	d->op.operation = (enum ac_operation)d->key.operation;
	d->op.fact[AC_FACT_FN] = d->key.symbol;
	d->op.fact[AC_FACT_CALLER] = d->module;
	d->op.fact[AC_FACT_PROGRAM] = shim->program;
	d->op.fact[AC_FACT_LIB] = *d->library ? d->library : NULL;
	d->op.fact[AC_FACT_SOLVER] = d->is_solver ? "yes" : "no";
	if (shim->rank >= 0)
		ac_op_set(&d->op, AC_Q_RANK, shim->rank);
	if (d->op.operation != AC_OP_COUNT)
		describe_site(d, device);
	if (!gpu)
		return;
	d->op.fact[AC_FACT_GPU] = gpu->name;
	ac_op_set(&d->op, AC_Q_SM, gpu->sm);
	ac_op_set(&d->op, AC_Q_DEVICE, device);
	ac_report_machine(gpu->name, gpu->sm, d->library, gpu->emulated);
}

void
ac_describe(const struct ac_call *call, struct ac_provider *provider,
    struct ac_description *d)
{
	const struct ac_device *gpu = ac_device_get(call->device);
	struct ac_text shape;
	int version;

	ac_describe_begin(d,
	    (enum ac_operation)ac_entries[call->entry].operation, call->entry,
	    call->caller);
	version = ac_describe_library(d, call->handle, provider);
	ac_describe_asked(d, type_names[call->type],
	    asked_by(call, gpu ? gpu->sm : 0, version));
	d->key.ta = d->ta[0] = letter_of(call->transa);
	d->key.tb = d->tb[0] = letter_of(call->transb);
	d->key.m = call->m;
	d->key.n = call->n;
	d->key.k = call->k;
	d->key.batch = call->batch;
	ac_text_init(&shape, d->key.shape, sizeof d->key.shape);
	if (call->epilogue)
		ac_text_add(&shape, ac_epilogue_names[call->epilogue]);
	if (call->note)
		ac_text_addf(&shape, ": %s", call->note);
	ac_describe_end(d, call->region, call->device);
	d->op.fact[AC_FACT_TA] = d->ta;
	d->op.fact[AC_FACT_TB] = d->tb;
	if (d->op.operation == AC_OP_GEMM_LT)
		d->op.fact[AC_FACT_EPILOGUE] =
		    ac_epilogue_names[call->epilogue];
	ac_op_set_product(&d->op, call->m, call->n, call->k, call->batch);
}

struct ac_site_record *
ac_describe_decided(const struct ac_description *d,
    struct ac_decision *decision)
{
	struct ac_site_record *record;
	bool is_overflow = false;

	ac_policy_estimate(&d->op, decision);
	record = ac_report_site(&d->region, &d->key, decision,
	    ac_policy_site_name(ac_shim_get()->policy, d->id), &is_overflow);
	if (is_overflow)
		ac_decision_keep(decision, AC_REASON_NO_RULE);
	return record;
}
