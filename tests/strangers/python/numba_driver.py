# SPDX-License-Identifier: Apache-2.0
# numba_driver.py -- numba_kernels.py as it runs where no nvJitLink is installed:
# Numba then has the driver link.
import os
import runpy

from cuda import pathfinder

load = pathfinder.load_nvidia_dynamic_lib


def without(name):
    if name == 'nvJitLink':
        raise pathfinder.DynamicLibNotFoundError('left out')
    return load(name)


pathfinder.load_nvidia_dynamic_lib = without
runpy.run_path(os.path.join(os.path.dirname(__file__), 'numba_kernels.py'))
