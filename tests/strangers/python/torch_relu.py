# SPDX-License-Identifier: Apache-2.0
# torch_relu.py -- a kernel of PyTorch's own.
import torch

x = torch.randn(1000)
assert (torch.relu(x.cuda()).cpu() == torch.relu(x)).all()
print('right')
