# SPDX-License-Identifier: Apache-2.0
# pycuda_ptx.py -- PyCUDA with a kernel that nvcc compiles to PTX. Exact.
import numpy
import pycuda.autoinit  # noqa: F401
import pycuda.driver as driver
from pycuda.compiler import compile

module = driver.module_from_buffer(compile('''
extern "C" __global__ void multiply(float *d, const float *a, const float *b)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	d[i] = a[i] * b[i];
}
''', target='ptx', no_extern_c=True))
multiply = module.get_function('multiply')
a = numpy.random.randn(512).astype(numpy.float32)
b = numpy.random.randn(512).astype(numpy.float32)
d = numpy.zeros_like(a)
multiply(driver.Out(d), driver.In(a), driver.In(b), block=(128, 1, 1),
         grid=(4, 1))
assert (d == a * b).all()
print('right')
