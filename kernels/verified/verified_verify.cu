/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_verify.cu -- rows and columns of the product held
 * against what the cast said they are. A block has 32 lines of one matrix,
 * eight chains of the probe each; where the probe is small, 64 and four. */
#include "kernels/verified/verified_apart.h"
#include "kernels/verified/verified_judge.h"

enum {
	/* Projections, energy, energy with beta C. */
	VERIFY_SUMS = AC_VERIFIED_VECTORS + 2,
	VERIFY_LINES = 64,      /* of a block, at most */
	VERIFY_ONCE = 8         /* slices that are read at a time */
};

struct verify_block {
	float weight[AC_VERIFIED_GROUPS * AC_VERIFIED_GROUP]
	    [AC_VERIFIED_VECTORS];
	float chain[VERIFY_SUMS * AC_CAST_BLOCK]; /* [sum][chain][line] */
	float sum[VERIFY_SUMS * VERIFY_LINES];    /* [sum][line] */
	float part[AC_VERIFIED_VALUES * VERIFY_LINES];
	float d2[VERIFY_LINES], e2[VERIFY_LINES], product2[VERIFY_LINES];
	struct ac_verified_word word[WARPS];
	bool  last;
};

/* Where a block works. */
struct verify_place {
	int64_t matrix, first;  /* line */
	int side, lines;        /* 32 or 64 of a block */
};

static __device__ __forceinline__ struct verify_place
place_of(const struct ac_verified &v)
{
	const uint32_t rows = (uint32_t)ac_verified_block(v.n);
	const uint32_t cols = (uint32_t)ac_verified_block(v.m);
	const uint32_t across0 = ((uint32_t)v.m + rows - 1) / rows;
	const uint32_t across1 = ((uint32_t)v.n + cols - 1) / cols;
	const uint32_t number = blockIdx.x % (across0 + across1);
	struct verify_place at;

	at.matrix = blockIdx.x / (across0 + across1);
	at.side = number >= across0;
	at.lines = (int)(at.side ? cols : rows);
	at.first = (int64_t)(at.side ? number - across0 : number) * at.lines;
	return at;
}

/* Groups `chain` and `chain` + 8 of what is looked at of a line, `from` being
 * its first. */
static __device__ __forceinline__ void
load_line(const struct ac_verified &v, int side, int chain, const float *from,
    int64_t step, float (&x)[2][AC_VERIFIED_GROUP])
{
	const int64_t others = side ? v.m : v.n;
	const int groups = ac_verified_groups(others);

#pragma unroll
	for (int i = 0; i < 2; i++) {
		const int g = chain + i * WARPS;
		const int64_t first = ac_verified_group(v.state->seed, !side,
		    g, others);

		load_group(from + first * step, step, g < groups
		    ? ac_verified_group_size(first, others) : 0, x[i]);
	}
}

/* The product becomes product + beta C + bias. */
static __device__ __forceinline__ void
add_line(const struct ac_verified &v, const struct verify_place &at,
    int64_t line, int chain, float beta, float (&x)[2][AC_VERIFIED_GROUP])
{
	const int64_t ld = v.output.c_ld;
	const bool by_line = (v.output.tail.bias_is_row != 0) == at.side;
	const float *bias = v.output.tail.bias;
	float c[2][AC_VERIFIED_GROUP] = {};

	if (beta != 0)
		load_line(v, at.side, chain, ac_verified_c(&v, at.matrix)
		    + line * (at.side ? ld : 1), at.side ? 1 : ld, c);
#pragma unroll
	for (int i = 0; i < 2; i++)
#pragma unroll
		for (int l = 0; l < AC_VERIFIED_GROUP; l++)
			if (beta != 0)
				x[i][l] = ac_verified_sum(x[i][l], beta,
				    c[i][l]);
	if (!bias)
		return;
	bias += at.matrix * v.output.tail.bias_stride;
	load_line(v, at.side, chain, by_line ? bias + line : bias,
	    by_line ? 0 : 1, c);
#pragma unroll
	for (int i = 0; i < 2; i++)
#pragma unroll
		for (int l = 0; l < AC_VERIFIED_GROUP; l++)
			x[i][l] += c[i][l];
}

