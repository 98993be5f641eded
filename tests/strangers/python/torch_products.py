# SPDX-License-Identifier: Apache-2.0
# torch_products.py -- PyTorch's products on "cuda": matmul, addmm, bmm and their
# gradients, several times, against FP64 on the CPU. No kernel of PyTorch's own:
# its wheels carry machine code only.
import os

import torch

torch.manual_seed(1)
tolerance = 1.5 * float(os.environ.get('TOLERANCE', '1e-3'))
a, b = torch.randn(512, 512), torch.randn(512, 512)
p, q = torch.randn(8, 256, 256), torch.randn(8, 256, 256)


def check(what, found, wanted):
    error = (found.cpu().double() - wanted).norm() / wanted.norm()
    assert error < tolerance, (what, error)


da, db, dp, dq = (x.cuda().requires_grad_() for x in (a, b, p, q))
seed = torch.randn(512, 512)
for turn in range(6):
    c = da @ db
    grads = torch.autograd.grad(c, (da, db), seed.cuda())
    d = torch.bmm(dp, dq)
check('matmul', c.detach(), a.double() @ b.double())
check('bmm', d.detach(), torch.bmm(p.double(), q.double()))
check('left gradient', grads[0], seed.double() @ b.double().T)
check('right gradient', grads[1], a.double().T @ seed.double())
print('right')
