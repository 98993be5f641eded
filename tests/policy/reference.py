# SPDX-License-Identifier: Apache-2.0
"""A second implementation of the policy language (grammar version 2).

Written from the manual, independently of policy/*.c, to be disagreed with:
tests/policy/agree.py feeds both with the same texts. It is a check, not a
model of structure, and is never installed.

It grew out of an earlier prototype and differs from it on purpose:
 - an error never swallows the line that follows it;
 - `version` must be 1 or 2, a site id has 8 hexadecimal digits, `include` wants a
   string, nothing follows `otherwise`;
 - `keep` and `auto` stand alone;
 - sizes are whole numbers with Ki or Mi; k M G T belong to flops and bytes;
   NxM belongs to filter, stride and dilation; there is no Ti;
 - setting values are checked; a condition that no operation of its line can
   have, a rung its tolerance forbids and a tactic it lacks are errors;
 - a condition on a site knows the names `site` lines give;
 - profiles decide, and rungs are ranked by the profit model, with a reason when
   the call is kept. The constants of GPUs are read from policy/profit/rates.def.
 - below `version 2` there are lines about calls on vectors:
       seed   = "seed" { condition } "->" "scale" "=" "2" "^" DIGITS ;
       update = "update" { condition } "->" "unscale" ;
   with one scale for all, 2^1 to 2^24, and never the one without the other.
Left out, and tested elsewhere: include files, encodings, bounds, warnings.
"""
import math
import re

RUNGS = {  # name: (known error, default tolerance)
    "tf32": (2.9e-4, 1e-3), "fp16": (2.9e-4, 1e-3), "bf16": (2.4e-3, 8e-3),
    "fp16x3": (1.3e-6, 1e-5), "bf16x3": (4.4e-6, 1e-5),
    "fp16x2": (1.2e-6, 1e-5), "bf16x6": (5e-7, 1e-5)}
# Terms, and how much of K is added up at once.
PARTS = {"fp16x2": (2, 1024), "fp16x3": (3, 1024), "bf16x3": (3, 2048),
         "bf16x6": (6, 512)}
LEAST_SM = {"tf32": 80, "fp16": 70, "bf16": 80, "fp16x2": 70, "fp16x3": 70,
            "bf16x3": 80, "bf16x6": 80}
PROFILES = "off tf32 fp16 bf16 accurate amp".split()
OPERATIONS = ("gemm.single gemm.batched gemm.strided gemm.grouped gemm.syrk "
              "gemm.lt conv.fprop conv.dgrad conv.wgrad").split()
PATTERNS = ["*", "gemm", "conv"] + OPERATIONS
IN_ARRAYS = ("gemm.batched", "gemm.grouped")
PARTS_OF_CALLS = ("gemm.grouped", "gemm.syrk")
SIZES = {name: "gemm conv" for name in "m n k batch".split()}
SIZES.update({name: "conv" for name in
              "cin cout groups filter stride dilation spatial".split()})
EXTENTS = ("filter", "stride", "dilation")
QUANTITIES = dict(SIZES, flops="gemm conv", bytes="gemm conv",
                  intensity="gemm conv", sm="gemm conv",
                  device="gemm conv", rank="gemm conv")
FACTS = {name: "gemm conv" for name in
         "type asked fn caller program region site gpu lib "
         "solver".split()}
VECTOR = "n sm device rank fn caller program region gpu lib solver"
FACTS.update(ta="gemm", tb="gemm", layout="conv", epilogue="gemm conv")
SETTINGS = {
    "tol": "number", "guard": "on off strict",
    "tactic": "auto library cast", "profit": "on off",
    "own": "count", "workspace": "bytes", "conv-workspace": "own advertise",
    "respect-opt-out": "on off", "deepbind": "on off",
    "reproducible": "on off",
    "learn": "on off"}
KEPT = ("keep", "none")
NVIDIA = "libcublas libcudnn libcusolver libcusparse libcufft libnv".split()


