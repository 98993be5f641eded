/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/site_world.h -- a provider, a GPU, a solver, a region, a
 * policy's answer, origins and a report, made up for tests of shim/site/. */
#ifndef TESTS_UNIT_SHIM_SITE_WORLD_H
#define TESTS_UNIT_SHIM_SITE_WORLD_H

#include "api/region.h"
#include "shim/bind/solver.h"
#include "shim/device/device.h"
#include "shim/site/describe.h"
#include "shim/start/start.h"
#include "tests/unit/cases.h"

enum { DEVICE = 3, REGION = 7, RECORDS = 3 };

/* What the world answers, and what it was asked last. */
extern struct world {
	struct ac_shim shim;
	/* The one GPU, DEVICE, and its rates. */
	struct ac_device gpu;
	struct ac_rates rates;
	bool may_time;
	char rates_library[32];
	int timed_device;
	/* The provider. */
	struct ac_binding binding;
	bool is_complete;
	int cublas_version;      /* 0: no such function; -1: it fails */
	size_t cudnn_version;    /* 0: no such function */
	cublasMath_t mode;
	struct ac_handle handle; /* what is known of any */
	unsigned binds;
	enum ac_entry bound_entry;
	const void *bound_caller;
	uint32_t bound_via;
	/* The module that solves, if any. */
	uintptr_t solver_base;
	struct ac_solver solver;
	struct ac_region region; /* number REGION */
	struct ac_decision answer; /* the policy's */
	/* Origins and variants. */
	bool has_no_memory;
	struct ac_origin *origin;     /* of any */
	struct ac_variants *variants; /* what is made next */
	struct ac_variants *other;    /* what another thread makes meanwhile, */
	struct ac_site_state *state;  /* there */
	unsigned origins, made;
	uint64_t origin_place[2];
	bool variants_may_time;
	double variants_more;
	/* The report. */
	struct ac_site_record record[RECORDS];
	unsigned next_record, told;
	bool is_overflow;
	struct ac_site_key key;
	struct ac_site_region told_region;
	struct ac_decision decision;
	const char *name;
	unsigned machines;
	char machine[96], machine_library[32];
	int machine_sm;
	bool machine_is_emulated;
	struct ac_marker_record marker;
	unsigned markers, warnings;
} world;

/* The world as it is at first: a GPU of sm 90, a complete cuBLAS 13.1 and cuDNN
 * 9.8, a policy that keeps all. A setup of cmocka's. */
int begin(void **state);

#endif