/* What a thread's chain sees of its line, the outputs x, in units of the
 * exponents: 2^up. */
static __device__ __forceinline__ void
see_line(const struct ac_verified &v, const struct verify_place &at,
    int64_t line, int chain, int32_t up, const struct verify_block &block,
    float (&x)[2][AC_VERIFIED_GROUP], float (&sum)[VERIFY_SUMS])
{
	const float one = ac_verified_power(up / 2);
	const float two = ac_verified_power(up - up / 2);
	const float beta = ac_verified_beta(&v);

#pragma unroll
	for (int i = 0; i < 2; i++)
#pragma unroll
		for (int l = 0; l < AC_VERIFIED_GROUP; l++) {
			const float y = x[i][l] * one * two;
			const float *w = block.weight[(chain + i * WARPS)
			    * AC_VERIFIED_GROUP + l];

#pragma unroll
			for (int t = 0; t < AC_VERIFIED_VECTORS; t++)
				sum[t] = ac_verified_fma(y, w[t], sum[t]);
			sum[VERIFY_SUMS - 2] = ac_verified_fma(y, y,
			    sum[VERIFY_SUMS - 2]);
		}
	if (!ac_verified_adds(&v, beta))
		return;
	add_line(v, at, line, chain, beta, x);
#pragma unroll
	for (int i = 0; i < 2; i++)
#pragma unroll
		for (int l = 0; l < AC_VERIFIED_GROUP; l++) {
			const float y = x[i][l] * one * two;

			sum[VERIFY_SUMS - 1] = ac_verified_fma(y, y,
			    sum[VERIFY_SUMS - 1]);
		}
}

/* The cast's values of the block's lines: a chain adds every so many, two at a
 * time. */
static __device__ __forceinline__ void
add_parts(const struct ac_verified &v, const struct verify_place &at,
    int64_t line, int l, int chain, struct verify_block &block)
{
	const struct ac_verified_operand o = operand_of(v, at.side);
	const int chains = at.lines == 32 ? 8 : 4;
	const int slices = line < o.lines ? (int)ac_verified_slices(&v) : 0;
	const int64_t step = AC_VERIFIED_VALUES * o.lines;

	for (int value = chain; value < AC_VERIFIED_VALUES;
	    value += 2 * chains) {
		const bool two = value + chains < AC_VERIFIED_VALUES;
		const float *from = ac_verified_part(&v, &o, at.matrix, 0,
		    value) + line;
		float sum[2] = {}, x[2][VERIFY_ONCE];

		for (int s = 0; s < slices; s += VERIFY_ONCE) {
#pragma unroll
			for (int i = 0; i < VERIFY_ONCE; i++, from += step) {
				const bool there = s + i < slices;

				x[0][i] = there ? __ldg(from) : 0;
				x[1][i] = there && two ? __ldg(from
				    + chains * o.lines) : 0;
			}
#pragma unroll
			for (int i = 0; i < VERIFY_ONCE; i++) {
				sum[0] += x[0][i];
				sum[1] += x[1][i];
			}
		}
		block.part[value * VERIFY_LINES + l] = sum[0];
		if (two)
			block.part[(value + chains) * VERIFY_LINES + l] =
			    sum[1];
	}
}

static __device__ __forceinline__ struct ac_verified_line
measure(const struct verify_block &block, int l, float alpha, float beta,
    bool adds)
{
	struct ac_verified_line line;
	float d2 = 0;

#pragma unroll
	for (int t = 0; t < AC_VERIFIED_VECTORS; t++) {
		const float d = block.sum[t * VERIFY_LINES + l]
		    - alpha * block.part[t * VERIFY_LINES + l];

		d2 += d * d;
	}
	line.d2 = d2 * (1.f / AC_VERIFIED_VECTORS);
	line.product2 = beta != 0
	    ? block.sum[(VERIFY_SUMS - 2) * VERIFY_LINES + l] : 0;
	line.e2 = ac_verified_e2(adds,
	    block.sum[(VERIFY_SUMS - 2) * VERIFY_LINES + l],
	    block.sum[(VERIFY_SUMS - 1) * VERIFY_LINES + l]);
	line.energy = block.part[AC_VERIFIED_ENERGY * VERIFY_LINES + l];
	line.loss = block.part[AC_VERIFIED_LOSS * VERIFY_LINES + l];
	line.reach = block.part[AC_VERIFIED_REACH * VERIFY_LINES + l];
	return line;
}

