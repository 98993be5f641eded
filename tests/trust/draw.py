#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""draw.py SEED POLICY -- a program that nobody has seen, for rhythm to be: prints
judge.awk's options, a tab, and rhythm's arguments. The same for a seed and a
policy wherever it runs.

POLICY is `default` (products large enough to be worth a try), `guarded`
(profit=off) or `strict`; with lt- before it, products go through cublasLt, and
something follows most of them."""
import math
import random
import sys

GOOD = ['good'] * 6 + ['masked', 'bias', 'unequal', 'small', 'channel']
BAD = ['cancelling'] * 3 + ['graded', 'maskedbad', 'biasbad', 'onehot',
    'prefix', 'packed', 'mixed', 'subnormal', 'spike']
COUNTED = ['mixed', 'onehot', 'packed', 'prefix']
EPILOGUES = ['default', 'bias', 'relu', 'relu_bias', 'gelu', 'gelu_bias',
    'gelu_aux_bias', 'drelu', 'dgelu', 'dgelu_bgrad']
RHYTHMS = [2, 3, 4, 7, 12, 16, 31, 32, 33, 48, 63, 64, 65, 96, 100,
    127]


class Draw:
    def __init__(self, seed, policy):
        # random() alone is the same in every Python.
        self.random = random.Random('%s %d' % (policy, seed)).random
        self.lt = policy.startswith('lt-')
        policy = policy[3:] if self.lt else policy
        self.policy = policy
        self.judge = {'tol': '1e-3'}
        self.options = {}
        self.units = {'default': 300, 'guarded': 500, 'strict': 200}[policy]

    def between(self, low, high):
        return low + int(self.random() * (high - low + 1))

    def about(self, low, high):
        """As many small ones as large ones."""
        return round(math.exp(math.log(low) + self.random()
            * math.log(high / low)))

    def pick(self, things):
        return things[self.between(0, len(things) - 1)]

    def chance(self, share):
        return self.random() < share

    def share(self, guarded, default):
        """The floor. Strict recasts what it checks, as far as it goes."""
        self.judge['floor'] = {'guarded': guarded, 'default': default,
            'strict': 0}[self.policy]

    def size(self):
        o = self.options
        if self.policy == 'default':
            o.update(m=self.between(128, 160), n=self.between(128, 160),
                k=64 * self.between(8, 9))
        else:
            o.update(m=self.between(24, 96), n=self.between(16, 96),
                k=self.between(40, 200))

    def surroundings(self):
        """How far the host runs ahead, and what masks and biases there are."""
        o = self.options
        o['sync'] = self.pick([0, 1, 7, 100, 500, 1000])
        o['mask'] = '1e%d' % self.between(2, 30)
        o['bias'] = self.about(1, 2000)
        o['whole'] = self.between(25, 100)
        if self.lt:
            o['lt'] = self.pick(EPILOGUES)
            o['apart'] = self.between(0, 1)
            o['asks'] = self.between(0, 1)

    def layers(self):
        """Some bad ones anywhere among good ones."""
        period = self.pick(RHYTHMS) if self.chance(0.5) else \
            self.between(2, 127)
        bad = 1 if self.chance(0.7) else self.between(1, max(1, period // 8))
        kinds = [self.pick(GOOD) if self.chance(0.3) else 'good'
            for i in range(period)]
        for i in range(bad):
            kinds[self.between(0, period - 1)] = self.pick(BAD)
        text, last, count = [], None, 0
        for kind in kinds + [None]:
            if kind != last and last:
                text.append(last + ('*%d' % count if count > 1 else ''))
            count = 1 if kind != last else count + 1
            last = kind
        turns = max(10, self.units // period)
        if self.chance(0.3):
            self.options['recycled'] = self.pick([1, 1, 3, 8])
        elif bad < 3:
            # Where more is mended than is gained, the rung is left.
            self.share(0.97 if period > 2 * bad else 0,
                0.97 if period > 3 * bad else 0)
        return ['%s:%d' % ('+'.join(text), turns)]

    def turning(self):
        """Zeros, then good data, then bad ones, perhaps good ones again."""
        steps = []
        far = 3 if self.options['sync'] in (0, 500, 1000) else 1
        if self.chance(0.5):
            steps.append('zero:%d' % self.between(1, 200))
        if self.chance(0.7):
            near = 64 * self.between(1, 6) + self.between(-1, 1)
            steps.append('%s:%d' % (self.pick(GOOD), far * near
                if self.chance(0.5) else self.between(1, 400)))
        steps.append('%s:%d' % (self.pick(BAD), far * 250))
        if self.chance(0.3):
            steps.append('good:100')
        if self.chance(0.2):
            self.options['recycled'] = 1
        return steps

    def steady(self):
        """Good data of one kind, which may drift: no reason to do nothing."""
        kind = self.pick(GOOD)
        turns = min(self.units, 600)
        if self.chance(0.6) and kind not in ('masked', 'bias'):
            most = min(0.3, 60 / turns)
            self.options['drift'] = '%.6f' % 2 ** (most
                * (2 * self.random() - 1))
        self.share(0.97, 0.97)
        return ['%s:%d' % (kind, turns)]

    def batch(self):
        """One bad matrix of many, anywhere, from some call on."""
        o = self.options
        o['batch'] = self.about(2, 4096)
        room = 2 ** 23 if self.policy == 'default' else 2 ** 20
        each = max(1024, room // o['batch'])
        o['m'] = min(128, 2 ** int(math.log2(each) / 3))
        o['n'] = o['m']
        o['k'] = min(512, -(-each // o['m'] // o['n'])) + self.between(0, 3)
        # Matrices of fewer than 16 lines are held as lines are: by chance.
        if o['m'] < 16:
            self.judge['tol'] = '6e-3'
        # Whole numbers are those of a batch (doc/limits.md); copies, a row's.
        kind = self.pick(['cancelling', 'cancelling', 'graded', 'onehot',
            'graded', 'packed'])
        o['odd'] = '%s@%d' % (kind, self.between(0, o['batch'] - 1))
        steps = ['odd:%d' % min(200, self.units)]
        if self.chance(0.5):
            steps.insert(0, 'good:%d' % self.between(1, 70))
        return steps

    def chain(self):
        """K in parts that are added up; they cancel, or some units do."""
        o = self.options
        o['split'] = 2 if self.policy == 'strict' else \
            self.pick([2, 2, 8, 64])
        o['places'] = self.between(1, 2)
        if self.policy == 'default':
            o['split'] = min(o['split'], 8)
            o.update(m=128, n=128, k=512 * o['split'])
        else:
            o['k'] = o['split'] * self.between(1, max(2, 128 // o['split']))
        turns = max(30, self.units // o['split'])
        self.judge['sums'] = 3
        return [self.pick(['cancelling:%d', 'good+cancelling:%d',
            'good:40 cancelling:%d', 'good*5+cancelling+good:%d']) % turns]

    def graph(self):
        """Captured after a warm-up: on the same data, or on others once."""
        warm, replays = self.between(1, 80), self.between(5, 30)
        bad = self.pick(BAD)
        if self.chance(0.5):
            return ['%s:%d' % (self.pick(['good', 'zero', bad]), warm),
                'graph:%s:%d' % (bad, replays)]
        if self.chance(0.5):
            return ['good*3+%s:%d' % (bad, warm), 'graph:again:%d' % replays]
        return ['good*%d:%d' % (self.between(3, 8), warm), 'graph:again:%d'
            % replays]

    def counting(self):
        """Whole numbers, from the start or from some call on."""
        steps = ['%s:%d' % (self.pick(COUNTED), min(400, self.units))]
        if self.chance(0.5):
            steps.insert(0, 'good:%d' % self.between(1, 200))
        return steps

    def sizes(self):
        """A size of its own for each turn."""
        o = self.options
        o['vary'] = self.between(2, 40)
        o['recycled'] = self.between(0, 1)
        good, turns = self.between(1, 4), max(2, self.units // 4)
        bad = self.pick(BAD)
        if self.chance(0.3):
            return ['good*%d:%d' % (good, turns)]
        return ['good*%d+%s:%d' % (good, bad, turns)]

    def draw(self):
        self.size()
        self.surroundings()
        families = [self.layers] * 3 + [self.turning] * 3 + [self.steady,
            self.batch, self.chain, self.graph, self.counting, self.sizes]
        steps = self.pick(families)()
        judge = ' '.join('-v %s=%s' % pair for pair in self.judge.items()
            if pair[1])
        return judge + '\t' + ' '.join(
            ['%s=%s' % pair for pair in self.options.items()] + steps)


print(Draw(int(sys.argv[1]), sys.argv[2]).draw())