class Bad(Exception):
    """An error at a token."""

    def __init__(self, token, message):
        super().__init__(message)
        self.place = token[2], token[3]
        self.message = message


# ---- Tokens: (kind, text, line, column) -------------------------------------

TOKEN = re.compile(r"""
    (?P<blank>[ \t]+) | (?P<comment>\#[^\n]*) | (?P<join>\\\r?\n)
  | (?P<nl>\r?\n) | (?P<arrow>->) | (?P<cmp>!=|<=|>=|=|<|>)
  | (?P<mark>[,;()\[\]]) | (?P<string>"(?:[^"\\\n]|\\["\\])*")
  | (?P<word>(?:(?!->)[A-Za-z0-9_.*?/+@%~:\-])+) | (?P<bad>.)""",
                   re.X | re.S)


def tokens_of(text):
    out, line, start, at = [], 1, 0, 0
    if text.startswith("\ufeff"):
        at = start = 1
    for match in TOKEN.finditer(text, at):
        kind = match.lastgroup
        if kind not in ("blank", "comment", "join"):
            out.append((kind, match.group(), line, match.start() - start + 1))
        if kind in ("join", "nl"):
            line, start = line + 1, match.end()
    out.append(("end", "", line, len(text) - start + 1))
    return out


def unquote(text):
    if not text.startswith('"'):
        return text
    return re.sub(r"\\(.)", r"\1", text[1:-1])


# ---- Numbers -----------------------------------------------------------------

NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"
                    r"(Ki|Mi|Gi|k|M|G|T)?\Z")
FACTOR = {None: 1.0, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "k": 1e3,
          "M": 1e6, "G": 1e9, "T": 1e12}
SUFFIXES = {"size": ("Ki", "Mi"), "amount": tuple(FACTOR), "ratio": (),
            "whole": ()}


def number(text, kind, token):
    match = NUMBER.match(text)
    if not match:
        raise Bad(token, "not a number")
    if match[2] and match[2] not in SUFFIXES[kind]:
        raise Bad(token, "suffix")
    if kind in ("size", "whole") and not match[1].isdigit():
        raise Bad(token, "not whole")
    value = float(match[1]) * FACTOR[match[2]]
    if not value < 2.0**63:
        raise Bad(token, "too large")
    return value


def number_kind(key):
    if key in SIZES:
        return "size"
    return {"flops": "amount", "bytes": "amount",
            "intensity": "ratio"}.get(key, "whole")


# ---- Policies ----------------------------------------------------------------

class Condition:
    def __init__(self):
        self.key = self.sizes = self.compare = None
        self.values = []      # (low, high), a list of extents, or a glob

    def families(self):
        if self.sizes:
            sets = [set(SIZES[s].split()) for s in self.sizes]
            if self.sizes == ["n"] * len(self.sizes):
                sets.append({"gemm", "conv", "vector"})
                sets[:-1] = [s | {"vector"} for s in sets[:-1]]
            return set.intersection(*sets)
        return set({**QUANTITIES, **FACTS}[self.key].split()) | (
            {"vector"} if self.key in VECTOR.split() else set())


class Rule:
    def __init__(self):
        self.patterns, self.conditions = [], []
        self.rungs = []       # [] is keep, ["auto"] everything
        self.places = []
        self.own, self.defaults = {}, {}
        self.line, self.profile = 0, None


def families_of(patterns):
    out = set()
    for pattern in patterns:
        out |= {"gemm", "conv"} if pattern == "*" else {
            pattern.split(".")[0]}
    return out


