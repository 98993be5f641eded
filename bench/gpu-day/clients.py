# SPDX-License-Identifier: Apache-2.0
"""clients.py [-q] PACKAGE WORK WAY BUDGET -- what a user of PyTorch, CuPy or JAX
gets: FP32 work timed, and its error against FP64. Rows on stdout, one per operation,
as programs of this folder print them; 77: the package is not installed.

WORK: products, or for PyTorch layers (a stack of nn.Linear) and gpt2 (a training step
of the shape of GPT-2 small). WAY names the rows. Who preloads the library is outside;
`torch-autocast` and `torch-tf32` are PyTorch's own. BUDGET: seconds, after the import.
-q: small sizes, few samples.
"""
import sys
import time


def row(kind, **fields):
    print("row=" + kind, *(f"{k}={v}" for k, v in fields.items()), sep="\t", flush=True)


def timed(call, wait, deadline, quick):
    """Seconds of one call: median, quartiles, samples, calls in each."""
    warm = 2 if quick else 170  # a site's probation is over by then
    begin = time.perf_counter()
    for done in range(warm):
        call()
        wait()
        if time.perf_counter() - begin > 2 or time.perf_counter() > deadline:
            break
    begin = time.perf_counter()
    call()
    wait()
    once = max(time.perf_counter() - begin, 1e-7)
    calls = 1 if quick else max(1, min(500, int(5e-3 / once)))
    samples = []
    while len(samples) < (3 if quick else 15):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        samples.append((time.perf_counter() - begin) / calls)
        if len(samples) >= 3 and time.perf_counter() > deadline:
            break
    samples.sort()
    n = len(samples)
    return samples[n // 2], samples[n // 4], samples[3 * n // 4], n, calls


def measured(case, way, call, wait, error, deadline, quick, flops):
    mid, low, high, samples, calls = timed(call, wait, deadline, quick)
    row("time", case=case, way=way, median=f"{mid:.6g}", low=f"{low:.6g}",
        high=f"{high:.6g}", samples=samples, calls=calls,
        tflops=f"{1e-12 * flops / mid:.5g}", error=f"{error():.4g}")


def relative(found, right):
    return float(((found.double() - right).norm() / right.norm()).item())


def torch_clients(torch, work, way, deadline, quick):
    device = "cuda"
    torch.manual_seed(1)
    if way == "torch-tf32":
        torch.backends.cuda.matmul.allow_tf32 = True
    lowered = (lambda: torch.autocast(device, dtype=torch.float16)) if \
        way == "torch-autocast" else None

    def under(work):
        if not lowered:
            return work
        def inside():
            with lowered():
                return work()
        return inside

    wait = torch.cuda.synchronize
    {"products": torch_products, "layers": torch_layers, "gpt2": torch_gpt2}[work](
        torch, way, under, wait, deadline, quick)


def torch_products(torch, way, under, wait, deadline, quick):
    device = "cuda"
    for n in [64] if quick else [4096, 1024]:
        a = torch.randn(n, n, device=device)
        b = torch.randn(n, n, device=device)
        matmul = under(lambda: a @ b)
        rows = slice(0, min(n, 256))
        measured(f"torch matmul {n}", way, matmul, wait, lambda: relative(
            matmul()[rows], a[rows].double() @ b.double()), deadline, quick, 2 * n ** 3)
        linear = torch.nn.Linear(n, n, device=device)
        forward = under(lambda: linear(a))
        with torch.no_grad():
            measured(f"torch Linear with bias {n}", way, forward, wait, lambda: relative(
                forward()[rows], a[rows].double() @ linear.weight.double().t()
                + linear.bias.double()), deadline, quick, 2 * n ** 3)
        del a, b, linear
        if time.perf_counter() > deadline:
            return
    mlp_step(torch, way, under, wait, deadline, quick)


def gradient_error(make, model, weight, step, loss_of, data):
    """Of the gradient of one weight against the same step in FP64."""
    found = step().clone()
    exact = make().double()
    exact.load_state_dict({k: v.double() for k, v in model.state_dict().items()})
    exact.zero_grad(set_to_none=True)
    loss_of(exact, data).backward()
    return relative(found, weight(exact).grad)


def torch_layers(torch, way, under, wait, deadline, quick):
    """Linear, GELU, eight times: forward, then a step of SGD's gradients."""
    rows, width, depth = (32, 64, 2) if quick else (8192, 1024, 8)
    make = lambda: torch.nn.Sequential(*(layer for _ in range(depth) for layer in (
        torch.nn.Linear(width, width), torch.nn.GELU(approximate="tanh")))).to("cuda")
    model = make()
    x = torch.randn(rows, width, device="cuda")
    loss_of = lambda network, data: network(data.to(network[0].weight.dtype)) \
        .square().mean()

    def step():
        model.zero_grad(set_to_none=True)
        under(lambda: loss_of(model, x))().backward()
        return model[0].weight.grad

    flops = 2 * rows * width ** 2 * depth
    with torch.no_grad():
        def error():
            exact = make().double()
            exact.load_state_dict({k: v.double() for k, v in model.state_dict().items()})
            return relative(model_out()[:256], exact(x[:256].double()))
        model_out = under(lambda: model(x))
        measured(f"torch Layers {depth} of {width}, forward", way, model_out, wait, error,
            deadline, quick, flops)
    measured(f"torch Layers {depth} of {width}, step", way, step, wait, lambda:
        gradient_error(make, model, lambda m: m[0].weight, step, loss_of, x), deadline,
        quick, 3 * flops)


def torch_gpt2(torch, way, under, wait, deadline, quick):
    """GPT-2 small: 12 blocks of 768, 12 heads; tokens are random."""
    batch, length, width, heads, depth, words = (2, 16, 32, 2, 1, 128) if quick else \
        (8, 1024, 768, 12, 12, 50304)
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            q, k, v = (y.view(*y.shape[:2], heads, -1).transpose(1, 2)
                for y in self.qkv(self.first(x)).split(width, dim=2))
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(x.shape))
            return x + self.down(functional.gelu(self.up(self.second(x)),
                approximate="tanh"))

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), \
                nn.Embedding(length, width)
            self.blocks = nn.Sequential(*(Block() for _ in range(depth)))
            self.last, self.head = nn.LayerNorm(width), nn.Linear(width, words,
                bias=False)

        def forward(self, tokens):
            x = self.words(tokens) + self.places.weight[:tokens.shape[1]]
            return self.head(self.last(self.blocks(x)))

    make = lambda: Network().to("cuda")
    model = make()
    data = torch.randint(0, words, (batch, length + 1), device="cuda")
    loss_of = lambda network, tokens: functional.cross_entropy(
        network(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-9)

    def gradients():
        model.zero_grad(set_to_none=True)
        under(lambda: loss_of(model, data))().backward()
        return model.words.weight.grad

    def step():
        gradients()
        optimizer.step()

    weights = depth * 12 * width ** 2 + words * width
    flops = 6 * batch * length * (weights + depth * width * length)
    # FP64 needs room and time: one sequence of the batch.
    def error():
        nonlocal data
        whole, data = data, data[:1]
        found = gradient_error(make, model, lambda m: m.words.weight, gradients, loss_of,
            data)
        data = whole
        return found
    measured(f"torch GPT-2 step {batch} x {length}", way, step, wait, error, deadline,
        quick, flops)


def mlp_step(torch, way, under, wait, deadline, quick):
    """A step of an MLP: forward, backward; the error is that of the first layer's
    gradient against the same step in FP64."""
    batch, width = (32, 64) if quick else (4096, 2048)
    torch.manual_seed(2)
    make = lambda: torch.nn.Sequential(torch.nn.Linear(width, 4 * width),
        torch.nn.ReLU(), torch.nn.Linear(4 * width, width), torch.nn.ReLU(),
        torch.nn.Linear(width, 10)).to("cuda")
    model = make()
    x = torch.randn(batch, width, device="cuda")
    y = torch.randint(0, 10, (batch,), device="cuda")

    def loss_of(network, data):
        return torch.nn.functional.cross_entropy(network(data.to(network[0].weight.dtype)),
            y)

    def step():
        model.zero_grad(set_to_none=True)
        loss = under(lambda: loss_of(model, x))()
        loss.backward()
        return model[0].weight.grad

    flops = 3 * 2 * batch * (4 * width ** 2 * 2 + 10 * width)
    measured(f"torch MLP step {batch} x {width}", way, step, wait, lambda: gradient_error(
        make, model, lambda m: m[0].weight, step, loss_of, x), deadline, quick, flops)


def array_clients(np, name, way, wait_for, deadline, quick, dot):
    """CuPy and JAX: a product of arrays."""
    for n in [64] if quick else [4096, 1024]:
        a, b = np.random.RandomState(1).randn(n, n), np.random.RandomState(2).randn(n, n)
        a, b = a.astype("float32"), b.astype("float32")
        call, take = dot(a, b)
        last = []
        def once():
            last[:] = [call()]
        def error():
            right = a[:256].astype("float64") @ b.astype("float64")
            return float(np.linalg.norm(take(call())[:256] - right) / np.linalg.norm(right))
        measured(f"{name} {n}", way, once, lambda: wait_for(last), error, deadline,
            quick, 2 * n ** 3)
        if time.perf_counter() > deadline:
            return


def cupy_clients(cupy, work, way, deadline, quick):
    import numpy as np
    def dot(a, b):
        x, y = cupy.asarray(a), cupy.asarray(b)
        return lambda: x @ y, cupy.asnumpy
    array_clients(np, "cupy matmul", way,
        lambda last: cupy.cuda.Device().synchronize(), deadline, quick, dot)


def jax_clients(jax, work, way, deadline, quick):
    import numpy as np
    jax.config.update("jax_default_matmul_precision", "highest")
    ready = lambda last: last and last[0].block_until_ready()
    product = jax.jit(jax.numpy.dot)
    # Zeros for a bias, so that the product is the reference.
    layer = jax.jit(lambda x, y, bias: jax.numpy.dot(x, y) + bias)
    def dot(a, b):
        x, y = jax.device_put(a), jax.device_put(b)
        return lambda: product(x, y), np.asarray
    def with_bias(a, b):
        x, y, bias = (jax.device_put(z) for z in (a, b, 0 * b[0]))
        return lambda: layer(x, y, bias), np.asarray
    array_clients(np, "jax dot", way, ready, deadline, quick, dot)
    array_clients(np, "jax layer", way, ready, deadline, quick, with_bias)


def main():
    words = sys.argv[1:]
    quick = words[0] == "-q"
    package, work, way, budget = words[quick:]
    try:
        module = __import__(package)
    except ImportError:
        print(f"{package}: not installed", file=sys.stderr)
        return 77
    deadline = time.perf_counter() + float(budget)
    row("library", name=package, version=getattr(module, "__version__", "unknown"))
    {"torch": torch_clients, "cupy": cupy_clients, "jax": jax_clients}[package](
        module, work, way, deadline, quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
