# SPDX-License-Identifier: Apache-2.0
# cupy_arrays.py -- arrays of CuPy.
import cupy

assert (cupy.arange(5) * 2).get().tolist() == [0, 2, 4, 6, 8]
print('right')
