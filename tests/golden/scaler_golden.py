#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scaler_golden.py -- what PyTorch's own GradScaler does, row by row.

Runs every sequence of scaler_rows.txt, and random ones, on
torch.amp.GradScaler("cpu") with real optimizers whose .grad is set by hand, and
prints the table that the tests of the gradient scaler compare with:

    python3 scaler_golden.py > scaler.txt      (needs PyTorch; 2.15 made it)

Columns, by tabs: id, options, sequence, result, exception types; for rows that
PyTorch's CPU scaler has no answer to, the result is "-" and the last column
says why. tests/unit/scaler/scaler_script.h tells how sequences and results are read;
each word there has one branch in class Run here. Not run by `make check`."""
import pathlib
import random
import re
import struct
import sys
import warnings

import torch
from torch.amp.grad_scaler import GradScaler, OptState

ERRORS = [
    ("but _scale is None", "E_NOT_SCALED"),
    ("has already been called on this optimizer", "E_ALREADY_UNSCALED"),
    ("unscale_() is being called after step()", "E_UNSCALE_AFTER_STEP"),
    ("step() has already been called", "E_ALREADY_STEPPED"),
    ("recorded prior to update", "E_NO_CHECKS"),
    ("recorded for this optimizer", "E_NO_CHECKS_GROUP"),
    ("unscale FP16 gradients", "E_DTYPE"),
    ("state dict is empty", "E_STATE_EMPTY"),
    ("growth factor must be", "E_INVALID"),
    ("backoff factor must be", "E_INVALID"),
    ("has no attribute '_growth_factor'", "E_INVALID"),
]
TYPES = {"f": (torch.float32, torch.int32, 8), "h": (torch.float16,
         torch.int16, 4), "b": (torch.bfloat16, torch.int16, 4),
         "d": (torch.float64, torch.int64, 16)}
GRADIENTS = {"0": "f:3f800000,3f800000", "1": "f:3f800000,7f800000",
             "n": "f:3f800000,7fc00000", "m": "f:3f800000,ff800000",
             "h": "h:3c00,3c00", "H": "h:3c00,7c00", "z": "f:", "e": "-"}


def number(text):
    return float.fromhex(text) if "0x" in text else float(text)


def single(value):
    return torch.tensor(value, dtype=torch.float64).float().view(
        torch.int32).item() & 0xffffffff


def double(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


class Counted(torch.optim.SGD):
    """Tells whether it was stepped."""
    steps = 0

    def step(self, closure=None):
        self.steps += 1
        return super().step(closure)


class Fused(torch.optim.SGD):
    """What a fused optimizer is given, before the real one takes it."""
    given = None

    def step(self, closure=None):
        scale = self.grad_scale
        self.given = (single(float(self.found_inf)),
                      single(1.0 if scale is None else float(scale)))


class Group:
    def __init__(self):
        self.layout = None
        self.set("0")

    def set(self, what):
        kind, _, text = GRADIENTS.get(what, what).partition(":")
        if kind == "-":
            layout, self.param = "-", torch.nn.Parameter(torch.ones(2))
        else:
            words = [int(word, 16) for word in text.split(",") if word]
            dtype, integer, digits = TYPES[kind]
            layout = kind + str(len(words))
            wrap = 1 << 4 * digits
            words = [w - wrap if w >= wrap // 2 else w for w in words]
            grad = torch.tensor(words, dtype=integer).view(dtype)
            if layout != self.layout:
                self.param = torch.nn.Parameter(torch.ones_like(grad))
            self.param.grad = grad.clone()
        if layout != self.layout:
            # One parameter, but one identity for the scaler: its optimizer.
            self.layout = layout
            if hasattr(self, "plain"):
                self.plain.param_groups[0]["params"] = [self.param]
                self.fused.param_groups[0]["params"] = [self.param]
            else:
                self.plain = Counted([self.param], lr=1.0)
                self.fused = Fused([self.param], lr=1.0)
                self.fused._step_supports_amp_scaling = True

    def dump(self):
        if self.layout == "-":
            return "[]"
        dtype, integer, digits = TYPES[self.layout[0]]
        mask = (1 << 4 * digits) - 1
        grad = self.param.grad
        # Which NaN it is differs from machine to machine.
        return "[" + ",".join(
            "nan" if n else f"{v & mask:0{digits}x}" for v, n in
            zip(grad.view(integer).tolist(), grad.isnan().tolist())) + "]"


class Run:
    def __init__(self, options):
        self.options, self.out, self.types = options, [], []
        self.groups = {name: Group() for name in "ABC"}
        self.reduce = None
        self.scaler = None
        self.guard(self.create)

    def guard(self, call):
        try:
            call()
            return True
        except (AssertionError, RuntimeError, ValueError,
                AttributeError) as error:
            for text, status in ERRORS:
                if text in str(error):
                    self.out.append("!" + status)
                    self.types.append(type(error).__name__)
                    return False
            raise

    def create(self):
        words = self.options.split(",")
        names = ["init_scale", "growth_factor", "backoff_factor"]
        known = {}
        if words[0] != "D":
            known = {n: number(w) for n, w in zip(names, words)}
            known["growth_interval"] = int(words[3])
        known["enabled"] = "disabled" not in words
        self.scaler = GradScaler("cpu", **known)

    def load(self, text):
        state = {}
        if text:
            v = text.split(",")
            state = {"scale": number(v[0]), "growth_factor": number(v[1]),
                     "backoff_factor": number(v[2]),
                     "growth_interval": int(v[3]),
                     "_growth_tracker": int(v[4])}
        self.scaler.load_state_dict(state)

    def again(self):
        state = self.scaler.state_dict()
        self.create()
        self.scaler.load_state_dict(state)

    def unscale(self, optimizer):
        """As FSDP's scaler: what the ranks agree on, right after it."""
        self.scaler.unscale_(optimizer)
        if self.reduce is not None and self.scaler.is_enabled():
            for found in self.scaler._found_inf_per_device(
                    optimizer).values():
                found.copy_(torch.maximum(found, torch.tensor(self.reduce)))

    def step(self, group):
        before = group.plain.steps
        # The same for the scaler: it knows optimizers by their identity.
        if (self.reduce is not None and self.scaler.is_enabled()
                and self.stage(group) is OptState.READY):
            self.unscale(group.plain)
        self.scaler.step(group.plain)
        self.out.append("y" if group.plain.steps > before else "n")

    def fused_step(self, group):
        # A fused step of the optimizer that unscale_ saw.
        states = self.scaler._per_optimizer_states
        plain, fused = id(group.plain), id(group.fused)
        if plain in states:
            states[fused] = states[plain]
        self.scaler.step(group.fused)
        states[plain] = states.pop(fused)
        self.out.append("F(%08x,%08x)" % group.fused.given)

    def norm(self, group, what, value):
        if what == "K":
            return single(float(torch.nn.utils.clip_grad_norm_(
                [group.param], value)))
        return single(float(torch.nn.utils.get_total_norm(
            [group.param.grad], value)))

    def stage(self, group):
        state = self.scaler._per_optimizer_states.get(id(group.plain))
        return state["stage"] if state else OptState.READY

    def word(self, w):
        s, group = self.scaler, self.groups.get(w[-1])
        if w == "S":
            seed = torch.ones(1)
            s.scale(seed)
        elif w == "P":
            self.guard(s.update)
        elif w.startswith("P="):
            self.guard(lambda: s.update(number(w[2:])))
        elif w == "?":
            self.out.append(f"{single(s.get_scale()):08x}"
                            f"/{s._get_growth_tracker()}")
        elif w == "f?":
            self.guard(lambda: self.out.append(
                f"{double(s.get_growth_factor()):016x}"
                f"/{double(s.get_backoff_factor()):016x}"
                f"/{s.get_growth_interval()}"))
        elif w[0] == "=":
            self.out.append(group.dump())
        elif w[1:2] == ":":
            self.groups[w[0]].set(w[2:])
        elif w[0] in "UTF" and len(w) == 3:
            self.groups[w[1]].set(w[2])
            self.word(w[:2])
        elif w[0] == "U":
            self.guard(lambda: self.unscale(group.plain))
        elif w[0] == "T":
            self.guard(lambda: self.step(group))
        elif w[0] == "F":
            self.guard(lambda: self.fused_step(group))
        elif w[0] in "NK" and w[2:3] == "=":
            self.out.append("%08x" % self.norm(self.groups[w[1]], w[0],
                                               number(w[3:])))
        elif w.startswith("G="):
            s.set_growth_factor(number(w[2:]))
        elif w.startswith("B="):
            s.set_backoff_factor(number(w[2:]))
        elif w.startswith("I="):
            s.set_growth_interval(int(w[2:]))
        elif w.startswith("L="):
            self.guard(lambda: self.load(w[2:]))
        elif w.startswith("R="):
            self.reduce = number(w[2:])
        elif w == "V":
            self.guard(self.again)
        else:
            raise KeyError(w)

    def words(self, sequence):
        if not self.scaler:
            return
        for w in sequence.split():
            w, _, count = w.partition("*")
            for _ in range(int(count or 1)):
                for part in {"c": ["S", "TA0", "P"],
                             "i": ["S", "TA1", "P"]}.get(w, [w]):
                    self.word(part)

    def result(self):
        text = []
        for item in self.out:
            if text and text[-1][0] == item:
                text[-1][1] += 1
            else:
                text.append([item, 1])
        return " ".join(i if n == 1 else f"{i}*{n}" for i, n in text) or "ok"


