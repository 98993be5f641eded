#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the execution of a cuDNN graph costs that is kept, and what the making of
# a variant pack for each of them costs. Instructions, counted by callgrind.
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
need_callgrind
case ${CUDA_CPPFLAGS:-} in
*AC_HAVE_CUDNN*) ;;
*) skip_all "no cuDNN headers" ;;
esac

cat >"$work/executions.c" <<'END'
#include "tests/real/programs/conv_answers.h"
int
main(int argc, char **argv)
{
	const int packs = atoi(argv[argc - 2]);
	const int64_t ids[3] = { 'x', 'w', 'y' };
	void *at[3] = { &api, &api, &api }, *workspace = NULL;
	const struct choice choice = { .engine = 67 };
	descriptor_t of, config, plan, pack = NULL;
	cudnnHandle_t handle;
	int failed = cudnnCreate(&handle);

	reach("linked");
	of = graph(&usual);
	config = configure(of, NULL, &choice);
	plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
	    &handle);
	set_descriptor(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	plan = finish(plan);
	for (long i = atol(argv[argc - 1]); i > 0; i--) {
		if (packs || !pack) {
			pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
			set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
			    CUDNN_TYPE_VOID_PTR, 3, at);
			set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
			    CUDNN_TYPE_INT64, 3, ids);
			set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
			    CUDNN_TYPE_VOID_PTR, 1, &workspace);
			pack = finish(pack);
		}
		failed |= cudnnBackendExecute(handle, plan, pack);
		if (packs)
			destroy(pack);
	}
	return failed;
}
END
echo 'libcudnn.so.9 { global: cudnn*; local: *; };' >"$work/cudnn.map"
shared libcudnn.so.9 -Wl,-soname,libcudnn.so.9 \
    -Wl,--version-script="$work/cudnn.map" "$stub/stub_cudnn.c"
compiled executions -DLINKED -I"$root" "$work/executions.c" \
    "$work/libcudnn.so.9" -ldl

limits=(150 1000) # the latter with six calls more
# The limits are gcc's; clang's code takes some more instructions to do the same.
percent=100
case ${CC:-cc} in *clang*) percent=110 ;; esac
names=('an execution' 'an execution with a pack of its own')
for packs in 0 1; do
	preload='' policy=off
	direct=$(a_call executions $packs)
	preload=$library
	for policy in off 'conv.fprop cin=0 -> tf32'; do
		one=$(($(a_call executions $packs) - direct))
		at_most "instructions of ${names[packs]} over a direct one, '$policy'" \
		    $one $((limits[packs] * percent / 100))
		check "and it was seen, ${names[packs]}, '$policy'" \
		    "$([ $one -ge 20 ] || echo "$one")"
	done
done
plan
