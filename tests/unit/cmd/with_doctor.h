/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/with_doctor.h -- healthy facts, and how they fall ill. */
#ifndef AC_TESTS_WITH_DOCTOR_H
#define AC_TESTS_WITH_DOCTOR_H

#include "cmd/doctor/doctor.h"
#include "tests/unit/cases.h"

#include <signal.h>

#define PATH(s) ((char *)(uintptr_t)(s))

static char *arguments[] = { PATH("./train"), PATH("a b"), NULL };
static const struct ac_chosen chosen = { .policy = "fp16",
	.rules.data = PATH("gemm m=1 -> keep") };
static char *env_arguments[] = { PATH("env"), PATH("-i"), PATH("./train"),
	PATH("x"), NULL };

/* What a table row changes in healthy facts. */
struct change {
	struct ac_doctor_facts   facts;
	struct ac_doctor_process process;
	struct ac_program        file;
	struct ac_launch         launch;
};

static const struct ac_program plain_file = {
	.path = "/opt/train", .image = "/opt/train",
	.facts = { .is_elf = true, .is_native = true, .is_dynamic = true }
};

/* A program that was run, reached and recast. */
static void
make_healthy(struct change *c)
{
	memset(c, 0, sizeof *c);
	c->file = plain_file;
	c->process = (struct ac_doctor_process){
		.pid = 7, .told = true, .has_libc = true, .has_library = true,
		.exe = PATH("/opt/train"), .command = PATH("./train 'a b'"),
		.loaded = { PATH("/lib/libcublas.so.13") }, .handles = 1
	};
	c->facts = (struct ac_doctor_facts){
		.autocast = "autocast", .own_path = "/bin/autocast",
		.launch = &c->launch,
		.program = "./train", .arguments = arguments,
		.file = &c->file, .was_run = true, .last_name = "train",
		.pid = 7, .why = "why", .processes = &c->process,
		.process_count = 1,
		.work = { .calls = 10, .recast = 10, .vendor_calls = { 10 },
		    .vendor_recast = { 10 }, .rungs = "tf32",
		    .is_known = true, .policy = "amp", .gpu = "NVIDIA H200",
		    .sm = 90 }
	};
}

static void
nothing_recast(struct change *c, enum ac_reason reason)
{
	struct ac_doctor_work *work = &c->facts.work;

	work->recast = work->vendor_recast[0] = 0;
	work->kept[reason] = 10;
	work->kept_most[reason] = (struct ac_site_total){
		.key = { .symbol = "cublasSgemm_v2", .caller = "train+1a",
		    .ta = 'N', .tb = 'T', .type = "f32", .asked = "fp32",
		    .m = 8, .n = 8, .k = 8, .batch = 1 },
		.id = 0xabcd, .source = "amp", .line = 4
	};
	work->kept_most[reason].kept[reason] = 10;
}

static void
nothing_reached(struct change *c)
{
	memset(&c->facts.work, 0, sizeof c->facts.work);
}

#endif
