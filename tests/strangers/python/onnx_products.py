# SPDX-License-Identifier: Apache-2.0
# onnx_products.py -- ONNX Runtime on CUDA: a chain of products, against FP64; no
# kernel of its own, for which its wheels carry machine code only.
import os

import numpy
import onnxruntime
from onnx import TensorProto, helper

tolerance = 1.5 * float(os.environ.get('TOLERANCE', '1e-3'))
r = numpy.random.default_rng(1)
x, v, w = (r.normal(size=(512, 512)).astype(numpy.float32) for _ in range(3))
shape = [512, 512]
graph = helper.make_graph(
    [helper.make_node('MatMul', ['x', 'v'], ['h']),
     helper.make_node('MatMul', ['h', 'w'], ['y'])], 'chain',
    [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)],
    [helper.make_tensor_value_info('y', TensorProto.FLOAT, shape)],
    [helper.make_tensor('v', TensorProto.FLOAT, shape, v.ravel()),
     helper.make_tensor('w', TensorProto.FLOAT, shape, w.ravel())])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)])
model.ir_version = 8
# Its products would be TF32 on its own account.
provider = ('CUDAExecutionProvider', {'use_tf32': '0'})
session = onnxruntime.InferenceSession(model.SerializeToString(),
                                       providers=[provider])
assert session.get_providers()[0] == 'CUDAExecutionProvider'
for turn in range(6):
    y = session.run(None, {'x': x})[0]
wanted = x.astype(float) @ v.astype(float) @ w.astype(float)
error = numpy.linalg.norm(y - wanted) / numpy.linalg.norm(wanted)
# Two products, one after the other.
assert error < 2 * tolerance, error
print('right')
