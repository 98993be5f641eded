#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare the C policy room with reference.py on many texts.

usage: agree.py DRIVER PROFILES [COUNT]
DRIVER is the built agree_driver, PROFILES the folder policy/profiles. Half of
the texts are random tokens, half are policies with something broken. Prints
TAP; the seed is fixed, so a disagreement can be repeated.
"""
import math
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import reference  # noqa: E402

SEED = 20240611


def conv(op, images, cin, cout, groups, image, out, filter, stride, **facts):
    """A convolution, as the implicit product policy/op.h says it is."""
    inner, outer, taps = cin // groups, cout // groups, math.prod(filter)
    positions = images * math.prod(out)
    m, n, k = {"conv.fprop": (positions, outer, inner * taps),
               "conv.dgrad": (positions, inner * taps, outer),
               "conv.wgrad": (outer, inner * taps, positions)}[op]
    flops = 2 * positions * cout * inner * taps
    size = 4 * (images * cin * math.prod(image) + cout * inner * taps +
                positions * cout)
    return dict(facts, op=op, type="f32", m=m, n=n, k=k, batch=groups,
                cin=cin, cout=cout, groups=groups, filter=filter,
                stride=stride, dilation=(1,) * len(filter),
                spatial=math.prod(image), flops=flops, bytes=size,
                intensity=flops / size)


CALLS = [
    dict(op="gemm.single", type="f32", m=768, n=4096, k=768, batch=1, sm=90,
         ta="T", tb="N", asked="fp32", caller="train", site="9c41d2e0"),
    dict(op="gemm.single", type="f32", m=16, n=16, k=16, batch=1, sm=75,
         ta="N", asked="tf32"),
    dict(op="gemm.strided", type="f32", m=64, n=1024, k=1024, batch=96, sm=75,
         caller="libcusolver.so.12", solver="yes"),
    dict(op="gemm.batched", type="f32", m=512, n=512, k=512, batch=64, sm=80),
    dict(op="gemm.single", type="c32", m=512, n=512, k=512, batch=1, sm=90),
    dict(op="conv.fprop", type="f32", m=50176, n=64, k=147, batch=1, cin=3,
         cout=64, filter=(7, 7), stride=(2, 1), sm=90),
    dict(op="conv.wgrad", type="f32", sm=80, filter=3),
    dict(op="gemm.grouped", type="f32"),
    dict(op="gemm.single", type="f32", m=256, n=256, k=256, batch=1, sm=80,
         asked="pedantic", gpu="NVIDIA A100"),
    dict(op="conv.dgrad"),
    dict(op="gemm.single", type="f32", m=4096, n=4096, k=4096, batch=1, sm=90,
         asked="fp32", gpu="NVIDIA H200"),
    dict(op="gemm.strided", type="f32", m=64, n=2048, k=64, batch=16, sm=80,
         asked="fast16bf"),
    dict(op="gemm.batched", type="f32", m=1024, n=1024, k=1024, batch=8,
         sm=90, asked="tf32"),
    dict(op="gemm.single", type="f32", m=640, n=640, k=640, batch=1, sm=89,
         gpu="NVIDIA GeForce RTX 4090", solver="yes"),
    conv("conv.fprop", 32, 256, 256, 1, (28, 28), (28, 28), (3, 3), (1, 1),
         sm=90, asked="tf32", layout="nhwc"),
    conv("conv.dgrad", 32, 64, 256, 1, (56, 56), (56, 56), (1, 1), (1, 1),
         sm=80, asked="fp32", layout="nchw"),
    conv("conv.wgrad", 64, 128, 128, 2, (28, 28), (14, 14), (3, 3), (2, 2),
         sm=100, asked="fp32", layout="nchw"),
    conv("conv.fprop", 8, 512, 512, 1, (14, 14), (14, 14), (3, 3), (1, 1),
         sm=75, asked="fp32", layout="nchw"),
    conv("conv.fprop", 64, 512, 512, 1, (14, 14), (14, 14), (3, 3), (1, 1),
         sm=100, asked="fp32", layout="nhwc"),
    conv("conv.fprop", 128, 512, 512, 1, (28, 28), (28, 28), (3, 3), (1, 1),
         sm=90, asked="fast16f", layout="nchw"),
    conv("conv.fprop", 128, 512, 512, 1, (28, 28), (28, 28), (3, 3), (1, 1),
         sm=90, asked="tf32", layout="nchw", fn="cudnnBackendExecute"),
    dict(op="gemm.single", type="f32", m=4096, n=4096, k=4096, batch=1, sm=90,
         asked="fp32", gpu="NVIDIA H200", region="loss", region_off=True),
    dict(op="gemm.single", type="f32", m=4096, n=4096, k=4096, batch=1, sm=90,
         asked="fp32", gpu="NVIDIA H200", region="enc.0",
         region_rungs=["bf16", "tf32", "fp16"]),
    conv("conv.dgrad", 32, 64, 256, 1, (56, 56), (56, 56), (1, 1), (1, 1),
         sm=80, asked="fp32", layout="nchw", region="loss",
         region_rungs=["auto"]),
    conv("conv.fprop", 128, 512, 512, 1, (28, 28), (28, 28), (3, 3), (1, 1),
         sm=90, asked="tf32", layout="nchw", fn="cudnnBackendExecute",
         region="enc.1", region_rungs=["fp16", "tf32"]),
    dict(op="gemm.lt", type="f32", m=3072, n=4096, k=768, batch=1, sm=90,
         asked="fp32", epilogue="gelu_bias", gpu="NVIDIA H200"),
    dict(op="gemm.lt", type="f32", m=768, n=3072, k=4096, batch=1, sm=90,
         asked="fp32", epilogue="bgrada/bgradb"),
    dict(op="gemm.lt", type="f32", m=768, n=3072, k=4096, batch=1, sm=80,
         asked="tf32", epilogue="other"),
    dict(op="gemm.lt", type="c32", m=768, n=3072, k=4096, batch=1, sm=80,
         asked="fp32", epilogue="none"),
    dict(op="gemm.grouped", type="f32", m=1024, n=1024, k=2048, batch=2,
         sm=90, asked="fp32", gpu="NVIDIA H200"),
    dict(op="gemm.syrk", type="f32", m=1024, n=1024, k=2048, batch=1, sm=90,
         asked="fp32", gpu="NVIDIA H200"),
    dict(op="gemm.grouped", type="f32", m=512, n=1024, k=2048, batch=1, sm=80,
         asked="fp32", gpu="NVIDIA A100"),
    dict(op="gemm.syrk", type="f32", m=512, n=1024, k=2048, batch=1, sm=80,
         asked="tf32", gpu="NVIDIA A100"),
]
for call in CALLS:
    if "m" in call and "flops" not in call:
        m, n, k, batch = (call[x] for x in ("m", "n", "k", "batch"))
        wide = 2 if call["type"] == "c32" else 1
        call["flops"] = (8 if wide == 2 else 2) * m * n * k * batch
        call["bytes"] = 4 * wide * (m * k + k * n + m * n) * batch
        call["intensity"] = call["flops"] / call["bytes"]

VECTORS = [
    dict(fn="cublasSscal_v2", n=320, caller="train", sm=90, solver="no"),
    dict(fn="cublasSaxpy_v2", n=4096, caller="train", sm=80, device=1),
    dict(fn="cublasSaxpy_v2", n=16, caller="libcudnn.so.9", sm=90),
    dict(fn="cublasSscal_v2_64", n=1, gpu="NVIDIA H200", program="x")]

SOUP = ("gemm conv * . gemm.single conv.fprop gemm.strided conv.wgrad "
        "-> -> -> fp16 tf32 bf16 keep auto fp8 m n k >= = < != , ; [ ] set "
        "otherwise amp off version 1 site include min( max ( ) \\ | é \" \"a\" "
        "tol 1e-3 tol=1e-5 profit=off guard=strict tactic=cast own=3 "
        "tactic=library 16 3x3 16..64 4Ki 2M 1e3 filter flops sm sm=90 ta=N "
        "ta caller=train* caller= asked=fp32 qkv 9c41d2e0 abcdefg #x solver=yes "
        "seed update scale= unscale 2^16 2^ 24 version 2 "
        "- --> <= type batch \" \t workspace=64Mi own=10 ~ :").split(" ")
SOUP += [" "] * 40 + ["\n"] * 12 + ["\\\n", "\r\n", "\r", "\t", '"a b"', '"']

OPS = "gemm conv * gemm.single gemm.strided gemm.batched conv.fprop " \
      "conv.wgrad gemm.lt gemm.grouped gemm.syrk conv.dgrad".split()
CONDITIONS = """m>=512 n<64 k=16..1024 k!=768 max(m,n,k)=50257..50304
    min(m,n)<=16 batch>=64 cin<=4 cout=255,18..75 filter=3x3 filter=7x7,1x1
    filter=3 filter!=3x3 filter=3x3x3 stride=2x1 stride=1..2 stride<=2
    flops<2G flops>=1.5e9 bytes>1Mi intensity>10.5 sm=75 sm>=80 sm!=100..103
    ta=N ta=N,T ta!=T tb=N type=f32 type=c32 asked=fp32 asked=tf32 asked!=fp32
    caller=libcusolver.so* caller!=train caller=tr??n site=qkv site=9c41*
    gpu="NVIDIA?A*" solver=yes program=x rank=0 m=1Ki dilation=1 groups=1
    layout=nhwc epilogue=bias min(cin,cout)<4 max(m)>5 k>=4k m<1,2 ta<N
    region=loss region=enc* region!=loss region=loss,enc.1
    m==5 m=5..1 m=1.5 m=99999999999999999999 sm=8x0 tol=1 foo=1 m= m
    filter=3x3x3x3 filter<3x3 device=0 k=1e3 flops=1..2k intensity=5k""".split()
SCALING_CONDITIONS = """fn=cublasSscal_v2 fn=cublasSaxpy_v2 fn=cublasS* n=320
    n>=16 caller=train* caller!=train caller=libcudnn* sm=90 device=1
    program=x gpu="NVIDIA*" solver=no min(n)<100 max(n,n)>100 max(n,m)>1
    region=x lib=z k=3 type=f32 site=qkv rank=0""".split()
ACTIONS = """fp16 tf32 bf16 keep auto fp16x3 fp16x2,fp16x3,bf16x3,bf16x6
    fp16,bf16x3 fp16,tf32 tf32,fp16 fp16,bf16,tf32
    fp8 tf32,bf16 bf16,fp16 fp16,fp16 keep,fp16 fp16,keep
    fp61 auto,fp16 bf16,""".split()
SETTINGS = """tol=1e-3 tol=1e-5 tol=8e-3 tol=0 tol=1e-9 tol=x profit=off
    profit=on guard=off guard=strict guard=on guard=of scale=none own=0
    tactic=cast tactic=library tactic=auto respect-opt-out=off
    workspace=64Mi workspace=0 workspace=1.5Gi own=1000 own=1k own=1.5
    sample=64 after=10 exact=no own="64" own=off own
    deepbind=off m=5 prof=1 tol tol=1e-3k conv-workspace=1k
    conv-workspace=own conv-workspace=advertise
    guard="off" reproducible=on workspace=1e40""".split()


def soup(rng):
    return "".join(rng.choice(SOUP) for _ in range(rng.randint(1, 30)))


def statement(rng, most=3):
    kind = rng.random()
    if kind < 0.08:
        return "set " + " ".join(rng.sample(SETTINGS, rng.randint(0, 2)))
    if kind < 0.14:
        return "[" + " ".join(rng.sample(CONDITIONS, rng.randint(0, 2))) + "]"
    if kind < 0.17:
        return "otherwise " + rng.choice(reference.PROFILES + ["ampp"])
    if kind < 0.23:
        return scaling(rng)
    if kind < 0.26:
        return rng.choice(["site qkv=9c41d2e0", "site qkv = 9C41D2E0 # x",
                           "site a=9c41d2e", "version 1", "version 2",
                           "site x=00000000"])
    left = ",".join(rng.sample(OPS, rng.choice((1, 1, 1, 2, 3))))
    conditions = rng.sample(CONDITIONS, rng.choice((0, 0, 1, 1, 2, 3)) % (most + 1))
    right = rng.sample(SETTINGS, rng.choice((0, 0, 0, 1, 2)))
    arrow = rng.choice(("->", "->", "->", " -> ", " -> "))
    return " ".join([left] + conditions) + arrow + " ".join(
        [rng.choice(ACTIONS)] + right)


def scaling(rng):
    word = rng.choice(("seed", "update"))
    conditions = rng.sample(CONDITIONS, rng.choice((0, 0, 0, 1))) + \
        rng.sample(SCALING_CONDITIONS, rng.choice((0, 1, 1, 2)))
    right = "unscale" if word == "update" else "scale=2^16"
    if rng.random() < 0.2:
        right = rng.choice(("scale=2^16", "unscale", "scale=2^8", "scale",
                            "scale=2^0", "scale=2^25", "scale=16", "fp16",
                            "scale=2 ^ 16", "scale=2^1.5", "unscale tol=1e-3",
                            "scale=2^x", "", "unscale,unscale", 'scale="2"'))
    return " ".join([word] + conditions + ["->", right])


def broken(rng):
    lines = [statement(rng) for _ in range(rng.randint(1, 7))]
    if rng.random() < 0.3:
        lines.insert(0, "version 2")
    text = "".join(line + rng.choice("\n\n\n\n;") for line in lines)
    if rng.random() < 0.3:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(SOUP) + text[at:]
    if rng.random() < 0.2:
        at = rng.randrange(len(text))
        text = text[:at] + text[at + 1:]
    return text


def careful(rng):
    """Statements that are mostly right, so that decisions are compared."""
    while True:
        lines = [line for line in (statement(rng, 1) for _ in range(6))
                 if not reference.Policy(line, PROFILES).errors]
        otherwise = [line for line in lines if line.startswith("other")]
        lines = [line for line in lines if not line.startswith("other")]
        text = "\n".join(lines + otherwise[:1]) + "\n"
        if lines:
            if rng.random() < 0.3:
                text = scaled(rng) + text
            return text


def scaled(rng):
    """Lines for calls on vectors that go together."""
    lines = [line for line in (scaling(rng) for _ in range(8)) if not
             [e for e in reference.Policy("version 2\n" + line, PROFILES).errors
              if e[2] != "one alone"]]
    text = "version 2\n" + "\n".join(lines) + "\n"
    return text if not reference.Policy(text, PROFILES).errors else ""


PROFILES = {}
RATES = []


def expected(text):
    policy = reference.Policy(text, PROFILES, RATES)
    if policy.errors:
        return "errors" + "".join(" %d:%d" % e[:2] for e in policy.errors)
    return "ok" + "".join(" %s:%d:%s:%s:%s:%s:%s" % policy.decide(call)
                          for call in CALLS) + \
        "".join(" %s:%d" % policy.scaling(call) for call in VECTORS)


def main():
    driver, folder = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100000
    for name in reference.PROFILES:
        with open(os.path.join(folder, name + ".policy"),
                  encoding="utf-8") as file:
            PROFILES[name] = file.read()
    RATES.extend(reference.read_rates(
        os.path.join(folder, os.pardir, "profit", "rates.def")))
    rng = random.Random(SEED)
    makers = [soup, broken, soup, broken, broken, careful]
    texts = [makers[i % len(makers)](rng) for i in range(count)]
    raw = [text.encode() for text in texts]
    stream = b"".join(b"%d\n" % len(text) + text for text in raw)
    answers = subprocess.run([driver], input=stream, stdout=subprocess.PIPE,
                             check=True).stdout.decode().splitlines()
    print("1..2")
    wrong = accepted = 0
    if len(answers) != len(texts):
        print("# %d answers to %d texts" % (len(answers), len(texts)))
        wrong += 1
    for text, answer in zip(texts, answers):
        want = expected(text)
        accepted += want.startswith("ok")
        if answer != want:
            wrong += 1
            if wrong <= 10:
                print("# %r\n#   C:         %s\n#   reference: %s"
                      % (text, answer, want))
    print("%sok 1 - %d texts, %d accepted, %d disagreements"
          % ("not " if wrong else "", len(texts), accepted, wrong))
    enough = accepted * 10 >= count
    print("%sok 2 - at least a tenth of the texts is accepted"
          % ("" if enough else "not "))
    return 1 if wrong or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
