#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# T42: what a convolution costs that is kept. Where the policy keeps everything,
# its descriptors are not read. Instructions, counted by callgrind.
. "$(dirname "$0")/../preload/preload.sh"
. "$root/bench/measure.sh"
need_callgrind
case ${CUDA_CPPFLAGS:-} in
*AC_HAVE_CUDNN*) ;;
*) skip_all "no cuDNN headers" ;;
esac

cat >"$work/convs.c" <<'END'
#include <cudnn.h>
#include <stdlib.h>
#define P(i) ((void *)((uintptr_t)(i) << 40))
int
main(int argc, char **argv)
{
	const float one = 1, zero = 0;
	const int op = atoi(argv[argc - 2]);
	cudnnHandle_t h;
	int failed = cudnnCreate(&h);

	for (long i = atol(argv[argc - 1]); i > 0; i--)
		switch (op) {
		case 0:
			failed |= cudnnConvolutionForward(h, &one, P(1), P(2),
			    P(3), P(4), P(5), 1, P(6), 9, &zero, P(7), P(8));
			break;
		case 1:
			failed |= cudnnConvolutionBackwardData(h, &one, P(1),
			    P(2), P(3), P(4), P(5), 1, P(6), 9, &zero, P(7),
			    P(8));
			break;
		case 2:
			failed |= cudnnConvolutionBackwardFilter(h, &one, P(1),
			    P(2), P(3), P(4), P(5), 1, P(6), 9, &zero, P(7),
			    P(8));
			break;
		default:
			failed |= cudnnConvolutionBiasActivationForward(h,
			    &one, P(1), P(2), P(3), P(4), P(5), 1, P(6), 9,
			    &zero, P(7), P(8), P(9), P(10), P(11), P(12),
			    P(13));
			break;
		}
	return failed;
}
END
echo 'libcudnn.so.9 { global: cudnn*; local: *; };' >"$work/cudnn.map"
shared libcudnn.so.9 -Wl,-soname,libcudnn.so.9 \
    -Wl,--version-script="$work/cudnn.map" "$stub/stub_cudnn.c"
compiled convs "$work/convs.c" "$work/libcudnn.so.9"

# Kept by size: three getters more for what is fused.
by_size=(1250 1250 1250 1500)
names=(Forward BackwardData BackwardFilter BiasActivationForward)
for op in 0 1 2 3; do
	preload='' policy=off
	direct=$(a_call convs $op)
	preload=$library
	one=$(($(a_call convs $op) - direct))
	at_most "T42: instructions of ${names[op]} over a direct call, off" \
	    $one 250
	check "T42: and the call was seen, ${names[op]}" \
	    "$([ $one -ge 20 ] || echo "$one")"
	policy='conv.fprop cin=0 -> tf32'
	at_most "instructions of ${names[op]} over a direct call, kept by size" \
	    $(($(a_call convs $op) - direct)) ${by_size[op]}
done
plan
