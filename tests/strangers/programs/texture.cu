/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/texture.cu -- a texture object over an array, read
 * with interpolation, as image programs do. */
#include "user.h"

enum { SIDE = 32 };

__global__ void
sample(cudaTextureObject_t texture, float *out)
{
	const int x = threadIdx.x, y = blockIdx.x;

	out[y * SIDE + x] = tex2D<float>(texture, x + 1.0f, y + 0.5f);
}

int
main()
{
	const auto image = uniforms(SIDE * SIDE);
	const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaResourceDesc resource = {};
	cudaTextureDesc about = {};
	cudaTextureObject_t texture;
	cudaArray_t array;
	double worst = 0;
	float *out;

	CHECK(cudaMallocArray(&array, &format, SIDE, SIDE));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), SIDE * 4, SIDE * 4,
	    SIDE, cudaMemcpyHostToDevice));
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	about.addressMode[0] = about.addressMode[1] = cudaAddressModeClamp;
	about.filterMode = cudaFilterModeLinear;
	CHECK(cudaCreateTextureObject(&texture, &resource, &about, NULL));
	CHECK(cudaMalloc(&out, SIDE * SIDE * 4));
	sample<<<SIDE, SIDE>>>(texture, out);
	const auto back = download(out, SIDE * SIDE);
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE - 1; x++)
			worst = fmax(worst, fabs(back[y * SIDE + x] -
			    (image[y * SIDE + x] + image[y * SIDE + x + 1]) /
			    2));
	/* Weights have 8 bits. */
	expect("interpolation", worst, 0x1p-8);
	return wrong;
}
