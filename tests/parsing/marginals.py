"""Posterior probabilities of the labelled spans of one sentence, by the chart with exponents."""

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.numerics.kernels import Floats
from dbpcfg.parsing.chart.layout import tables
from dbpcfg.parsing.chart.outside import add_marginals, filled_chart
from dbpcfg.parsing.chart.parser import ChartParser


def marginals(parser: ChartParser, corpus: Encoded, sentence: int) -> Floats:
    """``[i, j, c]``: the posterior probability of a node c on words i to j − 1, exact.

    All zero if the sentence has probability zero.
    """
    words, G = corpus.numbers(sentence), tables(parser.grammar, parser.depth or 0)
    i, last = np.triu_indices(len(words))
    weights = np.zeros((len(i), parser.grammar.categories))
    with one_blas_thread():
        add_marginals(filled_chart(words, G)[0], G, 0, weights, False)
    posterior = np.zeros((len(words), len(words) + 1, parser.grammar.categories))
    posterior[i, last + 1] = weights
    return posterior
