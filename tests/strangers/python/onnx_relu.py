# SPDX-License-Identifier: Apache-2.0
# onnx_relu.py -- a kernel of ONNX Runtime's own.
import numpy
import onnxruntime
from onnx import TensorProto, helper

graph = helper.make_graph(
    [helper.make_node('Relu', ['x'], ['y'])], 'relu',
    [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1000])],
    [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1000])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)])
model.ir_version = 8
session = onnxruntime.InferenceSession(model.SerializeToString(),
                                       providers=['CUDAExecutionProvider'])
x = numpy.random.randn(1000).astype(numpy.float32)
assert (session.run(None, {'x': x})[0] == numpy.maximum(x, 0)).all()
print('right')
