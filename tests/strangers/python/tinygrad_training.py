# SPDX-License-Identifier: Apache-2.0
# tinygrad_training.py -- a perceptron trained by tinygrad, whose kernels NVRTC
# compiles: the first gradient against NumPy in FP64, and a loss that falls.
import numpy
from tinygrad import Context, Device, Tensor
from tinygrad.nn.optim import SGD

assert Device.DEFAULT == 'CUDA'
r = numpy.random.default_rng(1)
x, y = r.normal(size=(64, 32)), r.normal(size=(64, 4))
a, b = r.normal(size=(32, 16)) / 6, r.normal(size=(16, 4)) / 4
tx, ty, ta, tb = (Tensor(v.astype(numpy.float32)) for v in (x, y, a, b))
ta.requires_grad = tb.requires_grad = True
x, y, a, b = (v.astype(numpy.float32).astype(numpy.float64)
              for v in (x, y, a, b))
h = numpy.maximum(x @ a, 0)
g = 2 * (h @ b - y) / y.size
wanted = x.T @ ((g @ b.T) * (h > 0))
losses = []
with Context(TRAINING=1):
    step = SGD([ta, tb], lr=0.1)
    for i in range(5):
        step.zero_grad()
        loss = ((tx.matmul(ta).relu().matmul(tb) - ty) ** 2).mean()
        loss.backward()
        if i == 0:
            found = ta.grad.numpy()
        step.step()
        losses.append(loss.item())
# Sums of 64, 32, 16 and 4 terms in FP32, one after another: each term adds an
# error of 2^-24 of sums that are at most 16 times what comes out here.
error = numpy.linalg.norm(found - wanted) / numpy.linalg.norm(wanted)
assert error < 16 * 116 * 2 ** -24, error
assert losses[-1] < losses[0], losses
print('right')
