"""Parsing any sentences with a learned grammar.

=============  ===================================================================================
``consensus``  the tree of greatest vote of the MBR trees of several chains, as in the run's own
               trees; the default where the model has them
``mbr``        the MBR tree under the posterior of the model's grammar: the one with the greatest
               expected number of correct spans
``mbr-chain``  the same with the posteriors of several grammars of the chain, averaged
``viterbi``    the most probable tree, or the N most probable ones
``sample``     trees drawn from the posterior
=============  ===================================================================================

The first three choose the label of each span by itself, so their trees may go beyond the bound or
have impossible rules. A sentence of probability zero, or of more than 1,000 words, has a flat
tree, ``(X w1 w2 …)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.arguments import SentencesLike, load_sentences
from dbpcfg.corpus.brackets import BracketError, show_brackets
from dbpcfg.corpus.checks import check_text
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.readers.text import MAX_WORDS
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError, UnparsableError
from dbpcfg.io.log import log_warning, warn
from dbpcfg.io.progress import Progress
from dbpcfg.numerics.kernels import Ints
from dbpcfg.numerics.philox import stream
from dbpcfg.options import check_choice
from dbpcfg.parsing.chart.layout import Logs, Precision, logarithms
from dbpcfg.parsing.derivations import Derivations, as_brackets, as_tree, log_probability
from dbpcfg.parsing.mbr import mbr
from dbpcfg.parsing.parser import Parser
from dbpcfg.parsing.parsers import parser_of
from dbpcfg.trees.tree import Tree

if TYPE_CHECKING:
    from dbpcfg.model.model import Model

Method = Literal["consensus", "mbr", "mbr-chain", "viterbi", "sample"]
Item = TypeVar("Item")

BATCH = 1000
"""The greatest number of lines that are parsed together."""
BATCH_WORK = 2e7
"""Their greatest sum of cubed lengths: a few seconds of work for small grammars."""
MAX_TREES = 10_000
"""The greatest number of trees of one sentence."""
FLAT = "X"
"""The label of a flat tree."""


@dataclass(frozen=True, slots=True)
class Parse:
    """A tree with log P(tree, sentence) and P(tree | sentence) under the model's grammar."""

    tree: Tree
    log_probability: float
    posterior: float


def in_batches(
    sentences: Iterable[Sentence | None], most: int | None = None
) -> Iterator[tuple[list[Sentence | None], int]]:
    """Divide sentences into batches of limited work, each with the number of its first sentence.

    ``sentences``: None is a blank line, which is kept but not counted.
    ``most``: the greatest number of lines in a batch; `BATCH` if not given.
    """
    batch: list[Sentence | None] = []
    work = first = done = 0
    for sentence in sentences:
        length = 0 if sentence is None else len(sentence.words)
        if sentence is not None and not length:
            raise DbpcfgError(f"sentence {done + 1} has no words; leave empty sentences out")
        if batch and work + length**3 > BATCH_WORK:
            yield batch, first
            batch, work, first = [], 0, done
        batch.append(sentence)
        work += length**3
        done += sentence is not None
        if len(batch) == (most or BATCH):
            yield batch, first
            batch, work, first = [], 0, done
    if batch:
        yield batch, first


def batches_for(
    model: Model,
    call: str,
    sentences: SentencesLike,
    progress_name: str,
    quiet: bool | None = None,
    on_note: Callable[[str], None] | None = None,
    brackets: Literal["text", "trees"] | None = None,
) -> Iterator[tuple[list[Sentence], int]]:
    """Any sentences as a model sees them, in batches, with progress; see `in_batches`.

    ``call``: the public function, for error messages.
    ``on_note``: called with a note about the text; if not given, it is logged, and a warning unless
    ``quiet``.
    """
    read = load_sentences(call, sentences, brackets == "text", sentence=True)
    total = len(read) if isinstance(read, Sized) else None
    seen = map(replace(model.preprocessing, brackets=brackets).apply, read)
    noted = check_text(seen, model.kind_of, on_note or (log_warning if quiet else warn))
    with Progress(progress_name, total, quiet) as progress:
        for batch, first in in_batches(noted):
            yield [one for one in batch if one is not None], first
            progress.update(first + len(batch))


