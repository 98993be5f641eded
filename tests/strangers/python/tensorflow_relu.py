# SPDX-License-Identifier: Apache-2.0
# tensorflow_relu.py -- a kernel that TensorFlow's build made of MLIR: exact.
import os

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import tensorflow as tf

assert tf.config.list_physical_devices('GPU'), 'no GPU'
found = tf.nn.relu(tf.constant([-1.0, 2.0, -3.0, 4.0]))
assert 'GPU' in found.device, found.device
assert found.numpy().tolist() == [0, 2, 0, 4]
print('right')