def random_word(run, dice):
    """A call that might be right; layouts change only between iterations."""
    name = dice.choice("AAABBC")
    ready = run.stage(run.groups[name]) is OptState.READY
    kinds = "0000111nm" + ("ehz" if ready else "")
    if not ready and run.groups[name].layout != "f2":
        kinds = ""
    call = dice.choice("SSUUUTTTTTPPPPPFccccii?LIGBVX=")
    if call == "F":     # without gradients: row X12
        kinds = kinds.replace("e", "")
        if run.groups[name].layout == "-":
            call = "U"
    if call in "UTF":
        return call + name + (dice.choice(kinds) if kinds and
                              dice.random() < .8 else "")
    if call in "ci":
        return call if run.stage(run.groups["A"]) is OptState.READY else "P"
    if call == "=":
        return "=" + name
    if call == "X":
        return dice.choice(["P=4", "P=1e-40", "P=3e38", "P=0.1"])
    if call == "L":
        return "L=" + dice.choice(["3,4,.5,2,0", "1e38,2,.25,1,0",
                                   "0x1p-148,1.5,.8,3,2", "8,2,.5,3,1"])
    if call == "I":
        return f"I={dice.randint(0, 3)}"
    if call == "G":
        return "G=" + dice.choice(["2", "1.1", "16", "0.9", "1e30"])
    if call == "B":
        return "B=" + dice.choice([".5", ".8", "0.1", "1e-30", "1.5"])
    return call