class Parser:
    """One text; errors in order of appearance as (line, column, message)."""

    def __init__(self, text, profiles, profile=None):
        self.tokens, self.at = tokens_of(text), 0
        self.profiles, self.profile = profiles, profile
        self.errors, self.rules, self.labels = [], [], {}
        self.section, self.sets = [], {}
        self.otherwise, self.told = None, False
        self.grammar, self.scale, self.scalings = 1, None, []

    def here(self):
        return self.tokens[self.at]

    def ahead(self):
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    def take(self):
        token = self.here()
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def at_end(self):
        return self.here()[0] in ("nl", "end") or self.here()[1] == ";"

    def want_end(self):
        if not self.at_end():
            raise Bad(self.here(), "unexpected")

    def note(self, place, message):
        self.errors.append((*place, message))

    def parse(self):
        while True:
            try:
                if not self.at_end():
                    self.statement()
            except Bad as bad:
                self.note(bad.place, bad.message)
                while not self.at_end():
                    self.take()
            if self.here()[0] == "end":
                break
            self.take()

    def statement(self):
        token = self.here()
        if self.otherwise and not self.told:
            self.told = True
            self.note(token[2:], "otherwise is last")
        parse = {"version": self.version, "[": self.section_line,
                 "set": self.set_line, "include": self.include,
                 "site": self.site, "otherwise": self.otherwise_line,
                 "seed": self.scaling_line, "update": self.scaling_line
                 }.get(token[1])
        if parse is None:
            self.rule()
            return
        self.take()
        if parse == self.scaling_line:
            parse(token)
        else:
            parse()

    # -- statements other than rules

    def version(self):
        if self.here()[1] not in ("1", "2"):
            raise Bad(self.here(), "version")
        grammar = int(self.take()[1])
        self.want_end()
        self.grammar = grammar

    def section_line(self):
        conditions, self.section = [], []
        while self.here()[1] != "]":
            if self.at_end():
                raise Bad(self.here(), "] missing")
            conditions.append(self.condition())
        self.take()
        self.want_end()
        self.section = conditions

    def set_line(self):
        settings = self.settings()
        if not settings:
            raise Bad(self.here(), "set wants something")
        self.want_end()
        self.sets = {**self.sets, **settings}

    def want(self, text):
        if self.here()[1] != text:
            raise Bad(self.here(), text + " is wanted")
        return self.take()

    def scaling_line(self, first):
        if self.grammar < 2:
            raise Bad(first, "version 2")
        conditions = self.conditions(first, {"vector"})
        if first[1] == "update":
            self.want("unscale")
            self.want_end()
        else:
            self.want("scale")
            self.want("=")
            power = self.want("2")
            self.want("^")
            if self.here()[0] != "word":
                raise Bad(self.here(), "power")
            exponent = number(self.here()[1], "whole", self.here())
            if not 1 <= exponent <= 24:
                raise Bad(self.here(), "2^1 to 2^24")
            self.take()
            self.want_end()
            if self.scale not in (None, exponent):
                raise Bad(power, "one scale")
            self.scale = exponent
        self.scalings.append((first, conditions))

    def include(self):
        token = self.here()
        if token[0] != "string":
            raise Bad(token, "include wants a string")
        self.take()
        self.want_end()
        raise Bad(token, "there is no such file")

    def site(self):
        name = self.here()
        if name[0] != "word" or len(name[1]) > 31:
            raise Bad(name, "site wants a name")
        self.take()
        if self.here()[1] != "=":
            raise Bad(self.here(), "= missing")
        self.take()
        ident = self.here()
        if not re.fullmatch("[0-9a-fA-F]{8}", ident[1]):
            raise Bad(ident, "site id")
        self.take()
        self.want_end()
        self.labels.setdefault(ident[1].lower(), name[1])

    def otherwise_line(self):
        token = self.here()
        if token[1] not in PROFILES:
            raise Bad(token, "profile")
        self.take()
        self.want_end()
        self.otherwise = token[1]

    # -- rules

    def pattern(self):
        if self.here()[1] not in PATTERNS:
            raise Bad(self.here(), "operation")
        return self.take()[1]

    def rule(self):
        rule, first = Rule(), self.here()
        rule.line, rule.profile = first[2], self.profile
        rule.patterns.append(self.pattern())
        while self.here()[1] == ",":
            self.take()
            rule.patterns.append(self.pattern())
        rule.conditions = self.conditions(first, families_of(rule.patterns))
        self.action(rule)
        rule.own, rule.defaults = self.settings(), self.sets
        self.want_end()
        self.rules.append(rule)

    def conditions(self, first, families):
        """The section's and those of a line, up to and with the arrow."""
        for condition in self.section:
            if not condition.families() & families:
                raise Bad(first, "no operation has it")
        out = list(self.section)
        while self.here()[0] in ("word", "string"):
            key = self.here()
            if self.ahead()[0] != "cmp" and self.ahead()[1] != "(":
                raise Bad(key, "no condition")
            condition = self.condition()
            if not condition.families() & families:
                raise Bad(key, "no operation has it")
            out.append(condition)
        if self.here()[0] != "arrow":
            raise Bad(self.here(), "-> missing")
        self.take()
        return out

    def action(self, rule):
        if self.here()[1] in ("keep", "auto"):
            token = self.take()
            rule.rungs = [] if token[1] == "keep" else ["auto"]
            rule.places = [token[2:]]
            if self.here()[1] == ",":
                raise Bad(self.here(), "stands alone")
            return
        while True:
            token = self.here()
            if token[1] not in RUNGS:
                raise Bad(token, "action")
            self.take()
            if token[1] not in rule.rungs:
                rule.rungs.append(token[1])
                rule.places.append(token[2:])
            if self.here()[1] != ",":
                return
            self.take()

    def settings(self):
        out = {}
        while self.here()[0] == "word":
            key = self.take()
            if key[1] not in SETTINGS or self.here()[1] != "=":
                raise Bad(key, "setting")
            self.take()
            token = self.here()
            if token[0] not in ("word", "string"):
                raise Bad(token, "value missing")
            kind, value = SETTINGS[key[1]], unquote(token[1])
            if kind in ("number", "count", "bytes"):
                value = number(token[1], {"number": "ratio", "count": "whole",
                                          "bytes": "amount"}[kind], token)
                if value <= 0 and kind != "count":
                    raise Bad(token, "greater than 0")
            elif value not in kind.split():
                raise Bad(token, "one of")
            self.take()
            out[key[1]] = (value, token[2:])
        return out

    # -- conditions

    def condition(self):
        out, key = Condition(), self.take()
        out.key = key[1]
        if key[1] in ("min", "max") and self.here()[1] == "(":
            out.sizes = []
            while not out.sizes or self.here()[1] == ",":
                self.take()
                if self.here()[1] not in SIZES:
                    raise Bad(self.here(), "not a size")
                out.sizes.append(self.take()[1])
            if self.here()[1] != ")":
                raise Bad(self.here(), ") missing")
            self.take()
        elif key[1] not in QUANTITIES and key[1] not in FACTS:
            raise Bad(key, "condition")
        token = self.here()
        if token[0] != "cmp":
            raise Bad(token, "comparison missing")
        self.take()
        if self.here()[0] == "cmp":
            raise Bad(token, "one comparison")
        out.compare = token[1]
        listed = token[1] in ("=", "!=")
        if not out.sizes and key[1] in FACTS and not listed:
            raise Bad(token, "only = and !=")
        while True:
            value = self.here()
            if value[0] not in ("word", "string"):
                raise Bad(value, "value missing")
            out.values.append(self.value(out, value, listed))
            self.take()
            if self.here()[1] != ",":
                return out
            if not listed:
                raise Bad(self.here(), "one value")
            self.take()

    @staticmethod
    def value(condition, token, listed):
        text, key = token[1], condition.key
        if not condition.sizes and key in FACTS:
            return unquote(text)
        kind = "size" if condition.sizes else number_kind(key)
        if not condition.sizes and key in EXTENTS and "x" in text:
            extents = text.split("x")
            if not listed or len(extents) > 3:
                raise Bad(token, "extents")
            extents = [number(e, "whole", token) for e in extents]
            if max(extents) > 65535:
                raise Bad(token, "too large")
            return extents
        if ".." in text:
            if not listed:
                raise Bad(token, "range")
            low, high = (number(part, kind, token)
                         for part in text.split("..", 1))
            if low > high:
                raise Bad(token, "empty range")
            return low, high
        low = number(text, kind, token)
        return low, low


