# SPDX-License-Identifier: Apache-2.0
# core_program.py -- cuda.core, NVIDIA's own Python: a template compiled by NVRTC
# to PTX, launched on a stream, with memory of the device's pool. Exact.
import ctypes

import numpy
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

CODE = r'''
template <class T>
__global__ void axpy(T a, const T *x, T *y, size_t n)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
	    i += gridDim.x * blockDim.x)
		y[i] += a * x[i];
}
'''
device = Device()
device.set_current()
stream = device.create_stream()
capability = 'compute_%d%d' % tuple(device.compute_capability)
program = Program(CODE, 'c++', ProgramOptions(std='c++17', arch=capability))
code = program.compile('ptx', name_expressions=('axpy<float>',))
kernel = code.get_kernel('axpy<float>')
n = 5000
x, y = (device.allocate(4 * n, stream=stream) for _ in range(2))
host = numpy.arange(n, dtype=numpy.float32)
back = numpy.zeros_like(host)
from cuda.bindings import driver


def copy(to, source):
    status, = driver.cuMemcpy(to, source, 4 * n)
    assert status == 0, status


stream.sync()
copy(int(x.handle), host.ctypes.data)
copy(int(y.handle), host.ctypes.data)
launch(stream, LaunchConfig(grid=8, block=256), kernel, ctypes.c_float(2),
       int(x.handle), int(y.handle), ctypes.c_size_t(n))
stream.sync()
copy(back.ctypes.data, int(y.handle))
assert (back == 3 * host).all()
print('right')
