"""Posterior probabilities of the labelled spans of one sentence, by the chart with exponents."""

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.numerics.kernels import Floats
from dbpcfg.parsing.chart.layout import tables
from dbpcfg.parsing.chart.outside import RuleSums
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.chart.scaled import fill_chart, scaled_outside


def marginals(parser: ChartParser, corpus: Encoded, sentence: int) -> Floats:
    """``[i, j, c]``: the posterior probability of a node c on words i to j − 1, exact.

    All zero if the sentence has probability zero.
    """
    words, G = corpus.numbers(sentence), tables(parser.grammar, parser.depth or 0)
    n, k, K = len(words), parser.grammar.categories, len(G.root)
    i, last = np.triu_indices(n)
    weights, none = np.zeros((len(i), k)), np.zeros((0, 0))
    counted = RuleSums(np.zeros(K), none, none, np.zeros((n, K)))
    posterior = np.zeros((n, n + 1, k))
    with one_blas_thread():
        chart, log = fill_chart(words, G)
        if log > -np.inf:
            scaled_outside(chart, G, 1.0, counted, False, 0, weights)
            posterior[i, last + 1] = weights
            words_of = counted.lexical * G.emission[words]
            posterior[range(n), range(1, n + 1)] = words_of[:, :k]
    return posterior