class Policy:
    def __init__(self, text, profiles, rates=()):
        parser = Parser(text, profiles)
        self.rates = rates
        parser.parse()
        self.errors, self.labels = parser.errors, parser.labels
        self.scale, self.scalings = parser.scale, parser.scalings
        self.rules, self.fallback = parser.rules, {}
        if parser.otherwise:
            inner = Parser(profiles[parser.otherwise], profiles,
                           parser.otherwise)
            inner.parse()
            assert not inner.errors
            self.fallback = inner.sets
            for rule in inner.rules:
                rule.defaults = parser.sets
            self.rules = self.rules + inner.rules
        self.check()
        self.errors.sort(key=lambda e: e[:2])

    def setting(self, rule, key):
        for place in (rule.own, rule.defaults, self.fallback):
            if key in place:
                return place[key]
        return None, None

    def check(self):
        told = set()
        for rule in self.rules:
            tol, tol_place = self.setting(rule, "tol")

            def blame(what, i, place):
                if rule.profile and what in told:
                    return
                if rule.profile:
                    told.add(what)
                self.errors.append((*(place if rule.profile else
                                      rule.places[i]), what))
            least = min(row[0] for row in RUNGS.values())
            if rule.rungs == ["auto"]:
                if tol is not None and tol < least:
                    blame("tol", 0, tol_place)
                continue
            for i, rung in enumerate(rule.rungs):
                if tol is not None and RUNGS[rung][0] > tol:
                    blame("tol", i, tol_place)
            if rule.own.get("tactic", ("",))[0] == "cast" and \
                    rule.rungs == ["tf32"]:
                self.errors.append((*rule.own["tactic"][1], "cast"))
        kinds = {first[1] for first, _ in self.scalings}
        if len(kinds) == 1 and not self.errors:
            self.errors.append((*self.scalings[0][0][2:], "one alone"))

    # -- deciding; a call is a dict: op, quantities, facts

    def decide(self, call):
        for rule in self.rules:
            named = any(p == "*" or p == call["op"] or
                        call["op"].startswith(p + ".") for p in rule.patterns)
            if named and all(self.holds(c, call) for c in rule.conditions):
                return (rule.profile or "file", rule.line,
                        *self.choose(rule, call), self.own(rule))
        return "", 0, *KEPT, "region" if "region_off" in call else \
            "no-rule", "-", "0"

    def own(self, rule):
        value = self.setting(rule, "own")[0]
        return "3" if value is None else str(int(value))

    def scaling(self, call):
        """What is done to the scalar of a call on vectors, and by what line."""
        for first, conditions in self.scalings:
            if not all(self.holds(c, call) for c in conditions):
                continue
            kind = first[1] if not is_nvidia(call) or names_caller(
                conditions) else "none"
            return kind, first[2]
        return "none", 0

    def holds(self, condition, call):
        key, values = condition.key, condition.values
        if condition.sizes:
            have = [call.get(size) for size in condition.sizes]
            if None in have:
                return False
            have = [max(h) if isinstance(h, tuple) else h for h in have]
            have = min(have) if key == "min" else max(have)
        else:
            have = call.get(key)
            if have is None:
                return False
        if isinstance(have, str):
            names = [have]
            if key == "site" and have in self.labels:
                names.append(self.labels[have])
            found = any(matches(v, n) for v in values for n in names)
            return found == (condition.compare == "=")
        every = have if isinstance(have, tuple) else (have,)
        found = any(number_holds(every, v, condition.compare) for v in values)
        return found != (condition.compare == "!=")

    def choose(self, rule, call):
        ask = {key: self.setting(rule, key)[0] for key in SETTINGS}
        asked, kind = call.get("asked"), call.get("type")
        is_last_word = any(c.key == "region" and c.compare == "="
                           for c in rule.conditions)
        if "region_off" in call and not is_last_word:
            return *KEPT, "region", "-"
        if not rule.rungs:
            about_solvers = call.get("solver") == "yes" and any(
                c.key == "solver" and c.compare == "=" and not c.sizes
                for c in rule.conditions)
            return *KEPT, "solver" if about_solvers else "rule", "-"
        if ask["respect-opt-out"] != "off":
            if asked == "pedantic":
                return *KEPT, "pedantic", "-"
            if asked in ("emulated", "opted-out"):
                return *KEPT, "opted-out", "-"
        if kind not in (None, "f32", "c32"):
            return *KEPT, "type", "-"
        if is_nvidia(call) and not names_caller(rule.conditions):
            return *KEPT, "internal-caller", "-"
        if kind == "c32" and ask["guard"] != "off":
            return *KEPT, "guard", "-"
        rungs = rule.rungs if is_last_word else \
            call.get("region_rungs", rule.rungs)
        return self.choose_rung(rule, rungs, call, ask)

    def choose_rung(self, rule, rungs, call, ask):
        """Rung, tactic, reason, and the candidates with a ? if in doubt."""
        everything = ask["auto"] = rungs == ["auto"]
        judged = ask["profit"] != "off"
        allowed = list(RUNGS) if everything else rungs
        legal = [r for r in allowed if self.legal(rule, call, r) and
                 (ask["tol"] is None or RUNGS[r][0] <= ask["tol"])]
        ways = {r: tactic(r, call, ask) for r in legal}
        fits = legal
        if ask["tactic"] == "library":
            fits = [r for r in fits if ways[r] == "library"]
        if not fits:
            return *KEPT, "unsupported", "-"
        if judged or everything:
            fits.sort(key=list(RUNGS).index)
        fits = fits[:4]
        doubt = False
        if judged:
            if too_small(call):
                return *KEPT, "too-small", "-"
            fits, doubt = self.ranked(call, ask, fits, ways)
            if not fits:
                return *KEPT, "no-profit", "-"
        if not call["op"].startswith("gemm"):
            fits = self.news(call, fits, judged)
            if not fits:
                return *KEPT, "no-profit", "-"
        if ask["guard"] == "strict" and call["op"][:4] == "conv":
            return *KEPT, "guard", "-"
        if ask["learn"] == "on" and (not call["op"].startswith("gemm") or
                                     call.get("type") == "c32"):
            return *KEPT, "own", "-"
        return (fits[0], ways[fits[0]], "none",
                "+".join(fits) + "?" * doubt)

    @staticmethod
    def news(call, fits, judged):
        """What cuDNN does not do by itself already."""
        asked = {"fast16f": "fp16"}.get(call.get("asked"), call.get("asked"))
        old = [r for r in fits if r == asked]
        if not judged and fits[0] in old:
            return []
        return [r for r in fits if r not in old]

    def ranked(self, call, ask, fits, ways):
        rates = rates_of(call, self.rates)
        if rates is None or not all(s in call for s in "mnk"):
            return fits, False
        keep = predicted(rates, call, None, None)
        same = {"tf32": "tf32", "fp16": "fast16f", "bf16": "fast16bf"}
        times = {r: predicted(rates, call, r, ways[r]) for r in fits
                 if ways[r] == "cast" or call.get("asked") != same[r]}
        times = {r: t for r, t in times.items()
                 if r not in PARTS or t <= keep / 1.1}
        tried = ask["guard"] in (None, "on") and \
            ask["reproducible"] != "on" and call["op"] not in PARTS_OF_CALLS
        most = keep * 4 if tried else keep / 1.1
        few = len(fits) < 2
        fits = sorted((r for r in times if times[r] <= most),
                      key=lambda r: (r == "fp16x2", times[r]))
        if fits == ["fp16x2"] and not few:
            fits = []
        return fits, bool(fits) and times[fits[0]] > keep / 1.1

    @staticmethod
    def legal(rule, call, rung):
        op = call["op"]
        if call.get("type") == "c32" and (
                rung not in ("tf32", "bf16") or
                op in IN_ARRAYS or op == "gemm.lt"):
            return False
        if op == "gemm.lt" and \
                call.get("epilogue") in ("bgrada/bgradb", "other"):
            return False
        if op in IN_ARRAYS and rung == "tf32":
            return False
        if op == "conv.fprop" and rung not in ("tf32", "fp16"):
            return False
        if op in ("conv.dgrad", "conv.wgrad") and rung != "tf32" and \
                not (rung == "fp16" and op in rule.patterns):
            return False
        if rung in PARTS and not op.startswith("gemm"):
            return False
        if op.startswith("conv") and rung == "fp16" and \
                call.get("sm", 0) >= 100:
            return False
        return call.get("sm", 0) >= LEAST_SM[rung]


