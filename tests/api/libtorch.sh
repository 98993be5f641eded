#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# examples/autocast_grad_scaler.h compiles with the headers of libtorch, of the
# package that python3 finds or in the folder that TORCH names.
. "$(dirname "$0")/../preload/preload.sh"
torch=${TORCH:-$(python3 -c 'import importlib.util
print(importlib.util.find_spec("torch").submodule_search_locations[0])' 2>/dev/null)}
[ -e "$torch/include/torch/csrc/api/include/torch/torch.h" ] ||
    skip_all 'no libtorch: TORCH=FOLDER names it, as pip install torch makes it'
command -v c++ >/dev/null || skip_all 'no C++ compiler'
[ "${HAVE_CUDA:-yes}" = yes ] || skip_all 'no CUDA headers'

cat >"$work/train.cc" <<'END'
#include "autocast_grad_scaler.h"

int
main()
{
	torch::nn::Linear model(64, 10);
	torch::optim::SGD optimizer(model->parameters(), 0.1);
	autocast::grad_scaler scaler;

	for (int i = 0; i < 10; i++) {
		optimizer.zero_grad();
		scaler.scale(model->forward(torch::randn({ 8, 64 })).square()
		    .mean()).backward();
		scaler.unscale(optimizer);
		scaler.clip(optimizer, 1.0f);
		scaler.step(optimizer);
		scaler.update();
	}
	return scaler.get_scale() > 0 ? 0 : 1;
}
END
# PyTorch's headers have warnings of their own.
c++ -std=c++20 -Wall -Wextra -fsyntax-only -I"$root/include" \
    -I"$root/examples" -isystem "$torch/include" \
    -isystem "$torch/include/torch/csrc/api/include" \
    ${CUDA_CPPFLAGS:-} "$work/train.cc" >"$work/out" 2>&1
status=$?
check 'it compiles' "$([ $status = 0 ] || head -n 8 "$work/out")"
check '... without a warning about it' "$(grep 'autocast_grad_scaler.h:.*warning' "$work/out")"
plan
