# SPDX-License-Identifier: Apache-2.0
# warp_kernel.py -- a kernel of NVIDIA Warp.
import numpy
import warp


@warp.kernel
def axpy(a: float, x: warp.array(dtype=float), y: warp.array(dtype=float)):
    i = warp.tid()
    y[i] = a * x[i] + y[i]


warp.init()
host = numpy.arange(1000, dtype=numpy.float32)
x, y = (warp.array(host, device='cuda:0') for _ in range(2))
warp.launch(axpy, dim=1000, inputs=[2.0, x, y], device='cuda:0')
assert (y.numpy() == 3 * host).all()
print('right')
