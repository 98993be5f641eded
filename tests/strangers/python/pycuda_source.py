# SPDX-License-Identifier: Apache-2.0
# pycuda_source.py -- PyCUDA as its tutorial has it: SourceModule.
import numpy
import pycuda.autoinit  # noqa: F401
import pycuda.driver as driver
from pycuda.compiler import SourceModule

double = SourceModule('''
__global__ void twice(float *a) { a[threadIdx.x] *= 2; }
''').get_function('twice')
a = numpy.random.randn(64).astype(numpy.float32)
wanted = 2 * a
double(driver.InOut(a), block=(64, 1, 1))
assert (a == wanted).all()
print('right')