def is_nvidia(call):
    caller = call.get("caller", "").split("/")[-1]
    return any(caller.startswith(lib) for lib in NVIDIA)


def names_caller(conditions):
    return any(c.key == "caller" and c.compare == "=" and not c.sizes
               for c in conditions)


# ---- Profit ------------------------------------------------------------------

def tactic(rung, call, ask):
    if rung == "tf32" or call.get("type") == "c32" or \
            not call["op"].startswith("gemm"):
        return "library"
    if call["op"] in IN_ARRAYS or rung in PARTS:
        return "cast"
    if rung == "bf16":
        return "cast" if ask["tactic"] == "cast" else "library"
    return "library" if ask["tactic"] == "library" and \
        not ask["auto"] else "cast"


def too_small(call):
    return all(s in call for s in "mnk") and 2.0 * call["m"] * call["n"] * \
        call["k"] * call.get("batch", 1) < 2**24


def read_rates(path):
    """The rows of rates.def: [sm, name, glob, eight numbers]."""
    with open(path, encoding="utf-8") as file:
        rows = re.findall(r"^RATES\((.*)\)$", file.read(), re.M)
    out = []
    for row in rows:
        cells = re.findall(r'"[^"]*"|[^,\s]+', row)
        out.append([int(cells[0]), unquote(cells[1]), unquote(cells[2])] +
                   [float(cell) for cell in cells[3:11]])
    return out


