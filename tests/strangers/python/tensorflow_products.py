# SPDX-License-Identifier: Apache-2.0
# tensorflow_products.py -- TensorFlow's products on its GPU, their gradients, and
# a sum by a kernel of its own that comes as PTX, against FP64. Its cuBLAS is
# behind trampolines that load it with the first call.
import os

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import numpy as np
import tensorflow as tf

tolerance = 1.5 * float(os.environ.get('TOLERANCE', '1e-3'))
rng = np.random.default_rng(1)
assert tf.config.list_physical_devices('GPU'), 'no GPU'


def normal(*shape):
    return rng.standard_normal(shape, dtype=np.float32)


def check(what, found, wanted):
    error = np.linalg.norm(found.numpy() - wanted) / np.linalg.norm(wanted)
    assert error < tolerance, (what, error)


a, b, seed = normal(512, 512), normal(512, 512), normal(512, 512)
p, q = normal(8, 256, 256), normal(8, 256, 256)
da, db = tf.constant(a), tf.constant(b)
for turn in range(6):
    with tf.GradientTape() as tape:
        tape.watch([da, db])
        c = tf.matmul(da, db)
    grads = tape.gradient(c, [da, db], output_gradients=tf.constant(seed))
    d = tf.matmul(tf.constant(p), tf.constant(q))
assert 'GPU' in c.device, c.device
a, b, seed, p, q = (x.astype(np.float64) for x in (a, b, seed, p, q))
check('matmul', c, a @ b)
check('batched', d, p @ q)
check('left gradient', grads[0], seed @ b.T)
check('right gradient', grads[1], a.T @ seed)

check('sum', tf.reduce_sum(da, axis=0), a.sum(axis=0))
print('right')
