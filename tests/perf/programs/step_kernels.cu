/* SPDX-License-Identifier: Apache-2.0 */
/* tests/perf/programs/step_kernels.cu -- the kernels of a training step of a
 * small transformer, products left out, for step.c. step_kernels.ptx is made of
 * it by
 *
 *     nvcc -arch=compute_75 -ptx step_kernels.cu
 */

enum { WARP = 32 };

static __device__ float
warp_sum(float x)
{
	for (int distance = WARP / 2; distance; distance /= 2)
		x += __shfl_xor_sync(0xffffffff, x, distance);
	return x;
}

static __device__ float
warp_most(float x)
{
	for (int distance = WARP / 2; distance; distance /= 2)
		x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, distance));
	return x;
}

/* Of a block, in all of its threads. */
template <float reduce(float)> static __device__ float
over_block(float x, float neutral)
{
	__shared__ float part[WARP];
	const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

	x = reduce(x);
	__syncthreads();
	if (!lane)
		part[warp] = x;
	__syncthreads();
	return reduce(lane < blockDim.x / WARP ? part[lane] : neutral);
}

/* ---- Embeddings -------------------------------------------------------- */

extern "C" __global__ void
embed(float4 *out, const int *ids, const float4 *tokens,
    const float4 *positions, int rows, int length, int width)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	const int row = i / (width / 4), column = i % (width / 4);
	float4 a, b;

	if (row >= rows)
		return;
	a = tokens[ids[row] * (width / 4) + column];
	b = positions[row % length * (width / 4) + column];
	out[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

extern "C" __global__ void
embed_back(float *tokens, float *positions, const float *gradient,
    const int *ids, int rows, int length, int width)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	const int row = i / width, column = i % width;

	if (row >= rows)
		return;
	atomicAdd(&tokens[ids[row] * width + column], gradient[i]);
	atomicAdd(&positions[row % length * width + column], gradient[i]);
}

/* ---- Normalized rows: a warp for each ---------------------------------- */

extern "C" __global__ void
normalize(float *out, float *means, float *factors, const float *in,
    const float *weight, const float *bias, int rows, int width)
{
	const int row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
	const int lane = threadIdx.x % WARP;
	float sum = 0, squares = 0, mean, factor;

	if (row >= rows)
		return;
	in += (size_t)row * width;
	out += (size_t)row * width;
	for (int i = lane; i < width; i += WARP)
		sum += in[i];
	mean = warp_sum(sum) / width;
	for (int i = lane; i < width; i += WARP)
		squares += (in[i] - mean) * (in[i] - mean);
	factor = rsqrtf(warp_sum(squares) / width + 1e-5f);
	for (int i = lane; i < width; i += WARP)
		out[i] = (in[i] - mean) * factor * weight[i] + bias[i];
	if (!lane) {
		means[row] = mean;
		factors[row] = factor;
	}
}

extern "C" __global__ void
normalize_back(float *to, float *to_weight, float *to_bias,
    const float *gradient, const float *in, const float *weight,
    const float *means, const float *factors, int rows, int width)
{
	extern __shared__ float shared[];
	float *const own_weight = shared, *const own_bias = shared + width;
	const int row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
	const int lane = threadIdx.x % WARP;

	for (int i = threadIdx.x; i < 2 * width; i += blockDim.x)
		shared[i] = 0;
	__syncthreads();
	if (row < rows) {
		const size_t at = (size_t)row * width;
		const float mean = means[row], factor = factors[row];
		float sum = 0, along = 0;

		for (int i = lane; i < width; i += WARP) {
			const float x = (in[at + i] - mean) * factor;
			const float g = gradient[at + i];

			sum += g * weight[i];
			along += g * weight[i] * x;
			atomicAdd(&own_weight[i], g * x);
			atomicAdd(&own_bias[i], g);
		}
		sum = warp_sum(sum) / width;
		along = warp_sum(along) / width;
		for (int i = lane; i < width; i += WARP) {
			const float x = (in[at + i] - mean) * factor;

			to[at + i] += (gradient[at + i] * weight[i] - sum -
			    x * along) * factor;
		}
	}
	__syncthreads();
	for (int i = threadIdx.x; i < width; i += blockDim.x) {
		atomicAdd(&to_weight[i], own_weight[i]);
		atomicAdd(&to_bias[i], own_bias[i]);
	}
}

/* ---- Attention --------------------------------------------------------- */

/* Rows of query, key, value next to each other <-> three tensors by heads. */
extern "C" __global__ void
part_heads(float *query, float *key, float *value, const float *in,
    int batch, int length, int heads, int size)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	const int d = i % size, t = i / size % length;
	const int h = i / size / length % heads;
	const int b = i / size / length / heads;
	const int from = ((b * length + t) * 3 * heads + h) * size + d;

	if (b >= batch)
		return;
	query[i] = in[from];
	key[i] = in[from + heads * size];
	value[i] = in[from + 2 * heads * size];
}

extern "C" __global__ void
part_heads_back(float *out, const float *query, const float *key,
    const float *value, int batch, int length, int heads, int size)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	const int d = i % size, t = i / size % length;
	const int h = i / size / length % heads;
	const int b = i / size / length / heads;
	const int to = ((b * length + t) * 3 * heads + h) * size + d;

	if (b >= batch)
		return;
	out[to] = query[i];
	out[to + heads * size] = key[i];
	out[to + 2 * heads * size] = value[i];
}

