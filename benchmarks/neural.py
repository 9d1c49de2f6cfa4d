"""The neural learner against the same model through autograd, and low rank against dense charts.

    python benchmarks/neural.py epoch CORPUS [--depths 2 none] [--max-length 20]   # needs torch
    python benchmarks/neural.py dense CORPUS [--categories 15 30 60 120 240]

``epoch``: one pass over the sentences, in mini-batches of sentences of one length, from the same
parameters, single precision, one thread each, with Adam's steps. First log-likelihood and gradient
of one mini-batch are compared. Times are processor time of the whole process. torch is no
dependency of the package: install it (CPU wheels) beside it for this.

``dense``: expected counts of a grammar with a third of its categories for phrases and rank K, in
rank space and multiplied out, in single precision.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any

import numpy as np

import dbpcfg
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.induction.corpus import RunCorpus
from dbpcfg.induction.learners.network import views
from dbpcfg.induction.learners.neural import BETA1, BETA2, LONGEST, Moments, Neural, ascend
from dbpcfg.induction.mapping import Mapper
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.lowrank.parser import FactorParser


def read(given: argparse.Namespace) -> Encoded:
    """The first sentences of two words or more."""
    written = Preprocessing(max_length=given.max_length, rare=given.rare)
    forms = RunCorpus.of(preprocess(dbpcfg.read(given.corpus), written)).forms
    return forms.select(np.flatnonzero(forms.lengths > 1)[: given.sentences])


def of_one_length(corpus: Encoded, size: int = 64) -> list[np.ndarray]:
    """Mini-batches of sentences of one length, in random order."""
    rng, found = np.random.default_rng(0), []
    for n in np.unique(corpus.lengths):
        alike = rng.permutation(np.flatnonzero(corpus.lengths == n))
        found += np.array_split(alike, -(-len(alike) // size))
    return [found[x] for x in rng.permutation(len(found))]


class Autograd:
    """The same network and chart in torch; the chart in logarithms, as is usual."""

    def __init__(self, parameters: np.ndarray, settings: ChainSettings, corpus: Encoded) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch, shape = torch, settings.learner.shape(settings, corpus.vocabulary)
        self.N, self.depth = shape.phrases, settings.depth or 0
        layers = views(parameters.copy(), shape)
        self.P = {n: torch.nn.Parameter(torch.tensor(x)) for n, x in layers.items()}
        self.adam = torch.optim.Adam(self.P.values(), settings.learner.rate, betas=(BETA1, BETA2))

    def network(self, name: str, x: Any) -> Any:
        """The logits of one network."""

        def linear(layer: str, x: Any) -> Any:
            weight = self.P[f"{name}.{layer}"]
            return self.torch.addmm(self.P[f"{name}.{layer}.bias"], x, weight)

        x, relu = linear("0", x), self.torch.relu
        if name in ("root", "emission"):
            for layer in (1, 3):
                x = x + relu(linear(str(layer + 1), relu(linear(str(layer), x))))
        else:
            x = relu(x)
        return linear("out", x)

    def log_inside(self, words: Any) -> Any:
        """log Σ_τ P(τ) of sentences of one length."""
        torch, N, e, D = self.torch, self.N, self.P["embedding"], self.depth
        root = torch.log_softmax(self.network("root", self.P["embedding.root"]), -1)[0, :N]
        emission = torch.log_softmax(self.network("emission", e[N:]), -1)
        u = torch.softmax(self.network("parent", e[:N]), -1).t()
        v, w = (torch.softmax(self.network(name, e), 0) for name in ("left", "right"))
        n, levels = words.shape[1], 2 * D if D else 1

        def product(logs: Any, matrix: Any) -> Any:
            greatest = logs.max(-1, keepdim=True)[0]
            return ((logs - greatest).exp() @ matrix + 1e-30).log() + greatest

        first = emission.t()[words]
        one = product(first, v[N:]), product(first, w[N:])
        left = [[None, one[0]] for _ in range(levels + 1)]
        right = [[None, one[1]] for _ in range(levels + 1)]
        for width in range(2, n + 1):
            starts = n - width + 1
            for m in range(levels):
                l, r = (m + m % 2, m + (m + 1) % 2) if D else (0, 0)
                splits = range(1, 2) if D and l == levels else range(1, width)
                sums = [
                    left[l][k][:, :starts] + right[r][width - k][:, k : k + starts] for k in splits
                ]
                x = sums[0] if len(sums) == 1 else torch.logsumexp(torch.stack(sums), 0)
                phrases = product(x, u)
                if width == n:
                    return torch.logsumexp(phrases[:, 0] + root, -1)
                if not D or m % 2 == 0:
                    left[m].append(product(phrases, v[:N]))
                if not D or m % 2:
                    right[m].append(product(phrases, w[:N]))
        raise AssertionError

    def gradient(self, batch: np.ndarray) -> float:
        """Both passes over a mini-batch; return the mean of its logarithms."""
        mean = self.log_inside(self.torch.tensor(batch)).mean()
        self.adam.zero_grad()
        (-mean).backward()
        return float(mean.detach())

    def step(self, batch: np.ndarray) -> None:
        """One step of Adam."""
        self.gradient(batch)
        self.torch.nn.utils.clip_grad_norm_(self.P.values(), LONGEST)
        self.adam.step()


def epoch(given: argparse.Namespace) -> None:
    """One pass of each, in turns."""
    corpus = read(given)
    parts = of_one_length(corpus)
    words = [corpus.select(p).tokens.reshape(len(p), -1).astype(np.int64) for p in parts]
    print(f"{len(corpus):,} sentences, {len(corpus.vocabulary):,} words, {len(parts)} mini-batches")
    print("D\tours s\tautograd s\tratio\tdifference of log-likelihoods, of gradients")
    for bound in given.depths:
        depth = None if bound == "none" else int(bound)
        learner = Neural(exact=False, word_categories=80, rank=120)
        settings = ChainSettings(120, depth, precision="single", learner=learner)
        network = settings.learner.first(corpus, settings).network
        assert network is not None
        start = network.parameters
        other, gradient = Autograd(start, settings, corpus), np.zeros_like(start)
        middle = len(parts) // 2
        logs = learner.gradient(start, corpus.select(parts[middle]), settings, gradient, Mapper())
        apart = abs(other.gradient(words[middle]) - logs.mean())
        theirs = np.concatenate([-x.grad.numpy().ravel() for x in other.P.values()])
        slopes = np.abs(theirs - gradient).max() / np.abs(gradient).max()
        times: list[list[float]] = [[], []]
        for _ in range(given.rounds):
            moments = Moments(start.copy(), np.zeros_like(start), np.zeros_like(start))
            began = time.process_time()
            for number, part in enumerate(parts, start=1):
                theta, some = moments.parameters, corpus.select(part)
                learner.gradient(theta, some, settings, gradient, Mapper())
                ascend(moments, gradient, learner.rate, number)
            times[0].append(time.process_time() - began)
            other = Autograd(start, settings, corpus)
            began = time.process_time()
            for batch in words:
                other.step(batch)
            times[1].append(time.process_time() - began)
        ours, usual = map(min, times)
        print(
            f"{bound}\t{ours:.2f}\t{usual:.2f}\t{usual / ours:.1f}\t{apart:.0e}, {slopes:.0e}",
            flush=True,
        )


def seconds(work: Any, rounds: int) -> float:
    """The least processor time of several calls."""
    found = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def dense(given: argparse.Namespace) -> None:
    """Expected counts in rank space and multiplied out."""
    corpus = read(given)
    print(f"{len(corpus):,} sentences")
    print("K\tD\tlow rank s\tdense s\tratio")
    for K in given.categories:
        for bound in given.depths:
            depth = None if bound == "none" else int(bound)
            settings = ChainSettings(K, depth, precision="single", learner=Neural())
            network = settings.learner.first(corpus, settings).network
            assert network is not None
            grammar = settings.learner.grammar_of(network.parameters, settings, corpus.vocabulary)
            assert grammar.factors is not None
            low = FactorParser(grammar.factors, depth, 1, "single")
            full = ChartParser(grammar.multiplied_out(), depth, 1, "single")
            rounds = given.rounds if K < 100 else 1
            low.expected_counts(corpus), full.expected_counts(corpus.select(np.arange(2)))
            times = [seconds(partial(p.expected_counts, corpus), rounds) for p in (low, full)]
            print(
                f"{K}\t{bound}\t{times[0]:.3f}\t{times[1]:.3f}\t{times[1] / times[0]:.1f}",
                flush=True,
            )


def main() -> None:
    """Print a table."""
    options = argparse.ArgumentParser()
    options.add_argument("table", choices=["epoch", "dense"])
    options.add_argument("corpus")
    options.add_argument("--max-length", type=int, default=20)
    options.add_argument("--rare", type=int, default=1)
    options.add_argument("--sentences", type=int, default=2000)
    options.add_argument("--depths", nargs="+", default=["2", "none"])
    options.add_argument("--categories", type=int, nargs="+", default=[15, 30, 60, 120])
    options.add_argument("--rounds", type=int, default=2)
    given = options.parse_args()
    with one_blas_thread():
        {"epoch": epoch, "dense": dense}[given.table](given)


if __name__ == "__main__":
    main()
