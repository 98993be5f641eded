# SPDX-License-Identifier: Apache-2.0
"""clients.py [-q] PACKAGE WAY BUDGET -- what a user of PyTorch, CuPy or JAX gets:
FP32 work timed, and its error against FP64. Rows on stdout, one per operation, as
programs of this folder print them; 77: the package is not installed.

WAY names the rows. Who preloads the library is outside; `torch-autocast` and
`torch-tf32` are PyTorch's own. BUDGET: seconds, after the import. -q: small sizes,
few samples.
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


def torch_clients(torch, way, deadline, quick):
    sizes = [64] if quick else [4096, 1024]
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
    for n in sizes:
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
        return torch.nn.functional.cross_entropy(network(data).double()
            if data.dtype == torch.float64 else network(data), y)

    def step():
        model.zero_grad(set_to_none=True)
        loss = under(lambda: loss_of(model, x))()
        loss.backward()
        return model[0].weight.grad

    def error():
        found = step().clone()
        exact = make().double()
        exact.load_state_dict({k: v.double() for k, v in model.state_dict().items()})
        exact.zero_grad(set_to_none=True)
        loss_of(exact, x.double()).backward()
        return relative(found, exact[0].weight.grad)

    flops = 3 * 2 * batch * (4 * width ** 2 * 2 + 10 * width)
    measured(f"torch MLP step {batch} x {width}", way, step, wait, error, deadline,
        quick, flops)


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


def cupy_clients(cupy, way, deadline, quick):
    import numpy as np
    def dot(a, b):
        x, y = cupy.asarray(a), cupy.asarray(b)
        return lambda: x @ y, cupy.asnumpy
    array_clients(np, "cupy matmul", way,
        lambda last: cupy.cuda.Device().synchronize(), deadline, quick, dot)


def jax_clients(jax, way, deadline, quick):
    import numpy as np
    jax.config.update("jax_default_matmul_precision", "highest")
    product = jax.jit(jax.numpy.dot)
    def dot(a, b):
        x, y = jax.device_put(a), jax.device_put(b)
        return lambda: product(x, y), np.asarray
    array_clients(np, "jax dot", way,
        lambda last: last and last[0].block_until_ready(), deadline, quick, dot)


def main():
    words = sys.argv[1:]
    quick = words[0] == "-q"
    package, way, budget = words[quick:]
    try:
        module = __import__(package)
    except ImportError:
        print(f"{package}: not installed", file=sys.stderr)
        return 77
    deadline = time.perf_counter() + float(budget)
    row("library", name=package, version=getattr(module, "__version__", "unknown"))
    {"torch": torch_clients, "cupy": cupy_clients, "jax": jax_clients}[package](
        module, way, deadline, quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