/* Of all lanes, in lane 0 and all others: sums by halves. */
static __device__ __forceinline__ struct ac_verified_word
join_warp(struct ac_verified_word word)
{
	AC_CAST_ROLLED
	for (int away = LANES / 2; away; away /= 2) {
		struct ac_verified_word other;

		other.d2 = __shfl_xor_sync(ALL, word.d2, away);
		other.e2 = __shfl_xor_sync(ALL, word.e2, away);
		other.line = __shfl_xor_sync(ALL, word.line, away);
		other.loss = __shfl_xor_sync(ALL, word.loss, away);
		other.flagged = __shfl_xor_sync(ALL, word.flagged, away);
		other.wrong = __shfl_xor_sync(ALL, word.wrong, away);
		other.judged = __shfl_xor_sync(ALL, word.judged, away);
		other.cancels = __shfl_xor_sync(ALL, word.cancels, away);
		ac_verified_join(&other, &word);
	}
	return word;
}

/* A warp has a word of flags. */
static __device__ __forceinline__ void
publish(const struct ac_verified &v, const struct verify_place &at,
    int64_t line, uint32_t verdict, const struct ac_verified_line &m)
{
	const struct ac_verified_operand o = operand_of(v, at.side);
	const int64_t number = at.matrix * ac_verified_words(o.lines)
	    + line / LANES;
	const uint32_t flags = __ballot_sync(ALL,
	    verdict & AC_VERIFIED_FLAGGED);
	const struct ac_verified_word word = join_warp(
	    ac_verified_word_of(&m, verdict));

	if (threadIdx.x % LANES || line >= o.lines)
		return;
	o.flags[number] = flags;
	o.words[number] = word;
}

static __device__ __forceinline__ void
judge_lines(const struct ac_verified &v, const struct verify_place &at,
    float alpha, struct verify_block &block)
{
	const int l = threadIdx.x;
	const int64_t line = at.first + l;
	const struct ac_verified_judge judge = ac_verified_judge_of(&v,
	    at.side);
	const bool mine = l < at.lines, there = mine
	    && line < (at.side ? v.n : v.m);
	const float beta = ac_verified_beta(&v);
	struct ac_verified_line m = {};
	uint32_t verdict = 0;

	if (there)
		m = measure(block, l, alpha, beta, ac_verified_adds(&v, beta));
	if (mine) {
		block.d2[l] = m.d2;
		block.e2[l] = m.e2;
		block.product2[l] = m.product2;
	}
	__syncthreads();
	if (there) {
		const int first = l / judge.group * judge.group;
		struct ac_verified_lines group = {};

		for (int i = first; i < min(first + judge.group, at.lines);
		    i++) {
			group.d2 += block.d2[i];
			group.e2 += block.e2[i];
			group.product2 += block.product2[i];
		}
		verdict = ac_verified_verdict(&m, &group, &judge);
	}
	if (mine)
		publish(v, at, line, verdict, m);
}

/* A thread's words of one matrix. */
static __device__ __forceinline__ struct ac_verified_word
join_own(const struct ac_verified_operand &o, int64_t matrix, int first,
    int step)
{
	const int64_t words = ac_verified_words(o.lines);
	struct ac_verified_word sum = {};

	for (int64_t i = first; i < words; i += step) {
		const struct ac_verified_word *from =
		    &o.words[matrix * words + i];
		struct ac_verified_word one;

		one.d2 = __ldcg(&from->d2);
		one.e2 = __ldcg(&from->e2);
		one.line = __ldcg(&from->line);
		one.loss = __ldcg(&from->loss);
		one.flagged = __ldcg(&from->flagged);
		one.wrong = __ldcg(&from->wrong);
		one.judged = __ldcg(&from->judged);
		one.cancels = __ldcg(&from->cancels);
		ac_verified_join(&one, &sum);
	}
	return sum;
}