class Decoder:
    """A model and a method, ready for batches of sentences.

    The trees of a sentence do not depend on other sentences, except for rounding where posteriors
    are in single precision, and only those of ``sample`` depend on its number in the text.

    ``skip_broken``: whether a sentence gets a flat tree if no tree has its brackets; otherwise
    that is an error.
    """

    def __init__(
        self,
        model: Model,
        method: Method | None = None,
        n: int = 1,
        seed: int = 0,
        threads: int = 1,
        skip_broken: bool = False,
    ) -> None:
        method = method or ("mbr" if model.consensus is None else "consensus")
        check_choice("method", method, get_args(Method))
        if not 1 <= n <= MAX_TREES:
            raise DbpcfgError(f"a sentence can have 1 to {MAX_TREES:,} trees, not {n:,}")
        if n > 1 and method not in ("viterbi", "sample"):
            raise DbpcfgError(f"{method} gives one tree; several come from viterbi or sample")
        if method == "mbr-chain" and not model.samples:
            raise DbpcfgError(
                "mbr-chain needs other grammars of the chain, which a run has and "
                "dbpcfg.load(run, samples=True) reads"
            )
        if method == "consensus" and model.consensus is None:
            raise DbpcfgError(
                "consensus needs several chains that vote: a run whose trees are a consensus has "
                "them, as by default those of the neural grammar"
            )
        stream(seed)  # raises an error for an impossible seed
        self.model, self.method, self.n = model, method, n
        self.seed, self.threads, self.skip_broken = seed, threads, skip_broken
        self.flat, self.first_flat = 0, -1
        """The number of flat trees so far, and the first sentence that has one."""

    def each(
        self,
        call: str,
        sentences: SentencesLike,
        decode: Callable[[list[Sentence], int], list[Item]],
        quiet: bool | None = None,
        brackets: Literal["text", "trees"] | None = None,
    ) -> Iterator[Item]:
        """Apply one of the methods below to any sentences; see `batches_for`."""
        batches = batches_for(
            self.model, call, sentences, "sentences parsed", quiet, brackets=brackets
        )
        for batch, first in batches:
            yield from decode(batch, first)

    def trees(self, sentences: Sequence[Sentence], first: int = 0) -> list[list[Tree]]:
        """The trees of each sentence of a batch; ``first`` is the number of its first sentence."""
        decoded = self._nodes(sentences, first)
        return [self._as_trees(one.words, nodes) for one, nodes in zip(sentences, decoded)]

    def lines(self, sentences: Sequence[Sentence], first: int = 0) -> list[str]:
        """The first tree of each sentence of a batch, in brackets, without `Tree` objects."""
        decoded = self._nodes(sentences, first)
        possible = [s for s, nodes in enumerate(decoded) if nodes is not None]
        lines = as_brackets(
            [nodes[0] for nodes in decoded if nodes is not None],
            [sentences[s].words for s in possible],
            self.model.grammar.names,
        )
        if len(lines) == len(sentences):
            return lines
        by_sentence = dict(zip(possible, lines))
        return [by_sentence.get(s) or str(Tree(FLAT, one.words)) for s, one in enumerate(sentences)]

    def parses(self, sentences: Sequence[Sentence], first: int = 0) -> list[list[Parse]]:
        """The trees of each sentence of a batch, with their probabilities."""
        if self.method == "consensus":
            raise DbpcfgError("trees of a consensus have no probability: choose another method")
        decoded = self._nodes(sentences, first)
        results = []
        for one, nodes in zip(sentences, decoded):
            trees = self._as_trees(one.words, nodes)
            if nodes is None:
                results.append([Parse(trees[0], -math.inf, 0.0)])
                continue
            corpus = self.model.encode([one.words]).with_brackets([one.brackets])
            whole = float(self._parser.log_probabilities(corpus)[0])
            logs = [
                log_probability(tree, corpus.tokens, self._logs) - self._parser.log_fitting_mass
                for tree in nodes
            ]
            results.append(
                [Parse(tree, log, math.exp(min(0, log - whole))) for tree, log in zip(trees, logs)]
            )
        return results

    def _as_trees(self, words: Sequence[str], decoded: Ints | None) -> list[Tree]:
        if decoded is None:
            return [Tree(FLAT, words)]
        return [as_tree(nodes, words, self.model.grammar.names) for nodes in decoded]

    @cached_property
    def _parser(self) -> Parser:
        return self.model.parser(self.threads)

    @cached_property
    def _posteriors(self) -> list[Parser]:
        return self._parsers("single")  # which is enough

    @cached_property
    def _precise(self) -> list[Parser]:
        return self._parsers("double")

    def _parsers(self, precision: Precision) -> list[Parser]:
        """The parser of the model's grammar, or one for each grammar of the chain, or chain."""
        model = self.model
        grammars = [model.grammar_with_unknown]
        if self.method == "consensus":
            grammars += [voter.grammar_with_unknown for voter in model.voters]
        if self.method == "mbr-chain":
            grammars = [model.with_unknown(grammar) for grammar in model.samples]
        return [parser_of(grammar, model.depth, self.threads, precision) for grammar in grammars]

    @cached_property
    def _logs(self) -> Logs:
        return logarithms(self.model.grammar_with_unknown, self.model.depth)

    def _nodes(self, sentences: Sequence[Sentence], first: int) -> list[Ints | None]:
        """``[tree, node, 3]``, the chosen trees of each sentence; None where it has none."""
        seen = [self._numbers(one.words) for one in sentences]
        possible = [s for s, numbers in enumerate(seen) if numbers is not None]
        vocabulary = self.model.grammar_with_unknown.vocabulary
        corpus = Encoded.from_numbers([x for x in seen if x is not None], vocabulary)
        corpus = corpus.with_brackets([sentences[s].brackets for s in possible])
        try:
            chosen = self._choose(corpus, [first + s for s in possible])
        except UnparsableError:
            there = self._possible(corpus)
            if corpus.brackets is not None and not self.skip_broken:
                free = self._possible(replace(corpus, brackets=None))
                for s in np.flatnonzero(free & ~there)[:1].tolist():
                    one = sentences[possible[s]]
                    raise BracketError(
                        f"{one.location}: no tree within the bound has the brackets "
                        f"{show_brackets(one)}; parse with a greater depth, or "
                        "--skip-broken gives a flat tree"
                    ) from None
            finite = np.flatnonzero(there)
            possible = [possible[s] for s in finite.tolist()]
            corpus = corpus.select(finite)
            try:
                chosen = self._choose(corpus, [first + s for s in possible])
            except UnparsableError:  # its probability is too small for single precision
                chosen = self._mbr(self._precise, corpus)
        decoded: list[Ints | None] = [None] * len(sentences)
        for s, nodes in zip(possible, chosen):
            decoded[s] = nodes
        flat = [first + s for s, nodes in enumerate(decoded) if nodes is None]
        if flat and not self.flat:
            self.first_flat = flat[0]
        self.flat += len(flat)
        return decoded

    def _possible(self, corpus: Encoded) -> NDArray[np.bool_]:
        """``[sentence]``: whether it has a tree: of a consensus, under all of the grammars."""
        logs = [chart.log_probabilities(corpus) for chart in self._precise]
        least = np.min if self.method == "consensus" else np.max
        possible: NDArray[np.bool_] = np.isfinite(least(logs, axis=0))
        return possible

    def _numbers(self, words: Sequence[str]) -> list[int] | None:
        """The numbers of words' forms; None if one has none, or there are too many words."""
        try:
            return self.model.numbers(words) if len(words) <= MAX_WORDS else None
        except UnparsableError:
            return None

    def _choose(self, corpus: Encoded, numbers: Sequence[int]) -> list[Ints]:
        if self.method == "sample":
            return self._parser.samples(corpus, self.n, self.seed, numbers)
        if self.method != "viterbi":
            return self._mbr(self._posteriors, corpus)
        if self.n > 1:
            return self._parser.n_best(corpus, self.n)
        return _one_each(self._parser.viterbi(corpus)[0])

    def _mbr(self, parsers: Sequence[Parser], corpus: Encoded) -> list[Ints]:
        if self.method != "consensus":
            return _one_each(mbr(parsers, corpus, self.threads))
        assert self.model.consensus is not None
        chains = [mbr([parser], corpus, self.threads) for parser in parsers]
        return _one_each(self.model.consensus.trees(chains))


def _one_each(trees: Derivations) -> list[Ints]:
    return [trees[s][np.newaxis] for s in range(len(trees))]