/* By heads -> rows, or back. */
extern "C" __global__ void
join_heads(float *out, const float *in, int batch, int length, int heads,
    int size, int back)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	const int d = i % size, t = i / size % length;
	const int h = i / size / length % heads;
	const int b = i / size / length / heads;
	const int row = ((b * length + t) * heads + h) * size + d;

	if (b >= batch)
		return;
	out[back ? i : row] = in[back ? row : i];
}

/* Causal: element i of row t counts for i <= t. A warp for each row. */
extern "C" __global__ void
attend(float *out, const float *in, float scale, int rows, int length)
{
	const int row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
	const int lane = threadIdx.x % WARP, last = row % length;
	float most = -INFINITY, sum = 0, all;

	if (row >= rows)
		return;
	in += (size_t)row * length;
	out += (size_t)row * length;
	for (int i = lane; i <= last; i += WARP) {
		const float before = most;

		most = fmaxf(most, in[i]);
		sum = sum * expf(scale * (before - most)) +
		    expf(scale * (in[i] - most));
	}
	all = warp_most(most);
	sum = warp_sum(sum * expf(scale * (most - all)));
	for (int i = lane; i < length; i += WARP)
		out[i] = i <= last ? expf(scale * (in[i] - all)) / sum : 0;
}

/* Each thread of a block one element of the gradient at a time, of row t. */
extern "C" __global__ void
attend_back(float *out, const float *gradient, const float *weights,
    float scale, int length)
{
	const size_t row = (size_t)blockIdx.y * length + blockIdx.x;
	const int last = blockIdx.x;
	const float *const w = weights + row * length;
	const float *const g = gradient + row * length;
	float along = 0;

	for (int i = threadIdx.x; i <= last; i += blockDim.x)
		along += w[i] * g[i];
	along = over_block<warp_sum>(along, 0);
	for (int i = threadIdx.x; i <= last; i += blockDim.x)
		out[row * length + i] = scale * w[i] * (g[i] - along);
}

/* ---- Element by element ------------------------------------------------ */

extern "C" __global__ void
add(float *out, const float *a, const float *b, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		out[i] = a[i] + b[i];
}

#define GELU_SCALE .7978845608f

extern "C" __global__ void
gelu(float *out, const float *in, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count) {
		const float x = in[i];

		out[i] = .5f * x * (1 + tanhf(GELU_SCALE *
		    (x + .044715f * x * x * x)));
	}
}

extern "C" __global__ void
gelu_back(float *out, const float *in, const float *gradient, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count) {
		const float x = in[i], cubic = .044715f * x * x * x;
		const float t = tanhf(GELU_SCALE * (x + cubic));
		const float slope = (1 - t * t) * GELU_SCALE *
		    (1 + 3 * .044715f * x * x);

		out[i] = gradient[i] * (.5f * (1 + t) + .5f * x * slope);
	}
}

/* ---- Sums of columns: 32 of them for each block ------------------------ */

extern "C" __global__ void
bias_back(float *out, const float *gradient, int rows, int width)
{
	__shared__ float part[WARP][WARP + 1];
	const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
	const int column = blockIdx.x * WARP + lane;
	float sum = 0;

	for (int row = warp; row < rows; row += blockDim.x / WARP)
		sum += gradient[(size_t)row * width + column];
	part[warp][lane] = sum;
	__syncthreads();
	if (warp)
		return;
	sum = 0;
	for (int i = 0; i < blockDim.x / WARP; i++)
		sum += part[i][lane];
	out[column] += sum;
}

/* ---- Losses, and gradients in place of logits: a block for each row ---- */

extern "C" __global__ void
classify(float *logits, float *losses, const int *targets, int vocabulary,
    int stride, float weight)
{
	float *const row = logits + (size_t)blockIdx.x * stride;
	const int target = targets[blockIdx.x];
	float most = -INFINITY, sum = 0;

	for (int i = threadIdx.x; i < vocabulary; i += blockDim.x)
		most = fmaxf(most, row[i]);
	most = over_block<warp_most>(most, -INFINITY);
	for (int i = threadIdx.x; i < vocabulary; i += blockDim.x)
		sum += expf(row[i] - most);
	sum = over_block<warp_sum>(sum, 0);
	if (!threadIdx.x)
		losses[blockIdx.x] = logf(sum) - (row[target] - most);
	__syncthreads();
	for (int i = threadIdx.x; i < vocabulary; i += blockDim.x)
		row[i] = (expf(row[i] - most) / sum - (i == target)) * weight;
}

/* ---- The optimizer ----------------------------------------------------- */

extern "C" __global__ void
adamw(float *weights, const float *gradients, float *first, float *second,
    long count, float rate, float beta1, float beta2, float correction1,
    float correction2, float tiny, float decay)
{
	const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	float m, v;

	if (i >= count)
		return;
	m = beta1 * first[i] + (1 - beta1) * gradients[i];
	v = beta2 * second[i] + (1 - beta2) * gradients[i] * gradients[i];
	first[i] = m;
	second[i] = v;
	weights[i] -= rate * (m / correction1 / (sqrtf(v / correction2) +
	    tiny) + decay * weights[i]);
}
