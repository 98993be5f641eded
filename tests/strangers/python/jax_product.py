# SPDX-License-Identifier: Apache-2.0
# jax_product.py -- a product of JAX on CUDA, against FP64.
import os

import jax
import numpy

assert jax.default_backend() == 'gpu'
tolerance = 1.5 * float(os.environ.get('TOLERANCE', '1e-3'))
r = numpy.random.default_rng(1)
a, b = (r.normal(size=(512, 512)).astype(numpy.float32) for _ in range(2))
c = numpy.asarray(jax.numpy.matmul(a, b, precision='highest'))
wanted = a.astype(float) @ b.astype(float)
error = numpy.linalg.norm(c - wanted) / numpy.linalg.norm(wanted)
assert error < tolerance, error
print('right')
