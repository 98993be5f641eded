#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs with a rhythm of their own: no result is ever wrong, whatever the data and
# whenever they turn, but for the first three whole sums of products that cancel; and
# good data are recast from the fourth call on.
. "$(dirname "$0")/trust.sh"
need_emulator
[ -z "${SANITIZERS:-}" ] || skip_all 'numbers only: minutes under a sanitizer'

# broken POLICY JUDGE-OPTIONS RHYTHM-ARGUMENTS: which promises.
broken()
{
	results "$1" $3 | judge -v tol=1e-3 $2
}

# holds WHAT RHYTHM-ARGUMENTS [FLOOR [SUMS]]: under profit=off, and in turn under the
# default and strict.
turn=0
holds()
{
	check "$1" "$(broken guarded "-v floor=${3:-0} -v sums=${4:-0}" "$2")"
	turn=$((turn + 1))
	if [ $((turn % 2)) = 1 ]; then
		check "default: $1" \
		    "$(broken default "-v floor=${3:-0} -v sums=${4:-0}" "$2")"
	else
		check "strict: $1" "$(broken strict "-v sums=${4:-0}" "$2")"
	fi
}

# ---- A bad layer, whenever it comes

holds 'a bad layer of two' 'good+cancelling:300'
holds 'one of twelve' 'good*11+cancelling:60' 0.97
# Nothing tells its calls from those of the others.
holds 'one of 32, through one pair of buffers' \
    'recycled=1 good*20+cancelling+good*11:12'
holds 'one of 63' 'good*62+cancelling:6' 0.97
holds 'one of 127' 'good*126+cancelling:4' 0.97
holds 'all of 64 are good' 'good*64:6' 0.97
holds 'a pool of five pairs of buffers' 'recycled=5 good*20+cancelling+good*11:12'
holds 'rare spikes' 'good*40+spike+good*22:8' 0.97
holds 'a spike in each product' 'spike:60'
holds 'zeros first, then bad data' 'zero:5 cancelling:200'
holds 'zeros for 70 calls' 'zero:70 cancelling:300'
holds 'zeros, then good data' 'zero:5 good:200' 0.97
holds 'data that turn' 'good:150 cancelling:300 good:100'
holds 'a host that never waits, one rung' 'sync=0 good:300 graded:300'
holds 'a host that waits every 500 calls, one rung' 'sync=500 good:300 graded:700'
holds 'a host that waits every 1000 calls' 'sync=1000 good:300 cancelling:1000'
holds 'a host that never waits' 'sync=0 good:300 cancelling:1000'
holds 'graded along K' 'good+graded:300'

# ---- What the error is taken of

holds 'bad scores under a mask' 'maskedbad:200'
holds 'good scores under a mask' 'masked:200' 0.97
holds 'bad additions to a large bias' 'biasbad:200'
holds 'a bad addition to a small bias, of four' \
    'bias=40 good*2+biasbad+good:150' 0.97
holds 'good additions to a large bias' 'bias:200' 0.97
holds 'whole numbers: one of each row' 'onehot:200'
holds 'whole numbers: prefix sums' 'prefix:200'
holds 'whole numbers: two counters in one' 'packed:200'
holds 'whole numbers in half of the columns' 'mixed:200'
holds 'subnormals, tokens of unequal size' 'subnormal:50 unequal:200'

# ---- Batches, chains, graphs

holds 'one bad matrix of 64' 'batch=64 m=64 n=64 k=64 odd=cancelling@17 odd:50'
holds 'K in two calls that cancel' 'split=2 cancelling:200' 0 3
holds 'the same from two places' 'split=2 places=2 cancelling:200' 0 3
holds 'from two places, small, and a host that never waits' \
    'm=38 n=58 k=106 split=2 places=2 sync=0 good:80 cancelling:200' 0 3
holds 'K in eight calls, and a host that never waits' \
    'split=8 k=128 sync=0 good:80 cancelling:100' 0 3
holds 'K in two calls that do not' 'split=2 good:100' 0.97
holds 'captured before anything was looked at' 'good:20 graph:cancelling:5'
holds 'a graph of what was good' 'good+unequal+small:10 graph:good:20' 0.97
holds 'a graph of layers, one of them bad' 'good*4+cancelling+good*4:20 graph:again:20'
holds 'a graph of what was met once' 'good:20 graph:cancelling:20'

# ---- cublasLt, and what follows a product there

holds 'cublasLt: a bad layer of two' 'lt=bias asks=1 good+cancelling:300'
holds 'cublasLt: zeros first' 'lt=gelu_bias zero:70 cancelling:300'
holds 'cublasLt: a residual apart' 'lt=default apart=1 masked:200' 0.97
holds 'cublasLt: K in two calls that cancel' 'lt=relu apart=1 split=2 cancelling:200' 0 3
holds 'cublasLt: K in eight calls, a bias with the last' \
    'lt=bias split=8 k=4096 m=128 n=128 sync=0 cancelling:40' 0 3
check 'tf32: the same' "$(broken tf32 '-v sums=3' \
    'lt=bias split=8 k=4096 m=128 n=128 sync=0 cancelling:40')"
holds 'cublasLt: one bad matrix of 64' \
    'lt=relu_bias batch=64 m=64 n=64 k=64 odd=cancelling@17 odd:50'
holds 'cublasLt: gradients of activations' 'lt=dgelu_bgrad good:200' 0.97
holds 'cublasLt: C takes the product away' 'lt=relu apart=1 good:60 opposed:300'
holds 'cublasLt: a bias takes it away' 'lt=gelu_bias good:60 opposed:300'
for shift in -0.9 -1.5 -2; do
	check "cublasLt: a RELU that lets little through, $shift" "$(broken guarded \
	    '-v floor=0.97' "lt=relu_bias m=96 n=96 lift=0.1 shift=$shift good:300")"
done
check 'cublasLt: a RELU that should let nothing through' "$(broken guarded '' \
    'lt=relu_bias m=128 n=128 shift=-0.99 against=1e-4 good:100 opposed:400')"
# ---- What cuBLAS converts: operands that nobody has met, and graphs

# converted WHAT RHYTHM-ARGUMENTS [FLOOR]
converted()
{
	check "tf32: $1" "$(broken tf32 "-v floor=${3:-0}" "$2")"
}
converted 'good data' 'good:200' 0.98
converted 'a bad layer of two' 'good+cancelling:100'
converted 'bad data on other operands, and a host that never waits' \
    'sync=0 good:200 cancelling:200'
converted 'an epilogue' 'lt=gelu_aux_bias good:100' 0.95
converted 'an epilogue on bad data' 'lt=gelu_aux_bias good+cancelling:50'
converted 'one bad matrix of 64' 'batch=64 m=64 n=64 k=64 odd=cancelling@17 odd:50'
converted 'whole numbers, subnormals' 'onehot:50 subnormal:50'
converted 'a graph on other data' 'good:20 graph:cancelling:20'
plan