def random_row(index):
    dice = random.Random(index)
    options = dice.choice(["D", "8,2,.5,3", "1e38,16,.5,1", "1,1.1,.8,2",
                           "0x1p-146,2,.5,2", "4,2,.25,2", "0.1,3,.3,1"])
    run, words = Run(options), []
    for _ in range(dice.randint(8, 26)):
        words.append(random_word(run, dice))
        run.words(words[-1])
    words.append("?")
    run.words("?")
    return options, " ".join(words), run


def line(name, options, sequence, run):
    print(name, options, sequence, run.result(),
          ",".join(dict.fromkeys(run.types)) or "none", sep="\t")


def main():
    warnings.simplefilter("ignore")
    rows = pathlib.Path(__file__).with_name("scaler_rows.txt")
    print("# Made by scaler_golden.py, which see, with PyTorch "
          + re.sub(r"\+.*", "", torch.__version__)
          + "'s torch.amp.GradScaler(\"cpu\").")
    for row in rows.read_text().splitlines():
        if not row or row[0] == "#":
            continue
        name, options, sequence, why = (row.split("\t") + [""])[:4]
        if why:
            print(name, options, sequence, "-", why, sep="\t")
            continue
        run = Run(options)
        run.words(sequence)
        line(name, options, sequence, run)
    for index in range(300):
        line(f"R{index + 1}", *random_row(index))


if __name__ == "__main__":
    sys.exit(main())
