# SPDX-License-Identifier: Apache-2.0
# tests/binding/ctypes_client.py -- one product by Python's ctypes, in the
# libcublas named by the argument: dlopen(), dlsym(), and a call by libffi.
import ctypes
import os
import sys

library = ctypes.CDLL(sys.argv[1])
handle = ctypes.c_void_p()
library.cublasCreate_v2(ctypes.byref(handle))
one = ctypes.c_float(1)
a, b, c = [(ctypes.c_float * 64)() for _ in range(3)]
status = library.cublasSgemm_v2(handle, 0, 1, 8, 8, 8, ctypes.byref(one),
                                a, 8, b, 8, ctypes.byref(one), c, 8)
os.write(1, b"ctypes %d\n" % status)
library.cublasDestroy_v2(handle)