/* Four warps for each side, some threads for a matrix. Whether one of a batch
 * is off by itself; of all threads. */
static __device__ __forceinline__ bool
join_words(const struct ac_verified &v, struct ac_verified_word (&word)[WARPS])
{
	const int side = threadIdx.x / 128, thread = threadIdx.x % 128;
	const struct ac_verified_operand o = operand_of(v, side);
	const int abreast = ac_verified_abreast(&v,
	    ac_verified_words(o.lines));
	const bool apart = ac_verified_is_by_matrix(&v, side);
	struct ac_verified_word sum = {};
	bool off = false;

	for (int64_t b = thread / abreast; b - thread / abreast < v.batch;
	    b += 128 / abreast) {
		struct ac_verified_word own = {};

		if (b < v.batch)
			own = join_own(o, b, thread % abreast, abreast);
		ac_verified_join(&own, &sum);
		for (int away = abreast / 2; apart && away; away /= 2) {
			own.d2 += __shfl_xor_sync(ALL, own.d2, away);
			own.e2 += __shfl_xor_sync(ALL, own.e2, away);
		}
		off = off || (apart && ac_verified_is_off(&v, own.d2, own.e2));
	}
	sum = join_warp(sum);
	if (!(threadIdx.x % LANES))
		word[threadIdx.x / LANES] = sum;
	return __syncthreads_or(off);
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, 3)
ac_verified_verify(const struct ac_verified v)
{
	__shared__ struct verify_block block;
	const struct verify_place at = place_of(v);
	const int l = threadIdx.x & (at.lines - 1);
	const int chain = threadIdx.x >> (at.lines == 32 ? 5 : 6);
	const int chains = at.lines == 32 ? 8 : 4;
	const int64_t line = at.first + l;
	const struct ac_verified_unit unit = ac_verified_unit_of(&v);
	const bool sees = v.tol > 0 && line < (at.side ? v.n : v.m);
	float x[2][AC_VERIFIED_GROUP], sum[VERIFY_SUMS] = {};

	/* What takes longest is on its way while the rest is made. */
	if (sees)
		load_line(v, at.side, chain, ac_verified_product(&v,
		    at.matrix) + line * (at.side ? v.output.ld : 1),
		    at.side ? 1 : v.output.ld, x);
	weigh(v.state->seed, !at.side, block.weight);
	add_parts(v, at, line, l, chain, block);
	__syncthreads();
	if (sees)
		see_line(v, at, line, chain, unit.up, block, x, sum);
#pragma unroll
	for (int i = 0; i < VERIFY_SUMS; i++)
		block.chain[i * AC_CAST_BLOCK + chain * at.lines + l] = sum[i];
	__syncthreads();
	for (int i = threadIdx.x; i < VERIFY_SUMS * at.lines;
	    i += AC_CAST_BLOCK) {
		const int value = i >> (at.lines == 32 ? 5 : 6);
		const int other = i & (at.lines - 1);
		float total = 0;

		for (int c = 0; c < chains; c++)
			total += block.chain[value * AC_CAST_BLOCK
			    + c * at.lines + other];
		block.sum[value * VERIFY_LINES + other] = total;
	}
	__syncthreads();
	judge_lines(v, at, unit.alpha, block);
	if (!comes_last(&v.state->arrived, gridDim.x, block.last))
		return;
	/* On its way while words are joined. */
	const uint32_t count = v.cancelled ? __ldcg(&v.cancelled->count) : 0;
	const bool off = join_words(v, block.word);
	const uint32_t found = v.cancelled ? ac_verified_look_up(&v, count)
	    : 0;

	if (threadIdx.x)
		return;
	for (int i = 0; i < WARPS; i++)
		if (i % 4)
			ac_verified_join(&block.word[i],
			    &block.word[i / 4 * 4]);
	block.word[1] = block.word[4];
	ac_verified_conclude(&v, block.word, off, found);
}
