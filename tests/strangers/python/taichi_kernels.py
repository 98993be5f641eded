# SPDX-License-Identifier: Apache-2.0
# taichi_kernels.py -- fields and kernels of Taichi: a reduction and heat that
# spreads, against NumPy. Integers and powers of two: exact.
import numpy
import taichi as ti

ti.init(arch=ti.cuda)
assert ti.lang.impl.current_cfg().arch == ti.cuda
N = 64
heat = ti.field(ti.f32, (N, N))
after = ti.field(ti.f32, (N, N))


@ti.kernel
def total() -> ti.f32:
    s = 0.0
    for i, j in heat:
        s += heat[i, j]
    return s


@ti.kernel
def spread():
    for i, j in heat:
        if 0 < i < N - 1 and 0 < j < N - 1:
            after[i, j] = 0.25 * (heat[i - 1, j] + heat[i + 1, j]
                                  + heat[i, j - 1] + heat[i, j + 1])


x = numpy.random.default_rng(1).integers(0, 256, (N, N)).astype(numpy.float32)
heat.from_numpy(x)
assert total() == x.sum()
spread()
wanted = numpy.zeros_like(x)
wanted[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1]
                             + x[1:-1, :-2] + x[1:-1, 2:])
assert (after.to_numpy() == wanted).all()
print('right')
