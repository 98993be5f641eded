/* SPDX-License-Identifier: Apache-2.0 */
/* shim/process/unload.c -- dlclose(): what other folders remember of a library
 * that is gone is forgotten. */
#include "base/elf.h"
#include "base/elf_symbol.h"
#include "shim/bind/catalogue.h"
#include "shim/bind/provider.h"
#include "shim/bind/solver.h"
#include "shim/bind/trampoline.h"
#ifdef AC_HAVE_CUDNN
#include "shim/conv/conv_plan.h"
#endif
#include "shim/device/handle.h"
#include "shim/device/lane.h"
#include "shim/lt/library.h"
#include "shim/lt/plan.h"

#include <dlfcn.h>
#include <stdatomic.h>

static void
forget(struct ac_provider *provider)
{
	ac_trampoline_forget(provider);
	ac_handle_forget_all(provider);
#ifdef AC_HAVE_CUDNN
	ac_conv_plan_abandon(provider);
#endif
	ac_lane_abandon_all(provider);
	ac_lt_library_forget(provider);
	ac_lt_plan_abandon(provider);
	/* Before the slot can be another provider's, whose thunks and callers
	 * may be the same. */
	ac_binding_forget_decisions();
}

typedef int (*dlclose_fn)(void *);

/* Wrapped so that no pointer into a library outlives it: another version of
 * cuBLAS may be mapped at the same address next. An ordinary call and return:
 * unlike its kin, dlclose() does not care who called it. */
AC_EXPORT int
dlclose(void *handle)
{
	static _Atomic(dlclose_fn) real;
	/* Two walks over all that is loaded: not in every process. */
	const bool knew_any = ac_provider_is_any();
	const unsigned long long before = knew_any ? ac_elf_unloads() : 0;
	dlclose_fn next = atomic_load(&real);
	int status;

	if (!next) {
		next = (dlclose_fn)(uintptr_t)ac_elf_next_early("dlclose");
		if (!next)
			return -1;
		atomic_store(&real, next);
	}
	status = next(handle);
	/* What the library's own destructors taught us may be gone with it. */
	if (knew_any ? ac_elf_unloads() != before : ac_provider_is_any()) {
		ac_provider_forget_unloaded(forget);
		ac_trampoline_forget(NULL);
		ac_solver_forget_unloaded();
		ac_binding_forget_decisions();
	}
	return status;
}
