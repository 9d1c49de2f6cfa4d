"""The other survivors: how good they are, how far they agree, and where their trees differ most.

Chains of this model settle in different modes. A mode is shown by some short sentences, those of
which its tree and that of the selected chain share the fewest spans; of equally few the longest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dbpcfg.induction.chain import Chain
from dbpcfg.induction.run import Run
from dbpcfg.numerics.kernels import Floats
from dbpcfg.parsing.derivations import CATEGORY, END, START
from dbpcfg.report.packing import pack
from dbpcfg.report.sentences import Posterior, codes

EXAMPLES = 4
"""Sentences that are shown for each mode, at most."""
LONGEST = 12
"""Tokens of an example, if there are such sentences: two trees have to fit side by side."""


def modes(run: Run) -> list[dict[str, Any]]:
    """The other survivors, the best first."""
    others = [chain for chain in run.survivors if chain is not run.best]
    return [_mode(run, chain) for chain in sorted(others, key=lambda c: -run.goodness(c))]


def _mode(run: Run, chain: Chain) -> dict[str, Any]:
    number, selected = chain.settings.chain, run.best.settings.chain
    common = run.shared.sentences(selected, [number])
    posterior = Posterior(chain)
    examples = []
    for s in _most_different(run, common):
        nodes = run.shared.trees[number][s]
        phrases = nodes[nodes[:, END] - nodes[:, START] > 1]
        sentence = np.full(len(phrases), s)
        spans = int(run.shared.spans[s])
        examples.append(
            {
                "sentence": s,
                "spans": spans,
                "common": round(float(common[s]) * spans),
                "nodes": pack(codes(nodes)),
                "posterior": pack(posterior.of(sentence, *phrases[:, :CATEGORY].T)),
            }
        )
    agreement = run.shared.between(selected, number)
    return {
        "chain": number,
        "agreement": None if np.isnan(agreement) else agreement,
        "different": int((common < 1).sum()),
        "examples": examples,
    }


def _most_different(run: Run, common: Floats) -> list[int]:
    """Sentences of different trees, no two of the same words."""
    different = np.flatnonzero(common < 1)
    lengths = run.corpus.forms.lengths[different]
    order = np.lexsort((-lengths, common[different], np.maximum(lengths, LONGEST)))
    chosen: dict[tuple[str, ...], int] = {}
    for s in different[order].tolist():
        chosen.setdefault(tuple(run.corpus.words[s]), s)
        if len(chosen) == EXAMPLES:
            break
    return list(chosen.values())
