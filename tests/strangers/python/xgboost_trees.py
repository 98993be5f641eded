# SPDX-License-Identifier: Apache-2.0
# xgboost_trees.py -- trees of XGBoost, grown on CUDA.
import numpy
import xgboost

xgboost.set_config(verbosity=2)
r = numpy.random.default_rng(1)
x = r.random((500, 8), numpy.float32)
y = x[:, 0] + x[:, 1] > 1
model = xgboost.train({'device': 'cuda', 'objective': 'binary:logistic'},
                      xgboost.DMatrix(x, y), 10)
assert 'cuda' in model.save_config()
assert ((model.predict(xgboost.DMatrix(x)) > 0.5) == y).mean() > 0.95
print('right')