def rates_of(call, rows):
    sm = call.get("sm", 0)
    for row in rows:
        if row[2] != "*" and sm in (0, row[0]) and "gpu" in call and \
                matches(row[2], call["gpu"]):
            return row
    below = [row for row in rows if row[2] == "*" and row[0] <= sm]
    return max(below, key=lambda row: row[0], default=None)


def predicted(row, call, rung, way):
    fp32, tf32, fp16, bf16, bandwidth, launch, host = row[4:]
    terms, chunk = PARTS.get(rung, (1, None))
    rung = rung[:4] if rung in PARTS else rung
    rate = {"tf32": tf32, "fp16": fp16, "bf16": bf16, "fast16f": fp16,
            "fast16bf": bf16}.get(rung or call.get("asked"), 0)
    cores = bool(rung or rate)
    if not rung and not rate:
        rate = fp32
    if not rate:
        return float("inf")
    m, n, k = (call[s] for s in "mnk")
    if call["op"].startswith("conv"):
        arithmetic = rung or {"tf32": "tf32", "fast16f": "fp16"}.get(
            call.get("asked"))
        if not rung and not (fp16 if arithmetic == "fp16" else tf32):
            arithmetic = None
        return conv_predicted(row, call, arithmetic)
    batch, words = call.get("batch", 1), 2 if call.get("type") == "c32" else 1
    inputs, outputs = (m + n) * k * batch, m * n * batch
    each = 2 if way == "cast" else 4
    if not rung and call["op"] == "gemm.grouped":
        work = 2 * words**2 * m * n * k * batch if min(m, n) > 16 else 0
        return max(work / rate, each * inputs * words / bandwidth) + \
            4 * outputs * words / bandwidth
    if not rung and call["op"] == "gemm.syrk":
        def triangle(side):
            work = tiled(row, rate, cores, side, side, k, 0.5, 1) \
                if side > 16 else 0
            return max(work, each * side * k / bandwidth) + \
                2 * side * side / bandwidth + launch
        return max(triangle(m + n) - triangle(m) - triangle(n), 1e-9)
    compute = tiled(row, rate, cores, m, n, terms * k, batch, words) \
        if min(m, n) > 16 else 0
    seconds = max(each * terms * inputs * words / bandwidth, compute) + \
        4 * outputs * words / bandwidth + launch
    if chunk:
        chunk = max(chunk // 2, 512) if call.get("sm", 90) < 90 else chunk
        seconds += max(math.ceil(k / chunk) - 1, 0) * \
            (launch + 8 * outputs / bandwidth)
    if way == "cast":
        host *= 5
        apart = call["op"] in IN_ARRAYS or \
            call.get("epilogue", "none") != "none"
        seconds += (1.9 * (4 + 2 * terms) * inputs + apart * 1.6 * 8 * outputs) / bandwidth + \
            10.4 * launch
        if call["op"] == "gemm.grouped":
            seconds, host = seconds + launch, host / 5 * 6
    return max(seconds, host)


def tiled(row, rate, cores, m, n, k, batch, words):
    """The multiplications of a product, as profit.h describes tiles(T)."""
    if not row[3]:
        return 2 * words**2 * m * n * k * batch / rate
    whole = 2 * 8192**3 / rate
    return cut(row, rate, cores, m, n, k, batch, words) / \
        cut(row, rate, cores, 8192, 8192, 8192, 1, 1) * \
        max(whole - 4 * 8192**2 / row[8], whole / 2)


def cut(row, rate, cores, m, n, k, batch, words):
    sms, bandwidth, launch = row[3], row[8], row[9]
    best = float("inf")
    for high, across, share in [(128, 128, 1), (64, 64, 0.55)] if cores else \
            [(128, 64, 1), (64, 32, 0.9)]:
        step = max(2 * words**2 * high * across * sms / (rate * share), 2.9e-9)
        for parts in 1, 2, 4, 8, 16:
            waves = math.ceil(math.ceil(m / high) * math.ceil(n / across) *
                              batch * parts / sms)
            steps = max(k / parts, 6144) if parts > 1 else k
            seconds = (waves * steps + 128) * step
            if parts > 1:
                seconds += launch + 8 * words * m * n * batch * parts / bandwidth
            best = min(best, seconds)
    return best


def conv_predicted(row, call, arithmetic):
    fp32, tf32, fp16, _, bandwidth, launch, host = row[4:]
    rate = {None: fp32, "tf32": tf32, "fp16": fp16}[arithmetic]
    if not rate:
        return float("inf")
    elements = call["bytes"] / 4
    work = 2 * call["m"] * call["n"] * call["k"] * call.get("batch", 1)
    each = 2 if arithmetic == "fp16" else 4
    seconds = max(work / (0.75 * rate), each * elements / bandwidth) + launch
    if arithmetic == "tf32" and call.get("layout") == "nchw":
        seconds += 8 * elements / bandwidth
    if arithmetic == "fp16":
        seconds += 6 * elements / bandwidth + 3 * launch
        host *= 4
    return max(seconds, host)


def matches(glob, text):
    pattern = "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in glob)
    return re.fullmatch(pattern, text, re.S) is not None


def number_holds(every, value, compare):
    if isinstance(value, list):
        if len(every) == 1:
            every = every * len(value)
        return list(every) == value
    low, high = value
    test = {"<": lambda x: x < low, "<=": lambda x: x <= low,
            ">": lambda x: x > low, ">=": lambda x: x >= low,
            "=": lambda x: low <= x <= high,
            "!=": lambda x: low <= x <= high}[compare]
    return all(test(x) for x in every)
