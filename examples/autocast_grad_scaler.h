/* SPDX-License-Identifier: Apache-2.0 */
/* examples/autocast_grad_scaler.h -- autocast_scaler.h for programs that are
 * built with libtorch, in C++17: copy it, and link with libautocast-api, or
 * define AUTOCAST_DYNAMIC and link with nothing.
 *
 *   autocast::grad_scaler scaler;
 *   for (...) {
 *       optimizer.zero_grad();
 *       scaler.scale(loss_of(model, batch)).backward();
 *       scaler.step(optimizer);      // unscales, and steps unless inf or NaN
 *       scaler.update();
 *   }
 *
 * Gradients that are dense, on CUDA devices, and FP32, FP64 or BF16; FP16 ones
 * with `allow_fp16`. Each call works on PyTorch's current stream. What fails
 * throws c10::Error with autocast_last_error(). Not for several threads at
 * once. */
#ifndef EXAMPLES_AUTOCAST_GRAD_SCALER_H
#define EXAMPLES_AUTOCAST_GRAD_SCALER_H

#include <autocast_scaler.h>

#include <c10/cuda/CUDAStream.h>
#include <torch/torch.h>

#include <exception>
#include <unordered_map>
#include <vector>

namespace autocast {

class grad_scaler {
public:
	explicit grad_scaler(const autocast_scaler_options &options
	    = AUTOCAST_SCALER_OPTIONS) : enabled_(options.enabled)
	{
		check(autocast_scaler_create(&options, &scaler_));
	}

	grad_scaler(const grad_scaler &) = delete;
	grad_scaler &operator=(const grad_scaler &) = delete;

	~grad_scaler() { autocast_scaler_destroy(scaler_); }

	/* The loss times the scale: call backward() of that. The scale is read
	 * on the device; nothing waits. */
	torch::Tensor
	scale(const torch::Tensor &loss)
	{
		const float *scale, *inverse;

		if (!enabled_)
			return loss;
		TORCH_CHECK(loss.is_cuda(), "grad_scaler: a loss on the CPU");
		check(autocast_scaler_pointers(scaler_, loss.get_device(),
		    &scale, &inverse));
		return loss * torch::from_blob(const_cast<float *>(scale), {},
		    torch::dtype(torch::kFloat).device(loss.device()));
	}

	/* To clip or look at true gradients before step(). */
	void
	unscale(torch::optim::Optimizer &optimizer)
	{
		check(autocast_scaler_unscale(scaler_, group_of(optimizer),
		    stream()));
	}

	/* Clip to max_norm, after unscale(). */
	void
	clip(torch::optim::Optimizer &optimizer, float max_norm)
	{
		check(autocast_group_clip(group_of(optimizer), max_norm,
		    nullptr, stream()));
	}

	/* Whether the optimizer stepped. Waits for the device, once. */
	bool
	step(torch::optim::Optimizer &optimizer)
	{
		call now = { &optimizer, nullptr };
		int stepped = 0;
		const autocast_status status = autocast_scaler_step(scaler_,
		    group_of(optimizer), apply, &now, &stepped, stream());

		if (now.thrown)
			std::rethrow_exception(now.thrown);
		check(status);
		return stepped != 0;
	}

	void update() { check(autocast_scaler_update(scaler_, stream())); }

	double
	get_scale() const
	{
		double scale;

		check(autocast_scaler_get(scaler_, &scale, nullptr));
		return scale;
	}

	autocast_scaler *get() const { return scaler_; }

private:
	struct call {
		torch::optim::Optimizer *optimizer;
		std::exception_ptr thrown;
	};

	struct group {
		autocast_group *handle = nullptr;
		std::vector<autocast_tensor> gradients;
	};

	static void
	check(autocast_status status)
	{
		TORCH_CHECK(status == AUTOCAST_OK, "grad_scaler: ",
		    autocast_last_error());
	}

	static struct CUstream_st *
	stream()
	{
		return c10::cuda::getCurrentCUDAStream().stream();
	}

	/* An exception must not pass through C. */
	static int
	apply(void *user)
	{
		call *now = static_cast<call *>(user);

		try {
			now->optimizer->step();
		} catch (...) {
			now->thrown = std::current_exception();
			return 1;
		}
		return 0;
	}

	static int32_t
	dtype_of(const torch::Tensor &t)
	{
		switch (t.scalar_type()) {
		case torch::kFloat:
			return AUTOCAST_F32;
		case torch::kDouble:
			return AUTOCAST_F64;
		case torch::kHalf:
			return AUTOCAST_F16;
		case torch::kBFloat16:
			return AUTOCAST_BF16;
		default:
			TORCH_CHECK(false, "grad_scaler: a gradient of ",
			    t.scalar_type());
		}
	}

	static autocast_tensor
	tensor_of(const torch::Tensor &t)
	{
		TORCH_CHECK(t.is_cuda() && t.layout() == torch::kStrided
		    && t.is_non_overlapping_and_dense(),
		    "grad_scaler: a gradient that is not dense on a GPU");
		return { t.data_ptr(), static_cast<size_t>(t.numel()),
			dtype_of(t), static_cast<int32_t>(t.get_device()),
			nullptr };
	}

	static bool
	is_same(const std::vector<autocast_tensor> &a,
	    const std::vector<autocast_tensor> &b)
	{
		if (a.size() != b.size())
			return false;
		for (size_t i = 0; i < a.size(); i++)
			if (a[i].data != b[i].data || a[i].count != b[i].count
			    || a[i].dtype != b[i].dtype)
				return false;
		return true;
	}

	/* The list is handed over again only where it has changed: that
	 * waits. zero_grad() frees gradients, and they mostly come back where
	 * they were. */
	autocast_group *
	group_of(torch::optim::Optimizer &optimizer)
	{
		group &g = groups_[&optimizer];
		std::vector<autocast_tensor> now;

		if (!g.handle)
			check(autocast_group_create(scaler_, nullptr,
			    &g.handle));
		for (const auto &group : optimizer.param_groups())
			for (const torch::Tensor &p : group.params())
				if (p.grad().defined())
					now.push_back(tensor_of(p.grad()));
		if (!is_same(now, g.gradients)) {
			check(autocast_group_set_gradients(g.handle,
			    now.data(), now.size()));
			g.gradients = std::move(now);
		}
		return g.handle;
	}

	bool enabled_;
	autocast_scaler *scaler_ = nullptr;
	std::unordered_map<torch::optim::Optimizer *, group> groups_;
};

} /* namespace autocast */

#endif
