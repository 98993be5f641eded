# SPDX-License-Identifier: Apache-2.0
# numba_kernels.py -- kernels of Numba: a sum in shared memory with atomics, and
# a product by tiles. Integers: exact.
import numpy
from numba import cuda, float32


@cuda.jit
def total(x, out):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = 64
    while step:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit
def product(a, b, c):
    sa = cuda.shared.array((16, 16), float32)
    sb = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    s = float32(0)
    for k in range(0, a.shape[1], 16):
        sa[tx, ty] = a[x, k + ty]
        sb[tx, ty] = b[k + tx, y]
        cuda.syncthreads()
        for i in range(16):
            s += sa[tx, i] * sb[i, ty]
        cuda.syncthreads()
    c[x, y] = s


x = numpy.arange(1000, dtype=numpy.float32)
out = cuda.to_device(numpy.zeros(1, numpy.float32))
total[8, 128](cuda.to_device(x), out)
assert out.copy_to_host()[0] == x.sum()
r = numpy.random.default_rng(1)
a = r.integers(-8, 8, (64, 48)).astype(numpy.float32)
b = r.integers(-8, 8, (48, 32)).astype(numpy.float32)
c = cuda.device_array((64, 32), numpy.float32)
product[(4, 2), (16, 16)](cuda.to_device(a), cuda.to_device(b), c)
assert (c.copy_to_host() == a @ b).all()
print('right')
