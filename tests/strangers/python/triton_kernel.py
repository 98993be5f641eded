# SPDX-License-Identifier: Apache-2.0
# triton_kernel.py -- a kernel of Triton, on memory of PyTorch's.
import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


host = torch.arange(1000, dtype=torch.float32)
x, y = host.cuda(), host.cuda()
double[(8,)](x, y, 1000, BLOCK=128)
assert (y.cpu() == 2 * host).all()
print('right')
